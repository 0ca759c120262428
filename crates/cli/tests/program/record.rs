//! `diligence record`, as a user runs it, on our bus and on dbus-daemon.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use capture::Capture;
use capture::model::Role;
use capture::record::{GapCause, Method};
use rustix::process::Signal;

use crate::support::{Folder, Running, eventually, text};

/// A bus of the reference.
struct DbusDaemon {
    address: String,
    config: PathBuf,
    _process: Option<Running>,
}

impl DbusDaemon {
    fn start(folder: &Folder, policy: &str) -> Self {
        let socket = folder.join("bus");
        let config = folder.join("reference.conf");
        let text = format!(
            "<busconfig><type>session</type><listen>unix:path={}</listen>\
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

    fn restart(&mut self) {
        self._process = None;
        let mut command = Command::new("dbus-daemon");
        command.args(["--nofork", "--print-address=1", "--config-file"]).arg(&self.config);
        command.stdin(Stdio::null());
        let mut process = Running::start(&mut command);
        process.line();
        self._process = Some(process);
    }

    fn send(&self, words: &[&str]) {
        let mut command = Command::new("dbus-send");
        command.arg(format!("--bus={}", self.address)).args(words);
        let output = command.output().expect("dbus-send is there");
        assert!(output.status.success(), "{output:?}");
    }
}

/// A call that the bus answers, by a program that is gone at once.
const CALL: [&str; 4] =
    ["--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId"];

fn read(path: &Path) -> Capture {
    Capture::open(path).expect("a recording")
}

/// The connections of the recorder itself.
fn recorders(capture: &Capture) -> Vec<&str> {
    let peers = capture.directory().peers();
    let own = peers.filter(|(_, peer)| peer.role == Role::Recorder);
    own.map(|(_, peer)| capture.strings().get(peer.unique)).collect()
}

/// Starts to record, and waits until the file says that the recorder listens.
fn start(folder: &Folder, address: &str, file: &Path, words: &[&str]) -> Running {
    let path = file.display().to_string();
    let mut command = folder.diligence();
    command.args(["record", "--address", address, "-o", &path]).args(words);
    let recorder = Running::start(&mut command);
    wait_until("the recorder", || {
        Capture::open(file).is_ok_and(|capture| recorders(&capture).len() >= 2)
    });
    recorder
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    eventually(what, || done().then_some(()));
}

/// Waits for what is on its way, and ends the recording as the keys of a terminal do.
fn end(recorder: Running) -> std::process::Output {
    thread::sleep(Duration::from_millis(300));
    recorder.end(Signal::INT)
}

#[test]
fn a_command_is_recorded_from_its_first_message_on() {
    let folder = Folder::new();
    let file = folder.join("a.pcapng");
    let path = file.display().to_string();
    let call = [&["dbus-send", "--session"], &CALL[..]].concat();
    let script = format!("{}; sleep 0.2; exit 3", call.join(" "));
    let mut command = folder.diligence();
    command.args(["run", "--record", &path, "--", "sh", "-c", &script]);
    let output = command.output().expect("the program can be started");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let errors = text(&output.stderr);
    assert!(errors.contains("nothing lost") && errors.contains(&path), "{errors}");
    let capture = read(&file);
    assert!(matches!(capture.buses()[0].method, Method::Trace | Method::Monitor));
    assert_eq!(recorders(&capture).len(), 2);
    let origin = &capture.origins()[0];
    assert!(origin.program.as_deref().is_some_and(|name| name.starts_with("diligence ")));
    let call = capture.messages().find(|message| message.member() == "GetId");
    assert!(call.expect("it was recorded").duration().is_some());
}

#[test]
fn a_bus_of_the_reference_is_recorded_until_somebody_ends_it() {
    let folder = Folder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    let mut waiting = Command::new("gdbus");
    waiting.args(["monitor", "--address", &bus.address, "--dest", "org.freedesktop.DBus"]);
    let monitor = Running::start(&mut waiting);
    wait_until("the process of gdbus is known", || {
        let capture = read(&file);
        let mut processes =
            capture.directory().peers().filter_map(|(_, peer)| peer.process.as_ref());
        processes
            .any(|process| process.comm.as_deref() == Some("gdbus") && process.started.is_some())
    });
    bus.send(&CALL);
    let output = end(recorder);
    drop(monitor);
    assert!(output.status.success(), "{output:?}");
    let capture = read(&file);
    assert_eq!(capture.buses()[0].method, Method::Monitor);
    assert_eq!(capture.buses()[0].address.as_deref(), Some(bus.address.as_str()));
    assert!(capture.gaps().is_empty() && capture.damage().is_empty());
    let call = capture.messages().find(|message| message.member() == "GetId");
    assert!(call.expect("the call was recorded").duration().is_some(), "with its answer");
}

#[test]
fn where_no_monitor_may_be_it_is_overheard() {
    let folder = Folder::new();
    let bus = DbusDaemon::start(
        &folder,
        "<deny send_interface='org.freedesktop.DBus.Monitoring' send_member='BecomeMonitor'/>",
    );
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    bus.send(&["--type=signal", "/org/example", "org.example.Mail.Came", "string:hello"]);
    let output = end(recorder);
    let errors = text(&output.stderr);
    assert!(errors.contains("only what can be overheard is recorded"), "{errors}");
    let capture = read(&file);
    assert_eq!(capture.buses()[0].method, Method::Eavesdrop);
    assert!(capture.messages().any(|message| message.member() == "Came"));
}

#[test]
fn a_bus_that_is_started_anew_is_found_again() {
    let folder = Folder::new();
    let mut bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    bus.send(&CALL);
    bus.restart();
    wait_until("the new bus is recorded", || read(&file).buses().len() == 2);
    bus.send(&["--type=signal", "/org/example", "org.example.Mail.Came"]);
    let output = end(recorder);
    let errors = text(&output.stderr);
    assert!(errors.contains("is lost") && errors.contains("is there again"), "{errors}");
    assert!(errors.contains("1 gap"), "{errors}");
    let capture = read(&file);
    let gaps: Vec<_> = capture.gaps().iter().map(|gap| (gap.bus.0, gap.cause)).collect();
    assert_eq!(gaps, [(0, GapCause::Disconnected)]);
    let came = capture.messages().find(|message| message.member() == "Came");
    assert_eq!(came.expect("it was recorded").bus().0, 1, "another bus, with names of its own");
}

#[test]
fn a_bus_that_goes_away_ends_the_recording() {
    let folder = Folder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    drop(bus);
    let output = recorder.ended();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = text(&output.stderr);
    assert!(errors.contains("did not come back"), "{errors}");
    assert_eq!(read(&file).gaps().len(), 1);
}

#[test]
fn whenever_it_is_killed_the_file_can_be_read() {
    let folder = Folder::new();
    let bus = DbusDaemon::start(&folder, "");
    for round in 0..8_u64 {
        let file = folder.join(&format!("{round}.pcapng"));
        let path = file.display().to_string();
        let mut command = folder.diligence();
        command.args(["record", "--address", &bus.address, "-o", &path]);
        let recorder = Running::start(&mut command);
        wait_until("the file is there", || file.exists());
        let mut calls = Command::new("sh");
        calls.args([
            "-c",
            "while dbus-send --bus=$0 --print-reply --dest=org.freedesktop.DBus / \
                           org.freedesktop.DBus.ListNames; do :; done",
        ]);
        let calls = Running::start(calls.arg(&bus.address).stdin(Stdio::null()));
        thread::sleep(Duration::from_millis(41 * round));
        recorder.end(Signal::KILL);
        drop(calls);
        // A file without a byte says nothing; any other is a recording up to where it ends.
        if fs::metadata(&file).expect("it is there").len() > 0 {
            let capture = read(&file);
            assert!(capture.invalid().is_empty(), "round {round}");
        }
    }
}

#[test]
fn a_pipe_gets_it_and_limits_end_it() {
    let folder = Folder::new();
    let bus = DbusDaemon::start(&folder, "");
    let mut command = folder.diligence();
    command.args(["record", "--address", &bus.address, "-o", "-", "--max-time", "0.5"]);
    command.args(["--filter", "type='signal',member='Came'"]);
    let output = command.output().expect("the program can be started");
    assert!(output.status.success(), "{output:?}");
    let file = folder.join("piped.pcapng");
    fs::write(&file, &output.stdout).expect("the folder is ours");
    let capture = read(&file);
    assert_eq!(capture.buses()[0].filters, ["type='signal',member='Came'"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    for (words, expected) in [
        (&["--filter", "type='x'"][..], 2),
        (&["--trigger", "dur>>"], 2),
        (&["--kept", "7", "--redact"], 2),
        (&["--max-size", "0"], 2),
        (&["-o", "-", "--ring", "1M"], 2),
        (&["--address", "unix:path=/nonexistent/bus"], 1),
        (&["--address", "unix:path=/nonexistent/bus", "-o", "/nonexistent/file"], 1),
    ] {
        let mut command = folder.diligence();
        let output = command.arg("record").args(words).output().expect("it can be started");
        assert_eq!(output.status.code(), Some(expected), "{words:?}: {output:?}");
    }
}
