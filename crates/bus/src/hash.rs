//! Hashing of what peers choose.

use core::hash::{BuildHasher, Hash};

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;

/// A hasher with a key that peers do not know, so that they cannot choose texts that collide.
#[derive(Clone, Debug)]
pub(crate) struct KeyedState(SeedableRandomState);

impl KeyedState {
    pub(crate) fn new(key: u64) -> Self {
        Self(SeedableRandomState::with_seed(key, SharedSeed::global_fixed()))
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
