//! Reads concatenated messages, as `dbus-monitor --binary` writes them. They have no times.

use std::io::{self, Read};
use std::ops::Range;

use wire::message::FixedHeader;

use super::window::FileWindow;
use crate::record::{
    BusId, Damage, RawMessage, RecordedBus, RecordedClock, RecordedTime, RecordingRecord,
};

/// Reads a file of concatenated messages.
#[derive(Debug)]
pub(super) struct Binary<R> {
    window: FileWindow<R>,
    stage: BinaryReadStage,
}

#[derive(Clone, Copy, Debug)]
enum BinaryReadStage {
    Start,
    /// This number of bytes, already returned as a message, precedes the next message.
    After(usize),
    End,
}

impl<R: Read> Binary<R> {
    pub(super) const fn new(window: FileWindow<R>) -> Self {
        Self { window, stage: BinaryReadStage::Start }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        match self.stage {
            BinaryReadStage::Start => {
                self.stage = BinaryReadStage::After(0);
                let bus = RecordedBus { clock: RecordedClock::Absent, ..RecordedBus::default() };
                return Ok(Some(RecordingRecord::Bus(bus)));
            }
            BinaryReadStage::After(len) => self.window.advance(len),
            BinaryReadStage::End => return Ok(None),
        }
        self.message()
    }

    fn message(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        let at = self.window.offset();
        let start = self.window.peek(FixedHeader::LEN)?;
        if start.len() < FixedHeader::LEN {
            let is_cut = !start.is_empty();
            self.stage = BinaryReadStage::End;
            return Ok(if is_cut { Some(self.window.early_end()) } else { self.window.failure() });
        }
        let Some(len) = message_len(start) else {
            return self.resynchronize().map(Some);
        };
        let kept = self.window.peek(len)?.len();
        if kept < len {
            self.stage = BinaryReadStage::End;
            return Ok(Some(self.window.early_end()));
        }
        self.stage = BinaryReadStage::After(len);
        Ok(Some(RecordingRecord::Message(RawMessage {
            at: RecordedTime::default(),
            bus: BusId(0),
            bytes: self.window.shown(len),
            len: len as u32,
            place: Some(at),
            trace: None,
        })))
    }

    /// Skips to the next position at which a message may begin.
    fn resynchronize(&mut self) -> io::Result<RecordingRecord<'static>> {
        let at = self.window.offset();
        let len = self.window.seek(START_LEN, is_start)?;
        self.stage = BinaryReadStage::After(0);
        let what = format!("{len} bytes that are not a message");
        Ok(RecordingRecord::Damage(Damage { at, what }))
    }
}

/// Returns true if these bytes may be the start of a valid message with header fields.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    // The first header field: its code, and one of the types that header fields have.
    let field = bytes.get(FixedHeader::LEN..START_LEN);
    let is_field = matches!(field, Some(&[1..=9, 1, b's' | b'o' | b'g' | b'u', 0]));
    is_field && message_len(bytes).is_some()
}

/// The length of the message that begins here; `None` if its header is invalid.
pub(super) fn message_len(bytes: &[u8]) -> Option<usize> {
    let mut start = *bytes.first_chunk()?;
    // When the bus closes their connection, recorders get a message from their library that has no
    // serial.
    if start[SERIAL] == [0; 4] {
        start[SERIAL].fill(1);
    }
    Some(FixedHeader::parse(&start).ok()?.message_len())
}

/// The position of the serial in a header.
const SERIAL: Range<usize> = 8..12;

/// The number of bytes by which the start of a message is recognized.
const START_LEN: usize = FixedHeader::LEN + 4;
