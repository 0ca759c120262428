//! The progress of a recording, on one line of the terminal.

use std::fmt::Write as _;
use std::time::Duration;

use capture::query::RecorderMessageCount;
use capture::record::EndCause;
use capture::text::units::{bytes, count, counted, duration, elapsed};
use recorder::{FollowedProcesses, RecordingSession, RecordingTally, SessionReport};
use sys::clock::monotonic;

use crate::output::print_message;
use crate::progress::{StatusLine, UPDATE_INTERVAL};

/// The progress line, which is drawn only if standard error is a terminal.
#[derive(Debug)]
pub(crate) struct RecordProgress {
    line: StatusLine,
    next: Duration,
    /// The monotonic time and the number of messages at the last update.
    last: (Duration, u64),
}

impl RecordProgress {
    /// Returns a progress line that is first drawn after an interval.
    pub(crate) fn new() -> Self {
        let now = monotonic();
        Self { line: StatusLine::new(), next: now + UPDATE_INTERVAL, last: (now, 0) }
    }

    /// Returns a progress line that is never drawn.
    pub(crate) const fn silent() -> Self {
        Self { line: StatusLine::silent(), next: Duration::ZERO, last: (Duration::ZERO, 0) }
    }

    /// Draws the line if the interval has passed.
    pub(crate) fn show(&mut self, session: &RecordingSession) {
        let now = monotonic();
        if !self.line.is_possible() || now < self.next {
            return;
        }
        let tally = session.tally();
        let (then, before) = self.last;
        let rate = (tally.messages - before) as f64 / (now - then).as_secs_f64().max(1e-9);
        self.line.draw(&line(&tally, rate, session.span()));
        self.last = (now, tally.messages);
        self.next = now + UPDATE_INTERVAL;
    }

    /// The time until the next update; `None` if the line is never drawn.
    pub(crate) fn time_until_update(&self) -> Option<Duration> {
        self.line.is_possible().then(|| self.next.saturating_sub(monotonic()))
    }

    /// Prints a permanent message above the progress line.
    pub(crate) fn print_message(&mut self, text: &str) {
        self.clear();
        print_message("diligence record", &text);
    }

    /// Clears the progress line.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
    }
}

fn line(tally: &RecordingTally, rate: f64, span: Duration) -> String {
    format!(
        "{}  {}, {}/s, {}, {}  (Ctrl-C ends it)",
        elapsed(span),
        counted(tally.messages, "message", "messages"),
        count(rate),
        bytes(tally.bytes as f64),
        tally.losses,
    )
}

/// Returns the report at the end of a recording.
pub(crate) fn report(summary: &SessionReport) -> String {
    let SessionReport { tally, span, cause, used, late, watching } = summary;
    // The user knows that the command or a signal ended it, so this needs no explanation.
    let until = match cause {
        EndCause::Asked | EndCause::Command => String::new(),
        cause => format!(", until {cause}"),
    };
    let mut text = format!(
        "recorded {}, {}, in {:.1} s{until}: {}\n",
        counted(tally.messages, "message", "messages"),
        bytes(tally.bytes as f64),
        span.as_secs_f64(),
        tally.losses,
    );
    if let Some(sentence) = RecorderMessageCount::new(tally.of_recorder).sentence() {
        let _ = writeln!(text, "{sentence}");
    }
    let read = tally.messages + tally.of_recorder;
    let each = used.as_secs_f64() * 1e6 / read.max(1) as f64;
    let _ =
        writeln!(text, "recorder CPU: {:.2} s, {each:.1} \u{b5}s per message", used.as_secs_f64());
    if late.messages > 0 {
        let messages = counted(late.messages, "message", "messages");
        let _ = writeln!(
            text,
            "{messages} were read up to {} late, because the recorder was stopped or had no processor: \
             their recorded times are too late",
            duration(late.by)
        );
    }
    if let Some(FollowedProcesses { watched, refused }) = watching {
        let watched = counted(*watched, "process", "processes");
        let _ = writeln!(text, "switches of {watched}; {refused} could not be watched");
    }
    let files: Vec<_> = tally.files.iter().map(|path| path.display().to_string()).collect();
    if !files.is_empty() {
        let _ = writeln!(text, "{}: {}", bytes(tally.written as f64), files.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use capture::losses::Losses;
    use recorder::ReadingLateness;

    use super::*;

    #[test]
    fn progress_lines_show_messages_rate_and_losses() {
        let losses = Losses { gaps: 2, messages: 7 };
        let tally =
            RecordingTally { messages: 1234, bytes: 99_000, losses, ..RecordingTally::default() };
        let expected = "0:01:01  1,234 messages, 20/s, 97 KiB, 7 messages lost  (Ctrl-C ends it)";
        assert_eq!(line(&tally, 20.0, Duration::from_secs(61)), expected);
    }

    #[test]
    fn reports_contain_counts_cpu_time_and_files() {
        let summary = SessionReport {
            tally: RecordingTally {
                messages: 1000,
                bytes: 2048,
                of_recorder: 250,
                written: 4096,
                files: vec!["a.pcapng.1".into(), "a.pcapng".into()],
                ..RecordingTally::default()
            },
            span: Duration::from_millis(2500),
            cause: EndCause::NoBus,
            used: Duration::from_millis(20),
            watching: Some(FollowedProcesses { watched: 3, refused: 1 }),
            late: ReadingLateness::default(),
        };
        let expected = "recorded 1,000 messages, 2.0 KiB, in 2.5 s, until the last bus disconnected: nothing lost\n\
                        250 messages from or to the recorder are hidden; is:recorder shows them\n\
                        recorder CPU: 0.02 s, 16.0 \u{b5}s per message\n\
                        switches of 3 processes; 1 could not be watched\n\
                        4.0 KiB: a.pcapng.1, a.pcapng\n";
        assert_eq!(report(&summary), expected);
    }
}
