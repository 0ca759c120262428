//! Errors for peers: replies to refused messages, and to calls that cannot get a reply.

use wire::Message;

use super::router::Router;
use crate::accounting::{IncidentKind, IncidentReason};
use crate::types::{CallId, Effects, LogEvent, PeerId, RefusalReason};

impl Router {
    /// Answers a message with an error.
    pub(crate) fn refuse(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        reason: &RefusalReason,
        fx: &mut Effects,
    ) {
        self.refuse_call(CallId { peer: from, serial: message.serial() }, reason, fx);
    }

    /// Answers a call with an error, possibly after the call itself was handled.
    pub(crate) fn refuse_call(&mut self, call: CallId, reason: &RefusalReason, fx: &mut Effects) {
        let CallId { peer: from, serial } = call;
        let cause = reason.cause();
        self.accounting.refused(cause);
        if let Some(peer) = self.registry.get_mut(from) {
            peer.statistics.refused += 1;
            if reason.is_reported() {
                self.report_refusal(from, cause, reason, fx);
            }
        }
        self.send_error(from, serial, reason, fx);
    }

    /// Logs a refusal that an administrator needs to see, and adds it to the history.
    fn report_refusal(
        &mut self,
        peer: PeerId,
        cause: &'static str,
        reason: &RefusalReason,
        fx: &mut Effects,
    ) {
        let detail = IncidentReason::Refused(reason.clone());
        self.note(IncidentKind::Refused, cause, peer, detail, reason.limit_hit());
        fx.log(LogEvent::Refused { peer, reason: reason.clone() });
    }

    /// Removes the pending calls of a connection, and answers the calls to it with an error.
    pub(crate) fn drop_calls(&mut self, id: PeerId, fx: &mut Effects) {
        while self.calls.pop_call_by(id).is_some() {}
        while let Some(owed) = self.calls.pop_owed_by(id) {
            self.send_error(owed.caller, owed.serial, &RefusalReason::CalleeDisconnected, fx);
        }
    }

    /// Answers the calls whose timeout has expired with an error.
    pub(crate) fn expire_calls(&mut self, fx: &mut Effects) {
        while let Some(late) = self.calls.pop_expired(self.now) {
            self.send_error(late.caller, late.serial, &RefusalReason::ReplyTimedOut, fx);
        }
    }
}
