//! Messages in a single line each, for people at a terminal.
//!
//! A call and its reply both have the caller on the left and the callee on the right. The arrow
//! shows the direction of the message, and a reply repeats the name of its call:
//!
//! ```text

mod cut;
mod entry;
mod widths;

use std::io;
use std::time::Duration;

use entry::{Arrow, CallEnding, Tone};
pub use entry::{Knowledge, MessageLineEntry};
use widths::{FittedColumns, Widths};

use crate::model::{Capture, CapturedMessage, MessageBuffer};
use crate::record::RecordedTime;
use crate::text::Style;
use crate::text::columns::{Fit, cells, fit};
use crate::text::units::duration_aligned;

/// Formats messages as lines.
#[derive(Clone, Copy, Debug)]
pub struct MessageLines {
    style: Style,
    clock: LineClock,
    widths: Widths,
}

/// The content of the first columns of a line.
#[derive(Clone, Copy, Debug)]
pub enum LineClock {
    /// The number of the message, and the seconds since the first message of the recording.
    Recording {
        /// The time of the first message.
        start: RecordedTime,
        /// The number of digits of the last number.
        digits: usize,
        /// The number of digits of the seconds of the last message.
        seconds: usize,
    },
    /// The time of day. The function converts UTC to local time.
    TimeOfDay(fn(RecordedTime) -> RecordedTime),
}

impl LineClock {
    /// Returns the clock for all messages of a recording.
    pub fn of_recording(capture: &Capture) -> Self {
        let start = capture.messages().next().map_or(RecordedTime(0), |message| message.at());
        let last = capture.messages().next_back().and_then(|message| message.at().since(start));
        Self::Recording {
            start,
            digits: capture.len().to_string().len(),
            seconds: last.unwrap_or_default().as_secs().to_string().len(),
        }
    }

    fn width(self, precision: Precision) -> usize {
        match self {
            Self::Recording { digits, seconds, .. } => {
                digits + " ".len() + seconds + ".".len() + precision.digits()
            }
            Self::TimeOfDay(_) => "00:00:00.".len() + precision.digits(),
        }
    }

    fn text(self, number: Option<u64>, at: RecordedTime, precision: Precision) -> String {
        match self {
            Self::Recording { start, digits, seconds } => {
                let number = number.map(|number| number.to_string()).unwrap_or_default();
                let nanos = at.0 - start.0;
                let sign = if nanos < 0 { "-" } else { "" };
                let since = Duration::from_nanos(nanos.unsigned_abs());
                let fraction = precision.fraction(since.subsec_nanos());
                let time = format!("{sign}{}.{fraction}", since.as_secs());
                let time_width = seconds + ".".len() + precision.digits();
                format!("{number:>digits$} {time:>time_width$}")
            }
            Self::TimeOfDay(local) => {
                let nanos = local(at).0;
                let seconds = nanos.div_euclid(NANOS_PER_SECOND).rem_euclid(SECONDS_PER_DAY);
                let fraction = nanos.rem_euclid(NANOS_PER_SECOND) as u32;
                let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                let fraction = precision.fraction(fraction);
                format!("{hours:02}:{minutes:02}:{:02}.{fraction}", seconds % 60)
            }
        }
    }
}

/// The precision of times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Precision {
    Millis,
    Micros,
}

impl Precision {
    const fn of_width(width: usize) -> Self {
        if width < WIDTH_FOR_MICROS { Self::Millis } else { Self::Micros }
    }

    const fn digits(self) -> usize {
        match self {
            Self::Millis => 3,
            Self::Micros => 6,
        }
    }

    fn fraction(self, nanos: u32) -> String {
        match self {
            Self::Millis => format!("{:03}", nanos / 1_000_000),
            Self::Micros => format!("{:06}", nanos / 1_000),
        }
    }
}

impl MessageLines {
    /// Creates a formatter for lines that are at most as wide as the style states. Texts are not
    /// cut if that is [`UNLIMITED`](Self::UNLIMITED).
    pub fn new(style: Style, clock: LineClock) -> Self {
        let precision = Precision::of_width(style.width);
        let widths = Widths::of_line(style.width, clock.width(precision));
        Self { style, clock, widths }
    }

    /// The width of lines for programs, in which texts are not cut.
    pub const UNLIMITED: usize = usize::MAX;

    /// Appends the line of a message. `buffer` holds its bytes temporarily.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read.
    pub fn push(
        &self,
        text: &mut String,
        message: &CapturedMessage<'_>,
        knowledge: Knowledge,
        buffer: &mut MessageBuffer,
    ) -> io::Result<()> {
        let entry = MessageLineEntry::of(message, knowledge, buffer)?;
        self.push_entry(text, &entry);
        Ok(())
    }

    /// Appends the line of an entry.
    pub fn push_entry(&self, text: &mut String, entry: &MessageLineEntry) {
        let precision = Precision::of_width(self.style.width);
        let clock = self.clock.text(entry.number, entry.at, precision);
        text.push_str(&self.style.pale(clock));
        text.push(' ');
        let fitted = self.widths.fit(entry);
        self.push_ends(text, entry, &fitted);
        match &entry.ending {
            Some(ending) => self.push_ending(text, entry, ending, &fitted),
            None => self.push_arguments(text, entry, &fitted),
        }
        text.push('\n');
    }

    fn push_ends(&self, text: &mut String, entry: &MessageLineEntry, fitted: &FittedColumns) {
        let arrow = match entry.arrow {
            Arrow::Right => "\u{2192}",
            Arrow::Left => "\u{2190}",
            Arrow::NoMessage => "\u{b7}",
        };
        text.push_str(&fitted.left);
        text.push(' ');
        text.push_str(&self.style.pale(arrow));
        text.push(' ');
        text.push_str(&fitted.right);
        text.push_str(self.widths.gap());
    }

    /// Appends the member and its arguments.
    fn push_arguments(&self, text: &mut String, entry: &MessageLineEntry, fitted: &FittedColumns) {
        self.push_with_details(text, entry, fitted.member.trim_end(), fitted.rest);
    }

    /// Appends a name, and as much of the arguments as fits. Returns the number of cells used.
    fn push_with_details(
        &self,
        text: &mut String,
        entry: &MessageLineEntry,
        name: &str,
        width: usize,
    ) -> usize {
        text.push_str(&match entry.tone {
            Tone::Signal => self.style.accent(name),
            Tone::Call => self.style.strong(name),
            Tone::Reply => self.style.pale(name),
        });
        let room = width.saturating_sub(cells(name));
        if cells(&entry.details) > room && room < DETAILS_WIDTH_MIN {
            return cells(name);
        }
        let details = cut::end(&entry.details, room);
        text.push_str(&details);
        cells(name) + cells(&details)
    }

    /// Appends the member, padded to its column. The arguments of a call follow it.
    fn push_member(
        &self,
        text: &mut String,
        entry: &MessageLineEntry,
        fitted: &FittedColumns,
    ) -> usize {
        let column = cells(&fitted.member);
        if entry.tone != Tone::Call {
            text.push_str(&fitted.member);
            return column;
        }
        let width = if self.widths.are_unlimited() { Self::UNLIMITED } else { column };
        let taken = self.push_with_details(text, entry, fitted.member.trim_end(), width);
        text.extend(std::iter::repeat_n(' ', column.saturating_sub(taken)));
        taken.max(column)
    }

    /// Appends the member, the duration, the outcome and the values of the reply.
    fn push_ending(
        &self,
        text: &mut String,
        entry: &MessageLineEntry,
        ending: &CallEnding,
        fitted: &FittedColumns,
    ) {
        let gap = self.widths.gap();
        let taken = self.push_member(text, entry, fitted);
        if taken + gap.len() + DURATION_WIDTH > fitted.rest {
            return;
        }
        text.push_str(gap);
        let duration = ending.waited.map(duration_aligned).unwrap_or_default();
        let duration = fit(&duration, DURATION_WIDTH, Fit::Number);
        text.push_str(&match ending.waited {
            Some(waited) if waited >= VERY_SLOW => self.style.alarm(duration),
            Some(waited) if waited >= SLOW => self.style.warning(duration),
            _ => duration,
        });
        text.push_str(gap);
        let used = taken + gap.len() + DURATION_WIDTH + gap.len();
        let room = fitted.rest.saturating_sub(used);
        let words = cut::name(&ending.words, room);
        let room = room.saturating_sub(cells(&words));
        text.push_str(&match ending.is_good() {
            Some(true) => self.style.pale(&words),
            Some(false) => self.style.alarm(&words),
            None => self.style.warning(&words),
        });
        let is_complete = entry.details.is_empty() || entry.tone == Tone::Call;
        if !is_complete && room >= DETAILS_WIDTH_MIN {
            text.push_str(&cut::end(&format!("{}{}", ending.separator(), entry.details), room));
        }
        text.truncate(text.trim_end_matches(' ').len());
    }
}

/// The width of a duration such as `1.20 ms`, in cells.
const DURATION_WIDTH: usize = 7;

/// The minimum width of arguments or error texts, in cells. Less would be meaningless.
const DETAILS_WIDTH_MIN: usize = 8;

/// The duration at which a person notices waiting.
const SLOW: Duration = Duration::from_millis(100);

/// The duration at which a person suspects a fault.
const VERY_SLOW: Duration = Duration::from_secs(1);

/// The width of lines, in cells, from which times have microseconds.
const WIDTH_FOR_MICROS: usize = 100;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

const SECONDS_PER_DAY: i64 = 86_400;
