//! The calls that wait for a reply.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::made_up::MadeUpReply;

/// What happens with the reply to a call that went to the bus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ExpectedReply {
    /// The reply to a call of the client is forwarded.
    Forwarded,
    /// It is forwarded, and has the unique name of the client.
    Hello,
    /// Hidden names are removed from it.
    NameList,
    /// The call was a Ping, whose reply is replaced.
    MadeUp(MadeUpReply),
    /// It is for the filter: a list of names.
    OwnNameList,
    /// It is for the filter: the owner of this name.
    OwnNameOwner(Box<str>),
}

impl ExpectedReply {
    /// Returns true if only the bus itself sends this reply.
    pub(super) const fn is_of_bus(&self) -> bool {
        !matches!(self, Self::Forwarded)
    }
}

/// The calls of the client, and of the filter itself, that wait for a reply, by serial.
#[derive(Debug, Default)]
pub(super) struct ClientCalls(HashMap<NonZeroU32, ExpectedReply>);

impl ClientCalls {
    pub(super) fn expect(&mut self, call: NonZeroU32, reply: ExpectedReply) {
        self.0.insert(call, reply);
    }

    /// Takes what was expected, if `is_possible` accepts it. So each call has one reply.
    pub(super) fn take(
        &mut self,
        call: NonZeroU32,
        is_possible: impl FnOnce(&ExpectedReply) -> bool,
    ) -> Option<ExpectedReply> {
        self.0.get(&call).filter(|reply| is_possible(reply))?;
        self.0.remove(&call)
    }

    /// Returns the first serial after `after` with which no call is pending.
    pub(super) fn free_serial(&self, after: NonZeroU32) -> NonZeroU32 {
        let mut serial = after;
        loop {
            serial = serial.checked_add(1).unwrap_or(NonZeroU32::MIN);
            if !self.0.contains_key(&serial) {
                return serial;
            }
        }
    }
}

/// The calls of other connections to the client that wait for a reply.
///
/// Each connection numbers its own messages, so several calls can have the same serial.
#[derive(Debug, Default)]
pub(super) struct PeerCalls(HashMap<NonZeroU32, Vec<Box<str>>>);

impl PeerCalls {
    pub(super) fn expect(&mut self, caller: &str, call: NonZeroU32) {
        let callers = self.0.entry(call).or_default();
        if !callers.iter().any(|known| **known == *caller) {
            callers.push(caller.into());
        }
    }

    /// Takes a pending call of a connection with this unique name, and returns true if there was
    /// one.
    pub(super) fn take(&mut self, caller: &str, call: NonZeroU32) -> bool {
        let Some(callers) = self.0.get_mut(&call) else { return false };
        let found = callers.iter().position(|known| **known == *caller);
        let Some(index) = found else { return false };
        callers.swap_remove(index);
        if callers.is_empty() {
            self.0.remove(&call);
        }
        true
    }
}
