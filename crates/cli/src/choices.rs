//! Options whose value is one of several words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, its help, and what it stands for.
pub(crate) type Choice<T> = (&'static str, &'static str, T);

/// Parses one of these words.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let words = choices.iter().map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).map(|given| {
        let found = choices.iter().find(|(word, ..)| *word == given);
        found.expect("only these words are accepted").2
    })
}
