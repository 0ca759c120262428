//! Signals without a destination.

use wire::Message;

use super::router::Router;
use crate::matching::MatchedRecipients;
use crate::types::{Effects, Forward, PeerId, RefusalReason};

impl Router {
    /// Delivers a signal to its subscribers.
    pub(crate) fn broadcast(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let forward = self.forward(from, message, fx);
        self.show_monitors(&forward, None, fx);
        if forward.is_too_long() {
            return self.refuse(from, message, &RefusalReason::MessageTooLong, fx);
        }
        let begun = self.tracing.stopwatch();
        self.matching.find_subscribers(&self.registry, forward.message, Some(from));
        self.tracing.matched_since(begun, forward.head, fx);
        self.pass_to_observers(&forward, None, fx);
    }

    /// Queues a message for the connections that the last search found, if the policy allows it.
    /// Skips `addressed`, which has already received the message.
    pub(super) fn pass_to_observers(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        let restricts = self.access.restricts();
        self.for_each_recipient(|router, to| {
            if Some(to) != addressed && (!restricts || router.may_listen(forward, to, fx)) {
                router.pass(forward, to, fx);
            }
        });
    }

    /// Calls `f` with each connection that the last search found.
    #[inline]
    pub(super) fn for_each_recipient(&mut self, mut f: impl FnMut(&mut Self, PeerId)) {
        let recipients: MatchedRecipients = self.matching.take_recipients();
        recipients.list().iter().for_each(|&to| f(self, to));
        self.matching.return_recipients(recipients);
    }
}
