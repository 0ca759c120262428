//! What is offered to be written.

/// What may be written in the place of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Offers {
    /// One of these.
    Words(Vec<Offer>),
    /// The name of a file; shells know best.
    Files,
    /// The name of a folder.
    Folders,
    /// The command line of another program, which begins at this word.
    Command {
        /// The number of the word, counted from 0 without the name of our program.
        from: usize,
    },
}

/// A word that may be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Offer {
    /// The whole word.
    pub word: String,
    /// What it is, in a line; empty if it speaks for itself.
    pub about: String,
    /// Whether something comes behind it without a space.
    pub ending: OfferEnding,
}

/// How a word ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OfferEnding {
    /// It is whole.
    Whole,
    /// More of it follows.
    Part,
}

impl Offer {
    /// A whole word.
    pub(super) fn whole(word: impl Into<String>, about: impl Into<String>) -> Self {
        Self { word: word.into(), about: about.into(), ending: OfferEnding::Whole }
    }

    /// A word that goes on.
    pub(super) fn part(word: impl Into<String>, about: impl Into<String>) -> Self {
        Self { word: word.into(), about: about.into(), ending: OfferEnding::Part }
    }
}

impl Default for Offers {
    /// Nothing.
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

impl Offers {
    /// The same behind what stands in the word already: the name of an option.
    pub(super) fn behind(self, start: &str) -> Self {
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
