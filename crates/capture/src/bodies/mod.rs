//! Reduction of messages: the parts that are kept, and the removal of the rest.
//!
//! A [redacted](Bodies::Redacted) recording shows which connections exchange messages, when, how
//! many and with which outcome, but not the values in bodies. `docs/capture-format.md` lists what
//! stays.

mod fact;
mod message;

use crate::record::{MessageContent, RawMessage, RecordedBus, RecordingOrigin, RecordingRecord};

/// The part of each message that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bodies {
    /// The whole message is kept.
    #[default]
    Whole,
    /// At most this number of bytes is kept, from the start of the message.
    Cut(u32),
    /// The header and the structure of the body are kept; the values of the body are removed.
    Redacted,
}

/// Reduces the records of a recording, one after the other, to what is kept.
#[derive(Debug)]
pub struct Reducer {
    bodies: Bodies,
    /// The original content of the messages of each bus.
    contents: Vec<MessageContent>,
    scratch: Vec<u8>,
}

impl Bodies {
    /// The description of a bus whose messages are reduced.
    fn of_bus(self, bus: RecordedBus) -> RecordedBus {
        match self {
            Self::Whole => bus,
            Self::Cut(kept) => {
                RecordedBus { kept_max: Some(bus.kept_max.unwrap_or(kept).min(kept)), ..bus }
            }
            Self::Redacted => RecordedBus {
                content: redacted(bus.content),
                filters: bus.filters.iter().map(|filter| fact::without_arguments(filter)).collect(),
                ..bus
            },
        }
    }

    /// Returns the origin of the recording, without the comments if the recording is redacted.
    pub fn of_origin(self, origin: RecordingOrigin) -> RecordingOrigin {
        match self {
            Self::Whole | Self::Cut(_) => origin,
            Self::Redacted => RecordingOrigin { comments: Vec::new(), ..origin },
        }
    }
}

/// Bodies that were rebuilt from a text have no structure worth keeping.
const fn redacted(content: MessageContent) -> MessageContent {
    match content {
        MessageContent::Bytes | MessageContent::Redacted => MessageContent::Redacted,
        MessageContent::Headers | MessageContent::Texts => MessageContent::Headers,
    }
}

impl Reducer {
    /// Creates a reducer for a new recording.
    pub const fn new(bodies: Bodies) -> Self {
        Self { bodies, contents: Vec::new(), scratch: Vec::new() }
    }

    /// Reduces the next record; `None` if the record is dropped.
    pub fn reduce<'r>(&'r mut self, record: RecordingRecord<'r>) -> Option<RecordingRecord<'r>> {
        Some(match (self.bodies, record) {
            (Bodies::Whole, record) => record,
            (bodies, RecordingRecord::Bus(bus)) => {
                self.contents.push(bus.content);
                RecordingRecord::Bus(bodies.of_bus(bus))
            }
            (bodies, RecordingRecord::Origin(origin)) => {
                RecordingRecord::Origin(bodies.of_origin(origin))
            }
            (Bodies::Cut(kept), RecordingRecord::Message(raw)) => {
                let bytes = &raw.bytes[..raw.bytes.len().min(kept as usize)];
                RecordingRecord::Message(RawMessage { bytes, ..raw })
            }
            (Bodies::Redacted, RecordingRecord::Message(raw)) => {
                RecordingRecord::Message(self.redact(raw))
            }
            (Bodies::Redacted, RecordingRecord::Fact { at, bus, fact }) => {
                RecordingRecord::Fact { at, bus, fact: fact::redacted(fact)? }
            }
            (_, record) => record,
        })
    }

    fn redact<'r>(&'r mut self, raw: RawMessage<'r>) -> RawMessage<'r> {
        let content = self.contents.get(usize::from(raw.bus.0)).copied().unwrap_or_default();
        let shape = if content.is_of_wire() {
            message::RedactedBodyShape::Kept
        } else {
            message::RedactedBodyShape::Gone
        };
        message::redact(raw.bytes, shape, &mut self.scratch);
        RawMessage { bytes: &self.scratch, place: None, ..raw }
    }
}
