//! Runs the example programs together on one bus.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use diligence_client::wire::body::Value;
use support::PrivateTestBus;

/// The program of an example, which `cargo test -p diligence-client` builds along with the tests.
fn example(bus: &PrivateTestBus, name: &str) -> Command {
    let tests = std::env::current_exe().unwrap();
    let program: PathBuf = tests.parent().unwrap().join("../examples").join(name);
    assert!(program.exists(), "cargo build -p diligence-client --examples makes {program:?}");
    let mut command = Command::new(program);
    command.env("DBUS_SESSION_BUS_ADDRESS", &bus.address).stdin(Stdio::null());
    command
}

fn start(bus: &PrivateTestBus, name: &str, words: &[&str]) -> Child {
    let mut command = example(bus, name);
    command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Kills the bus, and checks that the programs then exit successfully.
fn end(mut bus: PrivateTestBus, programs: impl IntoIterator<Item = Child>) {
    bus.kill();
    for program in programs {
        let Output { status, stderr, .. } = program.wait_with_output().unwrap();
        assert!(status.success(), "{status}: {}", String::from_utf8_lossy(&stderr));
    }
}

#[test]
fn chat_examples_talk_whisper_and_search() {
    let bus = PrivateTestBus::start();
    let watcher = bus.connect();
    let said = watcher.subscribe_to("/com/example/Chat", "com.example.Chat1", "Said").unwrap();
    let mut programs = vec![start(&bus, "archive", &[]), start(&bus, "chat_room", &[])];
    programs.extend(["anna", "ben"].map(|name| start(&bus, "chat_member", &[name])));

    let mut answers = 0;
    while answers == 0 {
        let signal = said.next(Some(Duration::from_secs(60))).unwrap().expect("a line");
        let (_, text): (&str, &str) = signal.read().unwrap();
        answers += usize::from(text == "anna: I think so");
    }
    let ben = watcher
        .proxy("com.example.Chat.Ben", "/com/example/ChatPeer", "com.example.ChatPeer1")
        .unwrap();
    let (answer,): (String,) = ben.call("Whisper", &("me", "hello")).unwrap().read().unwrap();
    assert!(answer.starts_with("Yes, me."), "{answer}");
    let room = watcher.proxy("com.example.Chat", "/com/example/Chat", "com.example.Chat1").unwrap();
    let changes = room.property_changes().unwrap();
    let members: Vec<String> = room.get("Members").unwrap();
    assert_eq!(members.len(), 2);

    // A member that disconnected is removed from the room.
    let mut ben = programs.pop().unwrap();
    ben.kill().unwrap();
    ben.wait().unwrap();
    changes.next(Some(Duration::from_secs(60))).unwrap().expect("a change of the members");
    assert_eq!(room.get::<Vec<String>>("Members").unwrap(), ["anna"]);
    end(bus, programs);
}

#[test]
fn poller_battery_and_volumes_examples_work_together() {
    let bus = PrivateTestBus::start();
    let watcher = bus.connect();
    let battery = ("com.example.Battery", "/com/example/Battery", "com.example.Battery1");
    let battery = watcher.proxy(battery.0, battery.1, battery.2).unwrap();
    let changes = battery.property_changes().unwrap();
    let programs = ["poller", "battery", "volumes"].map(|name| start(&bus, name, &[]));
    let signal = changes.next(Some(Duration::from_secs(60))).unwrap().expect("a change");
    type BatteryChanges<'a> = (&'a str, BTreeMap<&'a str, Value>, Vec<&'a str>);
    let (_, changed, _): BatteryChanges<'_> = signal.read().unwrap();
    assert_eq!(changed.keys().copied().collect::<Vec<_>>(), ["Percentage", "TimeToEmpty"]);
    let (left,): (i64,) = battery.call("SetPowerProfile", &("saver",)).unwrap().read().unwrap();
    assert!(left > 600, "{left}");
    assert!(watcher.wait_for_owner("com.example.Volumes", Some(Duration::from_secs(60))).unwrap());
    let managed = bus.busctl(&["tree", "--list", "com.example.Volumes"]);
    assert!(managed.contains("/com/example/Volumes/v0999"), "{managed}");
    end(bus, programs);
}

#[test]
fn descriptors_example_passes_files_both_ways() {
    let bus = PrivateTestBus::start();
    let service = start(&bus, "descriptors", &[]);
    let watcher = bus.connect();
    assert!(watcher.wait_for_owner("com.example.Log", Some(Duration::from_secs(60))).unwrap());
    let output = example(&bus, "descriptors").arg("read").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let length = std::fs::metadata("/etc/os-release").unwrap().len();
    assert_eq!(printed, format!("Open: {length} bytes\nTail: The last line of the log.\n"));

    // A second instance fails because the name is owned.
    let output = example(&bus, "descriptors").output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && complaint.contains("is already owned"), "{complaint}");
    end(bus, [service]);
}

#[test]
fn typed_examples_call_each_other() {
    let bus = PrivateTestBus::start();
    let service = start(&bus, "typed_service", &[]);
    let watcher = bus.connect();
    let name = "com.example.Thermostat";
    assert!(watcher.wait_for_owner(name, Some(Duration::from_secs(60))).unwrap());
    let output = example(&bus, "typed_proxy").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = "\
Some(\"T-1000\") is set to Some(20.0)
now to Some(21.0)
refused: 100 °C is not between 5 and 30 °C
raised to 22.5, then to 23
I raised it to 22.5
";
    assert_eq!(printed, expected);
    let seen = bus.busctl(&["introspect", name, "/com/example/Thermostat"]);
    let rows: Vec<Vec<&str>> = seen.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in [
        vec![".Raise", "method", "d", "d", "-"],
        vec![".Lock", "method", "-", "-", "deprecated"],
        vec![".Target", "property", "d", "23", "emits-change", "writable"],
        vec![".Raised", "signal", "ds", "-", "-"],
    ] {
        assert!(rows.contains(&row), "{row:?}: {seen}");
    }
    bus.busctl(&["call", name, "/com/example/Thermostat", "com.example.Thermostat1", "Lock"]);
    let output = example(&bus, "typed_proxy").output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && complaint.contains("Locked"), "{complaint}");
    end(bus, [service]);
}
