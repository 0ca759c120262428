//! What `/proc` tells about processes.

use diligence_sys::process::{comm, command_line, executable, unit, usage};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::env;
use std::io::Read;
use std::process::{Command, Stdio, id};

#[test]
fn a_living_process_is_described() {
    let arguments = ["-c", "echo; read line", "spaced name", ""];
    let mut command = Command::new("sh");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It has become the program that it shall be when that program says something.
    child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    assert_eq!(comm(child.id()).unwrap(), "sh");
    assert_eq!(command_line(child.id()).unwrap(), [&["sh"], &arguments[..]].concat());
    assert!(executable(child.id()).unwrap().is_absolute());
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(comm(child.id()), None);
}

#[test]
fn a_zombie_has_no_command_line() {
    let mut child = Command::new("true").spawn().unwrap();
    let pid = WaitId::Pid(Pid::from_child(&child));
    waitid(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    assert_eq!(command_line(child.id()), None);
    assert_eq!(comm(child.id()).as_deref(), Some("true"));
    assert_eq!(executable(child.id()), None);
    child.wait().unwrap();
}

#[test]
fn usage_grows() {
    let before = usage(id()).unwrap();
    assert!(before.resident_bytes > 4096);
    // The counters are of the main thread, which waits for this one.
    assert!(before.voluntary_switches > 0);
    assert_eq!(executable(id()).unwrap(), env::current_exe().unwrap());
}

#[test]
fn there_is_nothing_to_tell_about_nobody() {
    let nobody = u32::MAX;
    assert_eq!(comm(nobody), None);
    assert_eq!(command_line(nobody), None);
    assert_eq!(executable(nobody), None);
    assert_eq!(unit(nobody), None);
    assert_eq!(usage(nobody), None);
}
