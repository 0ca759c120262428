//! Hashing of what peers choose.

use core::hash::{BuildHasher, Hash};

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;

/// Random numbers that no peer knows. They decide nothing that can be seen from outside.
#[derive(Clone, Copy, Debug)]
pub struct HashKey {
    own: u64,
    shared: &'static SharedSeed,
}

/// The part of a [`HashKey`] that is too large to be in each hasher; one is enough for a process.
#[derive(Clone, Debug)]
pub struct HashSeed(SharedSeed);

impl HashSeed {
    /// A seed made of a random number.
    #[must_use]
    pub const fn new(random: u64) -> Self {
        Self(SharedSeed::from_u64(random))
    }
}

impl HashKey {
    /// A key made of a random number and a random seed.
    #[must_use]
    pub const fn new(random: u64, seed: &'static HashSeed) -> Self {
        Self { own: random, shared: &seed.0 }
    }
}

/// A key of which only one part is random, for tests.
impl From<u64> for HashKey {
    fn from(own: u64) -> Self {
        Self { own, shared: SharedSeed::global_fixed() }
    }
}

/// A hasher with a key that peers do not know, so that they cannot choose texts that collide.
#[derive(Clone, Debug)]
pub(crate) struct KeyedState(SeedableRandomState);

impl KeyedState {
    pub(crate) fn new(key: HashKey) -> Self {
        Self(SeedableRandomState::with_seed(key.own, key.shared))
    }

    /// For the maps that take a hasher of their own.
    pub(crate) fn build_hasher(&self) -> KeyedBuildHasher {
        self.0.clone()
    }

    #[inline]
    pub(crate) fn hash<T: Hash + ?Sized>(&self, value: &T) -> u64 {
        self.0.hash_one(value)
    }
}

/// The same as a [`BuildHasher`].
pub(crate) type KeyedBuildHasher = SeedableRandomState;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_key_changes_the_hash() {
        static SEEDS: [HashSeed; 2] = [HashSeed::new(1), HashSeed::new(2)];
        let hash = |own, seed| KeyedState::new(HashKey::new(own, seed)).hash("com.example.A");
        let hashes = [hash(1, &SEEDS[0]), hash(1, &SEEDS[1]), hash(2, &SEEDS[0])];
        assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2] && hashes[1] != hashes[2]);
        assert_eq!(hash(1, &SEEDS[0]), hashes[0]);
    }
}
