//! States the effect of a larger read buffer.

use std::collections::BTreeMap;

use super::noise::FigureRelation;
use crate::buses::BusKind;
use crate::number::percent;
use crate::result::Metric;
use crate::scenario::{read_buffer_label, size_label};
use crate::summary::{CaseComparison, Figure, ScenarioSummary, SubjectRole};

/// Returns a sentence for each subject and each read buffer except the smallest.
pub(super) fn sentences(scenario: &ScenarioSummary) -> Vec<String> {
    let sweeps = Sweeps::of(scenario);
    let Some((&smallest, larger)) = sweeps.buffers.split_first() else { return Vec::new() };
    let mut sentences = Vec::new();
    for &buffer in larger {
        for subject in &scenario.subjects {
            sentences.extend(sweeps.compare(subject, smallest, buffer));
        }
    }
    sentences
}

/// States which processes used these read buffers; `None` if the scenario did not vary them.
pub(super) fn scope(scenario: &ScenarioSummary) -> Option<String> {
    if Sweeps::of(scenario).buffers.len() < 2 {
        return None;
    }
    let subjects = scenario.subjects.iter();
    let fixed: Vec<String> = subjects
        .filter_map(|subject| {
            let reads = subject.parse::<BusKind>().ok()?.reads_at_once()?;
            Some(format!("{subject} {reads}"))
        })
        .collect();
    let fixed = match &fixed[..] {
        [] => String::new(),
        fixed => format!(" The read buffer of these buses is fixed: {}.", fixed.join("; ")),
    };
    let has_relay =
        scenario.subjects.iter().any(|subject| SubjectRole::of(subject) == SubjectRole::Relay);
    let relay = if has_relay { " and in the relay" } else { "" };
    Some(format!(
        "The read buffer was varied in the two clients{relay}; full reads return up to 256 KiB, or the rest \
         of a message.{fixed}"
    ))
}

/// Comparisons by read buffer and size.
struct Sweeps<'a> {
    buffers: Vec<&'a str>,
    comparisons: BTreeMap<(&'a str, i64), &'a CaseComparison>,
}

impl<'a> Sweeps<'a> {
    fn of(scenario: &'a ScenarioSummary) -> Self {
        let at = |comparison: &'a CaseComparison| {
            let place = (comparison.case.word("read_buffer")?, comparison.case.number("size")?);
            Some((place, comparison))
        };
        let comparisons: BTreeMap<_, _> = scenario.comparisons.iter().filter_map(at).collect();
        let mut buffers: Vec<&str> = comparisons.keys().map(|(buffer, _)| *buffer).collect();
        // A read buffer without a number, such as `ours`, takes everything that has arrived.
        buffers.sort_by_key(|buffer| buffer.parse().unwrap_or(u64::MAX));
        buffers.dedup();
        Self { buffers, comparisons }
    }

    fn figure(&self, subject: &str, buffer: &str, size: i64) -> Option<&'a Figure> {
        let comparison = self.comparisons.get(&(buffer, size))?;
        comparison.find(subject)?.figures.get(&Metric::RoundTripUs)
    }

    /// Describes the effect of the larger of two buffers on a subject; `None` if the subject was
    /// not measured with both.
    fn compare(&self, subject: &str, smaller: &str, larger: &str) -> Option<String> {
        let sizes = self.comparisons.keys().filter(|(buffer, _)| *buffer == larger);
        let points: Vec<(i64, FigureRelation)> = sizes
            .filter_map(|&(_, size)| {
                let (one, other) =
                    (self.figure(subject, larger, size)?, self.figure(subject, smaller, size)?);
                let better = Metric::RoundTripUs.info().better;
                Some((size, FigureRelation::of(one, other, better)))
            })
            .collect();
        let effect = BufferEffect::of(&points)?;
        let [larger, smaller] = [larger, smaller].map(read_buffer_label);
        Some(format!("{subject}, {larger} instead of {smaller}: {effect}."))
    }
}

/// The effect of a buffer on round trips of different sizes, smallest size first.
struct BufferEffect {
    spans: Vec<SizeSpan>,
}

/// Neighboring sizes with the same direction of change.
struct SizeSpan {
    direction: ChangeDirection,
    /// The smallest and the largest size, in bytes.
    sizes: [i64; 2],
    /// The smallest and the largest change, as a share of the time with the smaller buffer.
    shares: [f64; 2],
    /// Whether the span includes the smallest and the largest measured size.
    is_at: [bool; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum ChangeDirection {
    Less,
    More,
    Noise,
}

impl BufferEffect {
    fn of(points: &[(i64, FigureRelation)]) -> Option<Self> {
        let mut spans: Vec<SizeSpan> = Vec::new();
        for (index, &(size, relation)) in points.iter().enumerate() {
            let is_at = [index == 0, index + 1 == points.len()];
            let (direction, share) = ChangeDirection::of(relation);
            match spans.last_mut() {
                Some(span) if span.direction == direction => {
                    span.sizes[1] = size;
                    span.shares = [span.shares[0].min(share), span.shares[1].max(share)];
                    span.is_at[1] = is_at[1];
                }
                _ => {
                    spans.push(SizeSpan { direction, sizes: [size; 2], shares: [share; 2], is_at })
                }
            }
        }
        (!spans.is_empty()).then_some(Self { spans })
    }
}

impl ChangeDirection {
    fn of(relation: FigureRelation) -> (Self, f64) {
        match (relation.better(), relation.worse()) {
            (Some(times), _) => (Self::Less, 1.0 - times.recip()),
            (_, Some(times)) => (Self::More, times - 1.0),
            (None, None) => (Self::Noise, 0.0),
        }
    }
}

impl std::fmt::Display for BufferEffect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = |direction| self.spans.iter().filter(move |span| span.direction == direction);
        let changes: Vec<_> = of(ChangeDirection::Less)
            .chain(of(ChangeDirection::More))
            .map(SizeSpan::to_string)
            .collect();
        match (&changes[..], of(ChangeDirection::Noise).next()) {
            ([], _) => f.write_str("no difference beyond noise at any size"),
            (changes, None) => f.write_str(&changes.join("; ")),
            (changes, Some(_)) => {
                write!(f, "{}; otherwise no difference beyond noise", changes.join("; "))
            }
        }
    }
}

impl std::fmt::Display for SizeSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [least, most] = self.shares.map(percent);
        let by = if least == most { least } else { format!("{least} to {most}") };
        let word = if self.direction == ChangeDirection::More { "more" } else { "less" };
        let [first, last] = self.sizes.map(|size| size_label(size as u64));
        write!(f, "{by} {word} time ")?;
        match self.is_at {
            [true, true] => f.write_str("at every size"),
            _ if first == last && !self.is_at[1] => write!(f, "at {first}"),
            [false, true] => write!(f, "from {first} on"),
            [true, false] => write!(f, "up to {last}"),
            [false, false] => write!(f, "from {first} to {last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_buffer_effects_are_stated_with_their_size_range() {
        use FigureRelation::{Times, WithinNoise};
        let check = |relations: &[FigureRelation], expected: &str| {
            let sizes = [1, 1000, 100_000, 1_000_000];
            let points: Vec<_> = sizes.into_iter().zip(relations.iter().copied()).collect();
            let effect = BufferEffect::of(&points).map(|effect| effect.to_string());
            assert_eq!(effect.unwrap_or_default(), expected, "{relations:?}");
        };
        check(&[], "");
        check(&[WithinNoise; 4], "no difference beyond noise at any size");
        check(
            &[WithinNoise, WithinNoise, Times(1.25), Times(2.0)],
            "20 % to 50 % less time from 100 kB on; otherwise no difference beyond noise",
        );
        check(
            &[WithinNoise, Times(0.8), Times(1.25), Times(1.25)],
            "20 % less time from 100 kB on; 25 % more time at 1 kB; otherwise no difference beyond noise",
        );
        check(
            &[Times(1.25), WithinNoise, Times(0.5), WithinNoise],
            "20 % less time at 1 B; 100 % more time at 100 kB; otherwise no difference beyond noise",
        );
        check(&[Times(0.5); 4], "100 % more time at every size");
        check(
            &[Times(0.8), Times(0.5), Times(2.0), Times(2.0)],
            "50 % less time from 100 kB on; 25 % to 100 % more time up to 1 kB",
        );
    }
}
