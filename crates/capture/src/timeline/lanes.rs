//! Distribution of overlapping spans to lanes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::record::RecordedTime;

/// Lanes, each with spans that do not overlap.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    busy: BinaryHeap<Reverse<(RecordedTime, u32)>>,
    free: BinaryHeap<Reverse<u32>>,
    count: u32,
}

impl Lanes {
    /// Returns the first free lane for a span. Spans must be passed in the order of their starts.
    pub(super) fn place(&mut self, from: RecordedTime, to: RecordedTime) -> u32 {
        while let Some(&Reverse((until, lane))) = self.busy.peek()
            && until <= from
        {
            self.busy.pop();
            self.free.push(Reverse(lane));
        }
        let lane = self.free.pop().map_or_else(|| self.add(), |Reverse(lane)| lane);
        self.busy.push(Reverse((to.max(from), lane)));
        lane
    }

    const fn add(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_spans_get_separate_lanes() {
        let mut lanes = Lanes::default();
        for (from, to, expected) in
            [(0, 10, 0), (2, 4, 1), (3, 5, 2), (4, 6, 1), (5, 6, 2), (10, 12, 0), (10, 11, 1)]
        {
            assert_eq!(
                lanes.place(RecordedTime(from), RecordedTime(to)),
                expected,
                "{from} to {to}"
            );
        }
    }
}
