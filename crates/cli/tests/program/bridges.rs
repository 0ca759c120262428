//! Tests of buses on other machines and of other users, which are reached through bridge programs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;

use crate::support::{ProgramFolder, SpawnedProgram, text};

/// Writes a shell script into the folder `bin`.
fn write_program(folder: &ProgramFolder, name: &str, script: &str) {
    let path = folder.join("bin").join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}")).expect("a writable folder");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a writable file");
}

#[test]
fn buses_on_hosts_and_of_users_are_reached_through_bridges() {
    let bridge = Path::new("/usr/bin/systemd-stdio-bridge");
    assert!(bridge.exists(), "install systemd");
    let folder = ProgramFolder::new();
    let config = folder.config("");
    let mut bus = folder.dbus_daemon();
    let mut bus = SpawnedProgram::start(
        bus.args(["--nofork", "--print-address=1", "--config-file"]).arg(config),
    );
    let address = bus.line();
    let _bin = folder.inside("bin");
    // The scripts store their arguments, and start the bridge on this machine as this user.
    let script = "echo \"$0 $*\" >> \"$WORDS\"\nwhile [ \"${1-}\" != systemd-stdio-bridge ]\ndo shift\ndone\nexec \"$@\"\n";
    write_program(&folder, "ssh", script);
    write_program(&folder, "setpriv", script);
    let script = format!("exec {} --bus-path='{address}'\n", bridge.display());
    write_program(&folder, "systemd-stdio-bridge", &script);
    let (words, path) =
        (folder.join("words"), format!("{}:/usr/bin:/bin", folder.join("bin").display()));
    for choice in [["--host", "me@example.org:2222"], ["--uid", "4294967294"]] {
        let mut status = folder.diligence();
        let status = status.env("PATH", &path).env("WORDS", &words);
        let output =
            status.args(["status", "--bus"]).args(choice).output().expect("the program exists");
        assert!(output.status.success(), "{choice:?}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains(&format!("process {}", bus.id())), "{choice:?}");
    }
    let words = fs::read_to_string(words).expect("the scripts wrote their arguments");
    let words: Vec<_> = words.lines().map(|line| line.split_once(' ').expect("a name").1).collect();
    let user = "--reuid=4294967294 --regid=4294967294 --clear-groups -- systemd-stdio-bridge \
                --bus-path=unix:path=/run/user/4294967294/bus";
    assert_eq!(words, ["-xT -p 2222 -- me@example.org systemd-stdio-bridge", user]);
    bus.end(Signal::TERM);
}

#[test]
fn unknown_machines_and_users_are_rejected() {
    let folder = ProgramFolder::new();
    for (choice, expected) in [
        (["--machine", "nowhere"], "there is no machine \"nowhere\""),
        (["--uid", "some body"], "there is no user \"some body\""),
        (["--host", "-oProxyCommand=x"], "is not a valid host name"),
    ] {
        let mut status = folder.diligence();
        let [option, value] = choice;
        let choice = format!("{option}={value}");
        let output =
            status.args(["status", "--bus", &choice]).output().expect("the program exists");
        assert_eq!(output.status.code(), Some(2), "{choice}");
        assert!(text(&output.stderr).contains(expected), "{choice}: {}", text(&output.stderr));
    }
}
