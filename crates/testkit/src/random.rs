//! Random numbers from a printed seed, so that every run can be repeated, or from given bytes,
//! such as the input of a fuzzer.

/// Returns the number of iterations of a test whose usual number is `usual`: fewer under Miri.
pub const fn rounds(usual: usize) -> usize {
    if cfg!(miri) { usual.div_ceil(MIRI_DIVISOR) } else { usual }
}

/// The approximate factor by which Miri is slower.
const MIRI_DIVISOR: usize = 500;

/// A source of numbers: pseudorandom from a seed (splitmix64), or determined by bytes.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// The remaining bytes, which are used first.
    chosen: Vec<u8>,
}

impl Random {
    /// Starts at the seed in `DILIGENCE_SEED`, or at a random one, and prints it.
    pub fn from_env() -> Self {
        let seed = match std::env::var("DILIGENCE_SEED") {
            Ok(text) => text.parse().expect("DILIGENCE_SEED is a number"),
            Err(_) => {
                let state = std::hash::RandomState::new();
                std::hash::BuildHasher::hash_one(&state, "seed")
            }
        };
        println!("DILIGENCE_SEED={seed}");
        Self::from_seed(seed)
    }

    /// Starts at this seed.
    pub const fn from_seed(seed: u64) -> Self {
        Self { state: seed, chosen: Vec::new() }
    }

    /// Takes choices from bytes, so that a fuzzer that changes the bytes changes the test. After
    /// the last byte, it continues pseudorandomly, always in the same way.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { state: 0, chosen: bytes.iter().rev().copied().collect() }
    }

    /// True if bytes are left that determine choices.
    pub fn has_bytes(&self) -> bool {
        !self.chosen.is_empty()
    }

    /// Returns an arbitrary 64-bit number.
    pub fn number(&mut self) -> u64 {
        if self.has_bytes() { self.take_chosen(8) } else { self.take_next() }
    }

    /// Returns a number from this many bytes, or from the remaining ones.
    fn take_chosen(&mut self, bytes: usize) -> u64 {
        let taken = self.chosen.len().saturating_sub(bytes);
        self.chosen.drain(taken..).fold(0, |number, byte| number << 8 | u64::from(byte))
    }

    fn take_next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        let number = match end {
            // Uses one byte per choice, so that the next choice does not depend on its result.
            ..=0x100 if self.has_bytes() => self.take_chosen(1),
            _ => self.number(),
        };
        (number % end as u64) as usize
    }

    /// Returns true once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns a random element.
    pub fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }
}
