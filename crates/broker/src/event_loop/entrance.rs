//! The listener that a peer has connected to.

use bus::ContainerId;
use serde::{Deserialize, Serialize};

/// A listener of the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Entrance {
    /// A listener of the configuration, by its index.
    Configured(usize),
    /// The listener of a container.
    Container(ContainerId),
}

impl Entrance {
    /// The container whose listener it is.
    pub(super) const fn container(self) -> Option<ContainerId> {
        match self {
            Self::Configured(_) => None,
            Self::Container(container) => Some(container),
        }
    }
}
