//! Compares `diligence list`, `tree`, `introspect` and `status` with busctl on the same bus.

use std::process::{Command, Output, Stdio};

use rustix::process::Signal;

use crate::everything::{EVERYTHING, OBJECT, ServiceFault, serve};
use crate::recorder::{DbusDaemon, OurBus, demo, wait_until};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// Returns the standard output of busctl.
fn busctl(address: &str, words: &[&str]) -> String {
    let mut command = Command::new("busctl");
    command.args(["--address", address]).args(words).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    text(&command.output().expect("busctl is installed").stdout)
}

fn diligence(folder: &ProgramFolder, address: &str, words: &[&str]) -> Output {
    let mut command = folder.diligence();
    command.args(words).args(["--address", address]).env("LC_ALL", "C.UTF-8");
    command.output().expect("the program exists")
}

fn stdout_of(folder: &ProgramFolder, address: &str, words: &[&str]) -> String {
    let output = diligence(folder, address, words);
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Returns the error of a command that must fail and print nothing else.
fn refused(folder: &ProgramFolder, address: &str, words: &[&str]) -> String {
    let output = diligence(folder, address, words);
    assert_eq!(output.status.code(), Some(1), "{words:?}");
    assert_eq!(text(&output.stdout), "", "{words:?}");
    text(&output.stderr)
}

fn assert_same(folder: &ProgramFolder, address: &str, words: &[&str]) {
    let expected = busctl(address, words);
    assert_ne!(expected, "", "busctl has nothing to say to {words:?}");
    assert_eq!(stdout_of(folder, address, words), expected, "{words:?}");
}

/// A name that a demo program owns.
const BATTERY: &str = "com.example.Battery";

/// Starts the demo services, which end with the test.
fn start_demo(folder: &ProgramFolder, address: &str) -> Vec<SpawnedProgram> {
    let programs = ["battery", "volumes", "archive"].map(|name| demo(folder, address, &[name]));
    wait_until("the start_demo", || {
        let names = busctl(address, &["list", "--acquired", "--no-legend"]);
        names.lines().filter(|line| line.starts_with("com.example.")).count() >= 3
    });
    programs.into()
}

fn end(programs: Vec<SpawnedProgram>) {
    for program in programs {
        program.end(Signal::TERM);
    }
}

/// Removes the connections of busctl and diligence from a list of names.
fn without_tools(list: &str) -> Vec<&str> {
    let is_asker = |line: &&str| line.contains(" busctl ") || line.contains(" diligence ");
    list.lines().filter(|line| !(line.starts_with(':') && is_asker(line))).collect()
}

#[test]
fn lists_match_busctl() {
    let folder = ProgramFolder::new();
    let reference = DbusDaemon::start(
        &folder,
        "</policy><servicedir>/usr/share/dbus-1/services</servicedir><policy context='default'>",
    );
    let address = &reference.address;
    let programs = start_demo(&folder, address);
    serve(address, "com.example.Everything", ServiceFault::None);
    for words in [
        &["list", "--acquired"][..],
        &["list", "--acquired", "--no-legend"],
        &["list", "--activatable"],
        &["list", "--acquired", "--activatable"],
        &["list", "--acquired", "--json=short"],
        &["list", "--acquired", "--json=pretty"],
    ] {
        assert_same(&folder, address, words);
    }
    // The name of the bus's program is the longest in both lists, so the columns have equal widths.
    let (expected, found) = (busctl(address, &["list"]), stdout_of(&folder, address, &["list"]));
    assert_eq!(without_tools(&found), without_tools(&expected));
    end(programs);
}

#[test]
fn trees_match_busctl() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let address = &bus.address;
    let programs = start_demo(&folder, address);
    for words in [
        &["tree", BATTERY][..],
        &["tree", "--list", BATTERY],
        &["tree", BATTERY, "org.freedesktop.DBus"],
        &["tree", "--list", BATTERY, "org.freedesktop.DBus"],
    ] {
        assert_same(&folder, address, words);
    }
    serve(address, "com.example.Everything", ServiceFault::None);
    let expected = busctl(address, &["tree", "com.example.Everything"]);
    // busctl prints this error between the paths, and diligence prints it on standard error.
    let (complaint, expected) = expected.split_once('\n').expect("lines");
    assert!(complaint.starts_with("Failed to introspect object /odd "), "{complaint}");
    let found = diligence(&folder, address, &["tree", "com.example.Everything"]);
    assert_eq!(text(&found.stdout), expected);
    let complaint = "/odd of com.example.Everything: com.example.Error.Refused: not for you\n";
    assert_eq!(text(&found.stderr), format!("diligence tree: {complaint}"));
    assert!(found.status.success());
    let json = stdout_of(&folder, address, &["tree", BATTERY, "--json=short"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[0]["nodes"][0]["path"], "/");
    end(programs);
}

#[test]
fn silent_objects_do_not_delay_the_rest_of_a_tree() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    serve(&bus.address, "com.example.Silent", ServiceFault::Silent);
    let words = ["tree", "--list", "--timeout=300ms", "com.example.Silent", "com.example.Nobody"];
    let found = diligence(&folder, &bus.address, &words);
    assert_eq!(found.status.code(), Some(1), "one name has no owner");
    let (stdout, stderr) = (text(&found.stdout), text(&found.stderr));
    assert!(stdout.contains(&format!("/com/example\n{OBJECT}\n")), "{stdout}");
    let silent = "/odd of com.example.Silent: no reply within 300ms\n";
    assert!(stderr.contains(silent), "{stderr}");
    assert!(stderr.contains("no such name on the bus at "), "{stderr}");
    assert!(stderr.contains(": com.example.Nobody"), "{stderr}");
}

#[test]
fn tables_match_busctl() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let address = &bus.address;
    let programs = start_demo(&folder, address);
    serve(address, "com.example.Everything", ServiceFault::None);
    let everything = ["introspect", "com.example.Everything", OBJECT];
    let [command, name, path] = everything;
    for words in [
        &everything[..],
        &[command, name, path, EVERYTHING],
        &[command, name, path, EVERYTHING, "--no-legend"],
        &[command, name, path, "com.example.Methods1"],
        &[command, name, path, "--full"],
        &[command, name, path, "--xml-interface"],
        &[command, BATTERY, "/com/example/Battery"],
        &[command, "org.freedesktop.DBus", "/org/freedesktop/DBus"],
    ] {
        assert_same(&folder, address, words);
    }
    let paths = stdout_of(&folder, address, &[command, BATTERY]);
    assert_eq!(paths, busctl(address, &["tree", "--list", BATTERY]));
    let json = stdout_of(&folder, address, &[command, name, path, EVERYTHING, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["interfaces"][0]["properties"][0]["value"]["data"], 7, "{json}");
    end(programs);
}

#[test]
fn unreadable_properties_have_errors_of_their_own() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    serve(&bus.address, "com.example.Broken", ServiceFault::Broken);
    let words = ["introspect", "com.example.Broken", OBJECT, EVERYTHING];
    assert_eq!(busctl(&bus.address, &words), "", "busctl gives up");
    let table = stdout_of(&folder, &bus.address, &words);
    let line = |name: &str| {
        table.lines().find(|line| line.starts_with(name)).expect("the line of the property")
    };
    let double = line(".Double ");
    assert!(double.contains(" error: com.example.Error.Refused: it is broken "), "{table}");
    assert!(line(".LongU ").contains(" 18446744073709551615 "), "{table}");
}

#[test]
fn listed_objects_without_interfaces_are_empty_tables() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let name = "com.example.Everything";
    serve(&bus.address, name, ServiceFault::None);
    let path = "/com/example/Everything/below";
    let words = ["introspect", name, path];
    assert_eq!(stdout_of(&folder, &bus.address, &words), busctl(&bus.address, &words));
    let declared = stdout_of(&folder, &bus.address, &["introspect", "--recurse", name, path]);
    assert_eq!(declared, format!("node {path} {{\n}};\n"));
}

#[test]
fn unknown_names_are_reported_with_suggestions() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let address = &bus.address;
    serve(address, "com.example.Everything", ServiceFault::None);
    let check = |words: &[&str], expected: &str| {
        let complaint = refused(&folder, address, words);
        assert!(complaint.ends_with(expected), "{words:?}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    };
    let meant = ": com.example.Evrything; did you mean com.example.Everything?\n";
    check(&["status", "com.example.Evrything"], meant);
    check(&["introspect", "com.example.Evrything"], meant);
    check(&["introspect", "com.example.Evrything", "/"], meant);
    let name = "com.example.Everything";
    check(
        &["introspect", name, "/com/example/Evrything"],
        &format!("no object at /com/example/Evrything; did you mean {OBJECT}?\n"),
    );
    check(
        &["introspect", name, OBJECT, "com.example.Everything2"],
        &format!("has no interface com.example.Everything2; did you mean {EVERYTHING}?\n"),
    );
    check(&["status", "4294967294"], "there is no process 4294967294\n");
    let word = refused(&folder, address, &["status", "not a name"]);
    assert!(word.contains("not a name"), "{word}");
}

/// Checks that diligence prints the lines of busctl about a process, and then others.
fn assert_credentials(folder: &ProgramFolder, address: &str, subject: &str) {
    let expected = busctl(address, &["status", subject]);
    let found = stdout_of(folder, address, &["status", subject]);
    assert!(expected.contains("\nUID="), "{expected}");
    assert!(found.starts_with(&expected), "{found}\n-- expected at the start:\n{expected}");
}

#[test]
fn credentials_match_busctl_and_add_details() {
    let folder = ProgramFolder::new();
    let reference = DbusDaemon::start(&folder, "");
    let address = &reference.address;
    let battery = demo(&folder, address, &["battery"]);
    wait_until("the battery", || busctl(address, &["list", "--acquired"]).contains(BATTERY));
    let pid = battery.id().to_string();
    assert_credentials(&folder, address, BATTERY);
    assert_credentials(&folder, address, &pid);
    assert_credentials(&folder, address, "org.freedesktop.DBus");
    let found = stdout_of(&folder, address, &["status", &pid]);
    assert!(found.contains("\nConnections=:1."), "{found}");
    assert!(found.contains("\nNames=com.example.Battery"), "{found}");
    let json = stdout_of(&folder, address, &["status", BATTERY, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["PID"], battery.id());
    let (expected, found) =
        (busctl(address, &["status"]), stdout_of(&folder, address, &["status"]));
    let head = |text: &str| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(head(&found), head(&expected), "address, number and process of the bus");
    battery.end(Signal::TERM);
}
