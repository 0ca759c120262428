//! What the kernel tells of a process (proc(5)).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A line of its status, by its key.
///
/// # Panics
///
/// When the process is not there, or the line.
#[must_use]
pub fn status(pid: u32, key: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let value = |line: &str| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned());
    text.lines().find_map(value).unwrap_or_else(|| panic!("no {key} in {text}"))
}

/// The number with which such a line begins: a count, or KiB.
///
/// # Panics
///
/// When there is none.
#[must_use]
pub fn status_number(pid: u32, key: &str) -> u64 {
    let value = status(pid, key);
    value.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

/// How long its first thread has had a processor (`Documentation/scheduler/sched-stats.rst` of the kernel).
///
/// # Panics
///
/// When the process is not there.
#[must_use]
pub fn processor_time(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("it runs");
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

/// What its descriptors are open on.
///
/// # Panics
///
/// When the process is not there.
#[must_use]
pub fn open_files(pid: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).expect("the process is ours");
    entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok()).collect()
}
