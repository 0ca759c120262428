//! Work on another processor, which the simulated machine does not have.

/// Runs `other` and then `own`, as if there could be no other thread.
pub fn both<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    (other(), own())
}
