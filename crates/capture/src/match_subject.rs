//! Messages of a recording as match rules see them.

use wire::Message as WireMessage;
use wire::match_rule::{MatchArgument, MatchSubject};
use wire::message::MessageType;

use crate::model::{CapturedMessage, RecordedPeerId};

/// A message of a recording as match rules see it.
#[derive(Debug)]
pub(crate) struct RecordedMatchSubject<'m> {
    message: &'m CapturedMessage<'m>,
    body: Option<WireMessage<'m>>,
}

impl<'m> RecordedMatchSubject<'m> {
    /// Wraps a message. `body` is needed if a rule compares arguments.
    pub(crate) const fn new(
        message: &'m CapturedMessage<'m>,
        body: Option<WireMessage<'m>>,
    ) -> Self {
        Self { message, body }
    }
}

impl MatchSubject for RecordedMatchSubject<'_> {
    fn message_type(&self) -> MessageType {
        self.message.kind()
    }

    fn path(&self) -> Option<&str> {
        present(self.message.path())
    }

    fn interface(&self) -> Option<&str> {
        present(self.message.interface())
    }

    fn member(&self) -> Option<&str> {
        present(self.message.member()).filter(|_| self.message.kind() != MessageType::Error)
    }

    fn is_sender(&self, name: &str) -> bool {
        self.message.sender() == name || stands_for(self.message, name, self.message.from())
    }

    fn is_destination(&self, name: &str) -> bool {
        self.message.destination() == name || stands_for(self.message, name, self.message.to())
    }

    fn arg(&self, index: u8) -> Option<MatchArgument<'_>> {
        self.body.as_ref()?.args().nth(index.into())
    }
}

fn present(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// Returns true if a name was owned by a connection when the message was sent.
fn stands_for(message: &CapturedMessage<'_>, name: &str, peer: Option<RecordedPeerId>) -> bool {
    let capture = message.capture();
    let Some(name) = capture.strings().find(name) else { return false };
    let owner = capture.directory().resolve(message.bus(), name, message.at());
    peer.is_some() && owner == peer
}
