//! Tables of cases: all rows are checked, then the test fails if any row failed.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A row that takes longer to fail has waited in vain.
const SLOW: Duration = Duration::from_secs(3);

/// After this number of slow failures the bus does not work, and the other rows would only take
/// long to fail too.
const MOST_SLOW: usize = 3;

/// Checks each row, and then fails with the list of rows that failed.
///
/// # Panics
///
/// If the check of a row panics.
pub fn check_all<R>(rows: &[R], name: impl Fn(&R) -> String, check: impl Fn(&R)) {
    let mut failed = Vec::new();
    let mut slow = 0;
    for row in rows {
        let started = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| check(row)));
        let Err(panic) = outcome else { continue };
        failed.push(format!("{}: {}", name(row), text_of_panic(&*panic)));
        slow += usize::from(started.elapsed() > SLOW);
        if slow == MOST_SLOW {
            failed.push("and the rows after this one were not tried".to_owned());
            break;
        }
    }
    fail_with("rows", &failed);
}

/// Fails with a list, unless it is empty.
///
/// # Panics
///
/// If the list is not empty.
pub fn fail_with(what: &str, failed: &[impl Display]) {
    let lines: String = failed.iter().map(|line| format!("  {line}\n")).collect();
    assert!(failed.is_empty(), "{} {what} failed:\n{lines}", failed.len());
}

/// The message of a panic.
pub(crate) fn text_of_panic(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
    text.unwrap_or_else(|| "a panic without a text".to_owned())
}
