//! Starts and ends buses and recorders.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use capture::Capture;
use capture::model::PeerRole;
use capture::record::{EndCause, Fact};
use rustix::process::Signal;
use wire::message::MessageType;

use crate::support::{ProgramFolder, SpawnedProgram, eventually};

/// A dbus-daemon process with a configuration in the test's folder.
pub(crate) struct DbusDaemon {
    pub(crate) address: String,
    config: PathBuf,
    _process: Option<SpawnedProgram>,
}

impl DbusDaemon {
    pub(crate) fn start(folder: &ProgramFolder, policy: &str) -> Self {
        Self::start_with(folder, policy, "")
    }

    /// Starts dbus-daemon with additional policy rules and configuration elements.
    pub(crate) fn start_with(folder: &ProgramFolder, policy: &str, elements: &str) -> Self {
        let socket = folder.join("bus");
        let config = folder.join("reference.conf");
        let text = format!(
            "<busconfig><type>session</type><listen>unix:path={}</listen>{elements}\
             <policy context='default'><allow send_destination='*' eavesdrop='true'/>\
             <allow eavesdrop='true'/><allow own='*'/>{policy}</policy></busconfig>",
            socket.display()
        );
        fs::write(&config, text).expect("a writable folder");
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

/// A Diligence bus with a configuration in the test's folder.
pub(crate) struct OurBus {
    pub(crate) address: String,
    _process: SpawnedProgram,
}

impl OurBus {
    pub(crate) fn start(folder: &ProgramFolder) -> Self {
        Self::start_with(folder, "")
    }

    /// Starts the bus with additional configuration elements.
    pub(crate) fn start_with(folder: &ProgramFolder, elements: &str) -> Self {
        let mut command = folder.diligence();
        command.args(["bus", "--nofork", "--print-address=1", "--config-file"]);
        command.arg(folder.config(elements));
        let mut process = SpawnedProgram::start(&mut command);
        let address = process.line();
        Self { address, _process: process }
    }
}

/// Sends a message with dbus-send.
pub(crate) fn send(address: &str, words: &[&str]) {
    let mut command = Command::new("dbus-send");
    command.arg(format!("--bus={address}")).args(words);
    let output = command.output().expect("dbus-send is installed");
    assert!(output.status.success(), "{output:?}");
}

/// Starts a demo program on the bus at this address.
pub(crate) fn demo(folder: &ProgramFolder, address: &str, words: &[&str]) -> SpawnedProgram {
    let mut command = folder.diligence();
    command.arg("demo").args(words).env("DBUS_SESSION_BUS_ADDRESS", address);
    SpawnedProgram::start(&mut command)
}

/// Returns the causes for which the recording of each bus ended.
pub(crate) fn ends(capture: &Capture) -> Vec<EndCause> {
    let facts = capture.facts().iter();
    let causes = facts.filter_map(|(_, _, fact)| match fact {
        Fact::Ended { cause } => Some(*cause),
        _ => None,
    });
    causes.collect()
}

/// Arguments of dbus-send for a call to the bus. dbus-send exits as soon as it has the reply.
pub(crate) const CALL: [&str; 4] =
    ["--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId"];

pub(crate) fn read(path: &Path) -> Capture {
    Capture::open(path).expect("a recording")
}

/// Returns the unique names of the recorder's own connections.
pub(crate) fn recorders(capture: &Capture) -> Vec<&str> {
    let peers = capture.directory().peers();
    let own = peers.filter(|(_, peer)| peer.role == PeerRole::Recorder);
    own.map(|(_, peer)| capture.strings().get(peer.unique)).collect()
}

/// Starts a recorder, and waits until its file shows that it is recording.
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

/// Starts dbus-monitor, and waits until it writes messages.
pub(crate) fn start_dbus_monitor(address: &str, file: &Path) -> SpawnedProgram {
    let out = fs::File::create(file).expect("a writable folder");
    let mut command = Command::new("dbus-monitor");
    command.args(["--address", address, "--pcap"]).stdin(Stdio::null());
    let monitor = SpawnedProgram::start_into(&mut command, out);
    wait_until("dbus-monitor", || {
        send(address, &CALL);
        fs::metadata(file).is_ok_and(|file| file.len() > PCAP_HEADER)
    });
    monitor
}

/// The length of a pcap file without messages, in bytes.
const PCAP_HEADER: u64 = 24;

/// Waits until a file shows that a recorder is recording this number of buses.
pub(crate) fn wait_for_recorder(file: &Path, buses: usize) {
    wait_until("the recorder", || {
        Capture::open(file).is_ok_and(|capture| recorders(&capture).len() >= 2 * buses)
    });
}

pub(crate) fn wait_until(what: &str, done: impl Fn() -> bool) {
    eventually(what, || done().then_some(()));
}

/// Waits until a file has this number of calls and signals with a member, and the replies to these
/// calls. Then ends the recorder with SIGINT.
pub(crate) fn end_after(
    recorder: SpawnedProgram,
    file: &Path,
    member: &str,
    count: usize,
) -> Output {
    let read_state = Cell::new(None);
    wait_until(&format!("{count} messages with the member {member}"), || {
        // Parsing an unchanged file would take processor time from the recorder.
        let state = fs::metadata(file).ok().and_then(|it| Some((it.len(), it.modified().ok()?)));
        if read_state.replace(state) == state {
            return false;
        }
        // A ring has no file for a moment when it begins a new one.
        let Ok(capture) = Capture::open(file) else { return false };
        let messages = capture.messages().filter(|message| {
            message.member() == member
                && !message.is_of_recorder()
                && (message.kind() == MessageType::Signal || message.partner().is_some())
        });
        messages.count() >= count
    });
    recorder.end(Signal::INT)
}

/// Ends a recorder with SIGINT, after a pause in which it reads the last messages. Other tests use
/// [`end_after`]. This is for recordings that do not show whether they have all messages.
pub(crate) fn end(recorder: SpawnedProgram) -> Output {
    thread::sleep(Duration::from_millis(300));
    recorder.end(Signal::INT)
}
