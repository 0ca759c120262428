//! What a larger read buffer brings.

use std::collections::BTreeMap;

use super::noise::Relation;
use super::{number, word};
use crate::contestant::Contestant;
use crate::result::Metric;
use crate::scenario::size_label;
use crate::show::number::percent;
use crate::summary::{Comparison, Figure, Role, Scenario};

/// A sentence for each subject and each read buffer but the smallest.
pub(super) fn sentences(scenario: &Scenario) -> Vec<String> {
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

/// Which processes had these read buffers; `None` if they were not varied.
pub(super) fn scope(scenario: &Scenario) -> Option<String> {
    if Sweeps::of(scenario).buffers.len() < 2 {
        return None;
    }
    let subjects = scenario.subjects.iter();
    let fixed: Vec<String> = subjects
        .filter_map(|subject| {
            let reads = subject.parse::<Contestant>().ok()?.reads_at_once()?;
            Some(format!("{subject} {reads}"))
        })
        .collect();
    let fixed = match &fixed[..] {
        [] => String::new(),
        fixed => format!(" The read buffer of these buses is fixed: {}.", fixed.join("; ")),
    };
    let has_relay = scenario.subjects.iter().any(|subject| Role::of(subject) == Role::Relay);
    let relay = if has_relay { " and in the relay" } else { "" };
    Some(format!(
        "The read buffer was varied in the two clients{relay}; \"ours\" is up to 256 KiB, or the rest \
         of a message.{fixed}"
    ))
}

/// Round trips by read buffer and size.
struct Sweeps<'a> {
    /// The buffers, the smallest first.
    buffers: Vec<&'a str>,
    comparisons: BTreeMap<(&'a str, i64), &'a Comparison>,
}

impl<'a> Sweeps<'a> {
    fn of(scenario: &'a Scenario) -> Self {
        let at = |comparison: &'a Comparison| {
            let place = (word(comparison, "read_buffer")?, number(comparison, "size")?);
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

    /// What a subject gains by the larger of two buffers; `None` if it was not measured with both.
    fn compare(&self, subject: &str, smaller: &str, larger: &str) -> Option<String> {
        let sizes = self.comparisons.keys().filter(|(buffer, _)| *buffer == larger);
        let points: Vec<(i64, Relation)> = sizes
            .filter_map(|&(_, size)| {
                let (one, other) =
                    (self.figure(subject, larger, size)?, self.figure(subject, smaller, size)?);
                let better = Metric::RoundTripUs.info().better;
                Some((size, Relation::of(one, other, better)))
            })
            .collect();
        let effect = Effect::of(&points)?;
        Some(format!("{subject}, reading {larger} in place of {smaller}: {effect}."))
    }
}

/// What a change does to round trips of different sizes.
#[derive(Clone, PartialEq, Debug)]
enum Effect {
    /// Nothing that can be told from noise.
    Nothing,
    /// From a size on all are faster, by these shares of their time.
    FasterFrom { size: i64, least: f64, most: f64, is_quiet_below: bool },
    /// Some sizes are faster or slower, without an order.
    Mixed { faster: Vec<i64>, slower: Vec<i64> },
}

impl Effect {
    fn of(points: &[(i64, Relation)]) -> Option<Self> {
        let sizes = |is: fn(&Relation) -> bool| -> Vec<i64> {
            points.iter().filter(|(_, relation)| is(relation)).map(|(size, _)| *size).collect()
        };
        let faster = sizes(|relation| relation.better().is_some());
        let slower = sizes(|relation| relation.worse().is_some());
        if points.is_empty() {
            return None;
        }
        if faster.is_empty() && slower.is_empty() {
            return Some(Self::Nothing);
        }
        let above = points.iter().rev();
        let above: Vec<_> = above
            .map_while(|(size, relation)| Some((*size, 1.0 - relation.better()?.recip())))
            .collect();
        let Some((size, _)) = above.last().copied() else {
            return Some(Self::Mixed { faster, slower });
        };
        let shares = || above.iter().map(|(_, share)| *share);
        let least = shares().fold(f64::INFINITY, f64::min);
        let most = shares().fold(0.0, f64::max);
        let is_quiet_below = above.len() == faster.len() && slower.is_empty();
        Some(Self::FasterFrom { size, least, most, is_quiet_below })
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("no difference beyond noise at any size"),
            Self::FasterFrom { size, least, most, is_quiet_below } => {
                let [least, most] = [least, most].map(|share| percent(*share));
                let by = if least == most { least } else { format!("{least} to {most}") };
                write!(f, "{by} less time from {} on", size_label(*size as u64))?;
                let below = ", and no difference beyond noise below";
                f.write_str(if *is_quiet_below { below } else { "" })
            }
            Self::Mixed { faster, slower } => {
                let part = |word: &str, sizes: &[i64]| {
                    let sizes: Vec<_> = sizes.iter().map(|size| size_label(*size as u64)).collect();
                    (!sizes.is_empty()).then(|| format!("{word} time at {}", sizes.join(", ")))
                };
                let parts = [part("less", faster), part("more", slower)];
                let parts: Vec<_> = parts.into_iter().flatten().collect();
                write!(f, "{}; otherwise no difference beyond noise", parts.join("; "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_told_with_the_size_from_which_they_hold() {
        use Relation::{Times, WithinNoise};
        let check = |relations: &[Relation], expected: &str| {
            let sizes = [1, 1000, 100_000, 1_000_000];
            let points: Vec<_> = sizes.into_iter().zip(relations.iter().copied()).collect();
            let effect = Effect::of(&points).map(|effect| effect.to_string());
            assert_eq!(effect.unwrap_or_default(), expected, "{relations:?}");
        };
        check(&[], "");
        check(&[WithinNoise; 4], "no difference beyond noise at any size");
        check(
            &[WithinNoise, WithinNoise, Times(1.25), Times(2.0)],
            "20 % to 50 % less time from 100 kB on, and no difference beyond noise below",
        );
        check(
            &[WithinNoise, Times(0.8), Times(1.25), Times(1.25)],
            "20 % less time from 100 kB on",
        );
        check(
            &[Times(1.25), WithinNoise, Times(0.5), WithinNoise],
            "less time at 1 B; more time at 100 kB; otherwise no difference beyond noise",
        );
    }
}
