//! Messages from and to the recorder, which queries skip by default.

use std::fmt;

use serde::Serialize;

use super::expression::{Expression, Term};
use super::field::MessageState;
use crate::model::CapturedMessage;
use crate::text::units::counted;

/// The messages that a query considers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueryScope {
    /// All messages of the recording.
    Recording,
    /// All messages except messages that exist only because of the recorder.
    Traffic,
}

impl QueryScope {
    /// The scope of a query. A query that asks for messages of the recorder, or for one message by
    /// its number, considers all messages.
    pub(super) fn of(expression: Option<&Expression>) -> Self {
        let asks = |term: &Term| matches!(term, Term::Is(MessageState::Recorder));
        let asks = expression.is_some_and(|it| it.has_term(&asks) || it.message_number().is_some());
        if asks { Self::Recording } else { Self::Traffic }
    }

    pub(super) fn leaves_out(self, message: &CapturedMessage<'_>) -> bool {
        self == Self::Traffic && message.is_of_recorder()
    }
}

/// The number of messages that are left out because they are from or to the recorder.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RecorderMessageCount(u64);

impl RecorderMessageCount {
    /// Creates a count of messages from and to the recorder.
    pub const fn new(messages: u64) -> Self {
        Self(messages)
    }

    /// Returns the number of messages.
    pub const fn messages(self) -> u64 {
        self.0
    }

    /// Returns the sentence about them that the commands and the page show; `None` if there are
    /// none.
    pub fn sentence(self) -> Option<String> {
        (self.0 > 0).then(|| self.to_string())
    }
}

impl fmt::Display for RecorderMessageCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, object) = if self.0 == 1 { ("is", "it") } else { ("are", "them") };
        let messages = counted(self.0, "message", "messages");
        write!(f, "{messages} from or to the recorder {verb} hidden; is:recorder shows {object}")
    }
}
