//! Checks which service is named as the cause if a service does not start or exits, on two buses
//! and in the recordings of two programs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::recorder::{DbusDaemon, OurBus, end, start, start_dbus_monitor};
use crate::support::{ProgramFolder, text};

/// Writes the service files, and returns the configuration that uses them.
fn write_services(folder: &ProgramFolder) -> String {
    let services = folder.join("services");
    fs::create_dir(&services).expect("a writable folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/services/starting.py");
    let python = |name: &str, way: &str| {
        format!("/usr/bin/python3 -B {} org.example.{name} {way}", script.display())
    };
    let needs = |name: &str, other: &str| python(name, &format!("needs org.example.{other}"));
    for (name, program) in [
        ("Exits", "/bin/sh -c 'exit 3'".to_owned()),
        ("Crashes", "/bin/sh -c 'kill -SEGV $$'".to_owned()),
        ("Missing", "/nonexistent/program".to_owned()),
        ("Hangs", "/bin/sleep 60".to_owned()),
        ("Late", python("Late", "late")),
        ("NeedsLate", python("NeedsLate", "start org.example.Late")),
        ("Leaves", python("Leaves", "leave")),
        ("FirstOfThree", needs("FirstOfThree", "SecondOfThree")),
        ("SecondOfThree", needs("SecondOfThree", "LastOfThree")),
        ("LastOfThree", "/bin/sh -c 'sleep 0.3; exit 9'".to_owned()),
        ("FirstOfTwo", needs("FirstOfTwo", "LastOfTwo")),
        ("LastOfTwo", "/bin/sleep 60".to_owned()),
        ("NeedsAbsent", needs("NeedsAbsent", "Absent")),
        ("CrashesOnError", python("CrashesOnError", "crash org.example.Absent")),
        ("IgnoresError", python("IgnoresError", "ignore org.example.Absent")),
        ("FirstOfCircle", needs("FirstOfCircle", "SecondOfCircle")),
        ("SecondOfCircle", needs("SecondOfCircle", "FirstOfCircle")),
    ] {
        let file = format!("[D-BUS Service]\nName=org.example.{name}\nExec={program}\n");
        let path = services.join(format!("org.example.{name}.service"));
        fs::write(path, file).expect("a writable folder");
    }
    format!(
        "<servicedir>{}</servicedir><limit name='service_start_timeout'>{START_LIMIT_MS}</limit>",
        services.display()
    )
}

/// Calls each service, or requests its activation.
fn call_services(address: &str) {
    let bus = "org.freedesktop.DBus";
    for (name, is_started) in [
        ("Exits", false),
        ("Crashes", true),
        ("Missing", false),
        ("Hangs", true),
        ("NeedsLate", false),
        ("Leaves", false),
        ("FirstOfThree", false),
        ("FirstOfTwo", false),
        ("NeedsAbsent", false),
        ("CrashesOnError", false),
        ("IgnoresError", false),
        ("FirstOfCircle", false),
    ] {
        let name = format!("org.example.{name}");
        let mut command = Command::new("dbus-send");
        command.arg(format!("--bus={address}")).arg("--print-reply");
        match is_started {
            true => command
                .arg(format!("--dest={bus}"))
                .arg("/")
                .arg(format!("{bus}.StartServiceByName"))
                .arg(format!("string:{name}"))
                .arg("uint32:0"),
            false => command.arg(format!("--dest={name}")).args(["/", "org.example.Test.Ask"]),
        };
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let succeeds = name == "org.example.NeedsLate";
        assert_eq!(status.expect("dbus-send is installed").success(), succeeds, "{name}");
    }
}

/// Returns what a command prints about a file.
fn printed(folder: &ProgramFolder, words: &[&str], file: &Path) -> String {
    let output = folder.diligence().args(words).arg(file).output().expect("the program exists");
    let notes = text(&output.stderr);
    assert!(notes.lines().all(|line| line.starts_with("note: ")), "{notes}");
    text(&output.stdout)
}

fn check(folder: &ProgramFolder, file: &Path, source: &str) {
    let report: Value =
        serde_json::from_str(&printed(folder, &["lint", "--json", "--all"], file)).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let field = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let causes = |rule: &str| -> Vec<(String, String)> {
        let of_rule = findings.iter().filter(|finding| finding["rule"] == rule);
        let mut found: Vec<_> =
            of_rule.map(|it| (field(&it["who"], "label"), field(it, "says"))).collect();
        found.sort();
        found
    };
    let by_the_bus = findings.iter().filter(|it| it["who"]["stable"] == "org.freedesktop.DBus");
    assert_eq!(by_the_bus.count(), 0, "{source}: {findings:#?}");
    let expected = [
        ("Absent", "does not exist"),
        ("Crashes", "killed by a signal: Process org.example.Crashes received signal 11"),
        ("CrashesOnError", "killed by a signal: Process org.example.CrashesOnError received"),
        ("Exits", "exited: Process org.example.Exits exited with status 3"),
        ("FirstOfCircle", "it and org.example.SecondOfCircle wait for each other"),
        ("Hangs", "did not acquire its name in time"),
        ("IgnoresError", "exited: Process org.example.IgnoresError exited with status 7"),
        ("LastOfThree", "org.example.FirstOfThree and org.example.SecondOfThree need it"),
        ("LastOfTwo", "org.example.FirstOfTwo needs it and failed to start"),
        ("Missing", "cannot be executed"),
    ];
    let failed = causes("L54");
    let labels: Vec<_> = failed.iter().map(|(label, _)| label.as_str()).collect();
    let names = expected.map(|(name, _)| format!("org.example.{name}"));
    assert_eq!(labels, names, "{source}: {failed:#?}");
    for ((_, says), (_, part)) in failed.iter().zip(expected) {
        assert!(says.contains(part), "{source}: {says}");
    }
    let says = |name: &str| &failed.iter().find(|(label, _)| label.ends_with(name)).expect(name).1;
    assert!(says("LastOfThree").contains("exited with status 9"), "{source}: {failed:#?}");
    assert!(says("Absent").contains("org.example.NeedsAbsent needs it"), "{source}: {failed:#?}");
    let names = |rule: &str| causes(rule).into_iter().map(|(label, _)| label).collect::<Vec<_>>();
    assert_eq!(names("L14"), ["org.example.Leaves"], "{source}");
    assert_eq!(names("L39"), ["org.example.Late"], "{source}: not the one that waited for it");
    // dbus-monitor does not know the activatable names, so the last service may seem to run without
    // replying.
    let may_be_silent = ["org.example.LastOfTwo", "org.example.SecondOfCircle"];
    let silent = names("L15");
    assert!(silent.iter().all(|it| may_be_silent.contains(&it.as_str())), "{source}: {silent:?}");
    check_timeline(folder, file, source);
}

fn check_timeline(folder: &ProgramFolder, file: &Path, source: &str) {
    let screen: Value =
        serde_json::from_str(&printed(folder, &["timeline", "--json", "--top=0"], file))
            .expect("JSON");
    let rows = screen["failed_starts"].as_array().expect("rows");
    let causes = |name: &str| {
        let name = format!("org.example.{name}");
        let row = rows.iter().find(|row| row["service"] == *name);
        row.unwrap_or_else(|| panic!("{source}: no {name} in {rows:#?}"))["because_of"].clone()
    };
    assert!((12..=14).contains(&rows.len()), "{source}: {rows:#?}");
    assert_eq!(causes("Exits"), Value::Null);
    assert_eq!(causes("FirstOfThree"), "org.example.LastOfThree", "{source}");
    assert_eq!(causes("SecondOfThree"), "org.example.LastOfThree", "{source}");
    assert_eq!(causes("FirstOfTwo"), "org.example.LastOfTwo", "{source}");
    assert_eq!(causes("NeedsAbsent"), "org.example.Absent", "{source}");
    assert_eq!(causes("CrashesOnError"), Value::Null, "{source}");
    assert_eq!(causes("FirstOfCircle"), "org.example.SecondOfCircle", "{source}");
    let screen = printed(folder, &["timeline", "--top=0"], file);
    assert!(screen.contains("Services that did not start"), "{source}: {screen}");
    let blocked = screen.lines().find(|line| line.contains("StartServiceByName"));
    let blocked = blocked.unwrap_or_else(|| panic!("{source}: {screen}"));
    assert!(blocked.contains("org.example.Hangs"), "{source}: {blocked}");
    // A call whose service did not start has no recipient.
    let capture = capture::Capture::open(file).expect("a recording");
    let row = rows.iter().find(|row| row["service"] == "org.example.Exits").expect("a row");
    let number = row["number"].as_u64().expect("a number");
    let call = capture.messages().find(|message| message.id().number() == number);
    assert_eq!(call.expect("the number of a message").to(), None, "{source}");
}

fn record_and_check(folder: &ProgramFolder, address: &str, bus: &str) {
    let (ours, theirs) = (folder.join("a.pcapng"), folder.join("b.pcap"));
    let recorder = start(folder, address, &ours, &[]);
    let monitor = start_dbus_monitor(address, &theirs);
    call_services(address);
    // Services may exit after the last reply.
    assert!(end(recorder).status.success());
    monitor.end(Signal::TERM);
    check(folder, &ours, &format!("{bus}, diligence record"));
    check(folder, &theirs, &format!("{bus}, dbus-monitor"));
}

#[test]
fn failed_starts_on_our_bus_name_the_service_as_the_cause() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start_with(&folder, &write_services(&folder));
    record_and_check(&folder, &bus.address, "diligence");
}

#[test]
fn failed_starts_on_dbus_daemon_name_the_service_as_the_cause() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start_with(&folder, "", &write_services(&folder));
    record_and_check(&folder, &bus.address, "dbus-daemon");
}

/// The activation timeout. The services that take their names need less, even on a busy machine.
const START_LIMIT_MS: u32 = 4000;
