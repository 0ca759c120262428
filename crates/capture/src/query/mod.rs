//! The query language that selects messages, the same for all commands.
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
//! `docs/query.md` describes the language for users. [`Query::matcher`] evaluates a query on
//! messages one by one, [`Query::matches`] on all of a recording; [`complete`] completes partially
//! typed queries.

mod complete;
mod error;
mod expression;
mod field;
mod matcher;
mod matches;
mod names;
mod no_match;
mod parse;
mod pattern;
mod scope;

use std::str::FromStr;

use crate::model::{Capture, CapturedMessage};
use crate::recipients::{SignalRecipients, UnknownReason};
pub use complete::{Completion, Completions, OFFERS_MAX, complete};
pub use error::{QueryError, QueryErrorKind};
pub use expression::{ArgumentTest, ComparisonOrder, Expression, NumberComparison, Term};
pub use field::{Arguments, MessageState, NumberField, QueryField, TextField};
pub use matcher::Matcher;
pub use matches::QueryMatches;
pub use names::NameMistake;
pub(crate) use no_match::likely;
pub use parse::DEPTH_MAX;
pub use pattern::{Pattern, RegexPattern};
use scope::QueryScope;
pub use scope::RecorderMessageCount;

/// A parsed query. The [`Default`] query selects every message.
#[derive(Clone, Debug, Default)]
pub struct Query {
    text: String,
    expression: Option<Expression>,
}

impl Query {
    /// Parses a query. An empty text selects every message.
    ///
    /// # Errors
    ///
    /// If the query is malformed. The error names the column and what is expected there.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::parse(text).map(|expression| Self { text: text.to_owned(), expression })
    }

    /// Returns the query as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parsed expression; `None` if the query selects every message.
    pub const fn expression(&self) -> Option<&Expression> {
        self.expression.as_ref()
    }

    /// Returns the number of the message that this query selects, if it selects by number alone, as
    /// `#1410` does.
    pub fn message_number(&self) -> Option<u64> {
        self.expression()?.message_number()
    }

    /// Returns a matcher for this query. It skips messages from and to the recorder, unless the
    /// query asks for them with `is:recorder` or by the number of a message.
    pub fn matcher(&self) -> Matcher<'_> {
        Matcher::new(self.expression(), self.scope())
    }

    /// Returns a test for messages that this query skips because they are from or to the recorder.
    pub fn leaves_out(&self) -> impl Fn(&CapturedMessage<'_>) -> bool + use<> {
        let scope = self.scope();
        move |message| scope.leaves_out(message)
    }

    /// Returns the number of messages that this query considers: all messages, without messages
    /// from and to the recorder that it skips.
    pub fn total(&self, capture: &Capture) -> usize {
        let left_out = match self.scope() {
            QueryScope::Recording => RecorderMessageCount::default(),
            QueryScope::Traffic => Self::default().of_recorder(capture),
        };
        capture.len() - left_out.messages() as usize
    }

    /// Counts the messages from and to the recorder that this query would select if it did not skip
    /// them.
    pub fn of_recorder(&self, capture: &Capture) -> RecorderMessageCount {
        if self.scope() == QueryScope::Recording || !capture.directory().has_recorder() {
            return RecorderMessageCount::default();
        }
        let mut matcher = Matcher::new(self.expression(), QueryScope::Recording);
        let messages = capture.messages().filter(CapturedMessage::is_of_recorder);
        RecorderMessageCount::new(messages.filter(|message| matcher.selects(message)).count() as u64)
    }

    fn scope(&self) -> QueryScope {
        QueryScope::of(self.expression())
    }

    /// Returns why no message can match the `recipients` terms of this query. `None` if it has no
    /// such term, or if the recording shows the recipients of its signals.
    pub fn unknown_recipients(&self, capture: &Capture) -> Option<UnknownReason> {
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
