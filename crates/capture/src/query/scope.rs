//! Messages from and to the recorder, which every count leaves out.

use std::fmt;

use serde::Serialize;

use super::expression::{Expression, Term};
use super::field::MessageState;
use crate::model::CapturedMessage;
use crate::text::units::counted;

/// Of which messages a query selects some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueryScope {
    /// All.
    Recording,
    /// Those that would be there if nobody had recorded.
    Traffic,
}

impl QueryScope {
    /// The scope of a query. A query that asks for messages of the recorder, or for one message by its number,
    /// selects among all messages.
    pub(super) fn of(expression: Option<&Expression>) -> Self {
        let asks = |term: &Term| matches!(term, Term::Is(MessageState::Recorder));
        let asks = expression.is_some_and(|it| it.has_term(&asks) || it.message_number().is_some());
        if asks { Self::Recording } else { Self::Traffic }
    }

    pub(super) fn leaves_out(self, message: &CapturedMessage<'_>) -> bool {
        self == Self::Traffic && message.is_of_recorder()
    }
}

/// How many messages are left out because they are from or to the recorder.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct OfRecorder(u64);

impl OfRecorder {
    /// So many, counted by someone who records them.
    pub const fn new(messages: u64) -> Self {
        Self(messages)
    }

    /// How many.
    pub const fn messages(self) -> u64 {
        self.0
    }

    /// The sentence that every command and the page say about them; `None` if there are none.
    pub fn sentence(self) -> Option<String> {
        (self.0 > 0).then(|| self.to_string())
    }
}

impl fmt::Display for OfRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, object) = if self.0 == 1 { ("is", "it") } else { ("are", "them") };
        let messages = counted(self.0, "message", "messages");
        write!(f, "{messages} from or to the recorder {verb} hidden; is:recorder shows {object}")
    }
}
