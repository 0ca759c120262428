//! What can be asked: the words of the language.

use wire::message::{Flags, MessageType};

use crate::model::CallOutcome;
use crate::text::amount::Scale;

/// What stands before the sign of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueryField {
    /// `type`
    Type,
    /// `flags`
    Flags,
    /// `is`
    Is,
    /// A text.
    Text(TextField),
    /// A number.
    Number(NumberField),
    /// `arg`, `arg0` to `arg63`
    Argument(Arguments),
}

/// Texts that can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TextField {
    /// Who sends: its unique name, any name that it has owned, or its program.
    From,
    /// Who receives, in the same ways.
    To,
    /// Either.
    Name,
    /// The object.
    Path,
    /// The interface.
    Interface,
    /// The method or signal.
    Member,
    /// The name of the error, of a message that is one or a call that got one.
    Error,
    /// The types of the body.
    Signature,
    /// The program of either end, as the kernel calls it.
    Program,
    /// The systemd unit of either end.
    Unit,
    /// The name of the bus.
    Bus,
}

/// Which arguments of a body are asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arguments {
    /// Any.
    Any,
    /// That with this index, from 0.
    At(u8),
}

/// Numbers that can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NumberField {
    /// Bytes on the wire.
    Size,
    /// Nanoseconds that the caller waited.
    Duration,
    /// The sender's number.
    Serial,
    /// The place in the recording, from 1.
    Number,
    /// Nanoseconds since the first message.
    Time,
    /// The process of either end.
    Process,
    /// Connections that received a broadcast signal.
    Recipients,
}

/// What can be said of a message without a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageState {
    /// It is an error, or a call that got one.
    Error,
    /// It is a call without a reply, whose caller left or was waiting when the recording ended.
    Unanswered,
    /// It belongs to a call that ended so.
    Ended(CallOutcome),
    /// A part of it was not kept.
    Cut,
    /// What it says was crossed out.
    Redacted,
    /// It breaks a rule of the specification.
    Invalid,
    /// The bus itself sends or gets it.
    Driver,
    /// The recorder sends or gets it.
    Recorder,
}

impl TextField {
    /// The word for it in a query.
    pub(super) fn word(self) -> &'static str {
        QueryField::Text(self).word()
    }

    /// What a text of this field is called in a sentence.
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
    /// The units of its values; `None` if they are whole numbers.
    pub(super) const fn scale(self) -> Option<Scale> {
        match self {
            Self::Size => Some(Scale::BYTES),
            Self::Duration | Self::Time => Some(Scale::TIME),
            Self::Serial | Self::Number | Self::Process | Self::Recipients => None,
        }
    }

    /// The value that a text is.
    pub(super) fn read(self, text: &str) -> Option<u64> {
        match self.scale() {
            Some(scale) => scale.read(text).ok(),
            None => text.parse().ok().filter(|_| !text.starts_with('+')),
        }
    }
}

impl QueryField {
    /// The field that a word stands for.
    pub fn named(word: &str) -> Option<Self> {
        let entry = FIELDS.iter().find(|entry| entry.words.contains(&word));
        entry.map(|entry| entry.field).or_else(|| argument(word))
    }

    /// The word for it that errors and completions use.
    pub fn word(self) -> &'static str {
        FIELDS.iter().find(|entry| entry.field == self).map_or("arg0", |entry| entry.words[0])
    }

    /// What can be written behind the sign, where that is one of a few words.
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

/// A word of a list in lower case, with hyphens where match rules and header files have underscores.
fn plain(word: &str) -> String {
    word.to_ascii_lowercase().replace('_', "-")
}

/// All words of [`state`].
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

/// A field with the words for it, the usual one first, and what it is in a few words.
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

/// All fields, in the order in which they are offered.
pub(super) const FIELDS: &[QueryFieldEntry] = &[
    QueryFieldEntry {
        field: QueryField::Type,
        words: &["type"],
        about: "call, return, error or signal",
    },
    text(TextField::From, &["from", "sender"], "who sends: name or program"),
    text(TextField::To, &["to", "destination"], "who receives: name or program"),
    text(TextField::Name, &["name"], "who sends or receives"),
    text(TextField::Path, &["path"], "the object"),
    text(TextField::Interface, &["interface", "iface"], "the interface"),
    text(TextField::Member, &["member"], "the method or signal"),
    text(TextField::Error, &["error"], "the name of the error"),
    text(TextField::Signature, &["sig", "signature"], "the types of the body"),
    number(NumberField::Size, &["size"], "bytes: size>4k"),
    number(NumberField::Duration, &["dur", "duration"], "from call to reply: dur>50ms"),
    number(NumberField::Time, &["time"], "since the first message: time<10s"),
    number(NumberField::Number, &["number"], "place in the recording, from 1"),
    number(NumberField::Serial, &["serial"], "the sender's number"),
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
    fn every_word_is_of_one_field() {
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
    fn arguments_have_the_numbers_that_match_rules_know() {
        for (word, expected) in
            [("arg0", Some(0)), ("arg63", Some(63)), ("arg64", None), ("arg007", None)]
        {
            let expected = expected.map(|index| QueryField::Argument(Arguments::At(index)));
            assert_eq!(QueryField::named(word), expected, "{word}");
        }
    }

    #[test]
    fn values_have_the_units_of_their_field() {
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
    fn every_choice_is_understood() {
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
