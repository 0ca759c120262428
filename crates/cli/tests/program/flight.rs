//! The files of the flight recorder name the programs of peers, even if these disconnected before
//! the first message in the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use capture::Capture;
use capture::model::RecordedPeer;
use rustix::process::Signal;

use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};

/// A bus with a flight recorder of 64 KiB.
struct FlightBus {
    folder: ProgramFolder,
    address: String,
    bus: SpawnedProgram,
}

/// A process that the test started: its ID and command line.
struct KnownProcess {
    pid: u32,
    words: Vec<String>,
}

impl FlightBus {
    fn new() -> Self {
        let folder = ProgramFolder::new();
        let elements = format!(
            "<?diligence <flight_recorder>65536</flight_recorder>\
             <flight_recorder_folder>{}</flight_recorder_folder> ?>",
            folder.join("records").display()
        );
        let mut command = folder.diligence();
        command.args(["bus", "--nofork", "--print-address=1", "--config-file"]);
        let mut bus = SpawnedProgram::start(command.arg(folder.config(&elements)));
        Self { address: bus.line(), folder, bus }
    }

    fn start(&self, words: &[&str]) -> (SpawnedProgram, KnownProcess) {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        let running = SpawnedProgram::start(&mut command);
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let known = KnownProcess { pid: running.id(), words };
        (running, known)
    }

    /// Runs a program until it exits.
    fn run(&self, words: &[&str]) -> KnownProcess {
        let (running, known) = self.start(words);
        let output = running.ended();
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        known
    }

    /// Runs dbus-send, which exits within milliseconds, with a word that identifies it.
    fn send(&self, word: &str) -> KnownProcess {
        let word = format!("string:org.example.{word}");
        self.run(&[
            "dbus-send",
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.NameHasOwner",
            &word,
        ])
    }

    /// Starts a service that owns a name, and waits until it owns the name.
    fn service(&self, name: &str) -> (SpawnedProgram, KnownProcess) {
        let option = format!("--name={name}");
        let started = self.start(&["dbus-test-tool", "echo", "--session", &option]);
        let has_owner = || {
            let mut names = self.folder.diligence();
            let names = names.args(["list", "--json", "--address", &self.address]).output();
            text(&names.expect("the program exists").stdout).contains(name).then_some(())
        };
        eventually("the name", has_owner);
        started
    }

    /// Sends enough messages to overwrite all earlier ones in the ring.
    fn flood(&self, name: &str) {
        let destination = format!("--dest={name}");
        self.run(&["dbus-test-tool", "spam", "--session", &destination, "--count=2000"]);
    }

    /// Reads the only file that the flight recorder has written.
    fn capture(&self) -> Option<(PathBuf, Capture)> {
        let file = files(&self.folder).pop()?;
        let capture = Capture::open(&file).ok()?;
        Some((file, capture))
    }
}

/// Returns the files of the flight recorder. Their names have the extension only when they are
/// complete.
fn files(folder: &ProgramFolder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("records")).into_iter().flatten().flatten();
    let is_complete = |path: &PathBuf| path.extension().is_some_and(|it| it == "trace");
    entries.map(|entry| entry.path()).filter(is_complete).collect()
}

impl KnownProcess {
    /// Returns the connection of this process, and checks the recorded properties of the process.
    fn peer<'c>(&self, capture: &'c Capture) -> &'c RecordedPeer {
        let is_its =
            |peer: &&RecordedPeer| peer.process.as_ref().is_some_and(|it| it.pid == Some(self.pid));
        let mut peers = capture.directory().peers().map(|(_, peer)| peer).filter(is_its);
        let peer = peers.next().unwrap_or_else(|| panic!("{:?} is not known", self.words));
        assert!(peers.next().is_none(), "{:?} has one connection", self.words);
        let process = peer.process.as_ref().expect("the process of the peer");
        let program = Path::new("/usr/bin").join(&self.words[0]);
        let program = fs::canonicalize(program).expect("the path of the program");
        assert_eq!(process.exe.as_deref(), program.to_str());
        assert_eq!(process.comm.as_deref(), self.words[0].get(..self.words[0].len().min(15)));
        assert_eq!(process.command, self.words);
        assert_eq!(process.uid, Some(rustix::process::getuid().as_raw()));
        peer
    }

    /// Returns true if a recording has a message from this process.
    fn has_message(&self, capture: &Capture) -> bool {
        let unique = capture.strings().get(self.peer(capture).unique);
        capture.messages().any(|message| message.sender() == unique)
    }
}

/// Runs several programs, has the bus write a file with this signal, and checks the file.
fn check(signal: Signal) {
    let stage = FlightBus::new();
    let early = stage.send("Early");
    let (left, gone) = stage.service("org.example.Gone");
    let gone_pid = gone.pid;
    drop(left);
    let (_stays, service) = stage.service("org.example.Stays");
    stage.flood("org.example.Stays");
    let late = stage.send("Late");
    stage.bus.signal(signal);
    let is_complete = |(_, capture): &(PathBuf, Capture)| {
        capture.directory().peers().any(|(_, peer)| {
            peer.process.as_ref().is_some_and(|process| process.pid == Some(late.pid))
        })
    };
    let (file, capture) = eventually("a file", || stage.capture().filter(is_complete));

    let names = |known: &KnownProcess| {
        let names = &known.peer(&capture).names;
        names.iter().map(|name| capture.strings().get(*name).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&service), ["org.example.Stays"], "{signal:?}");
    assert_eq!(names(&gone), ["org.example.Gone"], "{signal:?}");
    assert_eq!(names(&late), [""; 0], "{signal:?}");
    assert!(gone.peer(&capture).left.is_some() && early.peer(&capture).left.is_some());
    assert!(service.peer(&capture).left.is_none(), "{signal:?}");
    assert!(late.has_message(&capture), "{signal:?}");
    assert!(!early.has_message(&capture), "{signal:?}: the ring has gone round");
    assert_eq!(capture.damage().len(), 0, "{signal:?}");

    let mut stats = stage.folder.diligence();
    let stats = stats
        .args(["stats", "--by", "process"])
        .arg(&file)
        .output()
        .expect("the program can be started");
    let shown = text(&stats.stdout);
    for (program, pid) in [("dbus-test-tool", service.pid), ("dbus-send", late.pid)] {
        let is_shown = |line: &str| line.contains(program) && line.contains(&pid.to_string());
        assert!(shown.lines().any(is_shown), "{signal:?}: {program} {pid}\n{shown}");
    }
    assert!(!shown.contains(&gone_pid.to_string()), "{signal:?}: it said nothing\n{shown}");
}

#[test]
fn flight_files_written_on_request_name_programs() {
    check(Signal::USR2);
}

#[test]
fn flight_files_written_at_shutdown_name_programs() {
    check(Signal::TERM);
}

#[test]
fn flight_files_written_at_a_crash_name_programs() {
    check(Signal::SEGV);
}

#[test]
fn flight_files_written_in_the_same_millisecond_are_kept() {
    // In one round, the milliseconds of the files can differ.
    for _ in 0..10 {
        let FlightBus { folder, bus, .. } = FlightBus::new();
        bus.signal(Signal::USR2);
        let deadline = Instant::now() + Duration::from_secs(10);
        while files(&folder).is_empty() {
            assert!(Instant::now() < deadline, "no file");
        }
        bus.end(Signal::TERM);
        assert_eq!(files(&folder).len(), 2, "one on request and one at the end");
    }
}
