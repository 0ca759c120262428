//! Which messages somebody wants to see: one language for all commands.
//!
//! ```
//! use capture::query::Query;
//! use testkit::recording::TestRecording;
//!
//! let mut recording = TestRecording::new();
//! let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetCount", &());
//! recording.wait_ms(80).reply(&call, ":1.6", &(7_u32,));
//! recording.signal(":1.6", "/ org.example.Mail.Changed", &());
//! let capture = recording.capture();
//!
//! let query: Query = "member:Get* dur>50ms".parse()?;
//! let mut matcher = query.matcher();
//! assert_eq!(capture.messages().filter(|message| matcher.selects(message)).count(), 2);
//! # Ok::<(), capture::query::QueryError>(())
//! ```
//!
//! `docs/query.md` describes the language for those who use it. What a term asks of a message is
//! in [`matcher`](Query::matcher); what may be written at a place of a text in [`complete`].

mod complete;
mod error;
mod expression;
mod field;
mod matcher;
mod names;
mod no_match;
mod parse;
mod pattern;
mod scope;

use std::str::FromStr;

use crate::model::{Capture, CapturedMessage};
use crate::recipients::{SignalRecipients, Unknowable};
pub use complete::{Completion, Completions, OFFERS_MAX, complete};
pub use error::{QueryError, QueryErrorKind};
pub use expression::{ArgumentTest, ComparisonOrder, Expression, NumberComparison, Term};
pub use field::{Arguments, MessageState, NumberField, QueryField, TextField};
pub use matcher::Matcher;
pub use names::NameMistake;
pub use parse::DEPTH_MAX;
pub use pattern::Pattern;
pub use scope::OfRecorder;
use scope::QueryScope;

/// What somebody asks for. The [`Default`] asks for nothing: every message is selected.
#[derive(Clone, Debug, Default)]
pub struct Query {
    text: String,
    expression: Option<Expression>,
}

impl Query {
    /// Reads a query. An empty text selects every message.
    ///
    /// # Errors
    ///
    /// If the text is no query: at which column, and what may stand there.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::parse(text).map(|expression| Self { text: text.to_owned(), expression })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is asked; `None` if every message is selected.
    pub const fn expression(&self) -> Option<&Expression> {
        self.expression.as_ref()
    }

    /// The number of the message that this query asks for, if it asks for nothing else: `#1410`.
    pub fn message_number(&self) -> Option<u64> {
        self.expression()?.message_number()
    }

    /// Asks messages one after the other. Messages from and to the recorder are left out, unless the query
    /// asks for them: `is:recorder`, or one message by its number.
    pub fn matcher(&self) -> Matcher<'_> {
        Matcher::new(self.expression(), self.scope())
    }

    /// Tells which messages this query leaves out because they are from or to the recorder.
    pub fn leaves_out(&self) -> impl Fn(&CapturedMessage<'_>) -> bool + use<> {
        let scope = self.scope();
        move |message| scope.leaves_out(message)
    }

    /// How many messages there are, without those that this query leaves out because they are from or to the
    /// recorder.
    pub fn total(&self, capture: &Capture) -> usize {
        let left_out = match self.scope() {
            QueryScope::Recording => OfRecorder::default(),
            QueryScope::Traffic => Self::default().of_recorder(capture),
        };
        capture.len() - left_out.messages() as usize
    }

    /// The messages from and to the recorder that this query would select if it did not leave them out.
    pub fn of_recorder(&self, capture: &Capture) -> OfRecorder {
        if self.scope() == QueryScope::Recording || !capture.directory().has_recorder() {
            return OfRecorder::default();
        }
        let mut matcher = Matcher::new(self.expression(), QueryScope::Recording);
        let messages = capture.messages().filter(CapturedMessage::is_of_recorder);
        OfRecorder::new(messages.filter(|message| matcher.selects(message)).count() as u64)
    }

    fn scope(&self) -> QueryScope {
        QueryScope::of(self.expression())
    }

    /// Why no message can match the `recipients` terms of this query; `None` if it has none, or if the
    /// recording shows how many recipients its signals have.
    pub fn unknown_recipients(&self, capture: &Capture) -> Option<Unknowable> {
        let asks = self.expression().is_some_and(Expression::asks_recipients);
        asks.then(|| SignalRecipients::find(capture).err()).flatten()
    }
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        Self::parse(text)
    }
}
