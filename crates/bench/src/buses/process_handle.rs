//! Handles for processes that need not be children of this process.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A handle for a process, which a reused process id does not affect.
#[derive(Debug)]
pub(super) struct ProcessHandle {
    pid: u32,
    pidfd: OwnedFd,
}

impl ProcessHandle {
    /// Opens a handle for the process with this id; `None` if there is none.
    pub(super) fn new(pid: u32) -> Option<Self> {
        let number = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let pidfd = pidfd_open(number, PidfdFlags::empty()).ok()?;
        Some(Self { pid, pidfd })
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a signal to the process; does nothing if it has ended.
    pub(super) fn signal(&self, signal: Signal) {
        // Fails only for processes of other users, which this program does not end.
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    /// Waits up to `timeout` for the process to end; returns true if it has ended.
    pub(super) fn ends_within(&self, timeout: Duration) -> bool {
        let timeout = Timespec::try_from(timeout).ok();
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let polled: Result<usize, Errno> = retry_on_intr(|| poll(&mut fds, timeout.as_ref()));
        polled.is_ok_and(|ready| ready > 0)
    }
}

/// Returns the first child of a process; `None` if it has none, or has ended.
pub(super) fn first_child(pid: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::process::Command;

    use super::*;

    #[test]
    fn process_handle_notices_the_end_of_a_process() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let handle = ProcessHandle::new(child.id()).unwrap();
        assert_eq!(handle.pid(), child.id());
        assert!(!handle.ends_within(Duration::ZERO));
        handle.signal(Signal::KILL);
        assert!(handle.ends_within(Duration::from_secs(10)));
        child.wait().unwrap();
        handle.signal(Signal::KILL);
        assert!(ProcessHandle::new(child.id()).is_none());
        assert_eq!(first_child(child.id()), None);
    }

    #[test]
    fn first_child_of_a_process_is_found() {
        let mut child = Command::new("sh").args(["-c", "sleep 100 & wait"]).spawn().unwrap();
        let grandchild = iter::repeat_with(|| first_child(child.id())).find_map(|found| found);
        let handle = ProcessHandle::new(grandchild.unwrap()).unwrap();
        handle.signal(Signal::KILL);
        child.wait().unwrap();
        assert!(handle.ends_within(Duration::ZERO));
    }
}
