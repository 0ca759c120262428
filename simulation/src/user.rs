//! The properties of a peer for which the bus treats it differently.

use crate::setting::{DEAFENED, MUTED, OWNER};

/// The user of a peer, its container, and the result of its handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SimulatedUser {
    /// The user ID of the peer: root, or a user of the settings.
    pub uid: u32,
    /// True if the peer has negotiated passing descriptors.
    pub passes_descriptors: bool,
    /// The number of its container, below [`CONTAINERS_MAX`].
    pub container: Option<u32>,
}

impl SimulatedUser {
    /// Returns the number below the first serial of a peer. Serials encode the properties of the
    /// sender, so that the oracle knows them from the messages alone.
    pub fn serials(self) -> u32 {
        let user = USERS.iter().position(|uid| *uid == self.uid).expect("one of the users");
        let container = self.container.map_or(0, |container| container + 1);
        let kind = (user as u32) << 1 | u32::from(self.passes_descriptors);
        (container << KIND_BITS | kind) << SERIAL_BITS
    }

    /// Returns the properties of the peer that uses such serials.
    pub const fn of_serial(serial: u32) -> Self {
        let encoded = serial >> SERIAL_BITS;
        Self {
            uid: USERS[(encoded >> 1) as usize % USERS.len()],
            passes_descriptors: encoded & 1 == 1,
            container: (encoded >> KIND_BITS).checked_sub(1),
        }
    }
}

/// All users. The default of [`SimulatedUser`] is the first.
const USERS: [u32; 4] = [0, OWNER, MUTED, DEAFENED];

/// The number of low bits of a serial that count messages: more than any peer sends.
const SERIAL_BITS: u32 = 20;

/// The number of bits for the user and for passing descriptors.
const KIND_BITS: u32 = 3;

/// The most containers of a run.
pub const CONTAINERS_MAX: u32 = (1 << (u32::BITS - SERIAL_BITS - KIND_BITS)) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_encode_the_user() {
        for uid in USERS {
            for passes_descriptors in [false, true] {
                for container in [None, Some(0), Some(CONTAINERS_MAX - 1)] {
                    let user = SimulatedUser { uid, passes_descriptors, container };
                    assert_eq!(SimulatedUser::of_serial(user.serials() + 7), user);
                }
            }
        }
    }
}
