//! Decisions about messages from the bus.

use std::num::NonZeroU32;

use wire::Message;
use wire::message::MessageType;

use super::driver_calls::first_string;
use super::made_up::name_list;
use super::pending::ExpectedReply;
use super::well_known::{BUS_INTERFACE, BUS_NAME};
use super::{ConnectionFilter, Verdict, answered_call};

impl ConnectionFilter {
    /// Decides about a message from the bus. The bus is trusted, so the client is never
    /// disconnected.
    pub(crate) fn bus_message(&mut self, message: &Message<'_>) -> Verdict {
        if matches!(message.message_type(), MessageType::Unknown(_)) {
            return Verdict::Drop;
        }
        self.log.bus_message(message);
        let mut verdict = match answered_call(message) {
            Some(call) => self.reply_from_bus(call, message),
            None if is_name_owner_changed(message) => self.name_owner_changed(message),
            None => Verdict::Forward,
        };
        let is_broadcast =
            message.message_type() == MessageType::Signal && message.destination().is_none();
        if is_broadcast
            && !self.names.access(message.sender(), &self.options.rules).may_receive_broadcasts()
        {
            self.log.line(format_args!("*FILTERED IN*"));
            verdict = Verdict::Drop;
        }
        if verdict != Verdict::Drop {
            let sender = message.sender().map_or("", |name| name.as_str());
            if sender.starts_with(':') {
                self.names.add_sender(sender);
            }
            if message.expects_reply() {
                self.peer_calls.expect(sender, message.serial());
            }
        }
        verdict
    }

    fn reply_from_bus(&mut self, call: NonZeroU32, message: &Message<'_>) -> Verdict {
        let is_from_bus = message.sender().is_none_or(|name| name == BUS_NAME);
        let is_possible = |reply: &ExpectedReply| is_from_bus || !reply.is_of_bus();
        let Some(expected) = self.client_calls.take(call, is_possible) else {
            self.log.line(format_args!("*Unexpected reply*"));
            return Verdict::Drop;
        };
        let is_return = message.message_type() == MessageType::MethodReturn;
        match expected {
            ExpectedReply::Forwarded => Verdict::Forward,
            ExpectedReply::Hello => {
                match first_string(message) {
                    Some(name) if is_return => self.names.set_own(name),
                    _ => self.own_calls.hello_failed(),
                }
                Verdict::Forward
            }
            ExpectedReply::NameList if is_return => self.visible_names(message),
            ExpectedReply::NameList => Verdict::Forward,
            ExpectedReply::MadeUp(reply) => {
                self.log.line(format_args!("*REWRITTEN*"));
                Verdict::Replace(reply.write(message, call, self.names.own()))
            }
            ExpectedReply::OwnNameList => {
                if is_return {
                    self.ask_owners_of_subtrees(message);
                }
                self.skip()
            }
            ExpectedReply::OwnNameOwner(name) => {
                if is_return && let Some(owner) = first_string(message) {
                    self.names.add_owner(owner, &name, &self.options.rules);
                }
                self.skip()
            }
        }
    }

    /// Drops a reply to a call of the filter itself.
    fn skip(&mut self) -> Verdict {
        self.own_calls.replied();
        self.log.line(format_args!("*SKIPPED*"));
        Verdict::Drop
    }

    /// Removes hidden names from a list.
    fn visible_names(&self, message: &Message<'_>) -> Verdict {
        let Ok((mut names,)) = message.read::<(Vec<&str>,)>() else { return Verdict::Drop };
        names.retain(|name| self.names.level_of(name, &self.options.rules).is_some());
        name_list(message, &names).map_or(Verdict::Drop, Verdict::Replace)
    }

    fn ask_owners_of_subtrees(&mut self, message: &Message<'_>) {
        let Ok((names,)) = message.read::<(Vec<&str>,)>() else { return };
        let Self { options, own_calls, client_calls, log, .. } = self;
        for name in names {
            if !name.starts_with(':') && name != BUS_NAME && options.rules.level_of(name).is_some()
            {
                own_calls.ask_owner(name, client_calls, log);
            }
        }
    }

    /// Handles a change of an owner. The new owner of a visible name gets the rights of the name.
    fn name_owner_changed(&mut self, message: &Message<'_>) -> Verdict {
        let Ok((name, _, owner)) = message.read::<(&str, &str, &str)>() else {
            return Verdict::Drop;
        };
        let rules = &self.options.rules;
        if name.starts_with(':') {
            let passes =
                self.options.has_sloppy_names || self.names.level_of(name, rules).is_some();
            return if passes { Verdict::Forward } else { Verdict::Drop };
        }
        if rules.level_of(name).is_none() {
            return Verdict::Drop;
        }
        if !owner.is_empty() {
            self.names.add_owner(owner, name, rules);
        }
        Verdict::Forward
    }
}

fn is_name_owner_changed(message: &Message<'_>) -> bool {
    message.message_type() == MessageType::Signal
        && message.sender().is_some_and(|name| name == BUS_NAME)
        && message.interface() == Some(BUS_INTERFACE)
        && message.member().is_some_and(|name| name == "NameOwnerChanged")
}
