//! Axes of plots: the position of a value, and the ticks.

/// An axis whose range fits the given values.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Axis {
    scale: AxisScale,
    /// The values at both ends of the axis.
    ends: (f64, f64),
    /// The values with a labeled tick, ascending.
    pub(super) ticks: Vec<f64>,
    /// The values with a thin grid line, ascending.
    pub(super) fine: Vec<f64>,
}

/// The scale of an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
enum AxisScale {
    Linear,
    /// Logarithmic scale. Zero, which has no logarithm, is drawn at the position of the value
    /// `zero`, one step below the smallest value.
    Logarithmic {
        zero: f64,
    },
}

impl Axis {
    /// Creates an axis for settings. It begins and ends at the values and, if there are few, has
    /// its ticks on them. It is logarithmic if the values are far apart.
    pub(super) fn of_settings(values: &[f64]) -> Self {
        let values = distinct(values);
        let scale = AxisScale::of_settings(&values);
        let (start, end) = span(&values);
        let ends = scale.padded(start, end);
        let ticks = match scale {
            _ if values.len() <= TICKS_AT_VALUES_MAX => scale.apart(values, ends),
            AxisScale::Linear => linear_ticks(start, end),
            AxisScale::Logarithmic { .. } => decades(ends, &[1.0]),
        };
        Self { scale, ends, ticks, fine: Vec::new() }
    }

    /// Creates an axis for figures: from zero, or logarithmic if the values are far apart.
    pub(super) fn of_figures(values: &[f64]) -> Self {
        let (low, high) = span(values);
        if low > 0.0 && high / low > WIDE_RANGE {
            return Self::of_wide_figures(low, high);
        }
        let ticks = linear_ticks(low.min(0.0), if high > 0.0 { high } else { 1.0 });
        let ends = span(&ticks);
        Self { scale: AxisScale::Linear, ends, ticks, fine: Vec::new() }
    }

    /// Creates an axis for elapsed time, which ends at `end`.
    pub(super) fn of_time(end: f64) -> Self {
        let ticks = linear_ticks(0.0, end);
        let ticks = ticks.into_iter().filter(|tick| *tick <= end).collect();
        Self { scale: AxisScale::Linear, ends: (0.0, end), ticks, fine: Vec::new() }
    }

    /// Returns the position of a value, from 0 at the start of the axis to 1 at its end. Values
    /// outside the range are clamped.
    pub(super) fn share(&self, value: f64) -> f64 {
        let (start, end) = (self.scale.position(self.ends.0), self.scale.position(self.ends.1));
        ((self.scale.position(value) - start) / (end - start)).clamp(0.0, 1.0)
    }

    /// True if equal distances are equal ratios.
    pub(super) const fn is_logarithmic(&self) -> bool {
        matches!(self.scale, AxisScale::Logarithmic { .. })
    }

    fn of_wide_figures(low: f64, high: f64) -> Self {
        // A figure of zero is drawn at the end of the axis, because it has no other position.
        let scale = AxisScale::Logarithmic { zero: low };
        let ends = scale.padded(low, high);
        let labeled: &[f64] = if high / low < FEW_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let ticks = decades(ends, labeled);
        Self { scale, ends, ticks, fine: decades(ends, &FINE_MULTIPLES) }
    }
}

impl AxisScale {
    fn of_settings(values: &[f64]) -> Self {
        let mut positive = values.iter().filter(|value| **value > 0.0);
        let (Some(&first), Some(&last)) = (positive.next(), values.last()) else {
            return Self::Linear;
        };
        if values[0] < 0.0 || last / first <= WIDE_RANGE {
            return Self::Linear;
        }
        let second = positive.next().copied().unwrap_or(last);
        Self::Logarithmic { zero: first * first / second }
    }

    /// Converts a value to the number that the axis is linear in.
    fn position(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic { zero } if value <= 0.0 => zero.log10(),
            Self::Logarithmic { .. } => value.log10(),
        }
    }

    /// Returns ends that leave some space before the first and after the last value.
    fn padded(self, first: f64, last: f64) -> (f64, f64) {
        let (start, end) = (self.position(first), self.position(last));
        let padding = if start == end { 1.0 } else { (end - start) * PADDING };
        match self {
            Self::Linear => (start - padding, end + padding),
            Self::Logarithmic { .. } => (10_f64.powf(start - padding), 10_f64.powf(end + padding)),
        }
    }

    /// Returns the values whose labels do not overlap; `values` are ascending.
    fn apart(self, values: Vec<f64>, (start, end): (f64, f64)) -> Vec<f64> {
        let distance = (self.position(end) - self.position(start)) * LABEL_SHARE;
        let mut kept: Vec<f64> = Vec::new();
        for value in values {
            let is_near = |last: &f64| self.position(value) - self.position(*last) < distance;
            if !kept.last().is_some_and(is_near) {
                kept.push(value);
            }
        }
        kept
    }
}

/// Returns the given multiples of all powers of ten within a range.
fn decades((start, end): (f64, f64), multiples: &[f64]) -> Vec<f64> {
    let exponents = start.log10().floor() as i32..=end.log10().ceil() as i32;
    let all = exponents.flat_map(|exponent| {
        multiples.iter().map(move |multiple| multiple * 10_f64.powi(exponent))
    });
    all.filter(|value| (start..=end).contains(value)).collect()
}

/// Returns round values from at most `low` to at least `high`, in equal steps.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / TICKS;
    let decade = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * decade);
    let step = steps.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(decade * 10.0);
    let (first, last) = ((low / step).floor() as i64, (high / step - 1e-9).ceil() as i64);
    (first..=last).map(|index| index as f64 * step).collect()
}

fn distinct(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}

/// Returns the lowest and the highest value; zeros if there are none.
fn span(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let high = values.iter().copied().reduce(f64::max).unwrap_or(0.0);
    (low, high)
}

/// The ratio of the largest to the smallest value above which an axis is logarithmic.
const WIDE_RANGE: f64 = 20.0;

/// Space before the first and after the last value, as a share of the range.
const PADDING: f64 = 0.04;

/// The largest number of values that each get a tick.
const TICKS_AT_VALUES_MAX: usize = 7;

/// The approximate number of steps of a linear axis.
const TICKS: f64 = 5.0;

/// If the ends of a logarithmic axis have a smaller ratio, multiples of powers of ten have labels
/// too.
const FEW_DECADES: f64 = 5_000.0;

/// The share of an axis that a label covers.
const LABEL_SHARE: f64 = 0.08;

/// The multiples of powers of ten that have a thin grid line.
const FINE_MULTIPLES: [f64; 8] = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|tick| number::short(*tick)).collect()
    }

    #[test]
    fn labels_are_at_the_positions_of_their_settings() {
        let cases: [(&[f64], &[&str]); 6] = [
            (&[0.0, 10.0, 100.0, 1000.0, 10_000.0], &["0", "10", "100", "1,000", "10k"]),
            (&[-15.0, 0.0, -5.0, -5.0], &["-15", "-5", "0"]),
            (&[1.0, 2.0, 4.0], &["1", "2", "4"]),
            (&[1.0, 1.05, 2.0], &["1", "2"]),
            (&[5.0], &["5"]),
            (
                &[32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 131_072.0],
                &["100", "1,000", "10k", "100k"],
            ),
        ];
        for (values, expected) in cases {
            assert_eq!(labels(&Axis::of_settings(values)), expected, "{values:?}");
        }
    }

    #[test]
    fn figures_begin_at_zero_unless_they_are_wide_apart() {
        let cases: [(&[f64], &[&str]); 6] = [
            (&[22.0, 38.0], &["0", "10", "20", "30", "40"]),
            (&[0.4, 0.9], &["0", "0.2", "0.4", "0.6", "0.8", "1"]),
            (&[0.0, 100.0], &["0", "20", "40", "60", "80", "100"]),
            (&[0.0, 0.0], &["0", "0.2", "0.4", "0.6", "0.8", "1"]),
            (&[1.0, 50.0], &["1", "2", "5", "10", "20", "50"]),
            (&[0.05, 3050.0], &["0.1", "1", "10", "100", "1,000"]),
        ];
        for (values, expected) in cases {
            assert_eq!(labels(&Axis::of_figures(values)), expected, "{values:?}");
        }
    }

    #[test]
    fn zero_has_a_place_among_powers() {
        let axis = Axis::of_settings(&[0.0, 10.0, 100.0, 1000.0]);
        let steps = [0.0, 10.0, 100.0, 1000.0].map(|value| axis.share(value));
        for (before, after) in [(0, 1), (1, 2), (2, 3)] {
            let step = steps[after] - steps[before];
            assert!((step - (steps[1] - steps[0])).abs() < 1e-9, "{steps:?}");
        }
    }

    #[test]
    fn a_share_is_a_part_of_the_axis() {
        let axis = Axis::of_time(200.0);
        assert_eq!(axis.share(50.0), 0.25);
        assert_eq!(labels(&axis), ["0", "50", "100", "150", "200"]);
    }
}
