//! Pseudo-random numbers, reproducible from a seed (splitmix64).

/// A generator of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Creates a generator from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number of 64 random bits.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, but not including, `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// Returns true with a probability of 1 in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns how many of `most` bytes one call transfers: usually all, sometimes one, sometimes a
    /// part.
    pub(crate) fn portion(&mut self, most: usize) -> usize {
        match self.below(8) {
            0 => 1.min(most),
            1 => (self.below(32) + 1).min(most),
            2 if most > 0 => self.below(most) + 1,
            _ => most,
        }
    }

    /// Shuffles the items into a random order.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for end in (1..things.len()).rev() {
            things.swap(end, self.below(end + 1));
        }
    }
}
