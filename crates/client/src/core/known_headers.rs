//! Headers of earlier messages, so that equal ones are not parsed again.

use std::num::{NonZeroU32, NonZeroU64};

use wire::message::{Flags, KnownHeader, Message, MessageType};

use super::incoming::ParsedHeader;

/// The headers of the latest call and of the latest reply. A program that calls a method repeatedly
/// gets replies whose headers differ only in numbers, and so does the called program get calls.
#[derive(Default)]
pub(super) struct KnownHeaders {
    call: Option<KnownMessage>,
    reply: Option<KnownMessage>,
    /// Number of headers that were remembered so far.
    count: u64,
}

struct KnownMessage {
    header: KnownHeader,
    parsed: ParsedHeader,
}

/// A header that a connection has remembered. Messages with the same one differ only in numbers:
/// they have the same path, interface and member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KnownHeaderId(NonZeroU64);

/// A message with a known header. It has no descriptors, and is not the reply to a call on a lane.
pub(super) struct RecognizedMessage {
    pub(super) header: ParsedHeader,
    /// The call that it answers, if it is a reply.
    pub(super) answered_call: Option<NonZeroU32>,
}

impl KnownHeaders {
    /// The message in `bytes`, which are a whole message, if its header is known.
    pub(super) fn recognize(&self, bytes: &[u8]) -> Option<RecognizedMessage> {
        let recognize = |known: &KnownMessage| {
            let serials = known.header.recognize(bytes)?;
            Some((known.parsed.with_serial(serials.serial), serials.reply_serial))
        };
        if let Some((header, answered_call)) = self.reply.as_ref().and_then(recognize) {
            return Some(RecognizedMessage { header, answered_call });
        }
        // A call can have the field of a reply, which has no meaning there.
        let (header, _) = self.call.as_ref().and_then(recognize)?;
        Some(RecognizedMessage { header, answered_call: None })
    }

    /// Remembers the header of a message, if it may be, and returns the parsed header with its
    /// identifier.
    pub(super) fn remember(&mut self, message: &Message<'_>, parsed: ParsedHeader) -> ParsedHeader {
        let place = match message.message_type() {
            MessageType::MethodCall => &mut self.call,
            MessageType::MethodReturn | MessageType::Error => &mut self.reply,
            MessageType::Signal | MessageType::Unknown(_) => return parsed,
        };
        if message.header_bytes().len() > HEADER_LEN_MAX
            || message.unix_fds() > 0
            || message.flags().contains(Flags::LANE_REPLY)
        {
            return parsed;
        }
        self.count += 1;
        let parsed = parsed.with_known(NonZeroU64::new(self.count).map(KnownHeaderId));
        let known =
            place.get_or_insert_with(|| KnownMessage { header: KnownHeader::default(), parsed });
        known.header.set(message);
        known.parsed = parsed;
        parsed
    }
}

/// The maximum length of a header that is remembered, in bytes. A header can have 64 MiB.
const HEADER_LEN_MAX: usize = 1024;
