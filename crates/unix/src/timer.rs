//! A timer as a readable descriptor (timerfd_create(2)).
//!
//! A [`Poller`](crate::poll::Poller) can also wait with a timeout, but then the kernel sets up and
//! removes a timer for each wait. If there is always a deadline that rarely expires, one timer that
//! stays set costs nothing.

use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// A timer on the clock of [`clock::monotonic`](crate::clock::monotonic). It is readable from the
/// time it is [set](Self::set) to, until it is set again or stopped.
#[derive(Debug)]
pub struct Timer {
    descriptor: OwnedFd,
}

impl Timer {
    /// Creates a timer that is not set.
    ///
    /// # Errors
    ///
    /// Fails only if descriptors or memory run out.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self { descriptor: timerfd_create(TimerfdClockId::Monotonic, flags)? })
    }

    /// Sets the timer to a time, which may be past; `None` stops it.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] for a time beyond the range of the kernel.
    pub fn set(&self, at: Option<Duration>) -> io::Result<()> {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let it_value = match at {
            None => never,
            // For the kernel, zero means "never".
            Some(at) => {
                Timespec::try_from(at.max(Duration::from_nanos(1))).map_err(|_| Errno::INVAL)?
            }
        };
        let value = Itimerspec { it_interval: never, it_value };
        timerfd_settime(&self.descriptor, TimerfdTimerFlags::ABSTIME, &value)?;
        Ok(())
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::poll::{Events, Interest, Poller};

    fn rings_within(timer: &Timer, timeout: Duration) -> bool {
        let poller = Poller::new().unwrap();
        poller.add(timer, 0, Interest::Read).unwrap();
        let mut events = Events::with_capacity(1);
        poller.wait(&mut events, Some(timeout)).unwrap();
        !events.is_empty()
    }

    #[test]
    fn timer_is_readable_from_its_time_until_set_again() {
        let timer = Timer::new().unwrap();
        let (at_once, long) = (Duration::ZERO, Duration::from_secs(20));
        assert!(!rings_within(&timer, at_once), "it was not set");
        let soon = clock::monotonic() + Duration::from_millis(5);
        timer.set(Some(soon)).unwrap();
        assert!(rings_within(&timer, long));
        assert!(clock::monotonic() >= soon);
        assert!(rings_within(&timer, at_once), "it goes on");
        timer.set(Some(clock::monotonic() + long)).unwrap();
        assert!(!rings_within(&timer, at_once), "its new moment is far");
        timer.set(Some(Duration::ZERO)).unwrap();
        assert!(rings_within(&timer, long), "the past has come");
        timer.set(None).unwrap();
        assert!(!rings_within(&timer, at_once), "it was stopped");
    }
}
