//! Rebuilds messages from texts with their header fields.

use std::io::{self, Read};
use std::num::NonZeroU32;

use wire::body::Value;
use wire::message::{Builder, MessageType};
use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use wire::signature::Signature;

use super::window::FileWindow;
use crate::record::{
    BusId, Damage, GapCause, RawMessage, RecordedTime, RecordingGap, RecordingRecord,
};

/// The header fields of a message in a text. Absent fields are `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrintedFields<'t> {
    pub(super) kind: MessageType,
    pub(super) at: Option<RecordedTime>,
    pub(super) serial: Option<u32>,
    pub(super) reply_serial: Option<u32>,
    pub(super) sender: Option<&'t str>,
    pub(super) destination: Option<&'t str>,
    pub(super) path: Option<&'t str>,
    pub(super) interface: Option<&'t str>,
    pub(super) member: Option<&'t str>,
    pub(super) error_name: Option<&'t str>,
}

impl<'t> PrintedFields<'t> {
    pub(super) const fn new(kind: MessageType) -> Self {
        Self {
            kind,
            at: None,
            serial: None,
            reply_serial: None,
            sender: None,
            destination: None,
            path: None,
            interface: None,
            member: None,
            error_name: None,
        }
    }

    /// Returns true if libdbus created the message because the bus disconnected the recorder.
    pub(super) fn is_disconnection(&self) -> bool {
        self.sender.is_none()
            && self.member == Some("Disconnected")
            && self.interface == Some("org.freedesktop.DBus.Local")
    }

    fn builder(&self) -> Option<Builder<'t>> {
        let reply_serial = self.reply_serial.and_then(NonZeroU32::new);
        let interface = match self.interface {
            Some(name) => Some(InterfaceName::new(name).ok()?),
            None => None,
        };
        let path = || ObjectPath::new(self.path?).ok();
        let member = || MemberName::new(self.member?).ok();
        Some(match self.kind {
            MessageType::MethodCall => {
                let call = Builder::method_call(path()?, member()?);
                interface.map_or(call, |interface| call.interface(interface))
            }
            MessageType::Signal => Builder::signal(path()?, interface?, member()?),
            MessageType::MethodReturn => Builder::method_return(reply_serial?),
            MessageType::Error => {
                let name = ErrorName::new(self.error_name.unwrap_or(ERROR_UNKNOWN)).ok()?;
                Builder::error(name, reply_serial?)
            }
            MessageType::Unknown(_) => return None,
        })
    }

    /// Replaces the content of `out` with the message; `None` if the fields are invalid for a
    /// message.
    fn build(&self, args: &[Value], out: &mut Vec<u8>) -> Option<()> {
        let mut message = self.builder()?;
        if let Some(sender) = self.sender {
            message = message.sender(BusName::new(sender).ok()?);
        }
        if let Some(destination) = self.destination {
            message = message.destination(BusName::new(destination).ok()?);
        }
        let mut types = String::new();
        args.iter().for_each(|arg| arg.push_signature(&mut types));
        let serial = NonZeroU32::new(self.serial.unwrap_or(SERIAL_UNKNOWN))?;
        out.clear();
        message
            .write_with(out, serial, Signature::new(&types).ok()?, |writer| {
                args.iter().for_each(|arg| arg.write(writer));
            })
            .ok()
    }
}

/// The lines of a text, and the message that was rebuilt from the last ones.
#[derive(Debug)]
pub(super) struct TextLineReader<R> {
    window: FileWindow<R>,
    message: Vec<u8>,
    /// The offset of the last line that was taken.
    at: u64,
    /// The offset of the first unusable line, and the number of unusable lines.
    unusable: Option<(u64, u64)>,
}

/// The result of rebuilding a record from lines.
#[derive(Debug)]
pub(super) enum RebuiltRecord {
    /// A message, whose bytes are in the [`TextLineReader`].
    Message(RecordedTime),
    Other(RecordingRecord<'static>),
    End,
}

impl<R: Read> TextLineReader<R> {
    pub(super) const fn new(window: FileWindow<R>) -> Self {
        Self { window, message: Vec::new(), at: 0, unusable: None }
    }

    /// Returns the next line, without its end; an empty line if it is not UTF-8. `None` at the end.
    pub(super) fn peek(&mut self) -> io::Result<Option<&str>> {
        let line = self.window.line()?;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        Ok((!line.is_empty()).then(|| std::str::from_utf8(text).unwrap_or_default()))
    }

    /// Returns the next line like [`peek`](Self::peek), and advances past it.
    pub(super) fn take(&mut self) -> io::Result<Option<String>> {
        let line = self.peek()?.map(str::to_owned);
        self.at = self.window.offset();
        self.pass()?;
        Ok(line)
    }

    /// Advances past a line that belongs to the last line that was taken.
    pub(super) fn pass(&mut self) -> io::Result<()> {
        let len = self.window.line()?.len();
        self.window.advance(len);
        Ok(())
    }

    /// Rebuilds a message, or another record, from the fields in the last line that was taken.
    /// Counts the line as unusable if that fails.
    pub(super) fn rebuild(
        &mut self,
        fields: Option<&PrintedFields<'_>>,
        args: &[Value],
    ) -> Option<RebuiltRecord> {
        let rebuilt_record = fields.and_then(|fields| {
            if fields.is_disconnection() {
                let cause = GapCause::Disconnected;
                let gap = RecordingGap { at: fields.at, bus: BusId(0), cause, lost: None };
                return Some(RebuiltRecord::Other(RecordingRecord::Gap(gap)));
            }
            fields.build(args, &mut self.message)?;
            Some(RebuiltRecord::Message(fields.at.unwrap_or_default()))
        });
        if rebuilt_record.is_none() {
            self.unusable.get_or_insert((self.at, 0)).1 += 1;
        }
        rebuilt_record
    }

    /// The records that remain at the end of the text.
    pub(super) fn end(&mut self) -> RebuiltRecord {
        if let Some((at, count)) = self.unusable.take() {
            let what = match count {
                1 => String::from("1 line that is not a message"),
                count => format!("{count} lines that are not messages"),
            };
            return RebuiltRecord::Other(RecordingRecord::Damage(Damage { at, what }));
        }
        self.window.failure().map_or(RebuiltRecord::End, RebuiltRecord::Other)
    }

    /// Converts a result to a record.
    pub(super) fn record(&self, rebuilt_record: RebuiltRecord) -> Option<RecordingRecord<'_>> {
        let at = match rebuilt_record {
            RebuiltRecord::Message(at) => at,
            RebuiltRecord::Other(record) => return Some(record),
            RebuiltRecord::End => return None,
        };
        let (bytes, len) = (self.message.as_slice(), self.message.len() as u32);
        let message = RawMessage { at, bus: BusId(0), bytes, len, place: None, trace: None };
        Some(RecordingRecord::Message(message))
    }
}

/// Parses a time in seconds with a fraction.
pub(super) fn time(text: &str) -> Option<RecordedTime> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut nanos = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let nanos = nanos.try_fold(0_i64, |sum, digit| {
        digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'))
    })?;
    seconds.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos).map(RecordedTime)
}

/// The name of an error if the text does not contain it.
const ERROR_UNKNOWN: &str = "not.recorded";

/// The serial of a message if the text does not contain it.
const SERIAL_UNKNOWN: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_nanosecond() {
        let cases = [
            ("1795265174.923414", Some(1_795_265_174_923_414_000)),
            ("1795265174", Some(1_795_265_174_000_000_000)),
            ("1.1234567899", Some(1_123_456_789)),
            ("1.", Some(1_000_000_000)),
            ("", None),
            ("x.1", None),
            ("1.x", None),
            ("9999999999999.0", None),
        ];
        for (text, nanos) in cases {
            assert_eq!(time(text), nanos.map(RecordedTime), "{text}");
        }
    }
}
