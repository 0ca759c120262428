//! The alarm: one timer for all deadlines.

use std::io;
use std::time::Duration;

use sys::timer::Timer;

/// A timer that expires at or before the next deadline. It is not reset when deadlines are removed,
/// so that deadlines that are never reached cost no system call.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: Timer,
    /// When the timer expires.
    set_to: Option<Duration>,
    /// The earliest requested deadline.
    wanted: Option<Duration>,
}

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { timer: Timer::new()?, set_to: None, wanted: None })
    }

    pub(super) const fn timer(&self) -> &Timer {
        &self.timer
    }

    /// Requests that the alarm expires at this time or earlier.
    pub(super) fn no_later_than(&mut self, at: Duration) {
        if self.wanted.is_none_or(|wanted| at < wanted) {
            self.wanted = Some(at);
        }
    }

    /// Notes that the alarm has expired, and forgets earlier requests.
    pub(super) fn rang(&mut self) -> io::Result<()> {
        self.set_to = None;
        self.wanted = None;
        self.timer.set(None)
    }

    /// Sets the timer, if it would expire too late.
    pub(super) fn set(&mut self) -> io::Result<()> {
        let Some(wanted) = self.wanted else { return Ok(()) };
        if self.set_to.is_none_or(|set_to| wanted < set_to) {
            self.timer.set(Some(wanted))?;
            self.set_to = Some(wanted);
        }
        Ok(())
    }
}
