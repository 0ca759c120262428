//! Errors for peers: messages that are refused, and calls that get no reply.

use wire::Message;

use super::router::Router;
use crate::accounting::IncidentKind;
use crate::types::{BusError, Effects, ErrorKind, LogEvent, PeerId};

impl Router {
    /// Answers a message with an error.
    pub(crate) fn refuse(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        error: &BusError,
        fx: &mut Effects,
    ) {
        self.accounting.refused(error.cause());
        if let Some(peer) = self.registry.get_mut(from) {
            peer.statistics.refused += 1;
            if matches!(error.kind, ErrorKind::LimitsExceeded | ErrorKind::AccessDenied) {
                self.report_refusal(from, error, fx);
            }
        }
        self.send_error(from, message.serial(), error, fx);
    }

    /// Logs a refusal that an administrator should know of, and adds it to the history.
    fn report_refusal(&mut self, peer: PeerId, error: &BusError, fx: &mut Effects) {
        let BusError { reached, blamed, .. } = *error;
        let cause = error.cause();
        self.note(IncidentKind::Refused, cause, peer, &error.text, reached);
        let why = error.text.clone();
        fx.log(LogEvent::Refused { peer, cause, why, reached, blamed });
    }

    /// Forgets the calls of a connection, and answers the calls to it with an error.
    pub(crate) fn drop_calls(&mut self, id: PeerId, fx: &mut Effects) {
        while self.calls.pop_call_by(id).is_some() {}
        while let Some(owed) = self.calls.pop_owed_by(id) {
            let error = ErrorKind::NoReply
                .because("Message recipient disconnected from message bus without replying");
            self.send_error(owed.caller, owed.serial, &error, fx);
        }
    }

    /// Answers the calls whose time is over with an error.
    pub(crate) fn expire_calls(&mut self, fx: &mut Effects) {
        while let Some(late) = self.calls.pop_expired(self.now) {
            let error = ErrorKind::NoReply
                .because("Message did not receive a reply (timeout by message bus)");
            self.send_error(late.caller, late.serial, &error, fx);
        }
    }
}
