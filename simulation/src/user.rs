//! The properties of a peer for which the bus treats it differently.

/// The user of a peer and the result of its handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SimulatedUser {
    /// The user ID of the peer.
    pub uid: u32,
    /// True if the peer has negotiated passing descriptors.
    pub passes_descriptors: bool,
}

impl SimulatedUser {
    /// Returns the number below the first serial of a peer. Serials encode the properties of the
    /// sender, so that the oracle knows them from the messages alone.
    pub const fn serials(self) -> u32 {
        (self.uid << 1 | self.passes_descriptors as u32) << SERIAL_BITS
    }

    /// Returns the properties of the peer that uses such serials.
    pub const fn of_serial(serial: u32) -> Self {
        let encoded = serial >> SERIAL_BITS;
        Self { uid: encoded >> 1, passes_descriptors: encoded & 1 == 1 }
    }
}

/// The number of low bits of a serial that count messages: more than any peer sends.
const SERIAL_BITS: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_encode_the_user() {
        for uid in [0, 1, 500] {
            for passes_descriptors in [false, true] {
                let user = SimulatedUser { uid, passes_descriptors };
                assert_eq!(SimulatedUser::of_serial(user.serials() + 7), user);
            }
        }
    }
}
