//! Buses to record, and recorders that are started and ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use capture::Capture;
use capture::model::PeerRole;
use capture::record::{EndCause, Fact};
use rustix::process::Signal;

use crate::support::{ProgramFolder, SpawnedProgram, eventually};

/// A bus of the reference.
pub(crate) struct DbusDaemon {
    pub(crate) address: String,
    config: PathBuf,
    _process: Option<SpawnedProgram>,
}

impl DbusDaemon {
    pub(crate) fn start(folder: &ProgramFolder, policy: &str) -> Self {
        Self::start_with(folder, policy, "")
    }

    /// Starts it with a policy for all, and other elements of the configuration.
    pub(crate) fn start_with(folder: &ProgramFolder, policy: &str, elements: &str) -> Self {
        let socket = folder.join("bus");
        let config = folder.join("reference.conf");
        let text = format!(
            "<busconfig><type>session</type><listen>unix:path={}</listen>{elements}\
             <policy context='default'><allow send_destination='*' eavesdrop='true'/>\
             <allow eavesdrop='true'/><allow own='*'/>{policy}</policy></busconfig>",
            socket.display()
        );
        fs::write(&config, text).expect("the folder is ours");
        let address = format!("unix:path={}", socket.display());
        let mut bus = Self { address, config, _process: None };
        bus.restart();
        bus
    }

    pub(crate) fn restart(&mut self) {
        self._process = None;
        let mut command = Command::new("dbus-daemon");
        command.args(["--nofork", "--print-address=1", "--config-file"]).arg(&self.config);
        command.stdin(Stdio::null());
        let mut process = SpawnedProgram::start(&mut command);
        process.line();
        self._process = Some(process);
    }

    pub(crate) fn send(&self, words: &[&str]) {
        send(&self.address, words);
    }
}

/// A bus of ours.
pub(crate) struct OurBus {
    pub(crate) address: String,
    _process: SpawnedProgram,
}

impl OurBus {
    pub(crate) fn start(folder: &ProgramFolder) -> Self {
        Self::start_with(folder, "")
    }

    /// Starts it with more elements of the configuration.
    pub(crate) fn start_with(folder: &ProgramFolder, elements: &str) -> Self {
        let mut command = folder.diligence();
        command.args(["bus", "--nofork", "--print-address=1", "--config-file"]);
        command.arg(folder.config(elements));
        let mut process = SpawnedProgram::start(&mut command);
        let address = process.line();
        Self { address, _process: process }
    }
}

/// Sends what dbus-send makes of these words.
pub(crate) fn send(address: &str, words: &[&str]) {
    let mut command = Command::new("dbus-send");
    command.arg(format!("--bus={address}")).args(words);
    let output = command.output().expect("dbus-send is there");
    assert!(output.status.success(), "{output:?}");
}

/// A program of the demonstration, on the bus at this address.
pub(crate) fn demo(folder: &ProgramFolder, address: &str, words: &[&str]) -> SpawnedProgram {
    let mut command = folder.diligence();
    command.arg("demo").args(words).env("DBUS_SESSION_BUS_ADDRESS", address);
    SpawnedProgram::start(&mut command)
}

/// Why the recording of each bus has ended.
pub(crate) fn ends(capture: &Capture) -> Vec<EndCause> {
    let facts = capture.facts().iter();
    let causes = facts.filter_map(|(_, _, fact)| match fact {
        Fact::Ended { cause } => Some(*cause),
        _ => None,
    });
    causes.collect()
}

/// A call that the bus answers, by a program that is gone at once.
pub(crate) const CALL: [&str; 4] =
    ["--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId"];

pub(crate) fn read(path: &Path) -> Capture {
    Capture::open(path).expect("a recording")
}

/// The connections of the recorder itself.
pub(crate) fn recorders(capture: &Capture) -> Vec<&str> {
    let peers = capture.directory().peers();
    let own = peers.filter(|(_, peer)| peer.role == PeerRole::Recorder);
    own.map(|(_, peer)| capture.strings().get(peer.unique)).collect()
}

/// Starts to record, and waits until the file says that the recorder listens.
pub(crate) fn start(
    folder: &ProgramFolder,
    address: &str,
    file: &Path,
    words: &[&str],
) -> SpawnedProgram {
    let path = file.display().to_string();
    let mut command = folder.diligence();
    command.args(["record", "--address", address, "-o", &path]).args(words);
    let recorder = SpawnedProgram::start(&mut command);
    wait_for_recorder(file, 1);
    recorder
}

/// Starts dbus-monitor, and waits until it writes what it sees.
pub(crate) fn start_dbus_monitor(address: &str, file: &Path) -> SpawnedProgram {
    let out = fs::File::create(file).expect("the folder is ours");
    let mut command = Command::new("dbus-monitor");
    command.args(["--address", address, "--pcap"]).stdin(Stdio::null());
    let monitor = SpawnedProgram::start_into(&mut command, out);
    wait_until("dbus-monitor", || {
        send(address, &CALL);
        fs::metadata(file).is_ok_and(|file| file.len() > PCAP_HEADER)
    });
    monitor
}

/// The length of a pcap file without messages.
const PCAP_HEADER: u64 = 24;

/// Waits until a file says that so many buses are listened to.
pub(crate) fn wait_for_recorder(file: &Path, buses: usize) {
    wait_until("the recorder", || {
        Capture::open(file).is_ok_and(|capture| recorders(&capture).len() >= 2 * buses)
    });
}

pub(crate) fn wait_until(what: &str, done: impl Fn() -> bool) {
    eventually(what, || done().then_some(()));
}

/// Waits for what is on its way, and ends the recording as the keys of a terminal do.
pub(crate) fn end(recorder: SpawnedProgram) -> Output {
    thread::sleep(Duration::from_millis(300));
    recorder.end(Signal::INT)
}
