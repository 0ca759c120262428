//! The alarm: one timer for all deadlines.

use std::io;
use std::time::Duration;

use sys::timer::Timer;

/// Rings at the next deadline, or before: when deadlines go away it stays as it is, so that those
/// that never come cost no system call.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: Timer,
    /// When the timer rings.
    set_to: Option<Duration>,
    /// When it has to ring at the latest.
    wanted: Option<Duration>,
}

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { timer: Timer::new()?, set_to: None, wanted: None })
    }

    pub(super) const fn timer(&self) -> &Timer {
        &self.timer
    }

    /// There is something to look at at this moment.
    pub(super) fn no_later_than(&mut self, at: Duration) {
        if self.wanted.is_none_or(|wanted| at < wanted) {
            self.wanted = Some(at);
        }
    }

    /// Notes that the alarm has rung. From now on it waits for what is asked for from now on.
    pub(super) fn rang(&mut self) -> io::Result<()> {
        self.set_to = None;
        self.wanted = None;
        self.timer.set(None)
    }

    /// Sets the timer, if it would ring too late.
    pub(super) fn set(&mut self) -> io::Result<()> {
        let Some(wanted) = self.wanted else { return Ok(()) };
        if self.set_to.is_none_or(|set_to| wanted < set_to) {
            self.timer.set(Some(wanted))?;
            self.set_to = Some(wanted);
        }
        Ok(())
    }
}
