//! The successive owners of a well-known name.

use super::directory::{Novelty, RecordedPeerId};
use crate::record::RecordedTime;

/// A period in which one connection owned a well-known name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ownership {
    /// The connection that owned the name.
    pub owner: RecordedPeerId,
    /// The start of the period; `None` if the recording does not show it.
    pub since: Option<RecordedTime>,
    /// The end of the period; `None` if the recording ended first.
    pub until: Option<RecordedTime>,
    /// The time when the recorder reported the owner; `None` if a signal of the bus did.
    reported: Option<RecordedTime>,
    /// True if the recorder reported the end, rather than a signal of the bus.
    end_is_reported: bool,
}

impl Ownership {
    /// Returns true if the connection owned the name at this time.
    pub(super) fn holds(&self, at: RecordedTime) -> bool {
        self.since.is_none_or(|since| since <= at) && self.until.is_none_or(|until| at <= until)
    }
}

/// The owners of one well-known name, in the order of time.
///
/// There are two sources. NameOwnerChanged is exact. The recorder reports what it learned on
/// another connection; its report may precede the signal about the same change in the file, with a
/// later time. Therefore each signal replaces the reports about the time before it.
#[derive(Clone, Debug, Default)]
pub(super) struct NameOwners {
    all: Vec<Ownership>,
    /// The number of entries of `all`, from the first one, that signals have confirmed.
    confirmed: usize,
}

impl NameOwners {
    pub(super) fn all(&self) -> &[Ownership] {
        &self.all
    }

    /// Records a NameOwnerChanged signal.
    pub(super) fn changed(
        &mut self,
        old: Option<RecordedPeerId>,
        new: Option<RecordedPeerId>,
        at: RecordedTime,
    ) {
        let reports = self.all.split_off(self.confirmed);
        self.end(old, at, &reports);
        if let Some(owner) = new {
            self.push(Ownership { reported: None, ..Ownership::new(owner, Some(at)) });
        }
        self.confirmed = self.all.len();
        for report in reports {
            let Some(reported) = report.reported.filter(|reported| *reported > at) else {
                continue;
            };
            if self.current().is_none_or(|current| current.owner != report.owner) {
                self.take(report.owner, report.since.map_or(reported, |since| since.max(at)));
            }
        }
    }

    /// Ends the period of the old owner, if it is known.
    fn end(&mut self, old: Option<RecordedPeerId>, at: RecordedTime, reports: &[Ownership]) {
        let last = self.all.last_mut().filter(|last| last.until.is_none() || last.end_is_reported);
        if let Some(last) = last {
            // If the owner differs, signals are missing, and a report shows better when this period
            // ended.
            let reported = last.until.filter(|until| Some(last.owner) != old && *until < at);
            last.until = Some(reported.unwrap_or(at));
            last.end_is_reported = false;
            return;
        }
        let Some(owner) = old else { return };
        let report = reports.iter().find(|report| report.owner == owner);
        if report.is_some() || self.all.is_empty() {
            let since = report.and_then(|report| report.since).filter(|since| *since <= at);
            let end = Ownership { until: Some(at), reported: None, ..Ownership::new(owner, since) };
            self.push(end);
        }
    }

    /// Records the owner that the recorder reports, and since when it owns the name, if known.
    pub(super) fn found(
        &mut self,
        owner: RecordedPeerId,
        since: Option<RecordedTime>,
        at: RecordedTime,
    ) -> Novelty {
        if self.current().is_some_and(|current| current.owner == owner) {
            return Novelty::Old;
        }
        if self.all.is_empty() {
            self.push(Ownership { reported: Some(at), ..Ownership::new(owner, since) });
        } else {
            // When last known, the name had another owner or none.
            self.take(owner, since.unwrap_or(at));
        }
        Novelty::New
    }

    /// Records that the name has no owner, as the recorder reports.
    pub(super) fn released(&mut self, at: RecordedTime) -> Novelty {
        let Some(last) = self.all.last_mut().filter(|last| last.until.is_none()) else {
            return Novelty::Old;
        };
        last.until = Some(at);
        last.end_is_reported = true;
        Novelty::New
    }

    fn take(&mut self, owner: RecordedPeerId, since: RecordedTime) {
        self.released(since);
        self.push(Ownership { reported: Some(since), ..Ownership::new(owner, Some(since)) });
    }

    fn current(&self) -> Option<&Ownership> {
        self.all.last().filter(|last| last.until.is_none())
    }

    fn push(&mut self, ownership: Ownership) {
        self.all.push(ownership);
    }
}

impl Ownership {
    const fn new(owner: RecordedPeerId, since: Option<RecordedTime>) -> Self {
        Self { owner, since, until: None, reported: None, end_is_reported: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece of information about a name, in file order.
    enum OwnerInformation {
        Signal(Option<u32>, Option<u32>, i64),
        Found(u32, i64),
        Taken(u32, i64),
        Released(i64),
    }
    use OwnerInformation::{Found, Released, Signal, Taken};

    /// The index of the owner, the start and the end of the period.
    type OwnershipSpan = (usize, Option<i64>, Option<i64>);

    fn owners(all: &[OwnerInformation]) -> Vec<OwnershipSpan> {
        let mut owners = NameOwners::default();
        let peer = |number: u32| RecordedPeerId::numbered(number);
        for one in all {
            match *one {
                Signal(old, new, at) => {
                    owners.changed(old.map(peer), new.map(peer), RecordedTime(at))
                }
                Found(owner, at) => _ = owners.found(peer(owner), None, RecordedTime(at)),
                Taken(owner, at) => {
                    _ = owners.found(peer(owner), Some(RecordedTime(at)), RecordedTime(at))
                }
                Released(at) => _ = owners.released(RecordedTime(at)),
            }
        }
        let time = |time: Option<RecordedTime>| time.map(|time| time.0);
        let all = owners.all().iter();
        all.map(|one| (one.owner.index(), time(one.since), time(one.until))).collect()
    }

    #[test]
    fn ownership_times_come_from_signals_even_after_reports() {
        let (x, y) = (1, 2);
        let cases: &[(&str, &[OwnerInformation], &[OwnershipSpan])] = &[
            ("only found", &[Found(x, 5)], &[(1, None, None)]),
            (
                "found before the signal",
                &[Found(x, 5), Signal(None, Some(x), 4)],
                &[(1, Some(4), None)],
            ),
            ("reported late", &[Taken(x, 5), Signal(None, Some(x), 4)], &[(1, Some(4), None)]),
            ("reported early", &[Taken(x, 5), Signal(None, Some(x), 6)], &[(1, Some(6), None)]),
            (
                "found after the signal",
                &[Signal(None, Some(x), 4), Found(x, 5)],
                &[(1, Some(4), None)],
            ),
            ("owned since ever", &[Found(x, 5), Signal(Some(x), None, 9)], &[(1, None, Some(9))]),
            (
                "both owners reported before the signals",
                &[
                    Found(x, 1),
                    Released(5),
                    Taken(y, 7),
                    Signal(Some(x), None, 4),
                    Signal(None, Some(y), 6),
                ],
                &[(1, None, Some(4)), (2, Some(6), None)],
            ),
            (
                "a whole ownership reported before the signals",
                &[Taken(x, 5), Released(7), Signal(None, Some(x), 4), Signal(Some(x), None, 6)],
                &[(1, Some(4), Some(6))],
            ),
            (
                "taken again",
                &[Signal(None, Some(x), 1), Signal(Some(x), None, 3), Found(y, 9)],
                &[(1, Some(1), Some(3)), (2, Some(9), None)],
            ),
            (
                "only reports",
                &[Found(x, 1), Released(3), Taken(y, 7)],
                &[(1, None, Some(3)), (2, Some(7), None)],
            ),
            (
                "passed on",
                &[Signal(Some(x), Some(y), 3)],
                &[(1, None, Some(3)), (2, Some(3), None)],
            ),
            (
                "signals are missing",
                &[Signal(None, Some(x), 1), Signal(None, Some(y), 9)],
                &[(1, Some(1), Some(9)), (2, Some(9), None)],
            ),
        ];
        for (case, learned, expected) in cases {
            assert_eq!(owners(learned), *expected, "{case}");
        }
    }
}
