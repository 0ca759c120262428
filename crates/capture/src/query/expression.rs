//! The syntax tree of a query: terms, joined by "and", "or" and "not".

use wire::match_rule::MatchRule;
use wire::message::{Flags, MessageType};

use super::field::{Arguments, MessageState, NumberField, TextField};
use super::pattern::Pattern;

/// A term, or several terms joined by "and", "or" and "not".
#[derive(Clone, Debug)]
pub enum Expression {
    /// Every one of these expressions must hold.
    All(Vec<Self>),
    /// At least one of these expressions must hold.
    Any(Vec<Self>),
    /// This expression must not hold.
    Not(Box<Self>),
    /// A single condition on a message.
    Term(Term),
}

impl Expression {
    pub(super) fn asks_recipients(&self) -> bool {
        self.has_term(&|term| matches!(term, Term::Number(NumberField::Recipients, _)))
    }

    /// The number of the message that the expression selects, if that is its only condition.
    pub(super) const fn message_number(&self) -> Option<u64> {
        match self {
            Self::Term(Term::Number(
                NumberField::Number,
                NumberComparison { order: ComparisonOrder::Equal, with },
            )) => Some(*with),
            _ => None,
        }
    }

    /// Returns true if one of its terms satisfies the test.
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

/// A single condition on a message.
///
/// For a reply, the path, interface and member come from its call. A call and its reply have the
/// same duration and the same error. All other fields come from the message itself.
#[derive(Clone, Debug)]
pub enum Term {
    /// The pattern matches any text of the message or any text that describes its sender or
    /// recipient.
    Anywhere(Pattern),
    /// The pattern matches the text of this field.
    Text(TextField, Pattern),
    /// The comparison holds for the number of this field.
    Number(NumberField, NumberComparison),
    /// The message has this type.
    Type(MessageType),
    /// The flags of the message include these.
    Flags(Flags),
    /// The message is in this state.
    Is(MessageState),
    /// The test holds for one of these arguments.
    Argument(Arguments, ArgumentTest),
    /// A match rule selects the message.
    Rule(Box<MatchRule>),
}

/// A test of an argument. It holds for a container if it holds for any value inside.
#[derive(Clone, Debug)]
pub enum ArgumentTest {
    /// The pattern matches the text of the argument. Numbers are compared as decimal digits,
    /// booleans as `true` or `false`.
    Like(Pattern),
    /// The argument is a number for which the comparison holds.
    Compares(ComparisonOrder, f64),
}

/// A comparison with a number. Times are in nanoseconds, sizes in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NumberComparison {
    /// The order that must hold.
    pub order: ComparisonOrder,
    /// The right operand of the comparison.
    pub with: u64,
}

impl NumberComparison {
    /// Returns true if the comparison holds for a number.
    pub fn holds(self, number: u64) -> bool {
        self.order.holds(number, self.with)
    }
}

/// The operators that compare two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ComparisonOrder {
    /// The numbers are equal: `:` or `=`.
    Equal,
    /// The number is smaller: `<`.
    Less,
    /// The number is smaller or equal: `<=`.
    AtMost,
    /// The number is larger: `>`.
    More,
    /// The number is larger or equal: `>=`.
    AtLeast,
}

impl ComparisonOrder {
    /// Returns true if `number` and `with` are in this order.
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
