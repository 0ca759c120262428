//! Patterns in the times of messages, and groups of messages.

use std::hash::Hash;
use std::time::Duration;

use crate::collected::collected;
use crate::model::CapturedMessage;
use crate::percentiles::Percentiles;
use crate::record::RecordedTime;

/// Groups messages by a key. The groups are in the order of their first messages.
pub(super) fn grouped<'m, 'c: 'm, K: Hash + Eq + Clone>(
    messages: impl IntoIterator<Item = &'m CapturedMessage<'c>>,
    key: impl Fn(&CapturedMessage<'c>) -> K,
) -> Vec<Vec<CapturedMessage<'c>>> {
    let keyed = messages.into_iter().map(|message| (key(message), *message));
    collected(keyed).into_iter().map(|(_, group)| group).collect()
}

/// Returns the longest run of consecutive messages within `span`.
pub(super) fn busiest<'m, 'c>(
    messages: &'m [CapturedMessage<'c>],
    span: Duration,
) -> &'m [CapturedMessage<'c>] {
    let mut start = 0;
    let mut best = &messages[..0];
    for end in 0..messages.len() {
        while messages[end].at().since(messages[start].at()).is_some_and(|past| past > span) {
            start += 1;
        }
        if end + 1 - start > best.len() {
            best = &messages[start..=end];
        }
    }
    best
}

/// The time from the first message to the last.
pub(super) fn spread(messages: &[CapturedMessage<'_>]) -> Duration {
    match messages {
        [first, .., last] => last.at().since(first.at()).unwrap_or_default(),
        _ => Duration::ZERO,
    }
}

/// The usual interval between rounds of messages, if [`STEADY_PERCENT`] of the intervals differ
/// from it by at most [`STEADY_WITHIN`]. A new round starts after a pause of `apart` or longer.
pub(super) fn period(messages: &[CapturedMessage<'_>], apart: Duration) -> Option<Period> {
    let mut rounds: Vec<RecordedTime> = Vec::new();
    let mut last = None;
    for at in messages.iter().map(CapturedMessage::at) {
        if last.is_none_or(|last| at.since(last).is_some_and(|past| past >= apart)) {
            rounds.push(at);
        }
        last = Some(at);
    }
    let gaps: Vec<_> = rounds.windows(2).filter_map(|two| two[1].since(two[0])).collect();
    let usual = percentiles(gaps.iter().copied())?.p50;
    let is_near = |gap: &&Duration| gap.abs_diff(usual) <= usual.mul_f64(STEADY_WITHIN);
    let steady = gaps.iter().filter(is_near).count();
    (steady * 100 >= gaps.len() * STEADY_PERCENT).then_some(Period { usual, rounds: rounds.len() })
}

/// The percentiles of durations, computed as in the statistics; `None` if there are no durations.
pub(super) fn percentiles(spans: impl Iterator<Item = Duration>) -> Option<Percentiles> {
    let nanos = spans.map(crate::record::nanos);
    Percentiles::of(&mut nanos.collect::<Vec<_>>())
}

/// Messages that are sent at regular intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Period {
    /// The median interval between rounds.
    pub(super) usual: Duration,
    /// The number of rounds.
    pub(super) rounds: usize,
}

/// The largest deviation of a steady interval, as a fraction of the usual interval.
pub(super) const STEADY_WITHIN: f64 = 0.2;

/// The percentage of intervals that must be steady.
pub(super) const STEADY_PERCENT: usize = 80;
