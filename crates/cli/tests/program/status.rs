//! Tests of `diligence status --bus` with our bus, with dbus-daemon, and without a bus.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{ProgramFolder, SpawnedProgram, text};
use rustix::process::Signal;

fn start(folder: &ProgramFolder, bus: &mut Command, elements: &str) -> (SpawnedProgram, String) {
    let config = folder.config(elements);
    let bus = bus.args(["--nofork", "--print-address=1", "--config-file"]).arg(config);
    let mut bus = SpawnedProgram::start(bus);
    let address = bus.line();
    (bus, address)
}

fn status(folder: &ProgramFolder, words: &[&str]) -> Output {
    folder.diligence().args(["status", "--bus"]).args(words).output().expect("the program exists")
}

#[test]
fn status_of_our_bus_has_all_sections() {
    let folder = ProgramFolder::new();
    let (bus, address) = start(&folder, &mut folder.dbus_daemon(), "");
    let output = status(&folder, &["--address", &address]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    let process = format!("process {} dbus-daemon", bus.id());
    for part in [&address, &*process, "connections   1 now, ", "Members, ", "Incidents, "] {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "a pipe has no colors");

    let output = status(&folder, &["--json", "--address", &address]);
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(shown["process"], bus.id());
    assert_eq!(shown["totals"]["Connections"], 1);
    assert!(shown["members_counted_for"].as_u64() > Some(0), "the first one began to count");
    let members = shown["members"].as_array().expect("an array");
    assert!(members.iter().any(|member| member["Member"] == "Hello"), "{members:?}");
    bus.end(Signal::TERM);
}

#[test]
fn status_of_dbus_daemon_has_its_own_statistics() {
    let reference = Path::new("/usr/bin/dbus-daemon");
    assert!(reference.exists(), "install dbus-daemon");
    let folder = ProgramFolder::new();
    let (bus, address) = start(&folder, &mut Command::new(reference), "");
    let output = status(&folder, &["--address", &address]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.contains("  ActiveConnections                           1\n"), "{shown}");
    assert!(shown.contains("Connections, with the longest queues first\n"), "{shown}");
    bus.end(Signal::TERM);
}

#[test]
fn status_errors_are_reported() {
    let folder = ProgramFolder::new();
    let nowhere = status(&folder, &["--address", "unix:path=/none"]);
    assert_eq!(nowhere.status.code(), Some(1));
    let complaint = text(&nowhere.stderr);
    assert!(
        complaint.starts_with("diligence status: cannot connect to the bus at unix:path=/none: "),
        "{complaint}"
    );
    for words in [
        &["status", "--bus", "com.example.Mail"][..],
        &["status", "--bus", "--session", "--system"],
    ] {
        let output = folder.diligence().args(words).output().expect("the program exists");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}
