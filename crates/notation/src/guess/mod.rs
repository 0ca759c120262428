//! Detecting the form in which arguments are written.
//!
//! The expected types decide, so that arguments in the notation of busctl, gdbus, dbus-send or
//! qdbus are read as intended. The decision opens no file descriptors; [`read`] does, with the
//! result of the decision.

use std::fmt;

use serde_json::from_str;
use wire::body::Value;
use wire::signature::{Signature, Type};

use crate::{
    ArgumentError, DescriptorOpener, TypeMismatch, busctl, dbus_send, gvariant, json,
    parse_signature, signature,
};

/// A notation for arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Syntax {
    /// The words after the signature.
    Busctl,
    /// One word per argument, which begins with its type.
    DbusSend,
    /// One word per argument, in GVariant text format; strings need no quotes.
    Gvariant,
    /// One word per argument, as JSON.
    Json,
}

/// The expected types of the arguments, as far as they are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpectedTypes<'w> {
    /// One of these signatures; several if a method has several variants.
    OneOf(&'w [&'w str]),
    /// The types are unknown.
    Anything,
}

/// The possible meanings of the first word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstWord {
    /// Either the signature of the words after it, as for busctl, or an argument.
    SignatureOrArgument,
    /// An argument, as for gdbus.
    Argument,
}

/// The result of the decision: how to read the arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentReading {
    /// The signature of the arguments.
    pub signature: String,
    /// Number of leading words that are not arguments: 1 if the signature was given, otherwise 0.
    pub skipped: usize,
    /// The form of each argument; a single item for [`Syntax::Busctl`].
    pub forms: Vec<Syntax>,
}

/// Decides how to read the words.
///
/// The first word is a signature if it equals the known signature, or if the types are unknown and
/// it [looks like a signature](is_like_signature). Then the words after it must be its arguments; a
/// string with the same letters must be written in quotes.
///
/// ```
/// use notation::guess::{FirstWord, Syntax, ExpectedTypes, decide};
///
/// for (words, syntax) in [
///     (["as", "1", "one"].as_slice(), Syntax::Busctl),
///     (&["array:string:one"], Syntax::DbusSend),
///     (&["['one']"], Syntax::Gvariant),
/// ] {
///     let reading = decide(words, ExpectedTypes::OneOf(&["as"]), FirstWord::SignatureOrArgument)?;
///     assert_eq!(reading.forms[0], syntax);
/// }
/// # Ok::<(), notation::ArgumentError>(())
/// ```
///
/// # Errors
///
/// If the words do not match the types in any form. The error is about the most likely form.
pub fn decide(
    words: &[&str],
    expected: ExpectedTypes<'_>,
    first: FirstWord,
) -> Result<ArgumentReading, ArgumentError> {
    let signatures = match expected {
        ExpectedTypes::OneOf(signatures) => signatures,
        ExpectedTypes::Anything => &[],
    };
    if first == FirstWord::SignatureOrArgument
        && let Some(word) = words.first()
    {
        if signatures.contains(word) {
            return after_expected_signature(words);
        }
        if signatures.is_empty() && (is_like_signature(word) || word.is_empty() && words.len() > 1)
        {
            return after_likely_signature(words);
        }
    }
    let mut failed = None;
    for signature in signatures {
        match decide_for(words, signature) {
            Ok(reading) => return Ok(reading),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or_else(|| decide_untyped(words), Err)
}

/// True if a word contains only the letters and brackets of signatures: `s`, `a{sv}` and `dog` are
/// valid signatures, `a{vs}` and `(s` are malformed ones.
pub fn is_like_signature(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|character| "ybnqiuxtdsogvha(){}".contains(character))
}

/// Decides how to read words in the form `syntax`. If the types are unknown, they are determined
/// from the words.
///
/// # Errors
///
/// If the words are not in this form, or do not match the types.
pub fn decide_forced(
    words: &[&str],
    expected: ExpectedTypes<'_>,
    syntax: Syntax,
) -> Result<ArgumentReading, ArgumentError> {
    let signatures = match expected {
        ExpectedTypes::OneOf(signatures) => signatures,
        ExpectedTypes::Anything => &[],
    };
    let mut first = None;
    for signature in signatures {
        match decide_form(words, signature, syntax) {
            Ok(reading) => return Ok(reading),
            Err(error) => first = first.or(Some(error)),
        }
    }
    match (first, syntax) {
        (Some(error), _) => Err(error),
        (None, Syntax::Busctl) => after_first_word(words),
        (None, Syntax::DbusSend) => with_types(words),
        (None, Syntax::Gvariant | Syntax::Json) => untyped(words),
    }
}

/// Reads words as decided.
///
/// # Errors
///
/// If a word does not match its type, or a file descriptor cannot be opened.
pub fn read(
    reading: &ArgumentReading,
    words: &[&str],
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let words = words.get(reading.skipped..).unwrap_or_default();
    match reading.forms.first() {
        None => busctl::read_arguments(&reading.signature, words, open),
        Some(Syntax::Busctl) => busctl::read_arguments(&reading.signature, words, open),
        Some(Syntax::DbusSend) => dbus_send::read_arguments(words, open),
        Some(Syntax::Gvariant | Syntax::Json) => each(reading, words, open),
    }
}

fn decide_for(words: &[&str], expected: &str) -> Result<ArgumentReading, ArgumentError> {
    if words.iter().all(|word| has_type(word))
        && let Ok(reading) = decide_form(words, expected, Syntax::DbusSend)
    {
        return Ok(reading);
    }
    word_by_word(words, expected)
}

/// True if a word begins with a type and a colon, as for dbus-send. A single `s` does not count: it
/// is more likely the start of a text.
pub fn has_type(word: &str) -> bool {
    let is_signature = || {
        let types = word.split_once(':').and_then(|(types, _)| Signature::new(types).ok());
        types.is_some_and(|types| types.single().is_some_and(|kind| kind != Type::String))
    };
    dbus_send::is_word(word) || is_signature()
}

/// Without known types or a signature, each word has a type annotation, or a type that is inferred.
fn decide_untyped(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    match words {
        [] => busctl_reading("", words, 0),
        words if words.iter().all(|word| has_type(word)) => with_types(words),
        words => untyped(words),
    }
}

fn decide_form(
    words: &[&str],
    expected: &str,
    syntax: Syntax,
) -> Result<ArgumentReading, ArgumentError> {
    match syntax {
        Syntax::Busctl if words.first() == Some(&expected) => busctl_reading(expected, words, 1),
        Syntax::Busctl => busctl_reading(expected, words, 0),
        Syntax::DbusSend => {
            let reading = with_types(words)?;
            match reading.signature == expected {
                true => Ok(reading),
                false => Err(type_mismatch_error(words, expected)),
            }
        }
        form @ (Syntax::Gvariant | Syntax::Json) => {
            let types = types_of(expected, words.len())?;
            for (place, (kind, word)) in types.iter().zip(words).enumerate() {
                read_as(form, *kind, word, &mut accept_any_descriptor)
                    .map_err(|mismatch| at(place, mismatch))?;
            }
            let forms = vec![form; words.len()];
            Ok(ArgumentReading { signature: expected.to_owned(), skipped: 0, forms })
        }
    }
}

/// The error that type annotations differ from the expected types.
fn type_mismatch_error(words: &[&str], expected: &str) -> ArgumentError {
    match types_of(expected, words.len()) {
        Err(error) => error,
        Ok(types) => {
            let wrong = types.iter().zip(words).enumerate().find_map(|(place, (kind, word))| {
                let value = dbus_send::read_arguments(&[word], &mut accept_any_descriptor).ok()?;
                let actual = value.first().map(signature)?;
                let mismatch = || dbus_send::type_mismatch(*kind, word, &actual);
                (actual != kind.to_string()).then(|| at(place, mismatch()))
            });
            wrong.unwrap_or_else(|| too_many(expected, words))
        }
    }
}

fn too_many(expected: &str, words: &[&str]) -> ArgumentError {
    let given = words.last().copied().unwrap_or_default().to_owned();
    match Signature::new(expected) {
        Ok(signature) => ArgumentError::Words { signature: signature.into(), given },
        Err(error) => ArgumentError::Signature { text: expected.into(), error },
    }
}

fn busctl_reading(
    signature: &str,
    words: &[&str],
    skipped: usize,
) -> Result<ArgumentReading, ArgumentError> {
    busctl::read_arguments(signature, &words[skipped..], &mut accept_any_descriptor)?;
    Ok(ArgumentReading { signature: signature.to_owned(), skipped, forms: vec![Syntax::Busctl] })
}

/// Reads the words after a signature that equals an expected one.
fn after_expected_signature(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    busctl_reading(words[0], words, 1).map_err(|error| match error {
        ArgumentError::Count { .. } => as_signature(words[0], error),
        error => error,
    })
}

/// Reads the words after a word that looks like a signature.
fn after_likely_signature(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    busctl_reading(words[0], words, 1).map_err(|error| as_signature(words[0], error))
}

fn as_signature(word: &str, error: ArgumentError) -> ArgumentError {
    ArgumentError::AsSignature { word: word.into(), error: Box::new(error) }
}

fn after_first_word(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    match words.first() {
        None => busctl_reading("", words, 0),
        Some(signature) => busctl_reading(signature, words, 1),
    }
}

fn with_types(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    let values = dbus_send::read_arguments(words, &mut accept_any_descriptor)?;
    let signature = values.iter().map(signature).collect();
    Ok(ArgumentReading { signature, skipped: 0, forms: vec![Syntax::DbusSend; words.len()] })
}

/// Infers the type of each word; words without an inferable type are strings.
fn untyped(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    let types = words.iter().map(|word| {
        let value = gvariant::read_untyped(word, &mut accept_any_descriptor)
            .unwrap_or_else(|_| Value::from(*word));
        signature(&value)
    });
    let signature = types.collect();
    Ok(ArgumentReading { signature, skipped: 0, forms: vec![Syntax::Gvariant; words.len()] })
}

/// Reads each word as GVariant text, or else as JSON.
fn word_by_word(words: &[&str], expected: &str) -> Result<ArgumentReading, ArgumentError> {
    let types = types_of(expected, words.len())?;
    let forms = types.iter().zip(words).enumerate().map(|(place, (kind, word))| {
        let as_gvariant = read_as(Syntax::Gvariant, *kind, word, &mut accept_any_descriptor);
        let Err(mismatch) = as_gvariant else { return Ok(Syntax::Gvariant) };
        match read_as(Syntax::Json, *kind, word, &mut accept_any_descriptor) {
            Ok(_) => Ok(Syntax::Json),
            Err(_) => Err(at(place, mismatch)),
        }
    });
    let forms = forms.collect::<Result<_, _>>()?;
    Ok(ArgumentReading { signature: expected.to_owned(), skipped: 0, forms })
}

fn each(
    reading: &ArgumentReading,
    words: &[&str],
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let types = types_of(&reading.signature, words.len())?;
    let arguments = types.iter().zip(words).zip(&reading.forms).enumerate();
    let values = arguments.map(|(place, ((kind, word), form))| {
        read_as(*form, *kind, word, open).map_err(|mismatch| at(place, mismatch))
    });
    values.collect()
}

fn read_as(
    form: Syntax,
    kind: Type<'_>,
    word: &str,
    open: DescriptorOpener<'_>,
) -> Result<Value, Box<TypeMismatch>> {
    if form != Syntax::Json {
        return gvariant::read_value(kind, word, open)
            .or_else(|mismatch| read_leniently(kind, word, mismatch, open));
    }
    // A word that is not JSON is a string, which may not match the type.
    let given = from_str(word).unwrap_or_else(|_| word.into());
    json::read_value(&kind.to_string(), &given).map_err(|error| match error {
        ArgumentError::Mismatch { mismatch, .. } => mismatch,
        _ => unreachable!("one type takes one value"),
    })
}

/// Accepts a variant without brackets if it is a whole argument, and the boolean words of busctl.
fn read_leniently(
    kind: Type<'_>,
    word: &str,
    mismatch: Box<TypeMismatch>,
    open: DescriptorOpener<'_>,
) -> Result<Value, Box<TypeMismatch>> {
    match kind {
        Type::Variant => {
            let inside = gvariant::read_untyped(word, open).map_err(|_| mismatch)?;
            Ok(Value::Variant(Box::new(inside)))
        }
        Type::Boolean => crate::scalar::read(kind, word).map_err(|_| mismatch),
        _ => Err(mismatch),
    }
}

/// The types of a signature, if their number is `given`.
fn types_of(signature: &str, given: usize) -> Result<Vec<Type<'_>>, ArgumentError> {
    let signature = parse_signature(signature)?;
    let types: Vec<_> = signature.types().collect();
    match types.len() {
        expected if expected == given => Ok(types),
        expected => Err(ArgumentError::Count { signature: signature.into(), expected, given }),
    }
}

const fn at(place: usize, mismatch: Box<TypeMismatch>) -> ArgumentError {
    ArgumentError::Mismatch { number: place + 1, mismatch }
}

/// Accepts any descriptor without opening it, while the form is not decided.
fn accept_any_descriptor(_: &str) -> Result<u32, String> {
    Ok(0)
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busctl => "busctl",
            Self::DbusSend => "dbus-send",
            Self::Gvariant => "gvariant",
            Self::Json => "json",
        })
    }
}

#[cfg(test)]
mod tests;
