//! Shortens a failing sequence by removing operations that the failure does not need.

use crate::operation::Operation;
use crate::{SideDifference, run};

/// Returns the shortest failing sequence that it finds, and its difference. `found` is the
/// difference of the original.
pub(crate) fn shortest(
    operations: &[Operation],
    mut found: SideDifference,
) -> (Vec<Operation>, SideDifference) {
    let mut operations = operations[..=found.step].to_vec();
    let mut tries = MOST_TRIES;
    let mut size = operations.len().div_ceil(2);
    while size > 0 && tries > 0 {
        let mut at = 0;
        while at < operations.len() && tries > 0 {
            tries -= 1;
            let mut fewer = operations.clone();
            fewer.drain(at..(at + size).min(operations.len()));
            match run(&fewer) {
                Err(difference) => {
                    fewer.truncate(difference.step + 1);
                    (operations, found) = (fewer, difference);
                }
                Ok(_) => at += size,
            }
        }
        size /= 2;
    }
    (operations, found)
}

/// Each attempt takes a fraction of a second.
const MOST_TRIES: usize = 400;
