//! Facts about processes from `/proc`.

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io::Read;
use std::process::{Command, Stdio, id};
use std::time::{Duration, Instant};
use std::{env, thread};
use sys::process::{
    comm, command_line, executable, processor_time, processor_time_of_ended_children, unit, usage,
};

#[test]
fn a_living_process_is_described() {
    let arguments = ["-c", "echo; read line", "spaced name", ""];
    let mut command = Command::new("sh");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // After its first output, the child has executed its program.
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
fn processor_time_increases_while_the_process_works() {
    let before = usage(id()).unwrap();
    assert!(before.resident_bytes > 4096);
    assert!(before.peak_resident_bytes >= before.resident_bytes);
    assert!((1..before.resident_bytes).contains(&before.anonymous_bytes));

    let memory = std::hint::black_box(vec![1u8; GROWTH]);
    while processor_time(id()).unwrap() < before.processor_time + Duration::from_millis(20) {}
    let after = usage(id()).unwrap();
    assert!(after.anonymous_bytes >= before.anonymous_bytes + memory.len() as u64 / 2);
    assert!(after.processor_time > before.processor_time);
    assert_eq!(executable(id()).unwrap(), env::current_exe().unwrap());
}

/// More memory than other tests free at the same time.
const GROWTH: usize = 32 << 20;

#[test]
fn the_time_of_children_is_exact_and_outlives_them() {
    let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let enough = Duration::from_millis(50);
    let deadline = Instant::now() + Duration::from_secs(30);
    while processor_time(child.id()).unwrap() < enough {
        assert!(Instant::now() < deadline, "the child did not run");
        thread::sleep(Duration::from_millis(5));
    }
    let before = processor_time_of_ended_children();
    child.kill().unwrap();
    let pid = WaitId::Pid(Pid::from_child(&child));
    waitid(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    // The kernel knows the time of a zombie, but not its memory.
    let used = usage(child.id()).unwrap();
    assert!(used.processor_time >= enough);
    assert_eq!(used.resident_bytes, 0);
    child.wait().unwrap();
    assert_eq!(usage(child.id()), None);
    // The kernel reports this time in microseconds.
    let after = processor_time_of_ended_children() + Duration::from_micros(2);
    assert!(after - before >= used.processor_time, "{before:?} {after:?} {used:?}");
}

#[test]
fn facts_about_missing_processes_are_none() {
    let missing = u32::MAX;
    assert_eq!(comm(missing), None);
    assert_eq!(command_line(missing), None);
    assert_eq!(executable(missing), None);
    assert_eq!(unit(missing), None);
    assert_eq!(usage(missing), None);
    assert_eq!(processor_time(missing), None);
    assert_eq!(processor_time(0), None);
}
