//! The random messages of peers.

use testkit::world::{build, interface, member, name, path};
use wire::body::Value;
use wire::endian::Endian;
use wire::message::{Builder, Flags};
use wire::names::ErrorName;

use super::SimulatedWorld;
use super::message::call_bus;
use super::vocabulary::{INTERFACES, MEMBERS, NAMES, PATHS, WORDS};
use crate::peer::Stage;
use crate::setting::{Feature, OWNER, SERVICES};
use crate::user::SimulatedUser;

impl SimulatedWorld {
    /// Queues a random message. A peer without a unique name queues it after its Hello.
    pub(super) fn send_random(&mut self, place: usize) {
        if self.peers[place].backlog() > self.setting.backlog_max()
            || self.peers[place].is_misbehaving
        {
            return;
        }
        match self.chance.below(10) {
            0..3 => self.signal(place),
            3..6 => self.call(place),
            6..8 => self.reply(place),
            _ => self.call_bus_method(place),
        }
    }

    fn signal(&mut self, place: usize) {
        let (path, of, named) = self.member();
        let mut signal = Builder::signal(path, of, named);
        let to = self.random_destination();
        if self.chance.once_in(4) {
            signal = signal.destination(name(&to));
        }
        // The bus must replace a forged sender.
        if self.chance.once_in(10) {
            signal = signal.sender(name(":1.1"));
        }
        let args = self.arguments();
        self.send(place, signal, &args);
    }

    fn call(&mut self, place: usize) {
        let (path, of, named) = self.member();
        let to = self.random_destination();
        let mut call = Builder::method_call(path, named).interface(of).destination(name(&to));
        if self.chance.once_in(4) {
            call = call.flags(Flags::NO_REPLY_EXPECTED);
        }
        if self.chance.once_in(10) {
            call = call.flags(Flags::NO_AUTO_START);
        }
        let args = self.arguments();
        self.send(place, call, &args);
    }

    /// Replies to a call that arrived, or to one that was never made.
    fn reply(&mut self, place: usize) {
        let serial = self.random_user().serials() + 2 + self.chance.below(50) as u32;
        let made_up = (1 + self.chance.below(9) as u64, serial);
        let asked = self.peers[place].calls.pop();
        let (caller, call) = match asked {
            Some(asked) if !self.chance.once_in(20) => asked,
            _ if !self.setting.has(Feature::KernelShortages) && self.chance.once_in(3) => made_up,
            _ => return,
        };
        let call = call.try_into().expect("serials are not 0");
        let to = format!(":1.{caller}");
        let answer = match self.chance.once_in(3) {
            true => Builder::error(
                ErrorName::new("com.example.Error").expect("the error name is valid"),
                call,
            ),
            false => Builder::method_return(call),
        };
        let args = self.arguments();
        self.send(place, answer.destination(name(&to)), &args);
    }

    fn call_bus_method(&mut self, place: usize) {
        if self.prefers_containers() {
            return self.call_about_containers(place);
        }
        let rule = self.chance.below(self.rules.len());
        let rule = Value::from(self.rules[rule].text().as_str());
        let named = Value::from(self.random_destination().as_str());
        let own = Value::from(self.pick(&NAMES));
        let flags = Value::Uint32(self.chance.below(8) as u32);
        let (method, args) = match self.chance.below(9) {
            // The bus may delay reloads for other users.
            0 if self.peers[place].user.uid == OWNER && self.chance.once_in(20) => {
                ("ReloadConfig", Vec::new())
            }
            0 | 1 => ("AddMatch", vec![rule]),
            2 => ("RemoveMatch", vec![rule]),
            3 | 4 => ("RequestName", vec![own, flags]),
            5 => ("ReleaseName", vec![own]),
            6 if self.chance.once_in(3) => ("StartServiceByName", vec![named, Value::Uint32(0)]),
            6 => ("NameHasOwner", vec![named]),
            7 if self.chance.once_in(8) => ("ListNames", Vec::new()),
            7 => ("GetConnectionUnixUser", vec![named]),
            _ => ("GetNameOwner", vec![named]),
        };
        let serial = self.serial(place);
        let message = call_bus(method, serial, &args);
        self.peers[place].send(message);
    }

    fn send(&mut self, place: usize, message: Builder<'_>, args: &[Value]) {
        let endian = if self.chance.once_in(5) { Endian::Big } else { Endian::Little };
        let serial = self.serial(place);
        let descriptors = if self.chance.once_in(12) { 1 + self.chance.below(3) } else { 0 };
        let message = message.endian(endian).unix_fds(descriptors as u32);
        let bytes = build(message, serial, args);
        let at = if self.chance.once_in(2) { self.chance.below(bytes.len()) } else { 0 };
        let peer = &mut self.peers[place];
        let may_have = descriptors == 0 || peer.user.passes_descriptors;
        if may_have && self.setting.allows(bytes.len(), descriptors) {
            peer.send_with_fds(bytes, descriptors, at);
        } else if self.chance.once_in(MISBEHAVE_ONCE_IN) {
            peer.is_misbehaving = true;
            peer.send_raw_with_fds(bytes, descriptors, at);
        }
    }

    /// Returns a random user, with or without descriptor passing.
    pub(super) fn random_user(&mut self) -> SimulatedUser {
        let users = self.setting.users();
        let uid = users[self.chance.below(users.len())];
        let is_limited = self.setting.has(Feature::WithoutDescriptors) && self.chance.once_in(2);
        SimulatedUser { uid, passes_descriptors: !is_limited, container: None }
    }

    /// Returns a new serial, or sometimes reuses one.
    fn serial(&mut self, place: usize) -> u32 {
        // The error for a lost message identifies it by its serial, so serials must be unique.
        if !self.setting.has(Feature::KernelShortages) && self.chance.once_in(30) {
            return self.peers[place].last_serial();
        }
        self.peers[place].next_serial()
    }

    /// Returns a destination: a name that is owned, was owned, is activatable or does not exist.
    fn random_destination(&mut self) -> String {
        match self.chance.below(5) {
            0 if self.setting.has(Feature::Services) => {
                SERVICES[self.chance.below(SERVICES.len())].0.to_owned()
            }
            0 | 1 => self.pick(&NAMES).to_owned(),
            2 => format!(":1.{}", 1 + self.chance.below(self.tally.borrow().connections + 1)),
            _ => {
                let place = self.chance.below(self.peers.len());
                match self.peers[place].stage {
                    Stage::Named(id) => format!(":1.{id}"),
                    _ => "com.unowned".to_owned(),
                }
            }
        }
    }

    fn member(
        &mut self,
    ) -> (
        wire::names::ObjectPath<'static>,
        wire::names::InterfaceName<'static>,
        wire::names::MemberName<'static>,
    ) {
        (path(self.pick(&PATHS)), interface(self.pick(&INTERFACES)), member(self.pick(&MEMBERS)))
    }

    fn arguments(&mut self) -> Vec<Value> {
        let word = Value::from(self.pick(&WORDS));
        match self.chance.below(12) {
            0..5 => vec![word],
            5..8 => vec![word, Value::Uint32(7)],
            8..10 => Vec::new(),
            10 => vec![word, Value::Bytes(vec![7; self.chance.below(1000)])],
            _ if self.chance.once_in(8) => {
                vec![Value::Bytes(vec![8; self.chance.below(self.setting.body_max())])]
            }
            _ => vec![Value::Boolean(true)],
        }
    }

    pub(super) fn pick<T: Copy, const COUNT: usize>(&mut self, items: &[T; COUNT]) -> T {
        items[self.chance.below(COUNT)]
    }
}

/// The inverse of the probability that a peer sends a forbidden message instead of dropping it.
const MISBEHAVE_ONCE_IN: usize = 10;
