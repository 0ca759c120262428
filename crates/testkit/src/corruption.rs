//! Tests whether a check of invariants reports each possible violation.

use std::panic::{self, AssertUnwindSafe};

/// One way to corrupt a component, with its description.
pub type Corruption<C> = (&'static str, fn(&mut C));

/// Checks that a new component passes its check, and that the check panics after each corruption.
///
/// # Panics
///
/// Panics if a new component fails its check, or if a corruption is not reported.
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
