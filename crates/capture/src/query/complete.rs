//! Completion of partially typed queries.

use std::ops::Range;

use super::field::{FIELDS, NumberField, QueryField, TextField};
use crate::model::{Capture, CapturedMessage};
use crate::text::amount::Scale;

/// The completions at a cursor position, and the part of the query that they replace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Completions {
    /// The range of bytes in the query that a completion replaces.
    pub replaces: Range<usize>,
    /// The completions, most likely first; at most [`OFFERS_MAX`].
    pub offers: Vec<Completion>,
}

/// A text that can be inserted at the cursor.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Completion {
    /// The text to insert.
    pub text: String,
    /// A short description; empty if the text needs none.
    pub about: &'static str,
}

/// Completes a query at the byte offset `cursor`. The query may be incomplete. Names and other
/// texts are taken from `capture`.
pub fn complete(text: &str, cursor: usize, capture: &Capture) -> Completions {
    let before = text.get(..cursor).unwrap_or(text);
    let start = term_start(before);
    let word = &before[start..];
    let Some(sign) = word.find(SIGNS) else {
        return Completions { replaces: start..before.len(), offers: fields(word) };
    };
    let written = word[sign..].trim_start_matches(SIGNS).trim_start();
    let offers = QueryField::named(word[..sign].trim_end_matches('!').trim_end())
        .map(|field| values(field, written, capture))
        .unwrap_or_default();
    Completions { replaces: before.len() - written.len()..before.len(), offers }
}

/// The byte offset at which the last term of a text begins. A term may have blanks around its sign.
fn term_start(text: &str) -> usize {
    let mut start = text.len();
    loop {
        let word = text[..start].rfind(|c: char| c.is_whitespace() || "(!".contains(c));
        start = word.map_or(0, |at| at + 1);
        let before = text[..start].trim_end();
        let is_joined =
            before.len() < start && (before.ends_with(SIGNS) || text[start..].starts_with(SIGNS));
        if !is_joined || before.is_empty() {
            return start;
        }
        start = before.len();
    }
}

fn fields(start: &str) -> Vec<Completion> {
    let of_field = FIELDS.iter().map(|entry| {
        let sign = match entry.field {
            QueryField::Number(
                NumberField::Size
                | NumberField::Duration
                | NumberField::Time
                | NumberField::Recipients,
            ) => '>',
            _ => ':',
        };
        (format!("{}{sign}", entry.words[0]), entry.about)
    });
    let joins = JOINS.iter().map(|&(word, about)| (word.to_owned(), about));
    let all = of_field.chain(joins).filter(|(text, _)| text.starts_with(start));
    all.map(|(text, about)| Completion { text, about }).collect()
}

fn values(field: QueryField, start: &str, capture: &Capture) -> Vec<Completion> {
    let plain = |text: String| Completion { text, about: "" };
    if !field.choices().is_empty() {
        let choices = field.choices().iter().filter(|choice| choice.starts_with(start));
        return choices.map(|&choice| plain(choice.to_owned())).collect();
    }
    let digits = start.trim_end_matches(|c: char| c.is_alphabetic());
    match field {
        QueryField::Text(text) => texts(text, start, capture),
        QueryField::Number(number) if !digits.is_empty() => {
            let signs = number.scale().into_iter().flat_map(Scale::signs);
            signs
                .map(|sign| format!("{digits}{sign}"))
                .filter(|text| text.len() > start.len() && text.starts_with(start))
                .map(plain)
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The texts of a field that occur in the capture, most frequent first.
fn texts(field: TextField, start: &str, capture: &Capture) -> Vec<Completion> {
    let mut counts = vec![0_u64; capture.strings().len()];
    for message in capture.messages() {
        for text in of_message(field, &message).into_iter().flatten() {
            counts[text.index()] += 1;
        }
    }
    let ids = capture.strings().ids().filter(|id| !id.is_none() && counts[id.index()] > 0);
    let mut found: Vec<_> = ids
        .map(|id| (counts[id.index()], capture.strings().get(id)))
        .filter(|(_, text)| text.starts_with(start))
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    found.truncate(OFFERS_MAX);
    let offer = |(_, text): (u64, &str)| Completion { text: text.to_owned(), about: "" };
    found.into_iter().map(offer).collect()
}

/// The texts that a message has in a field.
fn of_message(
    field: TextField,
    message: &CapturedMessage<'_>,
) -> [Option<crate::model::TextId>; 2] {
    let is_error = message.kind() == wire::message::MessageType::Error;
    let name = |peer: Option<crate::model::RecordedPeerId>| {
        let peer = message.capture().directory().peer(peer?);
        Some(peer.names.first().copied().unwrap_or(peer.unique))
    };
    match field {
        TextField::From => [name(message.from()), None],
        TextField::To => [name(message.to()), None],
        TextField::Name => [name(message.from()), name(message.to())],
        TextField::Path => [Some(message.path_id()), None],
        TextField::Interface => [Some(message.interface_id()), None],
        TextField::Member => [Some(message.member_id()).filter(|_| !is_error), None],
        TextField::Error => [Some(message.member_id()).filter(|_| is_error), None],
        TextField::Signature => [Some(message.signature_id()), None],
        TextField::Program | TextField::Unit | TextField::Bus => [None, None],
    }
}

const JOINS: &[(&str, &str)] =
    &[("and", "both must hold"), ("or", "one must hold"), ("not", "must not hold")];

/// The characters that signs consist of.
const SIGNS: [char; 5] = [':', '=', '~', '<', '>'];

/// The maximum number of completions at a position.
pub const OFFERS_MAX: usize = 50;
