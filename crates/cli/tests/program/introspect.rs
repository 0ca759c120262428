//! Tests of `diligence record --introspect`, and of `diligence show` with its introspection data.

use std::path::{Path, PathBuf};

use capture::Capture;
use capture::record::Fact;
use client::Connection;
use rustix::process::Signal;

use crate::recorder::{DbusDaemon, OurBus, demo, end_after, read, start, wait_until};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// Returns the objects that the recorder introspected, with the bus names that it used.
fn introspected(capture: &Capture) -> Vec<(&str, &str)> {
    let facts = capture.facts().iter();
    let introspected = facts.filter_map(|(_, _, fact)| match fact {
        Fact::Introspection { name, path, xml } if xml.contains("<node") => {
            Some((name.as_str(), path.as_str()))
        }
        _ => None,
    });
    introspected.collect()
}

/// Calls the battery, which may not run yet; then the call fails.
fn call_battery(address: &str) {
    let connection = Connection::open(address).expect("the bus is there");
    let arguments = ("balanced",);
    let _ = connection.call(BATTERY, PATH, "com.example.Battery1", "SetPowerProfile", &arguments);
}

/// Records calls to the demo's battery by its name, until the recorder has introspected it.
fn record(folder: &ProgramFolder, address: &str, words: &[&str]) -> PathBuf {
    let file = folder.join("a.pcapng");
    let recorder = start(folder, address, &file, words);
    // The recorder must not activate the battery, which does not run yet.
    call_battery(address);
    let battery = demo(folder, address, &["battery"]);
    wait_until("the battery is there", || {
        let capture = read(&file);
        capture.messages().any(|message| message.member() == "PropertiesChanged")
    });
    call_battery(address);
    if words.contains(&"--introspect") {
        wait_until("the battery has answered", || {
            introspected(&read(&file)).contains(&(BATTERY, PATH))
        });
    }
    call_battery(address);
    assert!(end_after(recorder, &file, "SetPowerProfile", 3).status.success());
    battery.end(Signal::TERM);
    file
}

fn shown(folder: &ProgramFolder, file: &Path, words: &[&str]) -> String {
    let mut command = folder.diligence();
    let command = command.arg("show").arg(file).args(words);
    let output = SpawnedProgram::start(command).ended();
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

fn check(folder: &ProgramFolder, address: &str) {
    let file = record(folder, address, &["--introspect", "--redact"]);
    let capture = read(&file);
    assert!(
        introspected(&capture).iter().all(|(_, path)| *path == PATH),
        "{:?}",
        introspected(&capture)
    );
    let lines = shown(folder, &file, &["--format", "gdbus", CHOSEN]);
    for expected in [
        "SetPowerProfile (profile: 'xxxxxxxx',) (redacted)",
        "returns (time_to_empty: int64 0,) (redacted)",
    ] {
        assert!(lines.contains(expected), "{lines}");
    }
    let lines = shown(folder, &file, &["--format", "json", CHOSEN]);
    for expected in [r#""data":null"#, r#""arguments":["profile"]"#, r#""problem":"redacted""#] {
        assert!(lines.contains(expected), "{lines}");
    }
    let own: Vec<_> =
        capture.messages().filter(|message| message.member() == "Introspect").collect();
    assert!(own.iter().all(capture::model::CapturedMessage::is_of_recorder));
    assert!(
        own.len() <= 4,
        "each name is introspected once, after it gets an owner: {}",
        own.len()
    );
}

#[test]
fn arguments_have_names_in_recordings_of_our_bus() {
    let folder = ProgramFolder::new();
    check(&folder, &OurBus::start(&folder).address);
}

#[test]
fn arguments_have_names_in_recordings_of_dbus_daemon() {
    let folder = ProgramFolder::new();
    check(&folder, &DbusDaemon::start(&folder, "").address);
}

#[test]
fn objects_are_not_introspected_without_the_option() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let file = record(&folder, &bus.address, &[]);
    let capture = read(&file);
    assert!(introspected(&capture).is_empty());
    assert!(capture.messages().all(|message| message.member() != "Introspect"));
    let lines = shown(&folder, &file, &["--format", "gdbus", CHOSEN]);
    assert!(lines.contains("SetPowerProfile ('balanced',)"), "{lines}");
}

const BATTERY: &str = "com.example.Battery";
const PATH: &str = "/com/example/Battery";
const CHOSEN: &str = "member:SetPowerProfile";
