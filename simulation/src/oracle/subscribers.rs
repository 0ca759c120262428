//! Subscribers: peers that receive a message because of a match rule.

use testkit::model::{ModelRule, ModelSubject};
use wire::Message;
use wire::body::Value;

use super::bus_messages::BusMessage;
use super::containers::{AnnouncedOwner, container_of_path};
use super::{DRIVER, Oracle, OracleAccount, arguments, id_of};

/// The destination of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Destination {
    Broadcast,
    Bus,
    Peer(u64),
}

impl Oracle {
    /// Returns the connected peers with a rule that matches a message, except its recipient. For a
    /// unicast message, only rules with `eavesdrop=true` count.
    fn subscribers(&self, message: &Message<'_>, to: Destination) -> Vec<u64> {
        let args: Vec<Value> = arguments(message);
        let sender = message.sender().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let subject = ModelSubject {
            kind: message.message_type().as_str(),
            senders: id_of(&sender).map_or(vec![sender], |id| self.names_of(id)),
            destinations: match to {
                Destination::Broadcast => Vec::new(),
                Destination::Bus => vec![DRIVER.to_owned()],
                Destination::Peer(id) => self.names_of(id),
            },
            interface: message.interface().map(|name| name.as_str()),
            member: message.member().map(|name| name.as_str()),
            path: message.path().map(|path| path.as_str()),
            args: &args,
        };
        let wants = |rule: &ModelRule| {
            (to == Destination::Broadcast || rule.eavesdrops) && rule.selects(&subject)
        };
        let listens = |account: &OracleAccount| !account.is_gone && account.rules.iter().any(wants);
        let all = self.accounts.iter().filter(|(_, account)| listens(account));
        all.map(|(id, _)| *id).filter(|id| Destination::Peer(*id) != to).collect()
    }

    /// Delivers a message to its subscribers, as far as the policy permits, and returns from how
    /// many it is withheld.
    pub(super) fn copy_to_subscribers(&mut self, message: &Message<'_>, to: Destination) -> usize {
        let before = self.due.len();
        let sender = message.sender().and_then(|name| id_of(name.as_str()));
        for by in self.subscribers(message, to) {
            match sender {
                Some(sender) if to == Destination::Broadcast && !self.may_hear(sender, by) => {
                    self.notifications.withheld += 1;
                    continue;
                }
                None if !self.may_hear_of_bus(by, message) => continue,
                _ => {}
            }
            let may_listen = to == Destination::Broadcast || Self::may_eavesdrop(message);
            if may_listen && self.may_deliver(sender, by, message) {
                if self.can_receive_fds(by, message) {
                    self.expect(by, message, true);
                }
            } else {
                let (from, serial) = (sender.unwrap_or_default(), message.serial().get());
                self.due.push(BusMessage::Withheld { from, serial });
            }
        }
        self.due.len() - before
    }

    /// True if the filter of a subscriber lets a signal of the bus pass.
    fn may_hear_of_bus(&self, by: u64, message: &Message<'_>) -> bool {
        let args = arguments(message);
        let text = |place: usize| match args.get(place) {
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        match (message.member().map_or("", |name| name.as_str()), args.first()) {
            ("NameOwnerChanged", _) => {
                let (old, new) = (id_of(&text(1)), id_of(&text(2)));
                self.may_hear_of(by, &AnnouncedOwner { name: text(0), old, new })
            }
            ("InstanceRemoved", Some(Value::ObjectPath(path))) => container_of_path(path.as_str())
                .is_none_or(|container| self.may_hear_of_container(by, container)),
            _ => true,
        }
    }

    /// True unless the message has descriptors and the peer has not negotiated passing them.
    pub(super) fn can_receive_fds(&self, id: u64, message: &Message<'_>) -> bool {
        message.unix_fds() == 0 || self.user(id).passes_descriptors
    }
}
