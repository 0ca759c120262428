//! Headers of earlier messages, so that equal ones are not parsed again.

use std::num::{NonZeroU32, NonZeroU64};

use wire::message::{Flags, KnownHeader, Message, MessageType};

use super::incoming::ParsedHeader;

/// The headers of the latest messages of the bus and of lanes.
#[derive(Default)]
pub(super) struct KnownHeaders {
    bus: LatestHeaders,
    /// All of them are of messages that a lane has accepted.
    lanes: LatestHeaders,
    /// Number of headers that were remembered so far.
    count: u64,
}

/// The way on which a message has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MessageOrigin {
    Bus,
    /// It does not matter which lane.
    Lane,
}

/// The headers of the latest call and of the latest reply. A program that calls a method repeatedly
/// gets replies whose headers differ only in numbers, and so does the called program get calls.
#[derive(Default)]
struct LatestHeaders {
    call: Option<KnownMessage>,
    reply: Option<KnownMessage>,
}

struct KnownMessage {
    header: KnownHeader,
    parsed: ParsedHeader,
}

/// A header that a connection has remembered. Messages with the same one differ only in numbers:
/// they have the same path, interface and member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KnownHeaderId(NonZeroU64);

/// A message with a known header. It has neither descriptors nor the flag `LANE_REPLY`, and its
/// body is valid.
pub(super) struct RecognizedMessage {
    pub(super) header: ParsedHeader,
    pub(super) origin: MessageOrigin,
    /// The call that it answers, if it is a reply.
    pub(super) answered_call: Option<NonZeroU32>,
}

impl KnownHeaders {
    const fn of(&self, origin: MessageOrigin) -> &LatestHeaders {
        match origin {
            MessageOrigin::Bus => &self.bus,
            MessageOrigin::Lane => &self.lanes,
        }
    }

    const fn of_mut(&mut self, origin: MessageOrigin) -> &mut LatestHeaders {
        match origin {
            MessageOrigin::Bus => &mut self.bus,
            MessageOrigin::Lane => &mut self.lanes,
        }
    }

    /// The message in `bytes`, which are a whole message, if its header is known. The body of a
    /// message of a lane must be valid, too: the bus has not checked it.
    pub(super) fn recognize(
        &self,
        origin: MessageOrigin,
        bytes: &[u8],
    ) -> Option<RecognizedMessage> {
        let known = self.of(origin);
        let recognize = |known: &KnownMessage| {
            let serials = known.header.recognize(bytes)?;
            if origin == MessageOrigin::Lane && known.header.validate_body(bytes).is_err() {
                return None;
            }
            Some((known.parsed.with_serial(serials.serial), serials.reply_serial))
        };
        if let Some((header, answered_call)) = known.reply.as_ref().and_then(recognize) {
            return Some(RecognizedMessage { header, origin, answered_call });
        }
        // A call can have the field of a reply, which has no meaning there.
        let (header, _) = known.call.as_ref().and_then(recognize)?;
        Some(RecognizedMessage { header, origin, answered_call: None })
    }

    /// Remembers the header of a message, if it may be, and returns the parsed header with its
    /// identifier.
    pub(super) fn remember(
        &mut self,
        origin: MessageOrigin,
        message: &Message<'_>,
        parsed: ParsedHeader,
    ) -> ParsedHeader {
        let (count, known) = (self.count, self.of_mut(origin));
        let place = match message.message_type() {
            MessageType::MethodCall => &mut known.call,
            MessageType::MethodReturn | MessageType::Error => &mut known.reply,
            MessageType::Signal | MessageType::Unknown(_) => return parsed,
        };
        if message.header_bytes().len() > HEADER_LEN_MAX
            || message.unix_fds() > 0
            || message.flags().contains(Flags::LANE_REPLY)
        {
            return parsed;
        }
        let count = count + 1;
        let parsed = parsed.with_known(NonZeroU64::new(count).map(KnownHeaderId));
        let known =
            place.get_or_insert_with(|| KnownMessage { header: KnownHeader::default(), parsed });
        known.header.set(message);
        known.parsed = parsed;
        self.count = count;
        parsed
    }
}

/// The maximum length of a header that is remembered, in bytes. A header can have 64 MiB.
const HEADER_LEN_MAX: usize = 1024;
