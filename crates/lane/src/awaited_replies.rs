//! Calls that wait for a reply on their lane.

use std::collections::HashSet;
use std::num::NonZeroU32;

use foldhash::fast::RandomState;

use crate::set::CALLS_MAX;

/// The serials of calls that came on a lane and wait for a reply. The latest has its own place, so
/// that a program that answers each call before the next one does not search.
#[derive(Debug, Default)]
pub(crate) struct AwaitedReplies {
    latest: Option<NonZeroU32>,
    earlier: HashSet<NonZeroU32, RandomState>,
}

impl AwaitedReplies {
    /// Adds a call. If there are too many, it is left out, and its reply goes to the bus.
    pub(crate) fn add(&mut self, call: NonZeroU32) {
        if self.earlier.len() < CALLS_MAX
            && let Some(before) = self.latest.replace(call)
        {
            self.earlier.insert(before);
        }
    }

    /// Removes a call that is answered. Returns false if it is not there.
    pub(crate) fn remove(&mut self, call: NonZeroU32) -> bool {
        self.latest.take_if(|latest| *latest == call).is_some() || self.earlier.remove(&call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serial(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).expect("tests use no 0")
    }

    #[test]
    fn calls_are_answered_once_in_any_order() {
        let mut calls = AwaitedReplies::default();
        (1..=3).map(serial).for_each(|call| calls.add(call));
        let removed = [2, 2, 3, 1, 1].map(|number| calls.remove(serial(number)));
        assert_eq!(removed, [true, false, true, true, false]);
    }

    #[test]
    fn calls_that_are_too_many_are_left_out() {
        let mut calls = AwaitedReplies::default();
        let count = CALLS_MAX as u32 + 1;
        (1..=count + 1).map(serial).for_each(|call| calls.add(call));
        assert!(!calls.remove(serial(count + 1)));
        assert!((1..=count).all(|number| calls.remove(serial(number))));
    }
}
