//! How thoroughly a run measures.

/// How thoroughly a run measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Enough rounds and repetitions for reliable figures.
    Full,
    /// As few repetitions as possible, to check within seconds that everything works.
    Quick,
}

impl Effort {
    /// Returns `given`, or else the default for this effort.
    pub(crate) fn choose<T>(self, given: Option<T>, full: T, quick: T) -> T {
        given.unwrap_or(match self {
            Self::Full => full,
            Self::Quick => quick,
        })
    }

    /// Returns the `given` list, or else the default for this effort.
    pub(crate) fn list<T: Clone>(self, given: Option<&[T]>, full: &[T], quick: &[T]) -> Vec<T> {
        self.choose(given, full, quick).to_vec()
    }

    /// The default number of rounds.
    pub(crate) const fn rounds(self) -> u32 {
        match self {
            Self::Full => 5,
            Self::Quick => 1,
        }
    }
}
