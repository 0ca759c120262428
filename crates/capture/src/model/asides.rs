//! What a recording has said beside its messages, in its order, so that it can be said again.

use super::TextId;
use super::directory::RecordedPeerId;
use crate::record::{BusId, RecordedTime};

/// What was said beside messages, and by answers of the bus, and has changed what is known. What
/// follows from the headers of messages, and from signals of the bus, is not in it.
#[derive(Debug, Default)]
pub(super) struct Asides {
    all: Vec<Aside>,
    /// Messages that stand before what comes next.
    messages: u32,
}

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Aside {
    /// Messages that stand before it.
    pub(super) messages: u32,
    pub(super) at: RecordedTime,
    pub(super) said: Said,
}

const _: () = assert!(size_of::<Aside>() <= 32, "there may be as many as messages");

/// What was said. The words themselves are kept elsewhere, and of processes all that was learnt of
/// them in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Said {
    /// The next of the facts that are kept as they came.
    Fact,
    /// The next gap.
    Gap,
    /// The next of the places that cannot be read.
    Damage,
    /// A connection is there, of some process perhaps.
    Peer(RecordedPeerId),
    /// It is the recorder's.
    Recorder(RecordedPeerId),
    /// It is gone.
    Left(RecordedPeerId),
    /// A well-known name has this owner.
    Owner(BusId, TextId, RecordedPeerId),
    /// A well-known name has this owner since then.
    Taken(BusId, TextId, RecordedPeerId),
    /// A well-known name has no owner.
    Released(BusId, TextId),
}

impl Asides {
    /// What is said from now on stands behind so many messages.
    pub(super) const fn stand_behind(&mut self, messages: u32) {
        self.messages = messages;
    }

    pub(super) fn add(&mut self, at: RecordedTime, said: Said) {
        let aside = Aside { messages: self.messages, at, said };
        let is_peer = matches!(said, Said::Peer(_));
        if !is_peer || self.all.last() != Some(&aside) {
            self.all.push(aside);
        }
    }

    /// All, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Aside> {
        self.all.iter()
    }
}
