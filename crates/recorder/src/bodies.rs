//! How much of each message is kept.

use capture::record::{Content, Fact, Process, RawMessage, Record};
use wire::match_rule::MatchRule;

use crate::redact;

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

impl Bodies {
    /// Bytes kept of each message, if there is a limit.
    pub(crate) const fn kept_max(self) -> Option<u32> {
        match self {
            Self::Cut(kept) => Some(kept),
            Self::Whole | Self::Redacted => None,
        }
    }

    /// What a recording has of a bus whose messages were `content`.
    const fn content(self, content: Content) -> Content {
        match (self, content) {
            (Self::Redacted, Content::Bytes) => Content::Redacted,
            (_, content) => content,
        }
    }

    /// A record with no more in it than is kept; `None` if that is nothing. What has to be changed
    /// is put into `scratch`.
    pub(crate) fn reduce<'r>(
        self,
        record: Record<'r>,
        scratch: &'r mut Vec<u8>,
    ) -> Option<Record<'r>> {
        Some(match (self, record) {
            (Self::Whole, record) => record,
            (_, Record::Bus(mut bus)) => {
                bus.kept_max = self.kept_max();
                bus.content = self.content(bus.content);
                Record::Bus(bus)
            }
            (Self::Cut(kept), Record::Message(raw)) => {
                let bytes = &raw.bytes[..raw.bytes.len().min(kept as usize)];
                Record::Message(RawMessage { bytes, ..raw })
            }
            (Self::Redacted, Record::Message(raw)) => {
                redact::message(raw.bytes, scratch);
                Record::Message(RawMessage { bytes: scratch, ..raw })
            }
            (Self::Redacted, Record::Fact { at, bus, fact }) => {
                Record::Fact { at, bus, fact: redacted(fact)? }
            }
            (_, record) => record,
        })
    }
}

/// Command lines hold passwords sometimes, and rules what somebody waits for.
fn redacted(fact: Fact) -> Option<Fact> {
    match fact {
        Fact::Peer { unique, process: Some(process) } => {
            let command = process.command.into_iter().take(1).collect();
            Some(Fact::Peer { unique, process: Some(Process { command, ..process }) })
        }
        Fact::Rule { rule, .. } if asks_for_arguments(&rule) => None,
        other => Some(other),
    }
}

fn asks_for_arguments(rule: &str) -> bool {
    MatchRule::parse(rule).is_ok_and(|rule| !rule.args().is_empty())
}
