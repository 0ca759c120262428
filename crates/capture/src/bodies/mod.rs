//! How much of each message is kept, and taking the rest out of a recording.
//!
//! What is [redacted](Bodies::Redacted) has all that shows who talks to whom, when, how much and how
//! it is going, and nothing that anybody has said: `docs/capture-format.md` tells what stays.

mod fact;
mod message;

use crate::record::{MessageContent, RawMessage, RecordedBus, RecordingOrigin, RecordingRecord};

/// How much of each message is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bodies {
    /// All of it.
    #[default]
    Whole,
    /// No more than so many bytes, from the first one on.
    Cut(u32),
    /// Its header, and the shape of its body; what the body says is gone.
    Redacted,
}

/// Takes out of the records of a recording, which come one after the other, what is not kept.
#[derive(Debug)]
pub struct Reducer {
    bodies: Bodies,
    /// By bus, what there was of its messages.
    contents: Vec<MessageContent>,
    scratch: Vec<u8>,
}

impl Bodies {
    /// What a bus is of which no more is kept.
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

    /// Who made the recording, without what somebody has written into it.
    pub fn of_origin(self, origin: RecordingOrigin) -> RecordingOrigin {
        match self {
            Self::Whole | Self::Cut(_) => origin,
            Self::Redacted => RecordingOrigin { comments: Vec::new(), ..origin },
        }
    }
}

/// Bodies that were made from a text have no shape to keep.
const fn redacted(content: MessageContent) -> MessageContent {
    match content {
        MessageContent::Bytes | MessageContent::Redacted => MessageContent::Redacted,
        MessageContent::Headers | MessageContent::Texts => MessageContent::Headers,
    }
}

impl Reducer {
    /// Nothing has come yet.
    pub const fn new(bodies: Bodies) -> Self {
        Self { bodies, contents: Vec::new(), scratch: Vec::new() }
    }

    /// The next record with no more in it than is kept; `None` if that is nothing.
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
