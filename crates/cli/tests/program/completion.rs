//! Tests of the completions that the program offers to shells.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use crate::lamp::{HOSTILE, LAMP, LampBus, SILENT, SLEEPER, WAIT_TIMEOUT};
use crate::support::{ProgramFolder, eventually, text};

impl LampBus {
    /// Returns the completions of the last word, in the form for zsh and without descriptions.
    fn offered(&self, line: &str) -> Vec<String> {
        let words: Vec<_> = line.split(' ').collect();
        let output = self.ask(&self.bus.address, "zsh", &words);
        assert_eq!(text(&output.stderr), "", "{line}");
        let printed = text(&output.stdout);
        let offer = |line: &str| {
            let mut parts = line.splitn(3, '\t');
            let (kind, word) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            match kind {
                "whole" => word.to_owned(),
                "part" => format!("{word}+"),
                kind => format!("{kind}:{word}"),
            }
        };
        printed.lines().map(offer).collect()
    }

    /// Checks the completions of the last word, and retries while the machine is too busy for the
    /// time limit.
    fn check(&self, line: &str, expected: &[&str]) {
        let line = &line.replace("LAMP", LAMP).replace("OBJECT", "/org/example/lamp_1");
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            let mut found = self.offered(line);
            found.sort_unstable();
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            if found == expected {
                return;
            }
            assert!(Instant::now() < deadline, "{line:?}: {found:#?}, not {expected:#?}");
        }
    }

    /// Checks that some words are offered for the last word and others are not.
    fn check_some(&self, line: &str, expected: &[&str], unwanted: &[&str]) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            let found = self.offered(line);
            let has = |word: &&&str| found.iter().any(|found| found == **word);
            assert_eq!(unwanted.iter().find(has), None, "{line:?}: {found:#?}");
            let missing: Vec<_> = expected.iter().filter(|word| !has(word)).collect();
            if missing.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "{line:?}: {found:#?} without {missing:?}");
        }
    }
}

#[test]
fn names_paths_and_members_are_completed_from_the_bus() {
    let stage = LampBus::new();
    let interface = "org.example.Lamp1";
    let full = "org.example.Lamp1.Switch";
    for (line, expected) in [
        // Paths, one level at a time. A level with a single child is completed at once.
        ("call LAMP ", &["/org/example/lamp_1", "/org/example/lamp_1/+"][..]),
        ("call LAMP /", &["/org/example/lamp_1", "/org/example/lamp_1/+"]),
        ("call LAMP /org/ex", &["/org/example/lamp_1", "/org/example/lamp_1/+"]),
        ("tree --list LAMP ", &[LAMP, HOSTILE, SILENT, SLEEPER, "org.freedesktop.DBus"]),
        ("get LAMP OBJECT/", &["OBJECT/bulbs/a", "OBJECT/bulbs/b"]),
        ("set LAMP OBJECT/bulbs/b", &["OBJECT/bulbs/b"]),
        ("introspect LAMP OBJECT/x", &[]),
        ("call LAMP x", &[]),
        // Members of the required kind, in all spellings.
        ("call LAMP OBJECT ", &[interface, TIMER, INTROSPECTABLE, "Switch", "Begin"]),
        (
            "call LAMP OBJECT Introspect",
            &[interface, TIMER, INTROSPECTABLE, "Switch", "Begin", "Introspect"],
        ),
        ("call LAMP OBJECT org.example.Lamp1 ", &["Switch", "Blink"]),
        ("call LAMP OBJECT org.example.Lamp1. ", &[]),
        (
            "call LAMP OBJECT org.example.Lamp1.S",
            &[
                interface,
                TIMER,
                INTROSPECTABLE,
                full,
                "org.example.Lamp1.Blink",
                "Switch",
                "Begin",
                "Introspect",
            ],
        ),
        ("call LAMP OBJECT org.example.Bare ", &[]),
        ("get LAMP OBJECT ", &[interface, "On", "Color"]),
        ("get LAMP OBJECT org.example.Lamp1 ", &["On", "Color"]),
        ("get LAMP OBJECT org.example.Lamp1 On ", &["Color"]),
        ("get LAMP OBJECT On ", &["Color"]),
        ("set LAMP OBJECT ", &[interface, "On", "Secret"]),
        ("set LAMP OBJECT org.example.Lamp1 ", &["On", "Secret"]),
        ("wait LAMP OBJECT ", &[interface]),
        ("wait LAMP OBJECT org.example.Lamp1 ", &["Switched"]),
        ("introspect LAMP OBJECT ", &[interface, TIMER, INTROSPECTABLE, "org.example.Bare"]),
        // Without a service: the objects and members of any running service.
        ("emit /org/example/lamp_1/b", &["OBJECT/bulbs/a", "OBJECT/bulbs/b"]),
        ("wait OBJECT org.example.Lamp1.Switched ", &[]),
        ("emit OBJECT org.example.Lamp1 Switched ", &["true", "false"]),
        ("wait OBJECT ", &[interface]),
        ("wait OBJECT org.example.Lamp1 ", &["Switched"]),
        ("emit OBJECT org.example.Lamp1.", &[interface, "org.example.Lamp1.Switched"]),
        // Boolean arguments and boolean property values.
        ("call LAMP OBJECT org.example.Lamp1 Switch ", &["true", "false"]),
        ("call LAMP OBJECT org.example.Lamp1.Switch ", &["true", "false"]),
        ("call LAMP OBJECT Switch bs ", &["true", "false"]),
        ("call LAMP OBJECT Switch true ", &[]),
        ("set LAMP OBJECT On ", &["true", "false"]),
        ("set LAMP OBJECT Secret ", &[]),
        // Options may stand anywhere, and some replace positional words.
        ("call --timeout 5s LAMP -v OBJECT org.example.Lamp1 ", &["Switch", "Blink"]),
        ("call -t 5s LAMP --json=short OBJECT org.example.Lamp1 ", &["Switch", "Blink"]),
        ("call --dest LAMP --object-path OBJECT/bu", &["OBJECT/bulbs/a", "OBJECT/bulbs/b"]),
        ("call --dest=LAMP OBJECT org.example.Lamp1 ", &["Switch", "Blink"]),
        ("call --object-path OBJECT LAMP org.example.Lamp1 ", &["Switch", "Blink"]),
        (
            "call -d LAMP -o OBJECT --method ",
            &[
                full,
                "org.example.Lamp1.Blink",
                "org.example.Lamp1.Timer.Begin",
                "org.example.Lamp1.Timer.Blink",
                "org.freedesktop.DBus.Introspectable.Introspect",
            ],
        ),
        ("call --dest LAMP OBJECT --method org.example.Lamp1.Switch ", &["true", "false"]),
        // Activatable names, for commands that start a service.
        ("start ", &[SLEEPER]),
        ("wait x --activate=", &["--activate=org.example.Sleeper"]),
        // No service is started, so there are no completions.
        ("call org.example.Sleeper ", &[]),
        ("call org.example.Sleeper / ", &[]),
        ("call not..a-name /", &[]),
        // The command line chooses the bus.
        ("call --address unix:path=/nowhere ", &[]),
        ("call --address=nonsense ", &[]),
        ("call --system --session ", &[]),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|word| word.replace("OBJECT", "/org/example/lamp_1")).collect();
        stage.check(line, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let address = stage.bus.address.clone();
    for choice in [format!("--address {address}"), format!("--address={address}")] {
        stage.check(&format!("call {choice} LAMP OBJECT org.example.Lamp1 "), &["Switch", "Blink"]);
    }
    let names = [LAMP, SLEEPER, "org.freedesktop.DBus"];
    for line in
        ["call ", "get ", "set ", "introspect ", "tree ", "status ", "own ", "wait ", "emit -d "]
    {
        stage.check_some(line, &names, &[&stage.lamp]);
    }
    for line in ["call :", "status :1.", "monitor :1."] {
        stage.check_some(line, &[&stage.lamp], &[LAMP]);
    }
    assert!(!stage.folder.join("woken").exists(), "a service was started by completing");
}

const TIMER: &str = "org.example.Lamp1.Timer";
const INTROSPECTABLE: &str = "org.freedesktop.DBus.Introspectable";

#[test]
fn completions_of_options_need_no_bus() {
    let folder = ProgramFolder::new();
    let offered = |words: &[&str]| {
        let mut command = folder.diligence();
        command.args(["complete", "zsh", "--"]).args(words);
        let output = command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere").output();
        let output = output.expect("the program exists");
        assert_eq!(text(&output.stderr), "", "{words:?}");
        text(&output.stdout)
    };
    for (words, expected, unwanted) in [
        (
            &[""][..],
            &["whole\tmonitor\tShow messages", "whole\tbus\t", "whole\thelp\t"][..],
            "demo",
        ),
        (&["help", ""], &["whole\tintrospect\t"], "demo"),
        (&["bench", ""], &["whole\tping-pong\t"], "\t--"),
        (
            &["call", "--"],
            &["whole\t--timeout\tThe time to wait", "whole\t--system\t", "part\t--json="],
            "--dest",
        ),
        (&["call", "--system", "--"], &["whole\t--timeout\t"], "--system\t"),
        (&["call", "--des"], &["whole\t--dest\t"], "--timeout"),
        (&["call", "-"], &["whole\t-v\t", "whole\t--verbose\t"], "--dest"),
        (&["call", "--syntax", ""], &["whole\tgvariant\t"], "auto"),
        (&["call", "--syntax="], &["whole\t--syntax=gvariant\t"], "\tgvariant"),
        (&["call", "--auto-start", ""], &["whole\ttrue\t", "whole\tfalse\t"], "files"),
        (&["list", "--json="], &["whole\t--json=short\t"], "auto"),
        (&["list", ""], &["whole\t--activatable\t"], "files"),
        (&["show", ""], &["files\t"], "whole"),
        (&["show", "x.pcapng", "du"], &["part\tdur>\t"], "files"),
        (&["show", "x.pcapng", "type:s"], &["whole\ttype:signal\t"], "files"),
        (&["stats", "a", ""], &["files\t"], "whole"),
        (&["stats", "--by", ""], &["whole\tmember\t"], "files"),
        (&["lint", "--rule", ""], &["whole\tL01\t"], "files"),
        (&["record", "-o", ""], &["files\t"], "whole"),
        (&["record", "--output="], &["files\t"], "whole"),
        (&["record", "--", ""], &["command\t2\n"], "whole"),
        (&["record", "--redact", "--", "ls", "-"], &["command\t3\n"], "whole"),
        (&["run", "--record", "x", "gdbus", "call", "--"], &["command\t3\n"], "whole"),
        (&["run", "--"], &["whole\t--config-file\t"], "command"),
        (&["bus", "--config-file="], &["files\t"], "whole"),
        (&["bus", "--pr"], &["whole\t--print-address\t", "part\t--print-address=\t"], "files"),
        (&["generate", "man", ""], &["directories\t"], "whole"),
        (&["call", ""], &[], "whole"),
    ] {
        let found = offered(words);
        for word in expected {
            assert!(found.contains(word), "{words:?}: {found}, without {word:?}");
        }
        assert!(!found.contains(unwanted), "{words:?}: {found}, with {unwanted:?}");
    }
}

#[test]
fn completion_neither_blocks_nor_has_side_effects() {
    let stage = LampBus::new();
    stage.check(&format!("call {HOSTILE} /"), &["/", "/good"]);
    stage.check(&format!("call {HOSTILE} / "), &["a.b", "Good"]);
    // The name of an argument stays within a single line.
    eventually("two lines", || {
        let output = stage.ask(&stage.bus.address, "zsh", &["call", HOSTILE, "/", ""]);
        (text(&output.stdout).lines().count() == 2).then_some(())
    });
    // A service that does not reply, a bus that does not reply, and a bus behind a command.
    let listener = UnixListener::bind(stage.folder.join("dead")).expect("a writable folder");
    let dead = format!("unix:path={}", stage.folder.join("dead").display());
    let own = stage.bus.address.as_str();
    let ran = stage.folder.join("ran");
    let programs = stage.folder.inside("programs");
    for name in ["ssh", "setpriv"] {
        let script = format!("#!/bin/sh\ntouch {}\n", ran.display());
        fs::write(programs.join(name), script).expect("a writable folder");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(programs.join(name), executable).expect("a writable folder");
    }
    let behind = format!("unixexec:path={}", programs.join("ssh").display());
    for (address, words) in [
        (own, &["call", SILENT, "/"][..]),
        (own, &["call", SILENT, "/", ""]),
        (&dead, &["call", ""]),
        (&behind, &["call", ""]),
        (own, &["call", "--host", "example.org", ""]),
        (own, &["call", "--uid=12345", ""]),
    ] {
        let mut command = stage.folder.diligence();
        command.args(["complete", "zsh", "--"]).args(words);
        command.env("DBUS_SESSION_BUS_ADDRESS", address).env("PATH", programs.join(""));
        let begun = Instant::now();
        let output = command.output().expect("the program exists");
        assert!(begun.elapsed() < Duration::from_secs(5), "{words:?}: {:?}", begun.elapsed());
        assert!(output.status.success(), "{words:?}");
        assert_eq!(text(&output.stdout) + &text(&output.stderr), "", "{words:?}");
    }
    drop(listener);
    assert!(!ran.exists(), "a program was started by completing");
}
