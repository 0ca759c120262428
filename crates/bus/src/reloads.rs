//! Calls of ReloadConfig: the time of the next reload, and the calls that it answers.
//!
//! Every user may call ReloadConfig, and reading the configuration blocks the whole bus. So all
//! callers without privileges together cause at most one reload per [`INTERVAL`]. A call that comes
//! too early waits for the next reload, which answers every call made before it. After the reply,
//! the configuration is at least as new as the call.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::mem;
use core::num::NonZeroU32;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::types::{PeerId, Time};

/// Calls of ReloadConfig that wait for a reload.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reloads {
    waiting: BTreeMap<PeerId, Vec<NonZeroU32>>,
    /// The time of the last reload for a caller without privileges.
    last: Option<Time>,
}

/// Whether a caller may cause a reload at any time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReloadPrivilege {
    /// The caller is root or the user of the bus.
    Any,
    /// The caller is another user.
    None,
}

/// The time at which a call causes a reload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReloadTurn {
    /// The call causes a reload immediately.
    Now,
    /// The call waits for the next reload, at [`Reloads::due`] at the latest.
    Later,
}

/// The error if a connection already has [`WAITING_MAX`] waiting calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooManyWaiting;

impl Reloads {
    /// Adds a call, with its serial if it expects a reply.
    pub(crate) fn add(
        &mut self,
        caller: PeerId,
        serial: Option<NonZeroU32>,
        privilege: ReloadPrivilege,
        now: Time,
    ) -> Result<ReloadTurn, TooManyWaiting> {
        let calls = self.waiting.entry(caller).or_default();
        if calls.len() >= WAITING_MAX {
            return Err(TooManyWaiting);
        }
        calls.extend(serial);
        if privilege == ReloadPrivilege::Any {
            return Ok(ReloadTurn::Now);
        }
        if self.due().is_some_and(|due| due > now) {
            return Ok(ReloadTurn::Later);
        }
        self.last = Some(now);
        Ok(ReloadTurn::Now)
    }

    /// The time of the next reload, if calls wait for it.
    pub(crate) fn due(&self) -> Option<Time> {
        if self.waiting.is_empty() {
            return None;
        }
        Some(self.last.map_or(Time::default(), |last| last.after(INTERVAL)))
    }

    /// Starts the reload that is due, and returns one of its callers.
    pub(crate) fn begin_due(&mut self, now: Time) -> Option<PeerId> {
        self.due().filter(|due| *due <= now)?;
        self.last = Some(now);
        self.waiting.keys().next().copied()
    }

    /// Takes all waiting calls, after the configuration was read.
    pub(crate) fn take(&mut self) -> BTreeMap<PeerId, Vec<NonZeroU32>> {
        mem::take(&mut self.waiting)
    }

    /// Checks that every waiting call belongs to a live connection.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, is_active: impl Fn(PeerId) -> bool) {
        for (caller, calls) in &self.waiting {
            assert!(is_active(*caller), "{caller} waits for a reload");
            assert!(calls.len() <= WAITING_MAX, "calls of {caller} that wait for a reload");
        }
    }

    /// Removes the calls of a connection, which cannot get replies any more.
    pub(crate) fn forget(&mut self, caller: PeerId) {
        self.waiting.remove(&caller);
    }
}

/// Maximum number of calls of one connection that wait for a reload.
pub(crate) const WAITING_MAX: usize = 16;

/// Minimum time between reloads for callers without privileges.
const INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    const CALLER: PeerId = PeerId::new(1, 0);
    const OTHER: PeerId = PeerId::new(2, 0);

    fn at(milliseconds: u64) -> Time {
        Time::default().after(Duration::from_millis(milliseconds))
    }

    fn add(
        reloads: &mut Reloads,
        caller: PeerId,
        privilege: ReloadPrivilege,
        now: Time,
    ) -> ReloadTurn {
        reloads.add(caller, Some(NonZeroU32::MIN), privilege, now).expect("few calls wait")
    }

    #[test]
    fn unprivileged_callers_share_one_reload_per_second() {
        let mut reloads = Reloads::default();
        assert_eq!(add(&mut reloads, CALLER, ReloadPrivilege::None, at(5_000)), ReloadTurn::Now);
        assert_eq!(reloads.take().len(), 1);
        assert_eq!(reloads.due(), None, "no call waits");
        assert_eq!(add(&mut reloads, CALLER, ReloadPrivilege::None, at(5_100)), ReloadTurn::Later);
        assert_eq!(add(&mut reloads, OTHER, ReloadPrivilege::None, at(5_200)), ReloadTurn::Later);
        assert_eq!(reloads.due(), Some(at(6_000)));
        assert_eq!(reloads.begin_due(at(5_999)), None);
        assert_eq!(reloads.begin_due(at(6_000)), Some(CALLER));
        assert_eq!(reloads.take().len(), 2);
        assert_eq!(add(&mut reloads, CALLER, ReloadPrivilege::None, at(6_500)), ReloadTurn::Later);
        reloads.forget(CALLER);
        assert_eq!(reloads.due(), None);
        assert_eq!(add(&mut reloads, CALLER, ReloadPrivilege::None, at(7_000)), ReloadTurn::Now);
    }

    #[test]
    fn a_privileged_caller_reloads_at_once_and_answers_waiting_calls() {
        let mut reloads = Reloads::default();
        assert_eq!(add(&mut reloads, CALLER, ReloadPrivilege::None, at(0)), ReloadTurn::Now);
        reloads.take();
        assert_eq!(add(&mut reloads, CALLER, ReloadPrivilege::None, at(1)), ReloadTurn::Later);
        assert_eq!(add(&mut reloads, OTHER, ReloadPrivilege::Any, at(2)), ReloadTurn::Now);
        assert_eq!(reloads.take().len(), 2);
        assert_eq!(add(&mut reloads, OTHER, ReloadPrivilege::Any, at(3)), ReloadTurn::Now);
    }

    #[test]
    fn a_connection_has_a_limited_number_of_waiting_calls() {
        let mut reloads = Reloads::default();
        let mut add = || reloads.add(CALLER, Some(NonZeroU32::MIN), ReloadPrivilege::None, at(0));
        let accepted = (0..100).take_while(|_| add().is_ok()).count();
        assert_eq!(accepted, WAITING_MAX);
    }

    #[test]
    fn the_check_reports_every_corruption() {
        let make = || {
            let mut reloads = Reloads::default();
            add(&mut reloads, CALLER, ReloadPrivilege::Any, at(0));
            reloads
        };
        each_is_reported(
            make,
            |reloads| reloads.check(|peer| peer == CALLER),
            &[
                ("a call of a connection that is gone", |reloads| {
                    reloads.waiting.insert(OTHER, Vec::new());
                }),
                ("too many calls of one connection", |reloads| {
                    let calls = reloads.waiting.get_mut(&CALLER).expect("it waits");
                    calls.resize(WAITING_MAX + 1, NonZeroU32::MIN);
                }),
            ],
        );
    }
}
