//! The arguments of a call, from the words of the command line.

use clap::Args;
use inspector::CallPayload;
use notation::ArgumentError;
use notation::guess::{self, ArgumentReading, FirstWord, Syntax, WantedTypes};

use super::descriptors::PassedDescriptors;
use crate::choices::{Choice, one_of};

/// How arguments are written.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub(crate) struct ArgumentOptions {
    /// The types of the arguments [default: as the object or the arguments tell]
    #[arg(long, value_name = "SIGNATURE")]
    signature: Option<String>,
    /// The form of the arguments [default: guessed]
    #[arg(long, value_parser = one_of(&FORMS), value_name = "FORM")]
    syntax: Option<Syntax>,
    /// Tell on standard error what was guessed
    #[arg(short, long)]
    verbose: bool,
}

const FORMS: [Choice<Syntax>; 4] = [
    ("busctl", "Words behind the signature: as 2 one two", Syntax::Busctl),
    ("gvariant", "A word each: \"['one', 'two']\"", Syntax::Gvariant),
    ("dbus-send", "A word each, with its type: array:string:one,two", Syntax::DbusSend),
    ("json", "A word each: '[\"one\", \"two\"]'", Syntax::Json),
];

impl ArgumentOptions {
    /// Reads arguments. `told` are the types that are known, one signature for each form that a
    /// method has; none if nothing is known.
    pub(crate) fn read(
        &self,
        words: &[String],
        told: &[String],
        first: FirstWord,
    ) -> Result<(ArgumentReading, CallPayload), ArgumentError> {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let (told, first): (Vec<_>, _) = match &self.signature {
            Some(signature) => (vec![signature.as_str()], FirstWord::Argument),
            None => (told.iter().map(String::as_str).collect(), first),
        };
        let wanted =
            if told.is_empty() { WantedTypes::Anything } else { WantedTypes::OneOf(&told) };
        let reading = match self.syntax {
            Some(form) => guess::decide_forced(&words, wanted, form)?,
            None => guess::decide(&words, wanted, first)?,
        };
        let mut descriptors = PassedDescriptors::default();
        let arguments = guess::read(&reading, &words, &mut |word| descriptors.open(word))?;
        Ok((reading, CallPayload { arguments, descriptors: descriptors.into_inner() }))
    }

    /// Whether to tell what was guessed.
    pub(crate) const fn is_verbose(&self) -> bool {
        self.verbose
    }
}

/// In which forms arguments were found: `busctl`, `gvariant, json`; once, if all have the same.
pub(crate) fn forms(reading: &ArgumentReading) -> String {
    let mut forms: Vec<_> = reading.forms.iter().map(ToString::to_string).collect();
    if forms.iter().all(|form| *form == forms[0]) {
        forms.truncate(1);
    }
    forms.join(", ")
}
