//! Requirements of a configuration that the bus cannot enforce.

use std::fmt;

/// A requirement of the configuration that the system does not meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotEnforced {
    /// AppArmor mediation is required, and the kernel has no AppArmor with support for D-Bus.
    AppArmor,
}

impl fmt::Display for NotEnforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AppArmor => f.write_str("AppArmor mediation required but not present"),
        }
    }
}
