//! `diligence record --introspect`: what objects say they have, and `diligence show` with it.

use std::path::{Path, PathBuf};

use capture::Capture;
use capture::record::Fact;
use client::Connection;
use rustix::process::Signal;

use crate::recorder::{DbusDaemon, OurBus, demo, end, read, start, wait_until};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// The objects that were asked, with the names by which they were.
fn asked(capture: &Capture) -> Vec<(&str, &str)> {
    let facts = capture.facts().iter();
    let asked = facts.filter_map(|(_, _, fact)| match fact {
        Fact::Introspection { name, path, xml } if xml.contains("<node") => {
            Some((name.as_str(), path.as_str()))
        }
        _ => None,
    });
    asked.collect()
}

/// Chooses a profile; that the battery is not there yet is no matter here.
fn choose(address: &str) {
    let connection = Connection::open(address).expect("the bus is there");
    let arguments = ("balanced",);
    let _ = connection.call(BATTERY, PATH, "com.example.Battery1", "SetPowerProfile", &arguments);
}

/// Records the battery of the demonstration, called by its name, until it has been asked.
fn record(folder: &ProgramFolder, address: &str, words: &[&str]) -> PathBuf {
    let file = folder.join("a.pcapng");
    let recorder = start(folder, address, &file, words);
    // It starts nothing: nobody is there yet who could answer.
    choose(address);
    let battery = demo(folder, address, &["battery"]);
    wait_until("the battery is there", || {
        let capture = read(&file);
        capture.messages().any(|message| message.member() == "PropertiesChanged")
    });
    choose(address);
    if words.contains(&"--introspect") {
        wait_until("the battery has answered", || asked(&read(&file)).contains(&(BATTERY, PATH)));
    }
    choose(address);
    assert!(end(recorder).status.success());
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
    assert!(asked(&capture).iter().all(|(_, path)| *path == PATH), "{:?}", asked(&capture));
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
    assert!(own.len() <= 4, "each name is asked once it is there: {}", own.len());
}

#[test]
fn arguments_have_names_on_a_bus_of_ours() {
    let folder = ProgramFolder::new();
    check(&folder, &OurBus::start(&folder).address);
}

#[test]
fn arguments_have_names_on_a_bus_of_the_reference() {
    let folder = ProgramFolder::new();
    check(&folder, &DbusDaemon::start(&folder, "").address);
}

#[test]
fn nobody_is_asked_otherwise() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let file = record(&folder, &bus.address, &[]);
    let capture = read(&file);
    assert!(asked(&capture).is_empty());
    assert!(capture.messages().all(|message| message.member() != "Introspect"));
    let lines = shown(&folder, &file, &["--format", "gdbus", CHOSEN]);
    assert!(lines.contains("SetPowerProfile ('balanced',)"), "{lines}");
}

const BATTERY: &str = "com.example.Battery";
const PATH: &str = "/com/example/Battery";
const CHOSEN: &str = "member:SetPowerProfile";
