//! Explains why a query selects no message of a recording.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use wire::message::{Flags, MessageType};

use super::Query;
use super::expression::{ComparisonOrder, Expression, NumberComparison, Term};
use super::field::{self, MessageState, NumberField, QueryField, TextField};
use super::matcher::{self, Matcher};
use super::pattern::Pattern;
use super::scope::QueryScope;
use crate::model::{Capture, CapturedMessage, CapturedMessageId, RecordedPeerId};
use crate::text::nearest::nearest;
use crate::text::units;

impl Query {
    /// Explains why this query selects none of the messages that `counts` accepts, as part of a
    /// sentence. The query must select no message. Each term is tried alone.
    pub fn no_match(
        &self,
        capture: &Capture,
        counts: &mut dyn FnMut(&CapturedMessage<'_>) -> bool,
    ) -> String {
        if capture.is_empty() {
            return String::from("the recording has no messages");
        }
        let counted = capture.messages().filter(|message| counts(message));
        let messages: Vec<_> = counted.map(|message| message.id()).collect();
        let Some(expression) = self.expression().filter(|_| !messages.is_empty()) else {
            return String::from("none of the messages counts here");
        };
        let parts = match expression {
            Expression::All(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let trial = QueryTrial { capture, messages };
        let reasons: Vec<_> = parts.iter().filter_map(|part| trial.reason(part)).collect();
        match reasons.is_empty() {
            true => format!(
                "each of the {} terms matches messages, but no message matches all of them",
                parts.len()
            ),
            false => reasons.into_iter().take(REASONS_MAX).collect::<Vec<_>>().join("; "),
        }
    }
}

/// The messages on which parts of a query are tried.
struct QueryTrial<'c> {
    capture: &'c Capture,
    messages: Vec<CapturedMessageId>,
}

impl<'c> QueryTrial<'c> {
    fn messages(&self) -> impl Iterator<Item = CapturedMessage<'c>> {
        self.messages.iter().map(|&id| self.capture.message(id))
    }

    /// The reason why a part of a query matches nothing; `None` if it matches a message.
    fn reason(&self, part: &Expression) -> Option<String> {
        let mut matcher = Matcher::new(None, QueryScope::Recording);
        if self.messages().any(|message| matcher.holds(part, &message)) {
            return None;
        }
        Some(match part {
            Expression::Any(parts) => {
                let reasons = parts.iter().filter_map(|part| self.reason(part));
                reasons.take(REASONS_MAX).collect::<Vec<_>>().join("; ")
            }
            Expression::All(parts) => {
                let reason = parts.iter().find_map(|part| self.reason(part));
                reason.unwrap_or_else(|| String::from("no message matches all terms of a group"))
            }
            Expression::Not(_) => String::from("every message matches a term that is negated"),
            Expression::Term(term) => self.of_term(term),
        })
    }

    fn of_term(&self, term: &Term) -> String {
        match term {
            Term::Text(field, pattern) => self.of_text(*field, pattern),
            Term::Number(field, comparison) => self.of_number(*field, *comparison),
            Term::Type(kind) => format!("no message is a {}", word_of_type(*kind)),
            Term::Flags(flags) => format!("no message has the flag {}", word_of_flags(*flags)),
            Term::Is(state) => format!("no message is {}", word_of_state(*state)),
            Term::Argument(..) => format!("no message has such an argument{}", self.redacted()),
            Term::Anywhere(pattern) => {
                let text = pattern.to_string();
                let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let hint = if is_number {
                    format!("; #{text} selects message {text}")
                } else {
                    String::new()
                };
                format!("no text in the messages is like {text}{}{hint}", self.redacted())
            }
            Term::Rule(_) => String::from("no message matches the match rule"),
        }
    }

    fn redacted(&self) -> &'static str {
        match self.messages().next().is_some_and(|first| self.capture.is_redacted(first.bus())) {
            true => ", as arguments are redacted",
            false => "",
        }
    }

    fn of_text(&self, field: TextField, pattern: &Pattern) -> String {
        let noun = field.noun();
        let reason = match pattern {
            Pattern::Equal(_) | Pattern::Glob(_) => format!("no message has the {noun} {pattern}"),
            Pattern::Contains(_) => format!("no message has a {noun} with {pattern} in it"),
            Pattern::Regex(_) => format!("no message has a {noun} that {pattern} matches"),
        };
        let found = self.texts(field);
        let offers = likely(pattern, &found);
        let Some((first, _)) = offers.first() else { return reason };
        let respelled = respelled(pattern, first);
        let why = respelled.as_ref().map_or("", |_| " (names are case-sensitive)");
        let meant = respelled.map(|text| format!("; did you mean {}:{text}?", field.word()));
        let offers: Vec<_> = offers.iter().map(|(text, count)| occurs(text, *count)).collect();
        format!("{reason}{why}; {}{}", offers.join(", "), meant.unwrap_or_default())
    }

    /// The texts of a field, with the number of messages that have each.
    fn texts(&self, field: TextField) -> HashMap<Cow<'c, str>, u64> {
        let mut counts: HashMap<Cow<'c, str>, u64> = HashMap::new();
        let mut peers: HashMap<RecordedPeerId, u64> = HashMap::new();
        for message in self.messages() {
            for end in ends(field, &message) {
                match end {
                    (Some(peer), _) => *peers.entry(peer).or_default() += 1,
                    (None, name) if !name.is_empty() => {
                        *counts.entry(name.into()).or_default() += 1;
                    }
                    (None, _) => {}
                }
            }
            if let Some(text) = text_of(field, &message).filter(|text| !text.is_empty()) {
                *counts.entry(text).or_default() += 1;
            }
        }
        for (peer, count) in peers {
            for text in texts_of(self.capture, peer, field) {
                *counts.entry(text.into()).or_default() += count;
            }
        }
        counts
    }

    fn of_number(&self, field: NumberField, comparison: NumberComparison) -> String {
        let noun = QueryField::Number(field).word();
        let order = match comparison.order {
            ComparisonOrder::Equal => "=",
            ComparisonOrder::Less => "<",
            ComparisonOrder::AtMost => "<=",
            ComparisonOrder::More => ">",
            ComparisonOrder::AtLeast => ">=",
        };
        let reason = format!("no message has {noun} {order} {}", written(field, comparison.with));
        let values = self.messages().filter_map(|message| matcher::value_of(&message, field));
        let bounds = values.fold(None, |bounds: Option<(u64, u64)>, value| {
            Some(bounds.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        match bounds {
            Some((low, high)) => {
                format!(
                    "{reason}; the values are {} to {}",
                    written(field, low),
                    written(field, high)
                )
            }
            None => reason,
        }
    }
}

/// The ends of a message that a field describes: the connection, if known, and its name.
fn ends<'c>(
    field: TextField,
    message: &CapturedMessage<'c>,
) -> Vec<(Option<RecordedPeerId>, &'c str)> {
    let from = (message.from(), message.sender());
    let to = (message.to(), message.destination());
    match field {
        TextField::From => vec![from],
        TextField::To => vec![to],
        TextField::Name | TextField::Program | TextField::Unit if from.0 == to.0 => vec![from],
        TextField::Name | TextField::Program | TextField::Unit => vec![from, to],
        _ => Vec::new(),
    }
}

/// The text of a message in a field that does not describe a connection.
fn text_of<'c>(field: TextField, message: &CapturedMessage<'c>) -> Option<Cow<'c, str>> {
    let asked = message.call().unwrap_or(*message);
    Some(match field {
        TextField::Path => asked.path().into(),
        TextField::Interface => asked.interface().into(),
        TextField::Member if asked.kind() != MessageType::Error => asked.member().into(),
        TextField::Error => matcher::error(message)?.member().into(),
        TextField::Signature => message.signature().into(),
        TextField::Bus => message.capture().bus_label(message.bus()),
        _ => return None,
    })
}

/// The texts by which a field finds a connection.
fn texts_of(capture: &Capture, peer: RecordedPeerId, field: TextField) -> Vec<&str> {
    let peer = capture.directory().peer(peer);
    let unit = peer.process.as_ref().and_then(|process| process.unit.as_deref());
    if field == TextField::Unit {
        return unit.into_iter().collect();
    }
    let mut texts: Vec<_> = matcher::programs(peer).collect();
    if field != TextField::Program {
        texts.push(capture.strings().get(peer.unique));
        texts.extend(peer.names.iter().map(|&name| capture.strings().get(name)));
    }
    texts.sort_unstable();
    texts.dedup();
    texts
}

/// Suggests texts: texts that differ only in case, or else texts that contain the pattern, or else
/// similar texts.
pub(crate) fn likely<'f>(
    pattern: &Pattern,
    found: &'f HashMap<Cow<'_, str>, u64>,
) -> Vec<(&'f str, u64)> {
    let wanted = pattern.to_string();
    let lower = match pattern {
        Pattern::Regex(_) => return Vec::new(),
        Pattern::Contains(_) => Pattern::contains(&wanted),
        Pattern::Equal(_) | Pattern::Glob(_) => Pattern::glob(&wanted.to_lowercase()),
    };
    let literal = wanted.trim_matches('*').trim_start_matches('.').to_lowercase();
    let selected = |test: &dyn Fn(&str) -> bool| {
        let mut texts: Vec<_> = found
            .iter()
            .map(|(text, &count)| (&**text, count))
            .filter(|(text, _)| test(&text.to_lowercase()))
            .collect();
        texts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        texts.truncate(OFFERS_MAX);
        texts
    };
    let same = selected(&|text| lower.selects(text));
    if !same.is_empty() {
        return same;
    }
    let containing = selected(&|text| literal.len() >= PART_MIN && text.contains(&literal));
    if !containing.is_empty() {
        return containing;
    }
    let near = nearest(&wanted, found.keys().map(|text| &**text));
    near.into_iter().map(|text| (text, found[text])).collect()
}

/// The pattern with the upper and lower case of a text that it matches if case is ignored.
fn respelled(pattern: &Pattern, text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    match pattern {
        Pattern::Equal(wanted) => (wanted.to_ascii_lowercase() == lower).then(|| text.to_owned()),
        Pattern::Glob(parts) if parts.len() > 1 => {
            let mut at = 0;
            let last = parts.len() - 1;
            let found = parts.iter().enumerate().map(|(index, part)| {
                let part = part.to_ascii_lowercase();
                let start = match index {
                    0 => lower.starts_with(&part).then_some(0)?,
                    index if index == last => {
                        lower.ends_with(&part).then(|| lower.len() - part.len())?
                    }
                    _ => at + lower.get(at..)?.find(&part)?,
                };
                at = start + part.len();
                text.get(start..at)
            });
            Some(found.collect::<Option<Vec<_>>>()?.join("*"))
        }
        _ => None,
    }
}

/// States how often a text occurs: `GetAll occurs 12 times`.
fn occurs(text: &str, count: u64) -> String {
    match count {
        1 => format!("{text} occurs once"),
        count => format!("{text} occurs {} times", units::grouped(count)),
    }
}

fn written(field: NumberField, value: u64) -> String {
    match field {
        NumberField::Size => units::bytes(value as f64),
        NumberField::Duration | NumberField::Time => units::duration(Duration::from_nanos(value)),
        NumberField::Serial
        | NumberField::Number
        | NumberField::Recipients
        | NumberField::Process => value.to_string(),
    }
}

fn word_of_type(kind: MessageType) -> &'static str {
    let choices = QueryField::Type.choices().iter();
    choices.copied().find(|word| field::message_type(word) == Some(kind)).unwrap_or("such type")
}

fn word_of_flags(flags: Flags) -> &'static str {
    let choices = QueryField::Flags.choices().iter();
    choices.copied().find(|word| field::flags(word) == Some(flags)).unwrap_or("asked for")
}

fn word_of_state(state: MessageState) -> &'static str {
    match state {
        MessageState::Error => "an error or got one",
        MessageState::Driver => "from or to the bus itself",
        MessageState::Recorder => "from or to the recorder",
        state => {
            let choices = QueryField::Is.choices().iter();
            choices.copied().find(|word| field::state(word) == Some(state)).unwrap_or("so")
        }
    }
}

/// The maximum number of reasons in one sentence.
const REASONS_MAX: usize = 3;

/// The maximum number of suggested texts.
const OFFERS_MAX: usize = 3;

/// The minimum length, in bytes, of a pattern that is searched within other texts.
const PART_MIN: usize = 2;
