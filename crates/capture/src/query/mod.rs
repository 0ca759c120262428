//! Which messages somebody wants to see: one language for all commands.
//!
//! ```
//! use diligence_capture::query::Query;
//! use diligence_testkit::recording::Recording;
//!
//! let mut recording = Recording::new();
//! let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.GetCount", &());
//! recording.wait_ms(80).reply(&call, ":1.6", &(7_u32,));
//! recording.signal(":1.6", "/ org.example.Mail.Changed", &());
//! let capture = recording.capture();
//!
//! let query: Query = "member:Get* dur>50ms".parse()?;
//! let mut matcher = query.matcher();
//! assert_eq!(capture.messages().filter(|message| matcher.selects(message)).count(), 2);
//! # Ok::<(), diligence_capture::query::QueryError>(())
//! ```
//!
//! `docs/query.md` describes the language for those who use it. What a term asks of a message is
//! in [`matcher`](Query::matcher); what may be written at a place of a text in [`complete`].

mod complete;
mod error;
mod field;
mod matcher;
mod names;
mod no_match;
mod parse;
mod pattern;
mod scope;

use std::str::FromStr;

use wire::match_rule::MatchRule;
use wire::message::{Flags, MessageType};

use crate::model::{Capture, Message};
use crate::recipients::{Recipients, Unknowable};
pub use complete::{Completion, Completions, OFFERS_MAX, complete};
pub use error::{QueryError, QueryErrorKind};
pub use field::{Field, NumberField, State, TextField};
pub use matcher::Matcher;
pub use names::NameMistake;
pub use parse::DEPTH_MAX;
pub use pattern::Pattern;
pub use scope::OfRecorder;
use scope::Scope;

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
    pub const fn message_number(&self) -> Option<u64> {
        match self.expression() {
            Some(Expression::Term(Term::Number(
                NumberField::Number,
                Comparison { order: Order::Equal, with },
            ))) => Some(*with),
            _ => None,
        }
    }

    /// Asks messages one after the other. Messages from and to the recorder are left out, unless the query
    /// asks for them: `is:recorder`, or one message by its number.
    pub fn matcher(&self) -> Matcher<'_> {
        Matcher::new(self, Scope::of(self))
    }

    /// Tells which messages this query leaves out because they are from or to the recorder.
    pub fn leaves_out(&self) -> impl Fn(&Message<'_>) -> bool + use<> {
        let scope = Scope::of(self);
        move |message| scope.leaves_out(message)
    }

    /// How many messages there are, without those that this query leaves out because they are from or to the
    /// recorder.
    pub fn total(&self, capture: &Capture) -> usize {
        let left_out = match Scope::of(self) {
            Scope::Recording => OfRecorder::default(),
            Scope::Traffic => Self::default().of_recorder(capture),
        };
        capture.len() - left_out.messages() as usize
    }

    /// The messages from and to the recorder that this query would select if it did not leave them out.
    pub fn of_recorder(&self, capture: &Capture) -> OfRecorder {
        OfRecorder::count(self, capture)
    }

    /// Why no message can match the `recipients` terms of this query; `None` if it has none, or if the
    /// recording shows how many recipients its signals have.
    pub fn unknown_recipients(&self, capture: &Capture) -> Option<Unknowable> {
        let asks = self.expression().is_some_and(Expression::asks_recipients);
        asks.then(|| Recipients::find(capture).err()).flatten()
    }
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        Self::parse(text)
    }
}

/// Terms, and how they are joined.
#[derive(Clone, Debug)]
pub enum Expression {
    /// Each of these must hold.
    All(Vec<Self>),
    /// One of these must hold.
    Any(Vec<Self>),
    /// This must not hold.
    Not(Box<Self>),
    /// A single question.
    Term(Term),
}

impl Expression {
    fn asks_recipients(&self) -> bool {
        self.has_term(&|term| matches!(term, Term::Number(NumberField::Recipients, _)))
    }

    /// Whether one of its terms is like this.
    fn has_term(&self, is_wanted: &dyn Fn(&Term) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().any(|part| part.has_term(is_wanted))
            }
            Self::Not(part) => part.has_term(is_wanted),
            Self::Term(term) => is_wanted(term),
        }
    }
}

/// A single question.
///
/// Where a reply is asked for its path, interface or member, those of its call are meant; a call
/// and its reply have the same duration and the same error. All else is asked of the message itself.
#[derive(Clone, Debug)]
pub enum Term {
    /// Some text of the message, or of who sends and receives it, is like this.
    Anywhere(Pattern),
    /// This text is like that.
    Text(TextField, Pattern),
    /// This number compares so.
    Number(NumberField, Comparison),
    /// The message is of this type.
    Type(MessageType),
    /// The flags of the message include these.
    Flags(Flags),
    /// The message is so.
    Is(State),
    /// An argument is like this.
    Argument(Arguments, ArgumentTest),
    /// A match rule selects the message.
    Rule(Box<MatchRule>),
}

/// Which arguments of a body are asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arguments {
    /// Any.
    Any,
    /// That with this index, from 0.
    At(u8),
}

/// What is asked of an argument. Of one that holds others, any of those may be it.
#[derive(Clone, Debug)]
pub enum ArgumentTest {
    /// Its text is like this: of a number its decimal digits, of a boolean `true` or `false`.
    Like(Pattern),
    /// It is a number and compares so.
    Compares(Order, f64),
}

/// A comparison with a number. Times are in nanoseconds, sizes in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Comparison {
    /// How.
    pub order: Order,
    /// With what.
    pub with: u64,
}

impl Comparison {
    /// Whether a number compares so.
    pub const fn holds(self, number: u64) -> bool {
        match self.order {
            Order::Equal => number == self.with,
            Order::Less => number < self.with,
            Order::AtMost => number <= self.with,
            Order::More => number > self.with,
            Order::AtLeast => number >= self.with,
        }
    }
}

/// How two numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// `:` or `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}
