//! What a configuration asks for and the bus cannot enforce.

use std::fmt;

/// What a configuration asks for that cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotEnforced {
    /// AppArmor must have a say, and the kernel has none that knows of D-Bus.
    AppArmor,
}

impl fmt::Display for NotEnforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AppArmor => f.write_str("AppArmor mediation required but not present"),
        }
    }
}
