//! The levels of access to a name.

use core::fmt;

use serde::{Deserialize, Serialize};

/// How much a program in a sandbox may do with a name. Each level includes the levels before it.
///
/// The absence of a level, `None` in `Option<AccessLevel>`, is less than all levels: the name is
/// hidden.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum AccessLevel {
    /// The program sees the name, its owner, and signals about changes of the owner.
    See,
    /// The program may send messages to the owner, and receives its broadcast signals. Call rules
    /// can restrict what it may send.
    Talk,
    /// The program may request the name.
    Own,
}

impl AccessLevel {
    /// All levels, the least first.
    pub const ALL: [Self; 3] = [Self::See, Self::Talk, Self::Own];

    /// The keyword of a rule that grants this level.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::See => "see",
            Self::Talk => "talk",
            Self::Own => "own",
        }
    }
}

impl fmt::Display for AccessLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}
