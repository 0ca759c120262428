//! How thoroughly things are measured.

/// How thoroughly things are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// So that figures can be believed.
    Full,
    /// So that one sees in seconds that everything works.
    Quick,
}

impl Effort {
    /// What was given, or else one of these.
    pub(crate) fn choose<T>(self, given: Option<T>, full: T, quick: T) -> T {
        given.unwrap_or(match self {
            Self::Full => full,
            Self::Quick => quick,
        })
    }

    /// The same of lists.
    pub(crate) fn list<T: Clone>(self, given: Option<&[T]>, full: &[T], quick: &[T]) -> Vec<T> {
        self.choose(given, full, quick).to_vec()
    }

    /// How often everything is measured, if that is not given.
    pub(crate) const fn rounds(self) -> u32 {
        match self {
            Self::Full => 5,
            Self::Quick => 1,
        }
    }
}
