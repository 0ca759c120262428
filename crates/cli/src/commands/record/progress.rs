//! How a recording is going: one line on a terminal.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stderr};
use std::time::Duration;

use capture::record::EndCause;
use capture::text::units::{bytes, count, counted, elapsed};
use recorder::{Session, Summary, Tally, Watching};
use sys::clock::monotonic;

use crate::output::{complain, redraw_line};

/// A line that is written over again and again. Where there is no terminal, nothing.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: Shown,
    next: Duration,
    /// What there was when the line was written last, and when.
    last: (Duration, u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    /// There is no terminal.
    Never,
    /// Nothing stands there.
    No,
    /// A line stands there, which has to be cleared.
    Yes,
}

impl Progress {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        let shown = if stderr().is_terminal() { Shown::No } else { Shown::Never };
        let now = monotonic();
        Self { shown, next: now + EVERY, last: (now, 0) }
    }

    /// No line, whatever there is.
    pub(crate) const fn silent() -> Self {
        Self { shown: Shown::Never, next: Duration::ZERO, last: (Duration::ZERO, 0) }
    }

    /// Writes the line, if it is time to.
    pub(crate) fn show(&mut self, session: &Session) {
        let now = monotonic();
        if self.shown == Shown::Never || now < self.next {
            return;
        }
        let tally = session.tally();
        let (then, before) = self.last;
        let rate = (tally.messages - before) as f64 / (now - then).as_secs_f64().max(1e-9);
        redraw_line(&line(&tally, rate, session.span()));
        self.shown = Shown::Yes;
        self.last = (now, tally.messages);
        self.next = now + EVERY;
    }

    /// How long until the line has to be written again.
    pub(crate) fn rest(&self) -> Option<Duration> {
        (self.shown != Shown::Never).then(|| self.next.saturating_sub(monotonic()))
    }

    /// Says something that stays.
    pub(crate) fn say(&mut self, text: &str) {
        self.clear();
        complain(&format!("diligence record: {text}\n"));
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.shown == Shown::Yes {
            redraw_line("");
            self.shown = Shown::No;
        }
    }
}

fn line(tally: &Tally, rate: f64, span: Duration) -> String {
    format!(
        "{}  {}, {}/s, {}, {}  (Ctrl-C ends it)",
        elapsed(span),
        counted(tally.messages, "message", "messages"),
        count(rate),
        bytes(tally.bytes as f64),
        tally.losses,
    )
}

/// What is said at the end.
pub(crate) fn report(summary: &Summary) -> String {
    let Summary { tally, span, cause, used, watching } = summary;
    // How somebody ended it, the one who reads this knows.
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
    let each = used.as_secs_f64() * 1e6 / tally.messages.max(1) as f64;
    let _ = writeln!(
        text,
        "it took {:.2} s of processor time: {each:.1} us for each message",
        used.as_secs_f64()
    );
    if let Some(Watching { watched, refused }) = watching {
        let watched = counted(*watched, "process", "processes");
        let _ = writeln!(text, "switches of {watched}; {refused} could not be watched");
    }
    let files: Vec<_> = tally.files.iter().map(|path| path.display().to_string()).collect();
    if !files.is_empty() {
        let _ = writeln!(text, "{}: {}", bytes(tally.written as f64), files.join(", "));
    }
    text
}

/// How often the line is written.
const EVERY: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use capture::losses::Losses;

    use super::*;

    #[test]
    fn the_line_tells_how_it_is_going() {
        let losses = Losses { gaps: 2, messages: 7 };
        let tally = Tally { messages: 1234, bytes: 99_000, losses, ..Tally::default() };
        let expected = "0:01:01  1,234 messages, 20/s, 97 KiB, 7 messages lost  (Ctrl-C ends it)";
        assert_eq!(line(&tally, 20.0, Duration::from_secs(61)), expected);
    }

    #[test]
    fn the_report_tells_what_it_has_cost() {
        let summary = Summary {
            tally: Tally {
                messages: 1000,
                bytes: 2048,
                written: 4096,
                files: vec!["a.pcapng.1".into(), "a.pcapng".into()],
                ..Tally::default()
            },
            span: Duration::from_millis(2500),
            cause: EndCause::NoBus,
            used: Duration::from_millis(20),
            watching: Some(Watching { watched: 3, refused: 1 }),
        };
        let expected = "recorded 1,000 messages, 2.0 KiB, in 2.5 s, until no bus was left: nothing lost\n\
                        it took 0.02 s of processor time: 20.0 us for each message\n\
                        switches of 3 processes; 1 could not be watched\n\
                        4.0 KiB: a.pcapng.1, a.pcapng\n";
        assert_eq!(report(&summary), expected);
    }
}
