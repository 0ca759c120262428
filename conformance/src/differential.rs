//! Parts of the tests that perform the same random actions on dbus-daemon and on the bus under
//! test.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

use crate::bus::{BusUnderTest, TestConfig};
use crate::harness::note;
use crate::message::{PlainMessage, field};
use crate::peer::TestPeer;
use crate::program::{ExternalProgram, installed};
use crate::wire::PlainValue;

/// A generator of pseudo-random numbers with a seed (splitmix64).
#[derive(Debug)]
pub struct SeededRandom(u64);

impl SeededRandom {
    /// Starts the generator with a seed.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// A random number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// Returns true once in `times` calls on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A random element of a list.
    pub fn pick<'a, T: ?Sized>(&mut self, things: &[&'a T]) -> &'a T {
        things[self.below(things.len())]
    }
}

/// The seeds of a number of rounds, starting from `DILIGENCE_SEED` or from a random seed. Each is
/// printed when its round begins.
pub fn seeds(rounds: u64) -> impl Iterator<Item = u64> {
    let first =
        number("DILIGENCE_SEED").unwrap_or_else(|| RandomState::new().build_hasher().finish());
    (0..rounds).map(move |round| {
        let seed = first.wrapping_add(round);
        note(&format!("DILIGENCE_SEED={seed}"));
        seed
    })
}

/// The number in an environment variable, if it is set.
///
/// # Panics
///
/// If its value is not a number.
#[must_use]
pub fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text}")))
}

/// Starts dbus-daemon, whichever program is under test.
#[must_use]
pub fn start_reference(config: &TestConfig) -> BusUnderTest {
    BusUnderTest::start_with(config, |_| {
        ExternalProgram::at(installed("dbus-daemon", "dbus-daemon"))
    })
}

impl TestPeer {
    /// Sends a Ping of the interface Peer to the bus, which no policy forbids and no other peer
    /// sees. Returns the serial for [`PlainMessage::is_pong`].
    pub fn ping(&mut self) -> u32 {
        let ping = PlainMessage::call("", "/", "org.freedesktop.DBus.Peer", "Ping");
        self.send(ping.without(field::DESTINATION))
    }
}

impl PlainMessage {
    /// Returns true if this is the reply to [`TestPeer::ping`].
    #[must_use]
    pub fn is_pong(&self, serial: u32) -> bool {
        self.sender().is_empty() && self.reply_serial() == Some(serial)
    }

    /// The parts of a message that two buses must agree on, with the fields in a fixed order. The
    /// serials of messages from the bus are left out.
    #[must_use]
    pub fn compared(&self) -> String {
        let mut fields: Vec<(u8, PlainValue)> = self.fields.clone();
        fields.sort_by_key(|(code, _)| *code);
        let Self { kind, flags, body, descriptors, .. } = self;
        format!("type {kind} flags {flags} {fields:?} {body:?} {} fds", descriptors.len())
    }
}
