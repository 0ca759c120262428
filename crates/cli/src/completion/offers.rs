//! Completions of a word.

/// The possible completions of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Offers {
    /// One of these words.
    Words(Vec<Offer>),
    /// The name of a file, which the shell completes.
    Files,
    /// The name of a directory, which the shell completes.
    Folders,
    /// The command line of another program.
    Command {
        /// The index of the word with which the command line begins, counted from 0 without the
        /// name of this program.
        from: usize,
    },
}

/// One possible completion of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Offer {
    /// The word from its first character.
    pub word: String,
    /// A description on one line; empty if the word needs none.
    pub about: String,
    /// The end of the word: complete, or followed by more characters.
    pub ending: OfferEnding,
}

/// How the editor continues after the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OfferEnding {
    /// The word is complete, and a space follows it.
    Whole,
    /// More characters follow without a space.
    Part,
}

impl Offer {
    /// Returns an offer for a complete word.
    pub(super) fn whole(word: impl Into<String>, about: impl Into<String>) -> Self {
        Self { word: word.into(), about: about.into(), ending: OfferEnding::Whole }
    }

    /// Returns an offer for the start of a word.
    pub(super) fn part(word: impl Into<String>, about: impl Into<String>) -> Self {
        Self { word: word.into(), about: about.into(), ending: OfferEnding::Part }
    }
}

impl Default for Offers {
    /// Returns an empty list of words.
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

impl Offers {
    /// Prepends the start of the word, which is the name of an option and `=`, to each offer.
    pub(super) fn with_prefix(self, start: &str) -> Self {
        match self {
            Self::Words(offers) => {
                let whole =
                    |offer: Offer| Offer { word: format!("{start}{}", offer.word), ..offer };
                Self::Words(offers.into_iter().map(whole).collect())
            }
            other => other,
        }
    }
}
