//! Who somebody is, as far as the bus treats one differently than others.

/// A user, and what was agreed on in the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SimulatedUser {
    /// The user.
    pub uid: u32,
    /// Whether it passes descriptors, and can be passed some.
    pub passes_descriptors: bool,
}

impl SimulatedUser {
    /// What is before its first serial: so the order of messages alone tells who it is.
    pub const fn serials(self) -> u32 {
        (self.uid << 1 | self.passes_descriptors as u32) << SERIAL_BITS
    }

    /// Who has such serials.
    pub const fn of_serial(serial: u32) -> Self {
        let who = serial >> SERIAL_BITS;
        Self { uid: who >> 1, passes_descriptors: who & 1 == 1 }
    }
}

/// More messages than anybody sends, as a power of 2.
const SERIAL_BITS: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_tell_who_it_is() {
        for uid in [0, 1, 500] {
            for passes_descriptors in [false, true] {
                let who = SimulatedUser { uid, passes_descriptors };
                assert_eq!(SimulatedUser::of_serial(who.serials() + 7), who);
            }
        }
    }
}
