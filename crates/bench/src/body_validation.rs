//! Whether bodies of messages are validated.

use serde::{Deserialize, Serialize};

/// Whether a bus or a peer validates the bodies of messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchBodyValidation {
    /// Bodies are validated, as buses and libraries do.
    #[default]
    On,
    /// Bodies are trusted. Only buses that [can skip validation] support this.
    ///
    /// [can skip validation]: crate::buses::BusKind::can_skip_validation
    Off,
}
