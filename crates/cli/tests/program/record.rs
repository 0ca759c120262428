//! Tests of `diligence record` on a Diligence bus and on dbus-daemon.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use capture::Capture;
use capture::record::{CaptureMethod, GapCause};
use rustix::process::Signal;

use crate::recorder::{
    CALL, DbusDaemon, OurBus, end_after, read, recorders, send, start, wait_until,
};
use crate::support::{ProgramFolder, SpawnedProgram, text};

#[test]
fn a_command_is_recorded_from_its_first_message_on() {
    let folder = ProgramFolder::new();
    let file = folder.join("a.pcapng");
    let path = file.display().to_string();
    let call = [&["dbus-send", "--session"], &CALL[..]].concat();
    // The recording ends with the command, so the command waits until the recorder has read the call.
    let script = format!("{}; sleep 0.2; exit 3", call.join(" "));
    let mut command = folder.diligence();
    command.args(["run", "--record", &path, "--", "sh", "-c", &script]);
    let output = command.output().expect("the program can be started");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let errors = text(&output.stderr);
    assert!(errors.contains("nothing lost") && errors.contains(&path), "{errors}");
    let capture = read(&file);
    assert!(matches!(capture.buses()[0].method, CaptureMethod::Trace | CaptureMethod::Monitor));
    assert_eq!(recorders(&capture).len(), 2);
    let origin = &capture.origins()[0];
    assert!(origin.program.as_deref().is_some_and(|name| name.starts_with("diligence ")));
    let call = capture.messages().find(|message| message.member() == "GetId");
    assert!(call.expect("the recorded message").duration().is_some());
}

#[test]
fn the_programs_of_clients_that_exit_at_once_are_recorded() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    for _ in 0..CLIENTS {
        send(&bus.address, &["/", "org.example.Test.Happened"]);
    }
    let output = end_after(recorder, &file, "Happened", CLIENTS);
    assert!(output.status.success(), "{output:?}");
    let capture = read(&file);
    let signals = capture.messages().filter(|message| message.member() == "Happened");
    let senders = signals.filter_map(|signal| signal.from());
    let program = |peer| capture.directory().peer(peer).process.clone().unwrap_or_default();
    let commands: Vec<_> = senders.map(|peer| program(peer).command).collect();
    assert_eq!(commands.len(), CLIENTS);
    let known: Vec<_> = commands.iter().filter_map(|command| command.first()).collect();
    assert!(known.len() >= CLIENTS - MISSED_MAX, "{commands:?}");
    assert!(known.iter().all(|program| *program == "dbus-send"), "{commands:?}");
}

/// The number of clients that send a signal and exit.
const CLIENTS: usize = 40;
/// The bus waits only a few milliseconds for information from the kernel, so it misses the program
/// of some clients if the processors are busy.
const MISSED_MAX: usize = 4;

#[test]
fn dbus_daemon_is_recorded_until_an_interrupt() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    let mut waiting = Command::new("gdbus");
    waiting.args(["monitor", "--address", &bus.address, "--dest", "org.freedesktop.DBus"]);
    let monitor = SpawnedProgram::start(&mut waiting);
    wait_until("the process of gdbus is known", || {
        let capture = read(&file);
        let mut processes =
            capture.directory().peers().filter_map(|(_, peer)| peer.process.as_ref());
        processes
            .any(|process| process.comm.as_deref() == Some("gdbus") && process.started.is_some())
    });
    bus.send(&CALL);
    let output = end_after(recorder, &file, "GetId", 1);
    drop(monitor);
    assert!(output.status.success(), "{output:?}");
    let capture = read(&file);
    assert_eq!(capture.buses()[0].method, CaptureMethod::Monitor);
    assert_eq!(capture.buses()[0].address.as_deref(), Some(bus.address.as_str()));
    assert!(capture.gaps().is_empty() && capture.damage().is_empty());
    let call = capture.messages().find(|message| message.member() == "GetId");
    assert!(call.expect("the call was recorded").duration().is_some(), "with its answer");
}

#[test]
fn recording_falls_back_to_eavesdropping_if_monitors_are_denied() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(
        &folder,
        "<deny send_interface='org.freedesktop.DBus.Monitoring' send_member='BecomeMonitor'/>",
    );
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    bus.send(&["--type=signal", "/org/example", "org.example.Mail.Came", "string:hello"]);
    let output = end_after(recorder, &file, "Came", 1);
    let errors = text(&output.stderr);
    assert!(errors.contains("recording by eavesdropping, which misses some messages"), "{errors}");
    let capture = read(&file);
    assert_eq!(capture.buses()[0].method, CaptureMethod::Eavesdrop);
    assert!(capture.messages().any(|message| message.member() == "Came"));
}

/// Clients fall back to ANONYMOUS, like dbus-send and gdbus, if the bus offers nothing else.
/// Neither bus shows its messages to a client without a user.
#[test]
fn a_bus_for_anonymous_clients_is_listed_and_called() {
    let elements = "<auth>ANONYMOUS</auth><allow_anonymous/>\
                    <listen>tcp:host=127.0.0.1,port=0,family=ipv4</listen>";
    for program in ["dbus-daemon", "ours"] {
        let folder = ProgramFolder::new();
        let config = folder.config(elements);
        let mut bus = match program {
            "ours" => folder.dbus_daemon(),
            program => Command::new(program),
        };
        bus.args(["--nofork", "--print-address=1", "--config-file"]).arg(&config);
        let mut bus = SpawnedProgram::start(bus.stdin(Stdio::null()));
        let addresses = bus.line();
        let addresses: Vec<_> = addresses.split(';').collect();
        assert_eq!(addresses.len(), 2, "{addresses:?}");
        for address in addresses {
            let succeed = |words: &[&str]| {
                let output =
                    folder.diligence().args(words).output().expect("the program can be started");
                assert!(output.status.success(), "{program} {address}: {output:?}");
                text(&output.stdout)
            };
            let names = succeed(&["list", "--address", address]);
            assert!(names.contains("org.freedesktop.DBus"), "{names}");
            let name = "org.freedesktop.DBus";
            let words = ["call", "--address", address, name, "/org/freedesktop/DBus", "GetId"];
            assert!(succeed(&words).starts_with("s \""));
            let emit = ["emit", "--address", address, "/org/example", "org.example.Mail.Came"];
            assert_eq!(succeed(&emit), "");
            let file = folder.join("a.pcapng");
            let mut record = folder.diligence();
            record.args(["record", "--address", address, "--max-time=1s", "-o"]).arg(&file);
            let output = record.output().expect("the program can be started");
            let errors = text(&output.stderr);
            assert!(
                errors.contains("it allows neither monitoring nor eavesdropping: "),
                "{program}: {errors}"
            );
            assert!(errors.contains("rejected attempt to call AddMatch"), "{program}: {errors}");
            assert!(!file.exists());
        }
        // Clients try EXTERNAL first, and have already sent BEGIN when the bus rejects it.
        let log = text(&bus.end(Signal::TERM).stderr);
        assert!(!log.contains("handshake") && !log.contains("disconnected"), "{program}: {log}");
    }
}

#[test]
fn the_recorder_reconnects_to_a_restarted_bus() {
    let folder = ProgramFolder::new();
    let mut bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    bus.send(&CALL);
    bus.restart();
    wait_until("the new bus is recorded", || read(&file).buses().len() == 2);
    bus.send(&["--type=signal", "/org/example", "org.example.Mail.Came"]);
    let output = end_after(recorder, &file, "Came", 1);
    let errors = text(&output.stderr);
    assert!(errors.contains("lost ") && errors.contains("reconnected to"), "{errors}");
    assert!(errors.contains("1 gap"), "{errors}");
    let capture = read(&file);
    let gaps: Vec<_> = capture.gaps().iter().map(|gap| (gap.bus.0, gap.cause)).collect();
    assert_eq!(gaps, [(0, GapCause::Disconnected)]);
    let came = capture.messages().find(|message| message.member() == "Came");
    assert_eq!(
        came.expect("the recorded message").bus().0,
        1,
        "another bus, with names of its own"
    );
}

#[test]
fn recording_ends_if_the_bus_does_not_return() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    drop(bus);
    let output = recorder.ended();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = text(&output.stderr);
    assert!(errors.contains("gave up reconnecting"), "{errors}");
    assert_eq!(read(&file).gaps().len(), 1);
}

#[test]
fn existing_recordings_survive_a_failed_start() {
    let folder = ProgramFolder::new();
    let file = folder.join("keep.pcapng");
    let path = file.display().to_string();
    let ring = format!("{path}.1");
    fs::write(&file, "a recording").expect("a writable folder");
    fs::write(&ring, [0x0A, 0x0D, 0x0D, 0x0A, 0]).expect("a writable folder");
    let new = folder.join("new.pcapng").display().to_string();
    let nowhere = "unix:path=/nonexistent/bus";
    for words in [
        &["record", "--address", nowhere, "-o", &path][..],
        &["record", "--address", nowhere, "-o", &path, "--ring", "1M"],
        &["record", "--address", nowhere, "-o", &path, "--trigger", "dur>1ms"],
        &["record", "--address", nowhere, "-o", &path, "--", "true"],
        &["record", "--address", nowhere, "-o", &new],
        &["run", "--record", &path, "--", "/nonexistent/program"],
        &["run", "--record", &new, "--", "/nonexistent/program"],
    ] {
        let output = folder.diligence().args(words).output().expect("the program can be started");
        assert!(!output.status.success(), "{words:?}: {output:?}");
        assert_eq!(fs::read(&file).expect("the file exists"), b"a recording", "{words:?}");
        assert!(fs::metadata(&ring).is_ok_and(|found| found.len() == 5), "{words:?}");
        let entries = fs::read_dir(folder.join("")).expect("a writable folder");
        let names: Vec<_> = entries.map(|entry| entry.expect("readable").file_name()).collect();
        assert_eq!(names.len(), 2, "{words:?}: {names:?}");
    }
}

#[test]
fn killed_recorders_keep_the_old_file_and_leave_an_unfinished_one() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let path = file.display().to_string();
    fs::write(&file, "a recording").expect("a writable folder");
    let unfinished = || {
        let entries = fs::read_dir(folder.join("")).expect("a writable folder");
        let mut paths = entries.map(|entry| entry.expect("readable").path());
        paths.find(|path| path.extension().is_some_and(|end| end == "unfinished"))
    };
    let start = || {
        let mut command = folder.diligence();
        command.args(["record", "--address", &bus.address, "-o", &path]);
        let recorder = SpawnedProgram::start(&mut command);
        wait_until("the recorder", || {
            unfinished().is_some_and(|path| {
                Capture::open(&path).is_ok_and(|capture| recorders(&capture).len() == 2)
            })
        });
        bus.send(&["--type=signal", "/org/example", "org.example.Mail.Came"]);
        let came = |capture: &Capture| capture.messages().any(|one| one.member() == "Came");
        wait_until("the signal", || unfinished().is_some_and(|path| came(&read(&path))));
        recorder
    };
    start().end(Signal::KILL);
    assert_eq!(fs::read(&file).expect("the file exists"), b"a recording");
    let left = unfinished().expect("the unfinished file");
    let shown =
        folder.diligence().arg("show").arg(&left).output().expect("the program can be started");
    assert!(text(&shown.stdout).contains("Member=Came"), "{shown:?}");
    fs::remove_file(left).expect("a writable folder");
    let output = start().end(Signal::INT);
    assert!(output.status.success() && text(&output.stderr).contains(&path), "{output:?}");
    assert!(read(&file).messages().any(|message| message.member() == "Came"));
    assert_eq!(unfinished(), None);
}

#[test]
fn recordings_of_killed_recorders_are_readable() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    for round in 0..8_u64 {
        let file = folder.join(&format!("{round}.pcapng"));
        let path = file.display().to_string();
        let mut command = folder.diligence();
        command.args(["record", "--address", &bus.address, "-o", &path]);
        let recorder = SpawnedProgram::start(&mut command);
        wait_until("the file is there", || file.exists());
        let mut calls = Command::new("sh");
        calls.args([
            "-c",
            "while dbus-send --bus=$0 --print-reply --dest=org.freedesktop.DBus / \
                           org.freedesktop.DBus.ListNames; do :; done",
        ]);
        let calls = SpawnedProgram::start(calls.arg(&bus.address).stdin(Stdio::null()));
        // The recorder is killed at different times.
        thread::sleep(Duration::from_millis(41 * round));
        recorder.end(Signal::KILL);
        drop(calls);
        // A file without a byte is not a recording. Any other file is a recording up to its end.
        if fs::metadata(&file).expect("the file exists").len() > 0 {
            let capture = read(&file);
            assert!(capture.invalid().is_empty(), "round {round}");
        }
    }
}

#[test]
fn recordings_are_written_to_a_pipe_until_max_time() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let mut command = folder.diligence();
    command.args(["record", "--address", &bus.address, "-o", "-", "--max-time", "0.5"]);
    command.args(["--filter", "type='signal',member='Came'"]);
    let output = command.output().expect("the program can be started");
    assert!(output.status.success(), "{output:?}");
    let file = folder.join("piped.pcapng");
    fs::write(&file, &output.stdout).expect("a writable folder");
    let capture = read(&file);
    assert_eq!(capture.buses()[0].filters, ["type='signal',member='Came'"]);
}

#[test]
fn max_size_below_the_minimum_is_rejected_with_the_minimum() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("small.pcapng");
    let mut command = folder.diligence();
    command.args(["record", "--address", &bus.address, "--max-size", "5"]);
    let output = command.output().expect("the program can be started");
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("expected at least 4 KiB"), "{errors}");
    let options = ["--max-size", "4K", "--filter", "type='signal',member='Came'"];
    let recorder = start(&folder, &bus.address, &file, &options);
    bus.send(&["--type=signal", "/org/example", "org.example.Mail.Came"]);
    let output = end_after(recorder, &file, "Came", 1);
    assert!(output.status.success(), "{output:?}");
    assert!(read(&file).messages().any(|message| message.member() == "Came"));
    assert!(fs::metadata(&file).expect("the file exists").len() <= 4096);
}

#[test]
fn invalid_record_options_are_rejected() {
    let folder = ProgramFolder::new();
    for (words, expected) in [
        (&["--filter", "type='x'"][..], 2),
        (&["--trigger", "dur>>"], 2),
        (&["--kept", "7", "--redact"], 2),
        (&["--max-size", "0"], 2),
        (&["--max-size", "5"], 2),
        (&["--ring", "4095"], 2),
        (&["-o", "-", "--ring", "1M"], 2),
        (&["--address", "unix:path=/nonexistent/bus"], 1),
        (&["--address", "unix:path=/nonexistent/bus", "-o", "/nonexistent/file"], 1),
    ] {
        let mut command = folder.diligence();
        let output =
            command.arg("record").args(words).output().expect("the program can be started");
        assert_eq!(output.status.code(), Some(expected), "{words:?}: {output:?}");
    }
}
