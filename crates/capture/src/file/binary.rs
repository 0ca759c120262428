//! Messages one behind the other, as `dbus-monitor --binary` writes them. They have no times.

use std::io::{self, Read};
use std::ops::Range;

use wire::message::FixedHeader;

use super::window::FileWindow;
use crate::record::{
    BusId, Damage, RawMessage, RecordedBus, RecordedClock, RecordedTime, RecordingRecord,
};

/// Reads messages that lie one behind the other.
#[derive(Debug)]
pub(super) struct Binary<R> {
    window: FileWindow<R>,
    stage: BinaryReadStage,
}

#[derive(Clone, Copy, Debug)]
enum BinaryReadStage {
    Start,
    /// So many bytes were passed on as a message.
    Behind(usize),
    End,
}

impl<R: Read> Binary<R> {
    pub(super) const fn new(window: FileWindow<R>) -> Self {
        Self { window, stage: BinaryReadStage::Start }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        match self.stage {
            BinaryReadStage::Start => {
                self.stage = BinaryReadStage::Behind(0);
                let bus = RecordedBus { clock: RecordedClock::Absent, ..RecordedBus::default() };
                return Ok(Some(RecordingRecord::Bus(bus)));
            }
            BinaryReadStage::Behind(len) => self.window.advance(len),
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
            return self.pass_over().map(Some);
        };
        let kept = self.window.peek(len)?.len();
        if kept < len {
            self.stage = BinaryReadStage::End;
            return Ok(Some(self.window.early_end()));
        }
        self.stage = BinaryReadStage::Behind(len);
        Ok(Some(RecordingRecord::Message(RawMessage {
            at: RecordedTime::default(),
            bus: BusId(0),
            bytes: self.window.shown(len),
            len: len as u32,
            place: Some(at),
            trace: None,
        })))
    }

    /// Goes on at the next place where a message may begin.
    fn pass_over(&mut self) -> io::Result<RecordingRecord<'static>> {
        let at = self.window.offset();
        let len = self.window.seek(START_LEN, is_start)?;
        self.stage = BinaryReadStage::Behind(0);
        let what = format!("{len} bytes that are no message");
        Ok(RecordingRecord::Damage(Damage { at, what }))
    }
}

/// Whether these bytes may be the start of a message: of one that is valid, with a header.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    // The first header field: its code, and one of the types that fields have.
    let field = bytes.get(FixedHeader::LEN..START_LEN);
    let is_field = matches!(field, Some(&[1..=9, 1, b's' | b'o' | b'g' | b'u', 0]));
    is_field && message_len(bytes).is_some()
}

/// How long the message is that begins here.
pub(super) fn message_len(bytes: &[u8]) -> Option<usize> {
    let mut start = *bytes.first_chunk()?;
    // When the bus ends their connection, recorders get a message from their library, which has no
    // serial.
    if start[SERIAL] == [0; 4] {
        start[SERIAL].fill(1);
    }
    Some(FixedHeader::parse(&start).ok()?.message_len())
}

/// Where the serial stands in a header.
const SERIAL: Range<usize> = 8..12;

/// Bytes by which the start of a message is known.
const START_LEN: usize = FixedHeader::LEN + 4;
