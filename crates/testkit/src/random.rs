//! Random numbers from a seed that is printed, so that every run can be repeated; or from bytes that
//! somebody else chooses.

/// How often a test goes round that is to do so `usual` times: less often where Miri interprets it.
pub const fn rounds(usual: usize) -> usize {
    if cfg!(miri) { usual.div_ceil(MIRI_DIVISOR) } else { usual }
}

/// About as much slower as Miri is than a machine.
const MIRI_DIVISOR: usize = 500;

/// A source of numbers: that look random, the same from the same seed (splitmix64), or that bytes
/// say.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// Those that are left to be taken first.
    chosen: Vec<u8>,
}

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
        Self::from_seed(seed)
    }

    /// Starts at this seed.
    pub const fn from_seed(seed: u64) -> Self {
        Self { state: seed, chosen: Vec::new() }
    }

    /// Takes its choices from bytes: a fuzzer that changes these changes what a test does. Behind
    /// their end it goes on by itself, the same each time.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { state: 0, chosen: bytes.iter().rev().copied().collect() }
    }

    /// Whether there are bytes left that say what to choose.
    pub fn has_bytes(&self) -> bool {
        !self.chosen.is_empty()
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        if self.has_bytes() { self.take_chosen(8) } else { self.take_next() }
    }

    /// A number of so many bytes, or of those that are left.
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
            // One byte for a choice, so that the next one does not depend on how it comes out.
            ..=0x100 if self.has_bytes() => self.take_chosen(1),
            _ => self.number(),
        };
        (number % end as u64) as usize
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
