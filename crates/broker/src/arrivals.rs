//! The limit on how often a user may connect.
//!
//! A user that connects more often than allowed is slowed down: the connection is accepted, but not
//! read until its turn. A program that reconnects in a loop is slowed down to the allowed rate. If
//! too many connections of one user are waiting, further ones are rejected, so that they do not use
//! up the descriptors of the bus.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use crate::busconfig::{OwnSettings, RateSetting};

/// A connection rate with its burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rate {
    pub(crate) per_second: u32,
    pub(crate) burst: u32,
}

impl Rate {
    /// The configured rate of a user; `None` means unlimited.
    pub(crate) fn of(settings: &OwnSettings, user: Option<u32>) -> Option<Self> {
        let own = user.and_then(|uid| settings.connection_rates.get(&uid));
        let RateSetting { per_second, burst } =
            own.copied().unwrap_or_default().or(settings.connection_rate);
        let per_second = per_second.filter(|&count| count > 0)?;
        Some(Self { per_second, burst: burst.unwrap_or(BURST_DEFAULT).max(1) })
    }

    /// The time between two connections at this rate; never zero.
    fn interval(self) -> Duration {
        (Duration::from_secs(1) / self.per_second).max(Duration::from_nanos(1))
    }

    /// How far ahead of the rate a user may be.
    fn tolerance(self) -> Duration {
        self.interval() * (self.burst - 1)
    }

    /// How far ahead of the rate a user is while as many of its connections wait as can wait.
    fn lead_max(self) -> Duration {
        self.tolerance() + self.interval() * (WAITING_MAX + 1)
    }
}

/// When a connection is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ServingTime {
    /// The connection is served at once.
    Now,
    /// The connection is served at this time.
    At(Duration),
    /// The connection is rejected.
    Never,
}

/// The result of one connection attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub(crate) turn: ServingTime,
    /// By how many connections this user is ahead of the rate, including this one.
    pub(crate) ahead: u64,
}

/// Recent connection attempts by user. All network connections count for the same user.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    users: HashMap<Option<u32>, ArrivalAccount>,
}

/// The users that have connected recently in a saved state, each with the time of its next turn.
pub(crate) type SavedArrivals = Vec<(Option<u32>, Duration)>;

/// The state of the rate limit of one user.
#[derive(Debug)]
struct ArrivalAccount {
    /// When the next connection would come if all had come at the rate.
    next: Duration,
}

impl Arrivals {
    /// The users that have connected recently, each with the time of its next turn.
    pub(crate) fn save(&self) -> SavedArrivals {
        self.users.iter().map(|(user, account)| (*user, account.next)).collect()
    }

    /// Restores the users that have connected recently.
    pub(crate) fn restore(saved: SavedArrivals) -> Self {
        let account = |(user, next)| (user, ArrivalAccount { next });
        Self { users: saved.into_iter().map(account).collect() }
    }

    /// Counts a connection attempt and decides when it is served.
    pub(crate) fn arrived(&mut self, user: Option<u32>, rate: Rate, now: Duration) -> Arrival {
        if self.users.len() >= USERS_MAX {
            self.users.retain(|_, account| account.next > now);
        }
        let account = match self.users.entry(user) {
            Entry::Occupied(mut known) => {
                let next = known.get().next;
                // A greater lead belongs to a lower rate, before a reload.
                if next <= now || next > now + rate.lead_max() {
                    known.insert(ArrivalAccount::new(now));
                }
                known.into_mut()
            }
            Entry::Vacant(new) => new.insert(ArrivalAccount::new(now)),
        };
        account.take_turn(rate, now)
    }
}

impl ArrivalAccount {
    fn new(now: Duration) -> Self {
        Self { next: now }
    }

    fn take_turn(&mut self, rate: Rate, now: Duration) -> Arrival {
        let at = self.next.saturating_sub(rate.tolerance());
        let turn = match at {
            at if at > now + rate.interval() * WAITING_MAX => ServingTime::Never,
            at if at <= now => ServingTime::Now,
            at => ServingTime::At(at),
        };
        let before = self.next.saturating_sub(now).as_nanos().div_ceil(rate.interval().as_nanos());
        if turn != ServingTime::Never {
            self.next = self.next.saturating_add(rate.interval());
        }
        Arrival { turn, ahead: before as u64 + 1 }
    }
}

/// The burst if none is configured.
const BURST_DEFAULT: u32 = 32;

/// The maximum number of connections of one user that wait for their turn.
const WAITING_MAX: u32 = 16;

/// The number of users at which expired accounts are removed.
const USERS_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_burst_is_served_then_the_rate_then_some_wait_and_the_rest_is_refused() {
        let mut arrivals = Arrivals::default();
        let mut arrive = |user, now| {
            let Arrival { turn, ahead } = arrivals.arrived(Some(user), RATE, at(now));
            (turn, ahead)
        };
        for ahead in 1..=3 {
            assert_eq!(arrive(7, 5000), (ServingTime::Now, ahead));
        }
        for waiting in 1..=16 {
            assert_eq!(arrive(7, 5000), (ServingTime::At(at(5000 + 100 * waiting)), 3 + waiting));
        }
        assert_eq!(arrive(7, 5000), (ServingTime::Never, 20));
        assert_eq!(arrive(7, 5000), (ServingTime::Never, 20));
        assert_eq!(arrive(8, 5000), (ServingTime::Now, 1), "others are served");
        assert_eq!(arrive(7, 5100), (ServingTime::At(at(6700)), 19), "the user has used its burst");
        assert_eq!(arrive(7, 5100), (ServingTime::Never, 20));
        for ahead in 1..=3 {
            assert_eq!(arrive(7, 60_000), (ServingTime::Now, ahead), "after a pause");
        }
        assert_eq!(arrive(7, 60_000), (ServingTime::At(at(60_100)), 4));
    }

    #[test]
    fn a_user_that_used_up_a_lower_rate_gets_the_higher_one() {
        let mut arrivals = Arrivals::default();
        let slow = Rate { per_second: 1, burst: 3 };
        while arrivals.arrived(Some(7), slow, at(5000)).turn != ServingTime::Never {}
        let higher = arrivals.arrived(Some(7), RATE, at(5000));
        assert_eq!(higher, Arrival { turn: ServingTime::Now, ahead: 1 });
    }

    #[test]
    fn connections_within_the_rate_are_served_at_once() {
        let mut arrivals = Arrivals::default();
        for step in 0..1000 {
            assert_eq!(arrivals.arrived(None, RATE, at(100 * step)).turn, ServingTime::Now);
        }
    }

    #[test]
    fn an_extremely_high_rate_delays_no_connection() {
        let rate = Rate { per_second: u32::MAX, burst: 1 };
        let mut arrivals = Arrivals::default();
        for step in 0..1000 {
            assert_eq!(arrivals.arrived(Some(7), rate, at(step)).turn, ServingTime::Now);
        }
    }

    #[test]
    fn users_are_forgotten() {
        let mut arrivals = Arrivals::default();
        for user in 0..10_000 {
            let _ = arrivals.arrived(Some(user), RATE, at(u64::from(user)));
        }
        assert!(arrivals.users.len() <= USERS_MAX);
    }

    #[test]
    fn the_most_specific_connection_rate_applies() {
        let setting = |per_second, burst| RateSetting { per_second, burst };
        let mut settings = OwnSettings::default();
        assert_eq!(Rate::of(&settings, Some(7)), None);
        settings.connection_rate = setting(Some(10), None);
        settings.connection_rates.insert(7, setting(None, Some(3)));
        settings.connection_rates.insert(8, setting(Some(0), None));
        assert_eq!(Rate::of(&settings, Some(7)), Some(RATE));
        assert_eq!(Rate::of(&settings, Some(8)), None);
        let others = Some(Rate { per_second: 10, burst: BURST_DEFAULT });
        assert_eq!(Rate::of(&settings, Some(9)), others);
        assert_eq!(Rate::of(&settings, None), others);
    }
}
