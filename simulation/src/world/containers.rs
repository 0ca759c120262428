//! Containers: peers create them, change their rules, stop them, and connect to them.

use testkit::world::{build, dictionary, interface, member, name, path};
use wire::Message;
use wire::body::Value;
use wire::message::{Builder, MessageType};
use wire::names::ObjectPath;

use super::SimulatedWorld;
use super::message::{call_bus, strings};
use super::vocabulary::CONTAINER_RULES;
use crate::oracle::{DRIVER, container_of_path, container_path};
use crate::peer::SimulatedPeer;
use crate::setting::Feature;
use crate::user::{CONTAINERS_MAX, SimulatedUser};

/// A container that its creator knows.
#[derive(Clone, Debug)]
pub(super) struct KnownContainer {
    number: u32,
    uid: u32,
    socket: String,
}

/// The containers of a run.
#[derive(Debug, Default)]
pub(super) struct KnownContainers {
    /// The containers that may still listen.
    listening: Vec<KnownContainer>,
    /// How many peers have tried to create.
    requested: u32,
}

impl SimulatedWorld {
    /// Connects a peer to the bus or, if there are any, to a container.
    pub(super) fn connect_anywhere(&mut self, pid: u32, capacity: usize) -> SimulatedPeer {
        let user = self.random_user();
        let count = self.containers.listening.len();
        if count > 0 && self.chance.once_in(2) {
            let place = self.chance.below(count);
            let KnownContainer { number, uid, ref socket } = self.containers.listening[place];
            let contained = SimulatedUser { uid, container: Some(number), ..user };
            match SimulatedPeer::connect_to(socket, pid, contained, capacity) {
                Some(peer) => {
                    self.tally.borrow_mut().contained += 1;
                    return peer;
                }
                None => drop(self.containers.listening.swap_remove(place)),
            }
        }
        SimulatedPeer::connect(pid, user, capacity)
    }

    /// Remembers the container that the reply to AddServer is about. No other reply has its types.
    pub(super) fn note_container(&mut self, uid: u32, message: &Message<'_>) {
        if message.message_type() != MessageType::MethodReturn {
            return;
        }
        if let Ok((instance, socket, _)) = message.read::<(ObjectPath<'_>, Vec<u8>, &str)>() {
            let number = container_of_path(instance.as_str()).expect("the path of a container");
            let socket = String::from_utf8_lossy(&socket).trim_end_matches('\0').to_owned();
            self.containers.listening.push(KnownContainer { number, uid, socket });
        }
    }

    /// Sends a random call about containers.
    pub(super) fn call_about_containers(&mut self, place: usize) {
        let serial = self.peers[place].next_serial();
        let rules = strings(self.pick(&CONTAINER_RULES));
        let number = self.chance.below(self.containers.requested as usize + 1) as u32;
        let instance = Value::ObjectPath(path(&container_path(number)).into());
        let call = match self.chance.below(8) {
            0..3 if self.containers.requested < CONTAINERS_MAX => {
                self.containers.requested += 1;
                let mut arguments = Vec::new();
                if !self.chance.once_in(6) {
                    arguments.push(("org.diligence.Rules", rules));
                    let sees_all = self.chance.once_in(4);
                    arguments.push(("org.diligence.SeeUniqueNames", Value::Boolean(sees_all)));
                }
                let (kind, app) = (Value::from("com.example.Sandbox"), Value::from("app"));
                let args = [kind, app, dictionary(Vec::new()), dictionary(arguments)];
                call_bus("Containers1.AddServer", serial, &args)
            }
            0..6 => {
                let call = Builder::method_call(path("/org/freedesktop/DBus"), member("SetRules"))
                    .interface(interface("org.diligence.Containers1"))
                    .destination(name(DRIVER));
                build(call, serial, &[instance, rules])
            }
            6 => call_bus("Containers1.StopListening", serial, &[instance]),
            _ => call_bus("Containers1.StopInstance", serial, &[instance]),
        };
        self.peers[place].send(call);
    }

    /// True if the next call of the bus shall be about containers.
    pub(super) fn prefers_containers(&mut self) -> bool {
        self.setting.has(Feature::Containers) && self.chance.once_in(6)
    }

    /// Checks that the bus has closed the connections of all stopped containers.
    pub(super) fn check_stopped(&self) -> Result<(), String> {
        let is_stopped = |peer: &&SimulatedPeer| {
            peer.user.container.is_some_and(|container| self.oracle.is_stopped(container))
        };
        match self.peers.iter().filter(|peer| peer.is_connected()).find(is_stopped) {
            None => Ok(()),
            Some(peer) => Err(format!("{:?} is in a stopped container and connected", peer.stage)),
        }
    }
}
