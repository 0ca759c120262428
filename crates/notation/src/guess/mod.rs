//! Which form somebody wrote arguments in.
//!
//! The types that are wanted decide it, so that what people know from busctl, gdbus, dbus-send and
//! qdbus is read as they mean it. The decision opens nothing: descriptors are opened by
//! [`read`], once it is made.

use std::fmt;

use serde_json::from_str;
use wire::body::Value;
use wire::signature::{Signature, Type};

use crate::{
    ArgumentError, DescriptorOpener, Misfit, busctl, checked, dbus_send, gvariant, json, signature,
};

/// A form of arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Syntax {
    /// The words behind the signature.
    Busctl,
    /// A word each, with the type in front.
    DbusSend,
    /// A word each, as the text of GVariant; a text needs no quotes.
    Gvariant,
    /// A word each, as JSON.
    Json,
}

/// What is known of the types of the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WantedTypes<'w> {
    /// These, or, where a method has several forms, one of these.
    OneOf(&'w [&'w str]),
    /// Nothing.
    Anything,
}

/// What the first word may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstWord {
    /// The signature of the words behind it, as for busctl, or an argument.
    SignatureOrArgument,
    /// An argument, as for gdbus.
    Argument,
}

/// How arguments are read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentReading {
    /// The types.
    pub signature: String,
    /// How many words in front are no arguments: the signature, if it was given.
    pub skipped: usize,
    /// The form of each argument; of [`Syntax::Busctl`] there is one for all.
    pub forms: Vec<Syntax>,
}

/// Decides how words are to be read.
///
/// A first word that may be a signature is one if the types are known and it is the same, or if they
/// are not known and it [is made like a signature](is_like_signature). Then the words behind it must
/// be its arguments; a text that looks the same is written in quotes.
///
/// ```
/// use notation::guess::{FirstWord, Syntax, WantedTypes, decide};
///
/// for (words, syntax) in [
///     (["as", "1", "one"].as_slice(), Syntax::Busctl),
///     (&["array:string:one"], Syntax::DbusSend),
///     (&["['one']"], Syntax::Gvariant),
/// ] {
///     let reading = decide(words, WantedTypes::OneOf(&["as"]), FirstWord::SignatureOrArgument)?;
///     assert_eq!(reading.forms[0], syntax);
/// }
/// # Ok::<(), notation::ArgumentError>(())
/// ```
///
/// # Errors
///
/// If the words are no arguments of the types in any form: why not in the form that they seem to be
/// meant in.
pub fn decide(
    words: &[&str],
    wanted: WantedTypes<'_>,
    first: FirstWord,
) -> Result<ArgumentReading, ArgumentError> {
    let signatures = match wanted {
        WantedTypes::OneOf(signatures) => signatures,
        WantedTypes::Anything => &[],
    };
    if first == FirstWord::SignatureOrArgument
        && let Some(word) = words.first()
    {
        if signatures.contains(word) {
            return behind_known(words);
        }
        if signatures.is_empty() && (is_like_signature(word) || word.is_empty() && words.len() > 1)
        {
            return behind_guessed(words);
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

/// Whether a word consists of the letters and brackets of signatures, so that nobody can tell it from
/// one: `s`, `a{sv}` and `dog` are valid signatures, `a{vs}` and `(s` are malformed ones.
pub fn is_like_signature(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|character| "ybnqiuxtdsogvha(){}".contains(character))
}

/// Decides how words are to be read that have the form `syntax`; `signature` are their types, which
/// only dbus-send's form says by itself.
///
/// # Errors
///
/// If they are not in this form, or not of the types.
pub fn decide_forced(
    words: &[&str],
    wanted: WantedTypes<'_>,
    syntax: Syntax,
) -> Result<ArgumentReading, ArgumentError> {
    let signatures = match wanted {
        WantedTypes::OneOf(signatures) => signatures,
        WantedTypes::Anything => &[],
    };
    let mut first = None;
    for signature in signatures {
        match forced(words, signature, syntax) {
            Ok(reading) => return Ok(reading),
            Err(error) => first = first.or(Some(error)),
        }
    }
    match (first, syntax) {
        (Some(error), _) => Err(error),
        (None, Syntax::Busctl) => behind_signature(words),
        (None, Syntax::DbusSend) => with_types(words),
        (None, Syntax::Gvariant | Syntax::Json) => untyped(words),
    }
}

/// Reads words as it was decided.
///
/// # Errors
///
/// If a descriptor cannot be opened.
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

fn decide_for(words: &[&str], wanted: &str) -> Result<ArgumentReading, ArgumentError> {
    if words.iter().all(|word| has_type(word))
        && let Ok(reading) = forced(words, wanted, Syntax::DbusSend)
    {
        return Ok(reading);
    }
    word_by_word(words, wanted)
}

/// Whether a type stands in front of a word, as dbus-send has it. A single `s` is rather the begin of a
/// text.
pub fn has_type(word: &str) -> bool {
    let is_signature = || {
        let types = word.split_once(':').and_then(|(types, _)| Signature::new(types).ok());
        types.is_some_and(|types| types.single().is_some_and(|kind| kind != Type::String))
    };
    dbus_send::is_word(word) || is_signature()
}

/// Where nothing is known and no signature is in front, each word says its type, or is a text.
fn decide_untyped(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    match words {
        [] => behind("", words, 0),
        words if words.iter().all(|word| has_type(word)) => with_types(words),
        words => untyped(words),
    }
}

fn forced(words: &[&str], wanted: &str, syntax: Syntax) -> Result<ArgumentReading, ArgumentError> {
    match syntax {
        Syntax::Busctl if words.first() == Some(&wanted) => behind(wanted, words, 1),
        Syntax::Busctl => behind(wanted, words, 0),
        Syntax::DbusSend => {
            let reading = with_types(words)?;
            match reading.signature == wanted {
                true => Ok(reading),
                false => Err(other_types(words, wanted)),
            }
        }
        form @ (Syntax::Gvariant | Syntax::Json) => {
            let types = types_of(wanted, words.len())?;
            for (place, (kind, word)) in types.iter().zip(words).enumerate() {
                read_as(form, *kind, word, &mut pretend).map_err(|misfit| at(place, misfit))?;
            }
            let forms = vec![form; words.len()];
            Ok(ArgumentReading { signature: wanted.to_owned(), skipped: 0, forms })
        }
    }
}

/// That words say types which are not those that are wanted.
fn other_types(words: &[&str], wanted: &str) -> ArgumentError {
    match types_of(wanted, words.len()) {
        Err(error) => error,
        Ok(types) => {
            let wrong = types.iter().zip(words).enumerate().find_map(|(place, (kind, word))| {
                let value = dbus_send::read_arguments(&[word], &mut pretend).ok()?;
                let said = value.first().map(signature)?;
                let misfit = || dbus_send::typed_otherwise(*kind, word, &said);
                (said != kind.to_string()).then(|| at(place, misfit()))
            });
            wrong.unwrap_or_else(|| too_many(wanted, words))
        }
    }
}

fn too_many(wanted: &str, words: &[&str]) -> ArgumentError {
    let given = words.last().copied().unwrap_or_default().to_owned();
    match Signature::new(wanted) {
        Ok(signature) => ArgumentError::Words { signature: signature.into(), given },
        Err(error) => ArgumentError::Signature { text: wanted.into(), error },
    }
}

fn behind(
    signature: &str,
    words: &[&str],
    skipped: usize,
) -> Result<ArgumentReading, ArgumentError> {
    busctl::read_arguments(signature, &words[skipped..], &mut pretend)?;
    Ok(ArgumentReading { signature: signature.to_owned(), skipped, forms: vec![Syntax::Busctl] })
}

/// Behind the signature that is known to be the right one.
fn behind_known(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    behind(words[0], words, 1).map_err(|error| match error {
        ArgumentError::Count { .. } => as_signature(words[0], error),
        error => error,
    })
}

/// Behind a word that is a signature as far as anybody can tell.
fn behind_guessed(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    behind(words[0], words, 1).map_err(|error| as_signature(words[0], error))
}

fn as_signature(word: &str, error: ArgumentError) -> ArgumentError {
    ArgumentError::AsSignature { word: word.into(), error: Box::new(error) }
}

fn behind_signature(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    match words.first() {
        None => behind("", words, 0),
        Some(signature) => behind(signature, words, 1),
    }
}

fn with_types(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    let values = dbus_send::read_arguments(words, &mut pretend)?;
    let signature = values.iter().map(signature).collect();
    Ok(ArgumentReading { signature, skipped: 0, forms: vec![Syntax::DbusSend; words.len()] })
}

/// Each word as it says itself, or as a text.
fn untyped(words: &[&str]) -> Result<ArgumentReading, ArgumentError> {
    let types = words.iter().map(|word| {
        let value =
            gvariant::read_untyped(word, &mut pretend).unwrap_or_else(|_| Value::from(*word));
        signature(&value)
    });
    let signature = types.collect();
    Ok(ArgumentReading { signature, skipped: 0, forms: vec![Syntax::Gvariant; words.len()] })
}

/// Each word as GVariant has it, or JSON.
fn word_by_word(words: &[&str], wanted: &str) -> Result<ArgumentReading, ArgumentError> {
    let types = types_of(wanted, words.len())?;
    let forms = types.iter().zip(words).enumerate().map(|(place, (kind, word))| {
        let as_gvariant = read_as(Syntax::Gvariant, *kind, word, &mut pretend);
        let Err(misfit) = as_gvariant else { return Ok(Syntax::Gvariant) };
        match read_as(Syntax::Json, *kind, word, &mut pretend) {
            Ok(_) => Ok(Syntax::Json),
            Err(_) => Err(at(place, misfit)),
        }
    });
    let forms = forms.collect::<Result<_, _>>()?;
    Ok(ArgumentReading { signature: wanted.to_owned(), skipped: 0, forms })
}

fn each(
    reading: &ArgumentReading,
    words: &[&str],
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let types = types_of(&reading.signature, words.len())?;
    let arguments = types.iter().zip(words).zip(&reading.forms).enumerate();
    let values = arguments.map(|(place, ((kind, word), form))| {
        read_as(*form, *kind, word, open).map_err(|misfit| at(place, misfit))
    });
    values.collect()
}

fn read_as(
    form: Syntax,
    kind: Type<'_>,
    word: &str,
    open: DescriptorOpener<'_>,
) -> Result<Value, Box<Misfit>> {
    if form != Syntax::Json {
        return gvariant::read_value(kind, word, open)
            .or_else(|misfit| loose(kind, word, misfit, open));
    }
    // What is no JSON is a text, which the type may not be.
    let given = from_str(word).unwrap_or_else(|_| word.into());
    json::read_value(&kind.to_string(), &given).map_err(|error| match error {
        ArgumentError::Misfit { misfit, .. } => misfit,
        _ => unreachable!("one type takes one value"),
    })
}

/// A variant needs no brackets if it is an argument by itself, as nothing else can be meant; nor do
/// words of truth need to be GVariant's.
fn loose(
    kind: Type<'_>,
    word: &str,
    misfit: Box<Misfit>,
    open: DescriptorOpener<'_>,
) -> Result<Value, Box<Misfit>> {
    match kind {
        Type::Variant => {
            let inside = gvariant::read_untyped(word, open).map_err(|_| misfit)?;
            Ok(Value::Variant(Box::new(inside)))
        }
        Type::Boolean => crate::scalar::read(kind, word).map_err(|_| misfit),
        _ => Err(misfit),
    }
}

/// The types of a signature, if there are so many.
fn types_of(signature: &str, given: usize) -> Result<Vec<Type<'_>>, ArgumentError> {
    let signature = checked(signature)?;
    let types: Vec<_> = signature.types().collect();
    match types.len() {
        expected if expected == given => Ok(types),
        expected => Err(ArgumentError::Count { signature: signature.into(), expected, given }),
    }
}

const fn at(place: usize, misfit: Box<Misfit>) -> ArgumentError {
    ArgumentError::Misfit { number: place + 1, misfit }
}

/// Opens nothing, as it is not decided yet.
fn pretend(_: &str) -> Result<u32, String> {
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
