//! Distinguishes differences from noise.

use crate::result::Better;
use crate::summary::{Figure, ScenarioSummary};

/// The relation between two figures of the same metric.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum FigureRelation {
    /// The middle halves of their rounds overlap, or they differ by less than [`MARGIN`].
    WithinNoise,
    /// The first figure is better by this factor; below 1, the second is better.
    Times(f64),
}

impl FigureRelation {
    pub(super) fn of(one: &Figure, other: &Figure, better: Better) -> Self {
        let times = match better {
            Better::Lower => other.median / one.median,
            Better::Higher => one.median / other.median,
        };
        let is_known = one.rounds.min(other.rounds) >= ROUNDS_MIN;
        let is_clear = is_known && times.is_finite() && times > 0.0 && times.ln().abs() >= MARGIN;
        match is_clear && !one.overlaps(other) {
            true => Self::Times(times),
            false => Self::WithinNoise,
        }
    }

    /// The factor by which the first figure is better, if it is clearly better.
    pub(super) fn better(self) -> Option<f64> {
        match self {
            Self::Times(times) if times > 1.0 => Some(times),
            Self::Times(_) | Self::WithinNoise => None,
        }
    }

    /// The factor by which the second figure is better, if it is clearly better.
    pub(super) fn worse(self) -> Option<f64> {
        match self {
            Self::Times(times) if times < 1.0 => Some(times.recip()),
            Self::Times(_) | Self::WithinNoise => None,
        }
    }
}

/// True if the scenario has enough rounds to distinguish a difference from noise.
pub(super) fn is_measurable(scenario: &ScenarioSummary) -> bool {
    let outcomes = scenario.comparisons.iter().flat_map(|comparison| &comparison.outcomes);
    let rounds = outcomes.flat_map(|outcome| outcome.figures.values()).map(|figure| figure.rounds);
    // Figures that instruments count exist for the first round only.
    rounds.max().is_some_and(|rounds| rounds >= ROUNDS_MIN)
}

pub(super) const TOO_FEW_ROUNDS: &str =
    "Comparing figures in words takes at least 3 rounds: fewer do not show the noise.";

/// The number of rounds required to estimate the noise.
const ROUNDS_MIN: usize = 3;

/// The smallest difference that is reported, as a natural logarithm: about 2 %.
const MARGIN: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(low: f64, median: f64, high: f64) -> Figure {
        Figure { median, low, high, rounds: 5 }
    }

    #[test]
    fn differences_within_noise_are_not_reported() {
        let ten = figure(9.0, 10.0, 11.0);
        let check = |other: Figure, better, expected| {
            assert_eq!(FigureRelation::of(&ten, &other, better), expected, "{other:?}");
        };
        check(figure(19.0, 20.0, 21.0), Better::Lower, FigureRelation::Times(2.0));
        check(figure(19.0, 20.0, 21.0), Better::Higher, FigureRelation::Times(0.5));
        check(figure(10.9, 20.0, 21.0), Better::Lower, FigureRelation::WithinNoise);
        let exact = |value| figure(value, value, value);
        let check = |one, other, expected| {
            assert_eq!(FigureRelation::of(&exact(one), &exact(other), Better::Lower), expected);
        };
        check(100.0, 101.0, FigureRelation::WithinNoise);
        check(100.0, 103.0, FigureRelation::Times(1.03));
        check(0.0, 103.0, FigureRelation::WithinNoise);
        let one_round = Figure { rounds: 2, ..ten };
        let far = figure(50.0, 50.0, 50.0);
        assert_eq!(
            FigureRelation::of(&one_round, &far, Better::Lower),
            FigureRelation::WithinNoise
        );
    }
}
