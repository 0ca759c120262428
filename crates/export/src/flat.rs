//! The flat table: one row for each message, including the facts about its call.

use std::io;
use std::time::Duration;

use capture::model::{
    CallOutcome, CapturedMessage, Health, MessageBuffer, RecordedPeer, RecordedPeerId,
};
use capture::record::RecordedProcess;
use capture::show::arguments_as_json;
use capture::timeline::{BusPhase, BusTime};
use wire::message::MessageType;

/// The version of the table. It increases if a column is removed or changes its meaning, but not if
/// a column is appended.
pub const VERSION: u32 = 2;

/// A message with the data of its row.
#[derive(Clone, Copy, Debug)]
pub struct FlatRow<'c> {
    message: CapturedMessage<'c>,
    /// The message itself if it is a call, or the call that it answers.
    call: Option<CapturedMessage<'c>>,
    sender: Option<&'c RecordedPeer>,
    recipient: Option<&'c RecordedPeer>,
    /// The time that the bus took for the message, if the bus itself recorded it.
    in_bus: Option<BusTime>,
}

/// A column of the table.
#[derive(Clone, Copy, Debug)]
pub struct FlatColumn {
    /// The name of the column, with the unit of its values.
    pub name: &'static str,
    /// A description of the values.
    pub about: &'static str,
    /// How to compute the value of a row.
    pub value: FlatValue,
}

/// The type of a column, with the function that computes its values; `None` is an absent value.
#[derive(Clone, Copy, Debug)]
pub enum FlatValue {
    /// A text that is never empty.
    Text(for<'c> fn(&FlatRow<'c>) -> Option<&'c str>),
    /// A signed whole number.
    Integer(fn(&FlatRow<'_>) -> Option<i64>),
    /// A time in nanoseconds since 1970.
    Time(fn(&FlatRow<'_>) -> i64),
    /// Either true or false.
    Boolean(fn(&FlatRow<'_>) -> bool),
    /// A JSON text that must be read from the recording: see [`FlatRow::body`].
    Body,
}

impl<'c> FlatRow<'c> {
    /// Creates the row of a message.
    pub fn new(message: CapturedMessage<'c>) -> Self {
        let directory = message.capture().directory();
        let peer = |id: Option<RecordedPeerId>| id.map(|id| directory.peer(id));
        Self {
            message,
            call: message.call(),
            sender: peer(message.from()),
            recipient: peer(message.to()),
            in_bus: BusTime::of(&message),
        }
    }

    /// Returns the message of the row.
    pub const fn message(&self) -> &CapturedMessage<'c> {
        &self.message
    }

    /// Returns the call of the message, or the message itself if it belongs to no call.
    pub fn asked(&self) -> CapturedMessage<'c> {
        self.call.unwrap_or(self.message)
    }

    /// Returns the error name, if the message is an error.
    pub fn error(&self) -> Option<&'c str> {
        let is_error = self.message.kind() == MessageType::Error;
        is_error.then(|| self.message.member()).and_then(present)
    }

    /// Returns the name of the method or signal; for a reply, the method of its call.
    pub fn member(&self) -> Option<&'c str> {
        let asked = self.asked();
        (asked.kind() != MessageType::Error).then(|| asked.member()).and_then(present)
    }

    /// Returns how much of the message is present and valid, in words.
    pub const fn state(&self) -> &'static str {
        match self.message.health() {
            Health::Whole => "whole",
            Health::BodyRedacted => "body redacted",
            Health::BodyCut => "body cut",
            Health::HeaderCut => "header cut",
            Health::BodyInvalid => "body invalid",
            Health::HeaderInvalid => "header invalid",
        }
    }

    /// Returns the arguments as a JSON list; `None` if the body is cut, redacted or invalid.
    /// `buffer` holds the bytes of the message temporarily.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read.
    pub fn body(&self, buffer: &mut MessageBuffer) -> io::Result<Option<String>> {
        if self.message.health() == Health::Whole && self.message.signature_id().is_none() {
            return Ok(Some(String::from("[]")));
        }
        arguments_as_json(&self.message, buffer)
    }

    /// Returns the time that the bus spent on the message in a phase, in nanoseconds; `None` if
    /// unknown.
    pub fn phase(&self, phase: BusPhase) -> Option<i64> {
        nanos(self.in_bus?.time(phase))
    }

    /// Returns the nanoseconds from when the bus received the message until it had determined the
    /// recipients, if the bus itself recorded that.
    pub fn routed_after(&self) -> Option<i64> {
        nanos(Some(self.in_bus?.routed()))
    }

    fn unique(&self, peer: Option<&'c RecordedPeer>) -> Option<&'c str> {
        peer.map(|peer| self.message.capture().strings().get(peer.unique))
    }

    fn name(&self, peer: Option<&'c RecordedPeer>) -> Option<&'c str> {
        let name = *peer?.names.first()?;
        Some(self.message.capture().strings().get(name))
    }
}

/// The columns of the table, in order.
pub const COLUMNS: &[FlatColumn] = &[
    integer("number", "position in the recording, from 1; the key of a message", |row| {
        Some(number(row.message()))
    }),
    FlatColumn {
        name: "time_ns",
        about: "time of the message, in nanoseconds since 1970",
        value: FlatValue::Time(|row| row.message.at().0),
    },
    text("bus", "`session`, `system` or the name of the bus in the recording", |row| {
        let bus = row.message.capture().buses().get(usize::from(row.message.bus().0));
        bus.and_then(|bus| present(&bus.name))
    }),
    text("type", "`method_call`, `method_return`, `error` or `signal`", |row| {
        Some(row.message.kind().as_str())
    }),
    text("sender", "unique name of the sender", |row| present(row.message.sender())),
    text("sender_name", "the first well-known name that it has owned", |row| row.name(row.sender)),
    text("sender_program", "its program, or the script that an interpreter runs", |row| {
        process(row.sender)?.program()
    }),
    integer("sender_pid", "its process ID", |row| Some(process(row.sender)?.pid?.into())),
    text("sender_unit", "its systemd unit", |row| process(row.sender)?.unit.as_deref()),
    text("destination", "the name that the message is addressed to", |row| {
        present(row.message.destination())
    }),
    text("recipient", "unique name of the recipient", |row| row.unique(row.recipient)),
    text("recipient_name", "the first well-known name that it has owned", |row| {
        row.name(row.recipient)
    }),
    text("recipient_program", "its program", |row| process(row.recipient)?.program()),
    integer("recipient_pid", "its process ID", |row| Some(process(row.recipient)?.pid?.into())),
    text("recipient_unit", "its systemd unit", |row| process(row.recipient)?.unit.as_deref()),
    text("path", "path of the object; for replies, of their call", |row| {
        present(row.asked().path())
    }),
    text("interface", "interface; for replies, of their call", |row| {
        present(row.asked().interface())
    }),
    text("member", "name of the method or signal; for replies, of their call", |row| row.member()),
    text("error", "error name, if the message is an error", |row| row.error()),
    text("signature", "signature of the body", |row| present(row.message.signature())),
    integer("flags", "flags as a byte", |row| Some(row.message.flags().bits().into())),
    integer("serial", "serial that the sender gave the message", |row| {
        present_number(row.message.serial())
    }),
    integer("reply_serial", "serial of the call that the message answers", |row| {
        present_number(row.message.reply_serial())
    }),
    integer("size_bytes", "bytes on the wire", |row| Some(row.message.len().into())),
    integer("kept_bytes", "bytes that the recording has of the message", |row| {
        Some(row.message.kept().into())
    }),
    integer("unix_fds", "number of file descriptors; 255 means that many or more", |row| {
        Some(row.message.unix_fds().into())
    }),
    text(
        "state",
        "`whole`, `body cut`, `body redacted`, `header cut`, `body invalid` or `header invalid`",
        |row| Some(row.state()),
    ),
    integer("partner", "`number` of the reply of a call, or of the call of a reply", |row| {
        row.message.partner().map(|partner| number(&partner))
    }),
    integer("duration_ns", "time from the call to its reply, in the rows of both", |row| {
        nanos(row.message.duration())
    }),
    text(
        "outcome",
        "outcome of calls and replies: `returned`, `failed`, `timed out`, `callee left`, `caller left`, \
         `waiting`, `unknown` or `no reply expected`",
        |row| row.message.outcome().map(CallOutcome::as_str),
    ),
    FlatColumn {
        name: "of_recorder",
        about: "whether the message is from or to the recorder; such messages are exported if the query has \
                `is:recorder`",
        value: FlatValue::Boolean(|row| row.message.is_of_recorder()),
    },
    FlatColumn {
        name: "body",
        about: "arguments as a JSON list, like `data` of json; absent if the body is not whole",
        value: FlatValue::Body,
    },
    integer(
        "waited_ns",
        "how long the caller waited: until the reply, until it left, or until the recording ended",
        |row| nanos(row.message.waited()),
    ),
    integer(
        "copies",
        "number of connections that the bus sent it to, if the bus itself recorded",
        |row| Some(row.message.copies()?.count() as i64),
    ),
    integer(
        "routed_after_ns",
        "from when the bus received it until it had determined the recipients",
        |row| row.routed_after(),
    ),
    integer("receive_ns", "part of it for reading the bytes", |row| row.phase(BusPhase::Receive)),
    integer("wait_ns", "part of it for routing other messages of the same read", |row| {
        row.phase(BusPhase::Wait)
    }),
    integer("dispatch_ns", "part of it for finding the recipients, without the next", |row| {
        row.phase(BusPhase::Dispatch)
    }),
    integer(
        "match_ns",
        "part of it for the search of match rules; only without a destination",
        |row| row.phase(BusPhase::Match),
    ),
    integer("send_ns", "from then until the bus had written the last copy", |row| {
        row.phase(BusPhase::Send)
    }),
];

const fn text(
    name: &'static str,
    about: &'static str,
    value: for<'c> fn(&FlatRow<'c>) -> Option<&'c str>,
) -> FlatColumn {
    FlatColumn { name, about, value: FlatValue::Text(value) }
}

const fn integer(
    name: &'static str,
    about: &'static str,
    value: fn(&FlatRow<'_>) -> Option<i64>,
) -> FlatColumn {
    FlatColumn { name, about, value: FlatValue::Integer(value) }
}

/// The number of a message, from 1.
pub(crate) fn number(message: &CapturedMessage<'_>) -> i64 {
    message.id().index() as i64 + 1
}

pub(crate) fn nanos(time: Option<Duration>) -> Option<i64> {
    time.map(|time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

/// The text of a header field; `None` if it is absent.
pub(crate) fn present(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// A number in a header; `None` if it is absent.
pub(crate) fn present_number(number: u32) -> Option<i64> {
    (number != 0).then(|| number.into())
}

fn process(peer: Option<&RecordedPeer>) -> Option<&RecordedProcess> {
    peer?.process.as_ref()
}
