//! The time that a thread waited for a processor (`/proc/thread-self/schedstat`, see
//! Documentation/scheduler/sched-stats.rst of the kernel).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The time that the creating thread was runnable but waited for a processor.
#[derive(Debug)]
pub struct RunDelay {
    /// `None` if the kernel does not count it.
    file: Option<File>,
    last: Duration,
    asked: Duration,
}

impl RunDelay {
    /// Starts to count, for the calling thread.
    #[must_use]
    pub fn new(now: Duration) -> Self {
        let file = File::open("/proc/thread-self/schedstat").ok();
        let last = file.as_ref().and_then(read).unwrap_or_default();
        Self { file, last, asked: now }
    }

    /// Returns the waiting time since the last call. Zero if the kernel does not count it, or if
    /// the last call was less than `PAUSE` ago; then the next call includes the time.
    pub fn since_last(&mut self, now: Duration) -> Duration {
        if now.saturating_sub(self.asked) < PAUSE {
            return Duration::ZERO;
        }
        self.asked = now;
        let Some(total) = self.file.as_ref().and_then(read) else { return Duration::ZERO };
        total.saturating_sub(std::mem::replace(&mut self.last, total))
    }
}

/// Reads the second number of the file, the waiting time in nanoseconds.
fn read(file: &File) -> Option<Duration> {
    let mut buffer = [0; 80];
    let length = file.read_at(&mut buffer, 0).ok()?;
    let text = std::str::from_utf8(&buffer[..length]).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// The shortest interval between two reads of the file.
const PAUSE: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_counted_once_and_read_at_most_once_per_interval() {
        let at = Duration::from_millis;
        let mut delay = RunDelay::new(at(0));
        assert!(delay.file.is_some(), "the kernel counts");
        assert_eq!(delay.since_last(at(9)), Duration::ZERO, "too early");
        let known = delay.file.as_ref().and_then(read).expect("it is read");
        assert!(delay.since_last(at(10)) <= known + at(1000));
        assert!(delay.last >= known, "a reported delay is not reported again");
    }
}
