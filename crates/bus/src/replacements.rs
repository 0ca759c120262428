//! Calls of Reexecute, which are answered when another program has replaced the daemon.
//!
//! All callers that wait at the same time share one replacement. Their calls are part of the saved
//! state, so the new program answers them.

use alloc::vec::Vec;
use core::mem;

use serde::{Deserialize, Serialize};

use crate::types::{CallId, PeerId};

/// Calls of Reexecute that wait for a replacement.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Replacements {
    /// In the order in which they were made.
    waiting: Vec<CallId>,
}

/// The error if a connection already has [`WAITING_MAX`] waiting calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooManyReplacements;

impl Replacements {
    /// Adds a call that expects a reply.
    pub(crate) fn add(&mut self, call: CallId) -> Result<(), TooManyReplacements> {
        if self.waiting.iter().filter(|other| other.peer == call.peer).count() >= WAITING_MAX {
            return Err(TooManyReplacements);
        }
        self.waiting.push(call);
        Ok(())
    }

    /// Takes all waiting calls, after the daemon was replaced or could not be replaced.
    pub(crate) fn take(&mut self) -> Vec<CallId> {
        mem::take(&mut self.waiting)
    }

    /// Removes the calls of a connection, which cannot get replies any more.
    pub(crate) fn forget(&mut self, caller: PeerId) {
        self.waiting.retain(|call| call.peer != caller);
    }

    /// Checks that every waiting call belongs to a live connection.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, is_active: impl Fn(PeerId) -> bool) {
        for call in &self.waiting {
            assert!(is_active(call.peer), "{} waits for a replacement", call.peer);
            let of_peer = self.waiting.iter().filter(|other| other.peer == call.peer).count();
            assert!(of_peer <= WAITING_MAX, "calls of {} that wait for a replacement", call.peer);
        }
    }
}

/// Maximum number of calls of one connection that wait for a replacement.
pub(crate) const WAITING_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroU32;
    use testkit::corruption::each_is_reported;

    const CALLER: PeerId = PeerId::new(1, 0);
    const OTHER: PeerId = PeerId::new(2, 0);

    fn call(peer: PeerId, serial: u32) -> CallId {
        CallId { peer, serial: NonZeroU32::new(serial).expect("a serial") }
    }

    #[test]
    fn all_waiting_calls_share_a_replacement_in_their_order() {
        let mut replacements = Replacements::default();
        for (peer, serial) in [(CALLER, 7), (OTHER, 8), (CALLER, 9)] {
            assert_eq!(replacements.add(call(peer, serial)), Ok(()));
        }
        assert_eq!(replacements.take(), [call(CALLER, 7), call(OTHER, 8), call(CALLER, 9)]);
        assert_eq!(replacements.take(), []);
    }

    #[test]
    fn a_connection_has_a_limited_number_of_waiting_calls() {
        let mut replacements = Replacements::default();
        let mut add = |peer| replacements.add(call(peer, 1));
        assert_eq!((0..100).take_while(|_| add(CALLER).is_ok()).count(), WAITING_MAX);
        assert_eq!(add(OTHER), Ok(()), "the limit is per connection");
        replacements.forget(CALLER);
        assert_eq!(replacements.take(), [call(OTHER, 1)]);
    }

    #[test]
    fn the_check_reports_every_corruption() {
        let make = || Replacements { waiting: [call(CALLER, 1)].into() };
        each_is_reported(
            make,
            |replacements| replacements.check(|peer| peer == CALLER),
            &[
                ("a call of a connection that is gone", |replacements| {
                    replacements.waiting.push(call(OTHER, 1));
                }),
                ("too many calls of one connection", |replacements| {
                    replacements.waiting.resize(WAITING_MAX + 1, call(CALLER, 2));
                }),
            ],
        );
    }
}
