//! `diligence list`, `tree`, `introspect` and `status`, beside busctl on the same bus.

use std::process::{Command, Output, Stdio};

use rustix::process::Signal;

use crate::everything::{EVERYTHING, ExitHealth, OBJECT, serve};
use crate::recorder::{DbusDaemon, OurBus, demo, wait_until};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// What busctl prints.
fn busctl(address: &str, words: &[&str]) -> String {
    let mut command = Command::new("busctl");
    command.args(["--address", address]).args(words).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    text(&command.output().expect("busctl is installed").stdout)
}

fn ours(folder: &ProgramFolder, address: &str, words: &[&str]) -> Output {
    let mut command = folder.diligence();
    command.args(words).args(["--address", address]).env("LC_ALL", "C.UTF-8");
    command.output().expect("the program exists")
}

fn told(folder: &ProgramFolder, address: &str, words: &[&str]) -> String {
    let output = ours(folder, address, words);
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Why something is not told, and that it is not.
fn refused(folder: &ProgramFolder, address: &str, words: &[&str]) -> String {
    let output = ours(folder, address, words);
    assert_eq!(output.status.code(), Some(1), "{words:?}");
    assert_eq!(text(&output.stdout), "", "{words:?}");
    text(&output.stderr)
}

fn assert_same(folder: &ProgramFolder, address: &str, words: &[&str]) {
    let expected = busctl(address, words);
    assert_ne!(expected, "", "busctl has nothing to say to {words:?}");
    assert_eq!(told(folder, address, words), expected, "{words:?}");
}

/// A name that programs of the demonstration have.
const BATTERY: &str = "com.example.Battery";

/// The services of the demonstration; they end with the test.
fn demonstration(folder: &ProgramFolder, address: &str) -> Vec<SpawnedProgram> {
    let programs = ["battery", "volumes", "archive"].map(|name| demo(folder, address, &[name]));
    wait_until("the demonstration", || {
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

/// What is told of connections, without those that only ask.
fn without_askers(list: &str) -> Vec<&str> {
    let is_asker = |line: &&str| line.contains(" busctl ") || line.contains(" diligence ");
    list.lines().filter(|line| !(line.starts_with(':') && is_asker(line))).collect()
}

#[test]
fn lists_are_those_of_busctl() {
    let folder = ProgramFolder::new();
    let reference = DbusDaemon::start(
        &folder,
        "</policy><servicedir>/usr/share/dbus-1/services</servicedir><policy context='default'>",
    );
    let address = &reference.address;
    let programs = demonstration(&folder, address);
    serve(address, "com.example.Everything", ExitHealth::Well);
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
    // The bus is the longest of the programs in both, so that the columns are as wide.
    let (expected, found) = (busctl(address, &["list"]), told(&folder, address, &["list"]));
    assert_eq!(without_askers(&found), without_askers(&expected));
    end(programs);
}

#[test]
fn trees_are_those_of_busctl() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let address = &bus.address;
    let programs = demonstration(&folder, address);
    for words in [
        &["tree", BATTERY][..],
        &["tree", "--list", BATTERY],
        &["tree", BATTERY, "org.freedesktop.DBus"],
        &["tree", "--list", BATTERY, "org.freedesktop.DBus"],
    ] {
        assert_same(&folder, address, words);
    }
    serve(address, "com.example.Everything", ExitHealth::Well);
    let expected = busctl(address, &["tree", "com.example.Everything"]);
    // It says among the paths what ours says on standard error.
    let (complaint, expected) = expected.split_once('\n').expect("lines");
    assert!(complaint.starts_with("Failed to introspect object /odd "), "{complaint}");
    let found = ours(&folder, address, &["tree", "com.example.Everything"]);
    assert_eq!(text(&found.stdout), expected);
    let complaint = "/odd of com.example.Everything: com.example.Error.Refused: not for you\n";
    assert_eq!(text(&found.stderr), format!("diligence tree: {complaint}"));
    assert!(found.status.success());
    let json = told(&folder, address, &["tree", BATTERY, "--json=short"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[0]["nodes"][0]["path"], "/");
    end(programs);
}

#[test]
fn what_does_not_answer_does_not_hold_up_the_rest() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    serve(&bus.address, "com.example.Silent", ExitHealth::Silent);
    let words = ["tree", "--list", "--timeout=300ms", "com.example.Silent", "com.example.Nobody"];
    let found = ours(&folder, &bus.address, &words);
    assert_eq!(found.status.code(), Some(1), "one is nobody");
    let (stdout, stderr) = (text(&found.stdout), text(&found.stderr));
    assert!(stdout.contains(&format!("/com/example\n{OBJECT}\n")), "{stdout}");
    let silent = "/odd of com.example.Silent: no reply within 300ms\n";
    assert!(stderr.contains(silent), "{stderr}");
    assert!(stderr.contains("no such name on the bus at "), "{stderr}");
    assert!(stderr.contains(": com.example.Nobody"), "{stderr}");
}

#[test]
fn tables_are_those_of_busctl() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let address = &bus.address;
    let programs = demonstration(&folder, address);
    serve(address, "com.example.Everything", ExitHealth::Well);
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
    let paths = told(&folder, address, &[command, BATTERY]);
    assert_eq!(paths, busctl(address, &["tree", "--list", BATTERY]));
    let json = told(&folder, address, &[command, name, path, EVERYTHING, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["interfaces"][0]["properties"][0]["value"]["data"], 7, "{json}");
    end(programs);
}

#[test]
fn a_broken_property_is_its_own_error() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    serve(&bus.address, "com.example.Broken", ExitHealth::Broken);
    let words = ["introspect", "com.example.Broken", OBJECT, EVERYTHING];
    assert_eq!(busctl(&bus.address, &words), "", "busctl gives up");
    let table = told(&folder, &bus.address, &words);
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).expect("it is told");
    let double = line(".Double ");
    assert!(double.contains(" error: com.example.Error.Refused: it is broken "), "{table}");
    assert!(line(".LongU ").contains(" 18446744073709551615 "), "{table}");
}

#[test]
fn an_empty_object_that_another_one_lists_is_an_empty_table() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let name = "com.example.Everything";
    serve(&bus.address, name, ExitHealth::Well);
    let path = "/com/example/Everything/below";
    let words = ["introspect", name, path];
    assert_eq!(told(&folder, &bus.address, &words), busctl(&bus.address, &words));
    let declared = told(&folder, &bus.address, &["introspect", "--recurse", name, path]);
    assert_eq!(declared, format!("node {path} {{\n}};\n"));
}

#[test]
fn unknown_names_are_told_with_the_nearest() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let address = &bus.address;
    serve(address, "com.example.Everything", ExitHealth::Well);
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

/// Lines that busctl prints of a process, and ours as far as they are about the same.
fn assert_credentials(folder: &ProgramFolder, address: &str, subject: &str) {
    let expected = busctl(address, &["status", subject]);
    let found = told(folder, address, &["status", subject]);
    assert!(expected.contains("\nUID="), "{expected}");
    assert!(found.starts_with(&expected), "{found}\n-- expected at the start:\n{expected}");
}

#[test]
fn credentials_are_those_of_busctl_and_more() {
    let folder = ProgramFolder::new();
    let reference = DbusDaemon::start(&folder, "");
    let address = &reference.address;
    let battery = demo(&folder, address, &["battery"]);
    wait_until("the battery", || busctl(address, &["list", "--acquired"]).contains(BATTERY));
    let pid = battery.id().to_string();
    assert_credentials(&folder, address, BATTERY);
    assert_credentials(&folder, address, &pid);
    assert_credentials(&folder, address, "org.freedesktop.DBus");
    let found = told(&folder, address, &["status", &pid]);
    assert!(found.contains("\nConnections=:1."), "{found}");
    assert!(found.contains("\nNames=com.example.Battery"), "{found}");
    let json = told(&folder, address, &["status", BATTERY, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["PID"], battery.id());
    let (expected, found) = (busctl(address, &["status"]), told(&folder, address, &["status"]));
    let head = |text: &str| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(head(&found), head(&expected), "address, number and process of the bus");
    battery.end(Signal::TERM);
}
