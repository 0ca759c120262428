//! The fields of messages that queries can test, and the words for them.

use wire::message::{Flags, MessageType};

use crate::model::CallOutcome;
use crate::text::amount::Scale;

/// A field of a message: the word before the sign of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueryField {
    /// The message type, `type`.
    Type,
    /// The message flags, `flags`.
    Flags,
    /// The state of the message, `is`.
    Is,
    /// A field with a text.
    Text(TextField),
    /// A field with a number.
    Number(NumberField),
    /// The arguments: `arg`, or one of `arg0` to `arg63`.
    Argument(Arguments),
}

/// Fields whose values are texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TextField {
    /// The sender: its unique name, any name that it has owned, or its program.
    From,
    /// The recipient, by the same names as the sender.
    To,
    /// The sender or the recipient.
    Name,
    /// The path of the object.
    Path,
    /// The name of the interface.
    Interface,
    /// The name of the method or signal.
    Member,
    /// The name of the error, for an error and for the call that it answers.
    Error,
    /// The signature of the body.
    Signature,
    /// The program of the sender or recipient, by its file, its kernel name (`comm`) or its script.
    Program,
    /// The systemd unit of the sender or recipient.
    Unit,
    /// The name of the bus.
    Bus,
}

/// Selects arguments of a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arguments {
    /// Any argument of the body.
    Any,
    /// The argument with this index, from 0.
    At(u8),
}

/// Fields whose values are numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NumberField {
    /// The size of the message in bytes.
    Size,
    /// The time the caller waited, in nanoseconds.
    Duration,
    /// The serial number that the sender gave the message.
    Serial,
    /// The position in the recording, from 1.
    Number,
    /// The time since the first message, in nanoseconds.
    Time,
    /// The process ID of the sender or recipient.
    Process,
    /// The number of connections that received a broadcast signal.
    Recipients,
}

/// The states of a message that `is` tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageState {
    /// The message is an error, or a call that an error answers.
    Error,
    /// The message is a call without a reply: it timed out, a peer left, or the recording ended
    /// first.
    Unanswered,
    /// It belongs to a call with this outcome.
    Ended(CallOutcome),
    /// A part of it was not recorded.
    Cut,
    /// The body of the message is redacted.
    Redacted,
    /// It violates the D-Bus specification.
    Invalid,
    /// The bus itself is its sender or recipient.
    Driver,
    /// The recorder is its sender or recipient.
    Recorder,
}

impl TextField {
    /// The word for this field in a query.
    pub(super) fn word(self) -> &'static str {
        QueryField::Text(self).word()
    }

    /// The noun for a value of this field in messages.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::From => "sender",
            Self::To => "recipient",
            Self::Name => "sender or recipient",
            Self::Path => "path",
            Self::Interface => "interface",
            Self::Member => "member",
            Self::Error => "error",
            Self::Signature => "signature",
            Self::Program => "program",
            Self::Unit => "unit",
            Self::Bus => "bus",
        }
    }
}

impl NumberField {
    /// The units of its values; `None` for whole numbers without a unit.
    pub(super) const fn scale(self) -> Option<Scale> {
        match self {
            Self::Size => Some(Scale::BYTES),
            Self::Duration | Self::Time => Some(Scale::TIME),
            Self::Serial | Self::Number | Self::Process | Self::Recipients => None,
        }
    }

    /// Parses a value of this field.
    pub(super) fn read(self, text: &str) -> Option<u64> {
        match self.scale() {
            Some(scale) => scale.read(text).ok(),
            None => text.parse().ok().filter(|_| !text.starts_with('+')),
        }
    }
}

impl QueryField {
    /// Returns the field that a word stands for; `None` if the word is unknown.
    pub fn named(word: &str) -> Option<Self> {
        let entry = FIELDS.iter().find(|entry| entry.words.contains(&word));
        entry.map(|entry| entry.field).or_else(|| argument(word))
    }

    /// Returns the word for this field in errors and completions.
    pub fn word(self) -> &'static str {
        FIELDS.iter().find(|entry| entry.field == self).map_or("arg0", |entry| entry.words[0])
    }

    /// Returns the values that the field accepts; empty if they are not a fixed set.
    pub fn choices(self) -> &'static [&'static str] {
        match self {
            Self::Type => &["call", "return", "error", "signal"],
            Self::Flags => &["no-reply", "no-auto-start", "interactive"],
            Self::Is => STATES,
            _ => &[],
        }
    }
}

fn argument(word: &str) -> Option<QueryField> {
    let digits = word.strip_prefix("arg")?;
    let index: u8 = digits.parse().ok()?;
    let is_canonical = digits == "0" || !digits.starts_with(['0', '+']);
    (index <= wire::match_rule::ARG_INDEX_MAX && is_canonical)
        .then_some(QueryField::Argument(Arguments::At(index)))
}

pub(super) fn message_type(word: &str) -> Option<MessageType> {
    Some(match &*plain(word) {
        "call" | "method-call" => MessageType::MethodCall,
        "return" | "method-return" => MessageType::MethodReturn,
        "error" => MessageType::Error,
        "signal" => MessageType::Signal,
        _ => return None,
    })
}

pub(super) fn flags(word: &str) -> Option<Flags> {
    Some(match &*plain(word) {
        "no-reply" | "no-reply-expected" => Flags::NO_REPLY_EXPECTED,
        "no-auto-start" => Flags::NO_AUTO_START,
        "interactive" | "allow-interactive-authorization" => Flags::ALLOW_INTERACTIVE_AUTHORIZATION,
        _ => return None,
    })
}

pub(super) fn state(word: &str) -> Option<MessageState> {
    Some(match &*plain(word) {
        "error" => MessageState::Error,
        "unanswered" => MessageState::Unanswered,
        "timed-out" => MessageState::Ended(CallOutcome::TimedOut),
        "callee-left" => MessageState::Ended(CallOutcome::CalleeLeft),
        "caller-left" => MessageState::Ended(CallOutcome::CallerLeft),
        "waiting" => MessageState::Ended(CallOutcome::Waiting),
        "cut" => MessageState::Cut,
        "redacted" => MessageState::Redacted,
        "invalid" => MessageState::Invalid,
        "driver" => MessageState::Driver,
        "recorder" => MessageState::Recorder,
        _ => return None,
    })
}

/// A word in lower case, with hyphens in place of the underscores that match rules and header files
/// use.
fn plain(word: &str) -> String {
    word.to_ascii_lowercase().replace('_', "-")
}

/// All words that [`state`] accepts.
const STATES: &[&str] = &[
    "error",
    "unanswered",
    "timed-out",
    "callee-left",
    "caller-left",
    "waiting",
    "cut",
    "redacted",
    "invalid",
    "driver",
    "recorder",
];

/// A field with its words, the usual one first, and a short description.
pub(super) struct QueryFieldEntry {
    pub(super) field: QueryField,
    pub(super) words: &'static [&'static str],
    pub(super) about: &'static str,
}

const fn text(
    field: TextField,
    words: &'static [&'static str],
    about: &'static str,
) -> QueryFieldEntry {
    QueryFieldEntry { field: QueryField::Text(field), words, about }
}

const fn number(
    field: NumberField,
    words: &'static [&'static str],
    about: &'static str,
) -> QueryFieldEntry {
    QueryFieldEntry { field: QueryField::Number(field), words, about }
}

/// All fields, in the order of the completions.
pub(super) const FIELDS: &[QueryFieldEntry] = &[
    QueryFieldEntry {
        field: QueryField::Type,
        words: &["type"],
        about: "call, return, error or signal",
    },
    text(TextField::From, &["from", "sender"], "the sender: name or program"),
    text(TextField::To, &["to", "destination"], "the recipient: name or program"),
    text(TextField::Name, &["name"], "the sender or recipient"),
    text(TextField::Path, &["path"], "the object"),
    text(TextField::Interface, &["interface", "iface"], "the interface"),
    text(TextField::Member, &["member"], "the method or signal"),
    text(TextField::Error, &["error"], "the name of the error"),
    text(TextField::Signature, &["sig", "signature"], "the types of the body"),
    number(NumberField::Size, &["size"], "bytes: size>4k"),
    number(NumberField::Duration, &["dur", "duration"], "from call to reply: dur>50ms"),
    number(NumberField::Time, &["time"], "since the first message: time<10s"),
    number(NumberField::Number, &["number"], "place in the recording, from 1"),
    number(NumberField::Serial, &["serial"], "the serial number"),
    number(NumberField::Process, &["pid"], "process of either end"),
    number(NumberField::Recipients, &["recipients"], "of a broadcast signal: recipients>3"),
    text(TextField::Program, &["comm", "program"], "program of either end"),
    text(TextField::Unit, &["unit"], "systemd unit of either end"),
    text(TextField::Bus, &["bus"], "the bus: session, system"),
    QueryFieldEntry {
        field: QueryField::Is,
        words: &["is"],
        about: "error, unanswered, timed-out, callee-left, caller-left, waiting, cut, redacted, \
                invalid, driver, recorder",
    },
    QueryFieldEntry {
        field: QueryField::Flags,
        words: &["flags"],
        about: "no-reply, no-auto-start, interactive",
    },
    QueryFieldEntry {
        field: QueryField::Argument(Arguments::Any),
        words: &["arg"],
        about: "any argument",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_word_names_one_field() {
        let mut words: Vec<_> = FIELDS.iter().flat_map(|entry| entry.words).collect();
        for entry in FIELDS {
            for word in entry.words {
                assert_eq!(QueryField::named(word), Some(entry.field));
            }
            assert_eq!(entry.field.word(), entry.words[0]);
        }
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }

    #[test]
    fn argument_fields_have_the_indexes_of_match_rules() {
        for (word, expected) in
            [("arg0", Some(0)), ("arg63", Some(63)), ("arg64", None), ("arg007", None)]
        {
            let expected = expected.map(|index| QueryField::Argument(Arguments::At(index)));
            assert_eq!(QueryField::named(word), expected, "{word}");
        }
    }

    #[test]
    fn field_values_have_the_units_of_their_field() {
        use NumberField::{Duration, Serial, Size, Time};
        for (field, text, expected) in [
            (Duration, "50ms", Some(50_000_000)),
            (Time, "1s", Some(1_000_000_000)),
            (Duration, "50", None),
            (Size, "4kB", Some(4000)),
            (Size, "1ms", None),
            (Serial, "12", Some(12)),
            (Serial, "12k", None),
            (Serial, "1.5", None),
            (Serial, "+1", None),
            (Serial, "", None),
        ] {
            assert_eq!(field.read(text), expected, "{field:?} {text:?}");
        }
    }

    #[test]
    fn every_offered_field_value_is_accepted() {
        for word in QueryField::Type.choices() {
            assert!(message_type(word).is_some(), "{word}");
        }
        for word in QueryField::Flags.choices() {
            assert!(flags(word).is_some(), "{word}");
        }
        for word in QueryField::Is.choices() {
            assert!(state(word).is_some(), "{word}");
        }
    }
}
