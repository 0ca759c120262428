//! Statistical tests that separate changes from noise.

use crate::percentiles::Percentiles;

/// The direction of a change.
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

/// Compares counts. They differ if random events at a constant rate would rarely differ as much,
/// and if they differ by at least a tenth.
pub(super) fn counts(before: u64, after: u64) -> Option<Trend> {
    let (before, after) = (before as f64, after as f64);
    let is_clear = (after - before).abs() > DEVIATIONS * (before + after).sqrt();
    trend(before, after).filter(|_| is_clear)
}

/// Compares shares `(part, whole)`. They differ if random events with the same probability would
/// rarely differ as much.
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

/// Compares durations by their 95th percentiles. If there are too few for that, they differ if
/// nearly all durations of one recording are longer than nearly all in the other.
pub(super) fn durations(before: &[u64], after: &[u64]) -> Option<Trend> {
    match before.len().min(after.len()) {
        ..RANKED_MIN => None,
        RANKED_MIN..TAIL_MIN => ranks(before, after),
        TAIL_MIN.. => tails(before, after),
    }
}

/// Compares two sets of values by the rank sum test of Mann and Whitney. The medians must also
/// differ by at least a tenth.
fn ranks(before: &[u64], after: &[u64]) -> Option<Trend> {
    let (mut before, mut after) = (before.to_vec(), after.to_vec());
    let [median_1, median_2] = [Percentiles::of(&mut before)?, Percentiles::of(&mut after)?]
        .map(|durations| durations.p50.as_nanos() as f64);
    // The number of pairs in which the later value is larger; equal pairs count half.
    // `Percentiles::of` has sorted both.
    let larger = |value: &u64| {
        let less = before.partition_point(|other| other < value);
        let equal = before.partition_point(|other| other <= value) - less;
        less as f64 + equal as f64 / 2.0
    };
    let sum: f64 = after.iter().map(larger).sum();
    let (count_1, count_2) = (before.len() as f64, after.len() as f64);
    let expected = count_1 * count_2 / 2.0;
    let deviation = (count_1 * count_2 * (count_1 + count_2 + 1.0) / 12.0).sqrt();
    trend(median_1, median_2).filter(|_| (sum - expected).abs() > DEVIATIONS * deviation)
}

/// Compares the 95th percentiles of durations. They differ if their confidence intervals do not
/// overlap and are at least a tenth apart.
fn tails(before: &[u64], after: &[u64]) -> Option<Trend> {
    let ((low_1, high_1), (low_2, high_2)) = (range_of_p95(before), range_of_p95(after));
    if low_2 > high_1 {
        return trend(high_1, low_2);
    }
    if high_2 < low_1 { trend(low_1, high_2) } else { None }
}

/// The confidence interval of the 95th percentile.
fn range_of_p95(values: &[u64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (count, last) = (values.len() as f64, values.len() - 1);
    let spread = RANGE_DEVIATIONS * (count * P95 * (1.0 - P95)).sqrt();
    let low = (count * P95 - spread).floor().max(0.0) as usize;
    let high = (count * P95 + spread).ceil() as usize;
    (sorted[low.min(last)] as f64, sorted[high.min(last)] as f64)
}

fn trend(before: f64, after: f64) -> Option<Trend> {
    if after > before * RATIO_MIN {
        return Some(Trend::Up);
    }
    (after * RATIO_MIN < before).then_some(Trend::Down)
}

/// The number of standard deviations that chance exceeds in only 3 of 1000 cases.
const DEVIATIONS: f64 = 3.0;

/// The number of standard deviations for each of two compared intervals.
const RANGE_DEVIATIONS: f64 = 2.0;

const P95: f64 = 0.95;

/// The number of durations from which one is the slowest 5 %.
const TAIL_MIN: usize = 20;

/// The smallest number of durations that can be ranked. With fewer, even complete separation does
/// not exceed [`DEVIATIONS`].
const RANKED_MIN: usize = 7;

/// The smallest ratio that counts as a change.
const RATIO_MIN: f64 = 1.1;

#[cfg(test)]
mod tests {
    use super::*;
    use Trend::{Down, Up};

    #[test]
    fn small_count_differences_are_noise() {
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
    fn small_error_differences_are_noise() {
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
    fn slower_durations_need_separate_confidence_intervals() {
        let values = |count: u64, scale: u64| (1..=count).map(|n| n * scale).collect::<Vec<_>>();
        for (before, after, expected) in [
            (values(100, 10), values(100, 10), None),
            (values(100, 10), values(100, 20), Some(Up)),
            (values(100, 20), values(100, 10), Some(Down)),
            (values(1_000, 100), values(1_000, 105), None),
            (values(5, 10), values(5, 1_000), None),
        ] {
            assert_eq!(durations(&before, &after), expected, "{} {}", before.len(), after[0]);
        }
    }

    #[test]
    fn few_durations_differ_only_if_nearly_all_are_longer() {
        // With 8 and 8 values, 3 deviations are 28.6 of 64 pairs from the middle.
        for (before, after, expected) in [
            (
                &[10, 11, 12, 13, 14, 15, 16, 17][..],
                &[30, 31, 32, 33, 34, 35, 36, 37][..],
                Some(Up),
            ),
            (&[30, 31, 32, 33, 34, 35, 36, 37], &[10, 11, 12, 13, 14, 15, 16, 17], Some(Down)),
            (&[10, 20, 30, 40, 50, 60, 70, 80], &[15, 25, 35, 45, 55, 65, 75, 85], None),
            (&[100; 8], &[105; 8], None),
            (&[10; 8], &[10; 8], None),
            (&[10, 11, 12, 13, 14], &[30, 31, 32, 33, 34], None),
        ] {
            assert_eq!(durations(before, after), expected, "{before:?} {after:?}");
        }
    }
}
