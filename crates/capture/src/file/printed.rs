//! The texts that `dbus-monitor` prints: a table of headers, or messages with their arguments.

use std::io::{self, Read};

use super::rebuilt::TextLineReader;
use super::window::FileWindow;
use super::{profile, text};
use crate::record::{MessageContent, RecordedBus, RecordedClock, RecordingRecord};

/// Reads a text line by line.
#[derive(Debug)]
pub(super) struct PrintedText<R> {
    lines: TextLineReader<R>,
    form: PrintedForm,
    is_started: bool,
}

/// The form of a text that `dbus-monitor` prints.
#[derive(Clone, Copy, Debug)]
pub(super) enum PrintedForm {
    /// A table with a line for each message, as printed with `--profile`.
    Profile,
    /// A line for each message, followed by lines with its arguments.
    Messages,
}

impl<R: Read> PrintedText<R> {
    pub(super) const fn new(window: FileWindow<R>, form: PrintedForm) -> Self {
        Self { lines: TextLineReader::new(window), form, is_started: false }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        let lines = &mut self.lines;
        if !std::mem::replace(&mut self.is_started, true) {
            let (clock, content) = match self.form {
                PrintedForm::Profile => (RecordedClock::Wall, MessageContent::Headers),
                PrintedForm::Messages => (text::clock(lines)?, MessageContent::Texts),
            };
            return Ok(Some(RecordingRecord::Bus(RecordedBus {
                clock,
                content,
                ..RecordedBus::default()
            })));
        }
        let rebuilt_record = match self.form {
            PrintedForm::Profile => profile::next(lines),
            PrintedForm::Messages => text::next(lines),
        }?;
        Ok(self.lines.record(rebuilt_record))
    }
}
