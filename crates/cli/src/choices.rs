//! Options that accept one of several fixed words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// An accepted word, its help text, and the value that it selects.
pub(crate) type Choice<T> = (&'static str, &'static str, T);

/// Returns a parser that accepts one of these words.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let words = choices.iter().map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).map(|given| {
        let found = choices.iter().find(|(word, ..)| *word == given);
        found.expect("only these words are accepted").2
    })
}
