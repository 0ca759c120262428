//! What may be chance, and what is not.

/// In which direction something has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trend {
    Up,
    Down,
}

impl Trend {
    pub(super) fn choose<T>(self, up: T, down: T) -> T {
        match self {
            Self::Up => up,
            Self::Down => down,
        }
    }
}

/// Counts differ if they would hardly do so with events that come by chance at one rate, and by a
/// tenth at least.
pub(super) fn counts(before: u64, after: u64) -> Option<Trend> {
    let (before, after) = (before as f64, after as f64);
    let is_clear = (after - before).abs() > DEVIATIONS * (before + after).sqrt();
    trend(before, after).filter(|_| is_clear)
}

/// Shares `(part, whole)` differ if they would hardly do so with one chance for all.
pub(super) fn shares(before: (u64, u64), after: (u64, u64)) -> Option<Trend> {
    let ((part_1, whole_1), (part_2, whole_2)) = (before, after);
    if whole_1 == 0 || whole_2 == 0 {
        return None;
    }
    let (whole_1, whole_2) = (whole_1 as f64, whole_2 as f64);
    let (share_1, share_2) = (part_1 as f64 / whole_1, part_2 as f64 / whole_2);
    let common = (part_1 + part_2) as f64 / (whole_1 + whole_2);
    let deviation = (common * (1.0 - common) * (whole_1.recip() + whole_2.recip())).sqrt();
    trend(share_1, share_2).filter(|_| (share_2 - share_1).abs() > DEVIATIONS * deviation)
}

/// The slow ends of durations differ if the ranges in which their 95th percentiles surely lie are
/// apart, and by a tenth at least. Few durations have no slow end.
pub(super) fn tails(before: &[u64], after: &[u64]) -> Option<Trend> {
    let ((low_1, high_1), (low_2, high_2)) = (range_of_p95(before)?, range_of_p95(after)?);
    if low_2 > high_1 {
        return trend(high_1, low_2);
    }
    if high_2 < low_1 { trend(low_1, high_2) } else { None }
}

/// Between which of the values the 95th percentile of all that could have been measured lies.
fn range_of_p95(values: &[u64]) -> Option<(f64, f64)> {
    if values.len() < TAIL_MIN {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (count, last) = (values.len() as f64, values.len() - 1);
    let spread = RANGE_DEVIATIONS * (count * P95 * (1.0 - P95)).sqrt();
    let low = (count * P95 - spread).floor().max(0.0) as usize;
    let high = (count * P95 + spread).ceil() as usize;
    Some((sorted[low.min(last)] as f64, sorted[high.min(last)] as f64))
}

fn trend(before: f64, after: f64) -> Option<Trend> {
    if after > before * RATIO_MIN {
        return Some(Trend::Up);
    }
    (after * RATIO_MIN < before).then_some(Trend::Down)
}

/// Standard deviations that chance hardly exceeds: 3 of 1000 times.
const DEVIATIONS: f64 = 3.0;

/// The same for each of two ranges that are compared.
const RANGE_DEVIATIONS: f64 = 2.0;

const P95: f64 = 0.95;

/// Durations of which one may be the slowest twentieth.
const TAIL_MIN: usize = 20;

/// Less than this many times as much is no change that people care for.
const RATIO_MIN: f64 = 1.1;

#[cfg(test)]
mod tests {
    use super::*;
    use Trend::{Down, Up};

    #[test]
    fn small_counts_are_no_change() {
        for (before, after, expected) in [
            (1, 2, None),
            (3, 9, None),
            (10, 40, Some(Up)),
            (40, 10, Some(Down)),
            (1_000, 1_050, None),
            (1_000_000, 1_050_000, None),
            (1_000_000, 1_200_000, Some(Up)),
        ] {
            assert_eq!(counts(before, after), expected, "{before} {after}");
        }
    }

    #[test]
    fn few_errors_are_no_change() {
        for (before, after, expected) in [
            ((0, 10), (1, 10), None),
            ((0, 100), (20, 100), Some(Up)),
            ((20, 100), (0, 100), Some(Down)),
            ((0, 0), (5, 5), None),
            ((5, 5), (5, 5), None),
        ] {
            assert_eq!(shares(before, after), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn the_slow_end_must_be_clearly_elsewhere() {
        let values = |count: u64, scale: u64| (1..=count).map(|n| n * scale).collect::<Vec<_>>();
        for (before, after, expected) in [
            (values(100, 10), values(100, 10), None),
            (values(100, 10), values(100, 20), Some(Up)),
            (values(100, 20), values(100, 10), Some(Down)),
            (values(1_000, 100), values(1_000, 105), None),
            (values(19, 10), values(19, 90), None),
        ] {
            assert_eq!(tails(&before, &after), expected, "{} {}", before.len(), after[0]);
        }
    }
}
