//! The table that has all of a message in one row, with what is known of its call.

use std::io;
use std::time::Duration;

use capture::model::{CallOutcome, CapturedMessage, Health, RecordedPeer, RecordedPeerId};
use capture::record::RecordedProcess;
use capture::show::arguments_as_json;
use capture::timeline::{BusPhase, BusTime};
use wire::message::MessageType;

/// The version of the table: it changes when a column is gone or means something else, not when one
/// is added behind the others.
pub const VERSION: u32 = 2;

/// A message with all that its row tells.
#[derive(Clone, Copy, Debug)]
pub struct FlatRow<'c> {
    message: CapturedMessage<'c>,
    /// Its call: itself, or that which it answers.
    call: Option<CapturedMessage<'c>>,
    sender: Option<&'c RecordedPeer>,
    recipient: Option<&'c RecordedPeer>,
    /// For how long the bus had it, if the bus has recorded.
    in_bus: Option<BusTime>,
}

/// A column of the table.
#[derive(Clone, Copy, Debug)]
pub struct FlatColumn {
    /// Its name, with the unit of what it holds.
    pub name: &'static str,
    /// What it holds, for people.
    pub about: &'static str,
    /// How to get it from a row.
    pub value: FlatValue,
}

/// What a column holds of a row; `None` is an absent value.
#[derive(Clone, Copy, Debug)]
pub enum FlatValue {
    /// A text, never empty.
    Text(for<'c> fn(&FlatRow<'c>) -> Option<&'c str>),
    /// A number.
    Integer(fn(&FlatRow<'_>) -> Option<i64>),
    /// Nanoseconds since 1970.
    Time(fn(&FlatRow<'_>) -> i64),
    /// Yes or no.
    Truth(fn(&FlatRow<'_>) -> bool),
    /// JSON, which has to be read from the recording: see [`FlatRow::body`].
    Body,
}

impl<'c> FlatRow<'c> {
    /// The row of a message.
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

    /// The message.
    pub const fn message(&self) -> &CapturedMessage<'c> {
        &self.message
    }

    /// The call, or the message itself if it is no part of one.
    pub fn asked(&self) -> CapturedMessage<'c> {
        self.call.unwrap_or(self.message)
    }

    /// The name of the error, if it is one.
    pub fn error(&self) -> Option<&'c str> {
        let is_error = self.message.kind() == MessageType::Error;
        is_error.then(|| self.message.member()).and_then(present)
    }

    /// The method or signal; of replies that of their call.
    pub fn member(&self) -> Option<&'c str> {
        let asked = self.asked();
        (asked.kind() != MessageType::Error).then(|| asked.member()).and_then(present)
    }

    /// How much of the message there is, in a word.
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

    /// What it says: a list of its arguments as JSON; `None` if that is cut, redacted or invalid.
    /// `buffer` is room for its bytes.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read.
    pub fn body(&self, buffer: &mut Vec<u8>) -> io::Result<Option<String>> {
        if self.message.health() == Health::Whole && self.message.signature_id().is_none() {
            return Ok(Some(String::from("[]")));
        }
        arguments_as_json(&self.message, buffer)
    }

    /// How long the bus had it in a phase, in nanoseconds; `None` if that is not known.
    pub fn phase(&self, phase: BusPhase) -> Option<i64> {
        nanos(self.in_bus?.time(phase))
    }

    /// Nanoseconds from when the bus received it until it had decided who gets it, if the bus has recorded.
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

/// The columns, in order.
pub const COLUMNS: &[FlatColumn] = &[
    integer("number", "place in the recording, from 1; the key of a message", |row| {
        Some(number(row.message()))
    }),
    FlatColumn {
        name: "time_ns",
        about: "when: nanoseconds since 1970",
        value: FlatValue::Time(|row| row.message.at().0),
    },
    text("bus", "`session`, `system` or what the recording calls the bus", |row| {
        let bus = row.message.capture().buses().get(usize::from(row.message.bus().0));
        bus.and_then(|bus| present(&bus.name))
    }),
    text("type", "`method_call`, `method_return`, `error` or `signal`", |row| {
        Some(row.message.kind().as_str())
    }),
    text("sender", "unique name of the sender", |row| present(row.message.sender())),
    text("sender_name", "the first well-known name that it has owned", |row| row.name(row.sender)),
    text("sender_program", "its program, or the script of an interpreter", |row| {
        process(row.sender)?.program()
    }),
    integer("sender_pid", "its process", |row| Some(process(row.sender)?.pid?.into())),
    text("sender_unit", "its systemd unit", |row| process(row.sender)?.unit.as_deref()),
    text("destination", "the name that the message is addressed to", |row| {
        present(row.message.destination())
    }),
    text("recipient", "unique name of who that was", |row| row.unique(row.recipient)),
    text("recipient_name", "the first well-known name that it has owned", |row| {
        row.name(row.recipient)
    }),
    text("recipient_program", "its program", |row| process(row.recipient)?.program()),
    integer("recipient_pid", "its process", |row| Some(process(row.recipient)?.pid?.into())),
    text("recipient_unit", "its systemd unit", |row| process(row.recipient)?.unit.as_deref()),
    text("path", "the object; of replies that of their call", |row| present(row.asked().path())),
    text("interface", "the interface; of replies that of their call", |row| {
        present(row.asked().interface())
    }),
    text("member", "the method or signal; of replies that of their call", |row| row.member()),
    text("error", "the name of the error, if it is one", |row| row.error()),
    text("signature", "the types of the body", |row| present(row.message.signature())),
    integer("flags", "the byte of flags", |row| Some(row.message.flags().bits().into())),
    integer("serial", "the number that the sender gave it", |row| {
        present_number(row.message.serial())
    }),
    integer("reply_serial", "the serial of the call that it answers", |row| {
        present_number(row.message.reply_serial())
    }),
    integer("size_bytes", "bytes on the wire", |row| Some(row.message.len().into())),
    integer("kept_bytes", "of these, bytes that the recording has", |row| {
        Some(row.message.kept().into())
    }),
    integer("unix_fds", "descriptors that came with it; 255 is that many or more", |row| {
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
    integer("duration_ns", "from the call to its reply, in the rows of both", |row| {
        nanos(row.message.duration())
    }),
    text(
        "outcome",
        "of calls and replies: `returned`, `failed`, `timed out`, `callee left`, `caller left`, \
         `waiting`, `unknown` or `no reply expected`",
        |row| row.message.outcome().map(CallOutcome::as_str),
    ),
    FlatColumn {
        name: "of_recorder",
        about: "whether the message is from or to the recorder; such messages are exported if the query has \
                `is:recorder`",
        value: FlatValue::Truth(|row| row.message.is_of_recorder()),
    },
    FlatColumn {
        name: "body",
        about: "what it says: the arguments as a JSON list, as `data` of json; absent if it is not whole",
        value: FlatValue::Body,
    },
    integer(
        "waited_ns",
        "how long the caller waited: until the reply, until it left, or until the recording ended",
        |row| nanos(row.message.waited()),
    ),
    integer(
        "copies",
        "connections that the bus sent it to, if the bus itself has recorded",
        |row| Some(row.message.copies()?.count() as i64),
    ),
    integer(
        "routed_after_ns",
        "from when the bus received it until it had decided who gets it",
        |row| row.routed_after(),
    ),
    integer("receive_ns", "of this, reading the bytes", |row| row.phase(BusPhase::Receive)),
    integer("wait_ns", "of this, routing other messages of the same read", |row| {
        row.phase(BusPhase::Wait)
    }),
    integer("dispatch_ns", "of this, finding the recipients, without the next", |row| {
        row.phase(BusPhase::Dispatch)
    }),
    integer("match_ns", "of this, the search of match rules; only without a destination", |row| {
        row.phase(BusPhase::Match)
    }),
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

/// A header field, which is empty if the message has none.
pub(crate) fn present(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// A number of a header, which is 0 if the message has none.
pub(crate) fn present_number(number: u32) -> Option<i64> {
    (number != 0).then(|| number.into())
}

fn process(peer: Option<&RecordedPeer>) -> Option<&RecordedProcess> {
    peer?.process.as_ref()
}
