//! Data about a process from the kernel (proc(5)).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The value of a key in the status of a process.
///
/// # Panics
///
/// If the process or the key does not exist.
#[must_use]
pub fn status(pid: u32, key: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let value = |line: &str| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned());
    text.lines().find_map(value).unwrap_or_else(|| panic!("no {key} in {text}"))
}

/// The number at the start of such a value: a count, or KiB.
///
/// # Panics
///
/// If the value does not start with a number.
#[must_use]
pub fn status_number(pid: u32, key: &str) -> u64 {
    let value = status(pid, key);
    value.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

/// The processor time of the first thread of a process (`Documentation/scheduler/sched-stats.rst`
/// of the kernel).
///
/// # Panics
///
/// If the process does not exist.
#[must_use]
pub fn processor_time(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("it runs");
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

/// The targets of the open descriptors of a process.
///
/// # Panics
///
/// If the process does not exist.
#[must_use]
pub fn open_files(pid: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).expect("the process is ours");
    entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok()).collect()
}
