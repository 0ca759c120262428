//! Whether a check of invariants reports each way in which they can be violated.

use std::panic::{self, AssertUnwindSafe};

/// One way to corrupt a component, with what it does.
pub type Corruption<C> = (&'static str, fn(&mut C));

/// Checks that a component passes its check as it is made, and that the check panics after each
/// corruption.
///
/// # Panics
///
/// If not.
pub fn each_is_reported<C>(
    make: impl Fn() -> C,
    check: impl Fn(&C),
    corruptions: &[Corruption<C>],
) {
    check(&make());
    for (what, corrupt) in corruptions {
        let mut component = make();
        corrupt(&mut component);
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| check(&component)));
        assert!(outcome.is_err(), "the check does not report: {what}");
    }
}
