//! The recipients that a search has found.

use alloc::vec::Vec;

use crate::types::PeerId;

/// Connections, each at most once, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct MatchedRecipients {
    list: Vec<PeerId>,
    /// The search in which each connection was last found, by the index of the connection.
    marks: Vec<u64>,
    round: u64,
}

impl MatchedRecipients {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.round += 1;
    }

    pub(crate) fn contains(&self, peer: PeerId) -> bool {
        self.marks.get(peer.index()).is_some_and(|mark| *mark == self.round)
    }

    pub(crate) fn add(&mut self, peer: PeerId) {
        if self.marks.len() <= peer.index() {
            self.marks.resize(peer.index() + 1, 0);
        }
        self.marks[peer.index()] = self.round;
        self.list.push(peer);
    }

    pub(crate) fn list(&self) -> &[PeerId] {
        &self.list
    }
}
