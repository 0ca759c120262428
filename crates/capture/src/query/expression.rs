//! What a query asks: terms, joined by "and", "or" and "not".

use wire::match_rule::MatchRule;
use wire::message::{Flags, MessageType};

use super::field::{Arguments, MessageState, NumberField, TextField};
use super::pattern::Pattern;

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
    pub(super) fn asks_recipients(&self) -> bool {
        self.has_term(&|term| matches!(term, Term::Number(NumberField::Recipients, _)))
    }

    /// The number of the message that it asks for, if it asks for nothing else.
    pub(super) const fn message_number(&self) -> Option<u64> {
        match self {
            Self::Term(Term::Number(
                NumberField::Number,
                NumberComparison { order: ComparisonOrder::Equal, with },
            )) => Some(*with),
            _ => None,
        }
    }

    /// Whether one of its terms is like this.
    pub(super) fn has_term(&self, is_wanted: &dyn Fn(&Term) -> bool) -> bool {
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
    Number(NumberField, NumberComparison),
    /// The message is of this type.
    Type(MessageType),
    /// The flags of the message include these.
    Flags(Flags),
    /// The message is so.
    Is(MessageState),
    /// An argument is like this.
    Argument(Arguments, ArgumentTest),
    /// A match rule selects the message.
    Rule(Box<MatchRule>),
}

/// What is asked of an argument. Of one that holds others, any of those may be it.
#[derive(Clone, Debug)]
pub enum ArgumentTest {
    /// Its text is like this: of a number its decimal digits, of a boolean `true` or `false`.
    Like(Pattern),
    /// It is a number and compares so.
    Compares(ComparisonOrder, f64),
}

/// A comparison with a number. Times are in nanoseconds, sizes in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NumberComparison {
    /// How.
    pub order: ComparisonOrder,
    /// With what.
    pub with: u64,
}

impl NumberComparison {
    /// Whether a number compares so.
    pub fn holds(self, number: u64) -> bool {
        self.order.holds(number, self.with)
    }
}

/// How two numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ComparisonOrder {
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

impl ComparisonOrder {
    /// Whether a number compares so with another one.
    pub(super) fn holds<N: PartialOrd>(self, number: N, with: N) -> bool {
        match self {
            Self::Equal => number == with,
            Self::Less => number < with,
            Self::AtMost => number <= with,
            Self::More => number > with,
            Self::AtLeast => number >= with,
        }
    }
}
