//! Progress of a long operation, on one line of the terminal that is redrawn.
//!
//! [`StatusLine`] is the line. [`WorkProgress`] draws it from a thread for an operation that takes
//! longer than a second. Both do nothing if standard error is not a terminal.

use std::convert::Infallible;
use std::fs::Metadata;
use std::io::{IsTerminal as _, stderr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use capture::model::ReadProgress;
use capture::text::units::{bytes, counted, elapsed, grouped};
use sys::clock::monotonic;

use crate::output::{print_to_stderr, redraw_line};

/// A line of the terminal that is redrawn in place.
#[derive(Debug)]
pub(crate) struct StatusLine {
    shown: LineState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LineState {
    /// Standard error is not a terminal.
    Never,
    /// The line is empty.
    No,
    /// The line shows a text, which has to be cleared.
    Yes,
}

impl StatusLine {
    /// Returns an empty line; it is never drawn if standard error is not a terminal.
    pub(crate) fn new() -> Self {
        Self { shown: if stderr().is_terminal() { LineState::No } else { LineState::Never } }
    }

    /// Returns a line that is never drawn.
    pub(crate) const fn silent() -> Self {
        Self { shown: LineState::Never }
    }

    /// Returns true if standard error is a terminal.
    pub(crate) fn is_possible(&self) -> bool {
        self.shown != LineState::Never
    }

    /// Replaces the text of the line.
    pub(crate) fn draw(&mut self, text: &str) {
        if self.is_possible() {
            redraw_line(text);
            self.shown = LineState::Yes;
        }
    }

    /// Clears the line if it shows a text.
    pub(crate) fn clear(&mut self) {
        if self.shown == LineState::Yes {
            redraw_line("");
            self.shown = LineState::No;
        }
    }
}

/// The progress of a long operation. A thread draws it after one second, until this value is
/// dropped.
#[derive(Debug)]
pub(crate) struct WorkProgress {
    /// The number of messages processed so far.
    done: Arc<AtomicU64>,
    /// The drawing thread. It ends when the sender is dropped.
    shown: Option<(Sender<Infallible>, JoinHandle<()>)>,
}

/// A long operation, and how its progress is measured.
#[derive(Debug)]
pub(crate) enum WorkTask {
    /// Reading files; the text is their description.
    Reading(String, Arc<ReadProgress>),
    /// Processing this number of messages, each of which is [counted](WorkProgress::count); the text
    /// says what is done with them.
    Messages(&'static str, u64),
    /// An operation whose progress is not measured.
    Other(&'static str),
}

impl WorkProgress {
    /// Starts the thread that draws the progress of an operation.
    pub(crate) fn start(task: WorkTask) -> Self {
        let done = Arc::new(AtomicU64::new(0));
        let line = StatusLine::new();
        let shown = line.is_possible().then(|| {
            let (done, (sender, ended)) = (Arc::clone(&done), mpsc::channel());
            let thread = thread::Builder::new().name("progress".to_owned());
            let thread = thread.spawn(move || show(line, &task, &done, &ended));
            thread.map(|thread| (sender, thread))
        });
        // If no thread can be started, the operation runs without a progress line.
        Self { done, shown: shown.and_then(Result::ok) }
    }

    /// Counts one more processed message.
    pub(crate) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.shown.take() {
            drop(sender);
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

/// Draws the line until the operation has ended, then clears it.
fn show(mut line: StatusLine, task: &WorkTask, done: &AtomicU64, ended: &Receiver<Infallible>) {
    let start = monotonic();
    let mut rest = SHOW_AFTER;
    while ended.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
        line.draw(&task.text(done.load(Ordering::Relaxed), monotonic() - start));
        rest = UPDATE_INTERVAL;
    }
    line.clear();
}

impl WorkTask {
    fn text(&self, done: u64, time: Duration) -> String {
        let time = elapsed(time);
        match self {
            Self::Reading(name, progress) => match progress.share() {
                Some(share) => format!("{time}  reading {name}: {:.0} %", share * 100.0),
                None => format!("{time}  reading {name}"),
            },
            Self::Messages(doing, all) => format!(
                "{time}  {doing}: {} of {}",
                grouped(done.min(*all)),
                counted(*all, "message", "messages")
            ),
            Self::Other(doing) => format!("{time}  {doing}"),
        }
    }
}

/// Prints the number of messages, the size and the path of a written file to standard error, if it
/// is a terminal. Prints nothing for a path that is not a regular file.
pub(crate) fn conclude_file(path: &Path, messages: u64) {
    let Some(file) = path.metadata().ok().filter(Metadata::is_file) else { return };
    if stderr().is_terminal() {
        let messages = counted(messages, "message", "messages");
        let size = bytes(file.len() as f64);
        print_to_stderr(&format!("{messages}, {size}: {}\n", path.display()));
    }
}

/// The time before a progress line appears.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// The interval between updates of a progress line.
pub(crate) const UPDATE_INTERVAL: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_lines_show_time_and_count() {
        let text = |task: WorkTask| task.text(1_500, Duration::from_secs(61));
        assert_eq!(
            text(WorkTask::Messages("writing", 2_000)),
            "0:01:01  writing: 1,500 of 2,000 messages"
        );
        assert_eq!(text(WorkTask::Messages("writing", 1)), "0:01:01  writing: 1 of 1 message");
        assert_eq!(text(WorkTask::Other("checking rules")), "0:01:01  checking rules");
        let reading = WorkTask::Reading("a.pcapng".into(), Arc::default());
        assert_eq!(text(reading), "0:01:01  reading a.pcapng");
    }
}
