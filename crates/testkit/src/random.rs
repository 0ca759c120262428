//! Random numbers from a seed that is printed, so that every run can be repeated.

/// A generator of numbers that look random, the same from the same seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts at the seed that `DILIGENCE_SEED` holds, or at one that nobody has chosen, and
    /// prints it.
    pub fn from_env() -> Self {
        let seed = match std::env::var("DILIGENCE_SEED") {
            Ok(text) => text.parse().expect("DILIGENCE_SEED is a number"),
            Err(_) => {
                let state = std::hash::RandomState::new();
                std::hash::BuildHasher::hash_one(&state, "seed")
            }
        };
        println!("DILIGENCE_SEED={seed}");
        Self(seed)
    }

    /// Starts at this seed.
    pub const fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of some things.
    pub fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }
}
