//! Conditions that end a wait early.

use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use sys::clock;
use sys::signals::SignalSource;

/// The conditions that end a measurement early: its deadline, and a signal from the user.
#[derive(Clone, Debug)]
pub(crate) struct StopCondition {
    /// The signals that end the run; a wait never consumes them.
    signals: Option<Rc<SignalSource>>,
    limit: Duration,
    deadline: Duration,
}

/// The reason why a wait ended early or failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WaitError {
    /// The user ended the run.
    #[error("interrupted")]
    Interrupted,
    #[error("not finished within {} s", .limit.as_secs())]
    TimedOut { limit: Duration },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl StopCondition {
    /// Creates a condition for a measurement that starts now and may take as long as `limit`.
    pub(crate) fn new(limit: Duration, signals: Option<Rc<SignalSource>>) -> Self {
        Self { signals, limit, deadline: clock::monotonic() + limit }
    }

    pub(crate) fn left(&self) -> Duration {
        self.deadline.saturating_sub(clock::monotonic())
    }

    /// True if the user has ended the run.
    pub(crate) fn is_interrupted(&self) -> bool {
        let Some(signals) = &self.signals else { return false };
        let mut fds = [PollFd::new(signals, PollFlags::IN)];
        retry_on_intr(|| poll(&mut fds, Some(&Timespec::default()))).is_ok_and(|ready| ready > 0)
    }

    /// Waits until `source` is readable or at its end.
    pub(crate) fn wait_for(&self, source: impl AsFd) -> Result<(), WaitError> {
        let timeout = Timespec::try_from(self.left()).ok();
        let source = PollFd::new(&source, PollFlags::IN);
        let signals = self.signals.as_ref().map(|signals| PollFd::new(signals, PollFlags::IN));
        let mut fds: Vec<_> = [source].into_iter().chain(signals).collect();
        let ready = retry_on_intr(|| poll(&mut fds, timeout.as_ref()));
        match ready.map_err(io::Error::from)? {
            _ if fds.get(1).is_some_and(is_ready) => Err(WaitError::Interrupted),
            0 => Err(WaitError::TimedOut { limit: self.limit }),
            _ => Ok(()),
        }
    }
}

fn is_ready(fd: &PollFd<'_>) -> bool {
    !fd.revents().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_ends_with_the_first_event() {
        let (reader, writer) = io::pipe().unwrap();
        let stop = StopCondition::new(Duration::from_millis(10), None);
        let error = stop.wait_for(&reader).unwrap_err();
        let WaitError::TimedOut { limit } = error else { panic!("{error:?}") };
        assert_eq!(limit, Duration::from_millis(10));
        assert!(!stop.is_interrupted());
        assert_eq!(stop.left(), Duration::ZERO);

        let stop = StopCondition::new(Duration::from_secs(60), None);
        drop(writer);
        stop.wait_for(&reader).unwrap();
        assert!(stop.left() > Duration::from_secs(30));
    }
}
