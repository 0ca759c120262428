//! Replacements of the daemon while the bus runs.

use alloc::boxed::Box;
use core::time::Duration;

/// A program that has replaced the daemon in the same process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// The version of the program that was replaced.
    pub old_version: Box<str>,
    /// The version of the program that continues the bus.
    pub new_version: Box<str>,
    /// The time in which the bus did not route messages.
    pub paused: Duration,
}
