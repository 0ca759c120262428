//! What is addressed to one.

use wire::Message;
use wire::message::{Flags, MessageType};

use super::listening::To;
use super::owed::{
    ACCESS_DENIED, LIMITS_EXCEEDED, NAME_HAS_NO_OWNER, NOT_SUPPORTED, Owed, SERVICE_UNKNOWN,
};
use super::starting::{ExpectedHold, WaitingMessage};
use super::{Oracle, Wrong};
use crate::setting::{Feature, REPLIES_MAX};

/// A message that somebody was to get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addressed {
    from: u64,
    serial: u32,
    /// The number of the message among all.
    number: u64,
    /// The call that it makes or answers, if that was noted.
    call: Option<(u64, u32, u64)>,
    is_reply: bool,
    /// Of how many who listen it was withheld.
    withheld: usize,
}

impl Oracle {
    pub(super) fn addressed(&mut self, from: u64, name: &str, message: &Message<'_>) {
        if let Some(to) = self.find(name) {
            return self.pass_on(from, to, message);
        }
        let serial = message.serial().get();
        let why = if message.flags().contains(Flags::NO_AUTO_START) {
            Some(NAME_HAS_NO_OWNER)
        } else if !self.is_startable(name) {
            Some(SERVICE_UNKNOWN)
        } else if !self.may_send(from, message) {
            Some(ACCESS_DENIED)
        } else if self.is_held_enough() {
            Some(LIMITS_EXCEEDED)
        } else {
            None
        };
        match why {
            Some(name) => self.owed.push(Owed::Error { to: from, serial, name }),
            None => {
                let what = WaitingMessage::Message(message.bytes().to_vec());
                self.held.push(ExpectedHold { name: name.to_owned(), from, what });
            }
        }
    }

    /// A message comes to who has its name.
    pub(super) fn pass_on(&mut self, from: u64, to: u64, message: &Message<'_>) {
        let (serial, kind) = (message.serial().get(), message.message_type());
        if !self.may_pass(Some(from), to, message) {
            return self.refuse(from, serial, ACCESS_DENIED);
        }
        if !self.can_take(to, message) {
            return self.refuse(from, serial, NOT_SUPPORTED);
        }
        let mut noted = None;
        if kind.is_reply() {
            let call = message.reply_serial().map_or(0, core::num::NonZero::get);
            let call = (to, call, from);
            // On a bus of a session who was not asked may answer, too.
            noted = Some(call).filter(|call| self.pending.contains(call));
            self.pending.retain(|waits| *waits != call);
        } else if kind == MessageType::MethodCall && message.expects_reply() {
            let call = (from, serial, to);
            if let Some(name) = self.refusal_of_call(call) {
                return self.refuse(from, serial, name);
            }
            self.pending.push(call);
            noted = Some(call);
        }
        let number = self.routed;
        let is_reply = kind.is_reply();
        self.expect(to, message, false);
        let withheld = self.pass_to_observers(message, To::One(to));
        self.latest.push(Addressed { from, serial, number, call: noted, is_reply, withheld });
    }

    fn refuse(&mut self, to: u64, serial: u32, name: &'static str) {
        self.placed.push((to, serial, self.routed));
        self.owed.push(Owed::Error { to, serial, name });
    }

    fn refusal_of_call(&self, call: (u64, u32, u64)) -> Option<&'static str> {
        let waiting = self.pending.iter().filter(|(caller, ..)| *caller == call.0).count();
        let has_few = self.setting.has(Feature::FewPlaces);
        if self.pending.contains(&call) {
            Some(ACCESS_DENIED)
        } else {
            (has_few && waiting >= REPLIES_MAX).then_some(LIMITS_EXCEEDED)
        }
    }

    /// The bus says that there is no room for what was addressed last. Returns its number.
    pub(super) fn refused(&mut self, sender: u64, said: u32) -> Result<u64, Wrong> {
        // Where there is no room it is not looked whether anything else forbids it.
        let denied = [ACCESS_DENIED, NOT_SUPPORTED].map(|name| Owed::Error {
            to: sender,
            serial: said,
            name,
        });
        if self.setting.has(Feature::TightQueues)
            && let Some(place) = self.owed.iter().position(|owed| denied.contains(owed))
        {
            self.owed.remove(place);
            return Ok(self.take_place(sender, said));
        }
        let is_meant = |one: &Addressed| (one.from, one.serial) == (sender, said);
        let place = self.latest.iter().position(is_meant);
        let place = place.ok_or("there is no room for a message that nobody sent")?;
        let latest = self.latest.remove(place);
        for account in self.accounts.values_mut() {
            account.expected.retain(|expected| expected.number != latest.number);
        }
        for _ in 0..latest.withheld {
            let owed = Owed::Withheld { from: sender, serial: said };
            let place = self.owed.iter().rposition(|one| *one == owed);
            self.owed.remove(place.ok_or("what nobody gets was withheld")?);
        }
        match latest.call {
            // It was not answered after all.
            Some(call) if latest.is_reply => self.pending.push(call),
            Some(call) => self.pending.retain(|waits| *waits != call),
            None => {}
        }
        Ok(latest.number)
    }
}
