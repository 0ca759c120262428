//! The components that messages pass.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use wire::Message;

use crate::access::AccessControl;
use crate::accounting::Accounting;
use crate::calls::PendingCalls;
use crate::containers::Containers;
use crate::hash::KeyedState;
use crate::lanes::LanePairs;
use crate::matching::RuleMatching;
use crate::registry::Registry;
use crate::tracing::Tracing;
use crate::types::{
    Body, BusIdentity, BusLimits, Configuration, Effects, Fds, Forward, PeerId, Time,
};

/// The components that messages pass, and the state that all of them use.
#[derive(Debug, Serialize)]
pub(crate) struct Router {
    pub(crate) identity: BusIdentity,
    pub(crate) config: Configuration,
    /// The time of the current input.
    pub(crate) now: Time,
    pub(crate) registry: Registry,
    pub(crate) containers: Containers,
    pub(crate) lanes: LanePairs,
    /// Saved separately, because it is large.
    #[serde(skip)]
    pub(crate) matching: RuleMatching,
    pub(crate) calls: PendingCalls,
    #[serde(skip)]
    pub(crate) access: AccessControl,
    pub(crate) accounting: Accounting,
    pub(crate) tracing: Tracing,
    pub(super) serials: Serials,
}

impl Router {
    pub(crate) fn new(identity: BusIdentity, config: Configuration, hasher: KeyedState) -> Self {
        Self {
            registry: Registry::new(hasher.clone()),
            containers: Containers::default(),
            lanes: LanePairs::default(),
            matching: RuleMatching::new(hasher.clone()),
            calls: PendingCalls::new(hasher.clone()),
            access: AccessControl::new(&config),
            accounting: Accounting::new(hasher.clone()),
            tracing: Tracing::new(hasher, config.flight_recorder),
            serials: Serials::default(),
            identity,
            config,
            now: Time::default(),
        }
    }

    /// The limits for a connection.
    #[inline]
    pub(crate) fn limits_of(&self, peer: PeerId) -> &BusLimits {
        self.config.limits_of(self.registry.get(peer).and_then(|peer| peer.user))
    }

    /// True if a connection belongs to root or to the user of the bus.
    pub(crate) fn is_privileged(&self, peer: PeerId) -> bool {
        self.registry[peer].user.is_some_and(|uid| uid == 0 || uid == self.identity.uid)
    }

    /// The serial of the next message of the bus.
    pub(crate) const fn next_serial(&self) -> u32 {
        self.serials.next()
    }

    /// Adds the name of the sender to a message.
    #[inline]
    pub(crate) fn forward<'m>(
        &self,
        from: PeerId,
        message: &'m Message<'m>,
        fx: &mut Effects,
    ) -> Forward<'m> {
        let head = fx.stamp(message, self.registry.sender_field(from));
        let fds = if message.unix_fds() > 0 { Fds::OfInput } else { Fds::None };
        Forward { message, from, head, body: Body::OfInput, fds }
    }
}

/// The components in the saved state: the fields of [`Router`] that are saved, in the same order.
#[derive(Debug, Deserialize)]
pub(crate) struct RouterWithoutRules {
    identity: BusIdentity,
    config: Configuration,
    now: Time,
    registry: Registry,
    containers: Containers,
    lanes: LanePairs,
    calls: PendingCalls,
    accounting: Accounting,
    tracing: Tracing,
    serials: Serials,
}

impl RouterWithoutRules {
    /// Adds the match rules. The policies of connections follow from the configuration.
    pub(crate) fn with_rules(self, matching: RuleMatching) -> Router {
        let Self {
            identity,
            config,
            now,
            mut registry,
            containers,
            lanes,
            calls,
            accounting,
            tracing,
            serials,
        } = self;
        let mut access = AccessControl::new(&config);
        access.reconfigure(&mut registry, &config);
        access.set_filters(containers.have_filters());
        Router {
            identity,
            config,
            now,
            registry,
            containers,
            lanes,
            matching,
            calls,
            access,
            accounting,
            tracing,
            serials,
        }
    }
}

/// The serials of the messages that the bus itself sends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Serials(u32);

impl Default for Serials {
    fn default() -> Self {
        Self(1)
    }
}

impl Serials {
    /// The next serial. Serials wrap around and skip 0.
    const fn next(self) -> u32 {
        self.0
    }

    pub(super) fn take(&mut self) -> NonZeroU32 {
        let serial = NonZeroU32::new(self.0).unwrap_or(NonZeroU32::MIN);
        self.0 = serial.get().wrapping_add(1);
        serial
    }
}

#[cfg(test)]
mod tests {
    use super::Serials;

    #[test]
    fn serials_wrap_around_and_leave_out_0() {
        let mut serials = Serials(u32::MAX - 1);
        let taken = [(); 4].map(|()| serials.take().get());
        assert_eq!(taken, [u32::MAX - 1, u32::MAX, 1, 2]);
    }
}
