//! Facts about a process from the kernel, for logs, statistics and measurements (proc(5)).
//!
//! Each function returns `None` if the process has ended, if access is denied, or if there is no
//! value. The process itself controls the texts: treat them as hostile, escape them in output, and
//! base no decision on them. A process id may have been reused; to be certain, ask while the
//! process cannot have ended, or compare a pidfd.

use crate::raw;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::Read;
use std::os::fd::BorrowedFd;
use std::time::Duration;
use std::{fs, io};
pub use unix::process::{comm, control_group, executable, unit, unit_of_control_group};

/// Returns the program and its arguments. `None` for a kernel thread or a zombie, which have none.
#[must_use]
pub fn command_line(pid: u32) -> Option<Vec<String>> {
    let line = read(pid, "cmdline")?;
    let line = line.strip_suffix(&[0]).unwrap_or(&line);
    if line.is_empty() {
        return None;
    }
    let arguments = line.split(|&byte| byte == 0);
    Some(arguments.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect())
}

/// Returns the first `len` bytes of the program and its arguments, each followed by a zero byte;
/// reads no more of a longer command line. Empty for a kernel thread or a zombie.
#[must_use]
pub fn command_line_bytes(pid: u32, len: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(format!("/proc/{pid}/cmdline")).ok()?.take(len).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// True if the process that a pidfd refers to has ended.
#[must_use]
pub fn has_exited(pidfd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// True if there is no process with this id. 0 is never a process.
#[must_use]
pub fn has_ended(pid: u32) -> bool {
    to_pid(pid).is_ok_and(|pid| pidfd_open(pid, PidfdFlags::empty()).err() == Some(Errno::SRCH))
}

/// Returns when the process was started, on the clock of [`boottime`](crate::clock::boottime), in
/// ticks of usually 10 ms.
#[must_use]
pub fn started(pid: u32) -> Option<Duration> {
    let ticks = start_ticks(&String::from_utf8_lossy(&read(pid, "stat")?))?;
    let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(clock_ticks_per_second().max(1));
    u64::try_from(nanos).ok().map(Duration::from_nanos)
}

/// The resource usage of a process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time, see [`processor_time`].
    pub processor_time: Duration,
    /// Context switches because a thread waited, summed over the current threads.
    pub voluntary_switches: u64,
    /// Context switches because a thread was preempted, summed over the current threads.
    pub involuntary_switches: u64,
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// Peak resident memory, in bytes.
    pub peak_resident_bytes: u64,
    /// Resident memory that is not backed by a file: heap and stacks, in bytes.
    pub anonymous_bytes: u64,
}

/// Returns the resource usage of the process so far. A process that has ended, but was not waited
/// for, occupies no memory.
#[must_use]
pub fn usage(pid: u32) -> Option<Usage> {
    let processor_time = processor_time(pid)?;
    let memory = ProcessStatus::read(&format!("/proc/{pid}/status"))?;
    // A thread that has ended since the listing no longer has counts.
    let path = |thread: Pid| format!("/proc/{pid}/task/{thread}/status");
    let threads =
        threads(pid).ok()?.into_iter().filter_map(|thread| ProcessStatus::read(&path(thread)));
    let threads: Vec<ProcessStatus> = threads.collect();
    let sum = |key| threads.iter().map(|thread| thread.number(key)).sum();
    Some(Usage {
        processor_time,
        voluntary_switches: sum("voluntary_ctxt_switches"),
        involuntary_switches: sum("nonvoluntary_ctxt_switches"),
        resident_bytes: memory.bytes("VmRSS"),
        peak_resident_bytes: memory.bytes("VmHWM"),
        anonymous_bytes: memory.bytes("RssAnon"),
    })
}

/// Returns the resident memory of the process, in bytes.
pub(crate) fn resident_bytes(pid: u32) -> Option<u64> {
    Some(ProcessStatus::read(&format!("/proc/{pid}/status"))?.bytes("VmRSS"))
}

/// Returns the processor time of the process, in user space and in the kernel, of all its current
/// and former threads but not of its children. It is exact to nanoseconds while the process sleeps;
/// for a running thread, up to 10 ms since the last tick are missing.
#[must_use]
pub fn processor_time(pid: u32) -> Option<Duration> {
    raw::process_clock(to_pid(pid).ok()?).ok()
}

/// Returns the processor time of children of this process that have ended and were waited for,
/// including their own children.
#[must_use]
pub fn processor_time_of_ended_children() -> Duration {
    raw::ended_children_clock()
}

/// Returns the threads of a process; the first one has the process id.
pub(crate) fn threads(pid: u32) -> io::Result<Vec<Pid>> {
    let mut threads = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        let name = entry?.file_name();
        threads.extend(name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw));
    }
    Ok(threads)
}

/// Converts a process id for system calls; [`io::ErrorKind::NotFound`] if it is invalid.
pub(crate) fn to_pid(pid: u32) -> io::Result<Pid> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    number.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn read(pid: u32, file: &str) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/{file}")).ok()
}

/// Returns the 22nd field of a `stat` file. The second field is the name in parentheses, which may
/// contain any characters, so fields are counted from the last parenthesis.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(19)?.parse().ok()
}

/// The content of a `status` file: lines of a key and a value.
#[derive(Debug)]
struct ProcessStatus(String);

impl ProcessStatus {
    fn read(path: &str) -> Option<Self> {
        Some(Self(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned()))
    }

    /// Parses a number; 0 if missing, because a kernel thread has no lines for its memory.
    fn number(&self, key: &str) -> u64 {
        let line = self.0.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// Parses a number in KiB, which the file calls "kB", and returns bytes.
    fn bytes(&self, key: &str) -> u64 {
        self.number(key) * 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_processor_time_matches_the_usage_of_this_process() {
        let known = || processor_time(std::process::id()).unwrap();
        let (before, used, after) = (known(), crate::clock::used(), known());
        assert!(before <= used && used <= after, "{before:?} {used:?} {after:?}");
        assert!(used > Duration::ZERO);
    }

    #[test]
    fn a_status_is_read_by_exact_key() {
        let text = "VmRSS:\t      12 kB\nvoluntary_ctxt_switches:\t5\n\
                    nonvoluntary_ctxt_switches:\t7\nVmHWM2:\t1 kB\nRssAnon:\tmany\n";
        let status = ProcessStatus(text.to_owned());
        let check = |key: &str, number| assert_eq!(status.number(key), number, "{key}");
        check("voluntary_ctxt_switches", 5);
        check("nonvoluntary_ctxt_switches", 7);
        check("VmRSS", 12);
        check("VmHWM", 0);
        check("RssAnon", 0);
        assert_eq!(status.bytes("VmRSS"), 12 * 1024);
    }

    #[test]
    fn process_start_is_parsed_after_any_name() {
        let fields: Vec<String> = (4..=30).map(|number| number.to_string()).collect();
        let check = |name: &str| {
            let stat = format!("17 ({name}) S {}", fields.join(" "));
            assert_eq!(start_ticks(&stat), Some(22), "{name}");
        };
        check("cat");
        check("a b) S 1 2 (3");
        assert_eq!(start_ticks("17 (cat) S 1"), None);
        assert!(started(std::process::id()).expect("we run") <= crate::clock::boottime());
    }

    #[test]
    fn the_number_of_a_process_is_positive() {
        assert_eq!(to_pid(1).ok(), Some(Pid::INIT));
        for missing in [0, 1 << 31, u32::MAX] {
            assert_eq!(to_pid(missing).unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }
}
