//! Waking a thread that waits for descriptors: eventfd(2).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};

/// A descriptor that any thread can make readable.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// Creates an event that is not readable.
    ///
    /// # Errors
    ///
    /// Fails with the errors of eventfd(2): descriptors or memory have run out.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Makes the event readable, for good.
    pub fn set(&self) {
        // It fails only if the event was set 2^64 - 1 times, so it is readable anyway.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::which_have_data;

    #[test]
    fn an_event_is_readable_once_it_is_set() {
        let event = Event::new().expect("a descriptor");
        let is_readable = || which_have_data([event.as_fd()]).expect("memory");
        assert_eq!(is_readable(), 0);
        event.set();
        event.set();
        assert_eq!((is_readable(), is_readable()), (1, 1));
    }
}
