//! Whether bodies of messages are validated.

use serde::{Deserialize, Serialize};

/// Whether a bus or a peer validates the bodies of messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchBodyValidation {
    /// It validates them, as buses and libraries do.
    #[default]
    On,
    /// It trusts the sender; of the buses, only those that [can skip it] do.
    ///
    /// [can skip it]: crate::buses::BusKind::can_skip_validation
    Off,
}
