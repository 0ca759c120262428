//! Tests of `diligence reexec` with our bus and with dbus-daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::recorder;
use crate::support::{ProgramFolder, SpawnedProgram, daemon, text};
use rustix::process::Signal;

/// Starts a bus in this folder.
fn start(folder: &ProgramFolder, program: &Path) -> (SpawnedProgram, String) {
    let config = folder.config("");
    let mut command = Command::new(program);
    command.args(["--nofork", "--print-address=1", "--config-file"]).arg(config);
    let mut bus = SpawnedProgram::start(&mut command);
    let address = bus.line();
    (bus, address)
}

/// Installs the bus in a folder of the test, where its program can be replaced.
fn install() -> (ProgramFolder, PathBuf) {
    let folder = ProgramFolder::new();
    let program = folder.join("installed");
    copy(&daemon(), &program);
    (folder, program)
}

/// Copies a program in another process. Other threads start programs, which would inherit a file that
/// is open for writing, and such a file cannot be executed.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").args([from, to]).status().expect("every system has it").success());
}

fn reexec(folder: &ProgramFolder, words: &[&str]) -> Output {
    folder.diligence().arg("reexec").args(words).output().expect("the program exists")
}

#[test]
fn the_bus_gets_the_installed_program() {
    let (folder, program) = install();
    let (bus, address) = start(&folder, &program);
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let running = format!("/proc/{}/exe", bus.id());
    let before = inode(Path::new(&running));
    let new = folder.join("new");
    copy(&daemon(), &new);
    fs::rename(&new, &program).expect("a writable folder");

    let output = reexec(&folder, &["--address", &address]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let version = env!("CARGO_PKG_VERSION");
    let begin = format!("version {version} replaced version {version}; the bus paused for ");
    let shown = text(&output.stdout);
    assert!(shown.starts_with(&begin) && shown.ends_with("s\n"), "{shown}");
    let after = inode(Path::new(&running));
    assert!(after != before && after == inode(&program), "the process has the new program");

    let output = reexec(&folder, &["--json", "--address", &address]);
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!([&shown["old_version"], &shown["new_version"]], [version, version]);
    assert!(shown["paused_us"].as_u64() > Some(0), "{shown}");
    bus.end(Signal::TERM);
}

#[test]
fn a_recording_notes_the_replacement_and_lacks_nothing() {
    let (folder, program) = install();
    let (bus, address) = start(&folder, &program);
    let file = folder.join("a.pcapng");
    let recorder = recorder::start(&folder, &address, &file, &[]);
    recorder::send(&address, &["/", "org.example.Test.Before"]);
    let output = reexec(&folder, &["--address", &address]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    recorder::send(&address, &["/", "org.example.Test.After"]);
    let output = recorder::end_after(recorder, &file, "After", 1);
    assert!(text(&output.stderr).contains("nothing lost"), "{}", text(&output.stderr));

    let capture = recorder::read(&file);
    assert!(capture.gaps().is_empty());
    for member in ["Before", "After"] {
        let messages = capture.messages().filter(|message| message.member() == member);
        assert_eq!(messages.count(), 1, "{member}");
    }
    for command in ["stats", "timeline"] {
        let output = folder.diligence().arg(command).arg(&file).output().expect("the program");
        let shown = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        let note = "the program of the bus was replaced (1 time, first ";
        assert!(shown.contains(note) && shown.contains("none is missing"), "{shown}");
    }
    bus.end(Signal::TERM);
}

#[test]
fn a_program_that_cannot_continue_is_reported() {
    let (folder, program) = install();
    let (bus, address) = start(&folder, &program);
    let (script, new) = (folder.join("script"), folder.join("new"));
    fs::write(&script, "#!/bin/sh\necho 'the state is too old' >&2\nexit 1\n").expect("writable");
    copy(&script, &new);
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).expect("writable");
    fs::rename(&new, &program).expect("a writable folder");

    let output = reexec(&folder, &["--address", &address]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        format!(
            "diligence reexec: the bus at {address} continues with its old program: {} cannot \
             continue with the state: the state is too old\n",
            program.display()
        )
    );
    assert_eq!(text(&output.stdout), "");
    bus.end(Signal::TERM);
}

#[test]
fn other_buses_cannot_be_replaced() {
    let folder = ProgramFolder::new();
    let (bus, address) = start(&folder, Path::new("/usr/bin/dbus-daemon"));
    let output = reexec(&folder, &["--address", &address]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        format!(
            "diligence reexec: the bus at {address} is not a bus of Diligence, so its program \
             cannot be replaced while it runs\n"
        )
    );
    bus.end(Signal::TERM);
}
