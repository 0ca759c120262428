//! Parses the arguments of a call from the words of the command line.

use clap::Args;
use inspector::CallPayload;
use notation::ArgumentError;
use notation::guess::{self, ArgumentReading, ExpectedTypes, FirstWord, Syntax};

use super::descriptors::PassedDescriptors;
use crate::choices::{Choice, one_of};

/// Options for the form of arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub(crate) struct ArgumentOptions {
    /// The types of the arguments [default: from introspection, or from the arguments]
    #[arg(long, value_name = "SIGNATURE")]
    signature: Option<String>,
    /// The notation of the arguments [default: guessed]
    #[arg(long, value_parser = one_of(&FORMS), value_name = "FORM")]
    syntax: Option<Syntax>,
    /// Explain the guesses on standard error
    #[arg(short, long)]
    verbose: bool,
}

const FORMS: [Choice<Syntax>; 4] = [
    ("busctl", "Words after the signature: as 2 one two", Syntax::Busctl),
    ("gvariant", "One word for each argument: \"['one', 'two']\"", Syntax::Gvariant),
    ("dbus-send", "A word each, with its type: array:string:one,two", Syntax::DbusSend),
    ("json", "A word each: '[\"one\", \"two\"]'", Syntax::Json),
];

impl ArgumentOptions {
    /// Parses arguments. `known` are the known types, one signature for each overload of a method;
    /// empty if the object does not describe the method.
    pub(crate) fn read(
        &self,
        words: &[String],
        known: &[String],
        first: FirstWord,
    ) -> Result<(ArgumentReading, CallPayload), ArgumentError> {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let (known, first): (Vec<_>, _) = match &self.signature {
            Some(signature) => (vec![signature.as_str()], FirstWord::Argument),
            None => (known.iter().map(String::as_str).collect(), first),
        };
        let wanted =
            if known.is_empty() { ExpectedTypes::Anything } else { ExpectedTypes::OneOf(&known) };
        let reading = match self.syntax {
            Some(form) => guess::decide_forced(&words, wanted, form)?,
            None => guess::decide(&words, wanted, first)?,
        };
        let mut descriptors = PassedDescriptors::default();
        let arguments = guess::read(&reading, &words, &mut |word| descriptors.open(word))?;
        Ok((reading, CallPayload { arguments, descriptors: descriptors.into_inner() }))
    }

    /// Returns true if the guesses are to be explained.
    pub(crate) const fn is_verbose(&self) -> bool {
        self.verbose
    }
}

/// The forms of the parsed arguments: `busctl`, or `gvariant, json`; a form that all share is
/// listed once.
pub(crate) fn forms(reading: &ArgumentReading) -> String {
    let mut forms: Vec<_> = reading.forms.iter().map(ToString::to_string).collect();
    if forms.iter().all(|form| *form == forms[0]) {
        forms.truncate(1);
    }
    forms.join(", ")
}
