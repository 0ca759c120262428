//! Reads the cycle counter of the processor.

/// The cycle counter of the processor.
#[inline]
pub(crate) fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction reads a register and is part of x86-64.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    0
}
