//! The random actions of peers.

use std::time::Duration;

use kernel::machine::{self, ProcessEnd};
use kernel::signals::ProcessSignal;
use testkit::world::{build, interface, member, path};
use wire::Message;
use wire::body::Value;
use wire::message::{Builder, MessageType};

use super::message::{call_bus, hello};
use super::vocabulary::{INTERFACES, MEMBERS, PATHS};
use super::{SimulatedWorld, WorldPhase};
use crate::oracle::id_of;
use crate::peer::{PeerReadState, SimulatedPeer, Stage};
use crate::setting::{Feature, SERVICES, ServiceBehavior};

impl SimulatedWorld {
    /// Performs one random step.
    pub(super) fn act_randomly(&mut self) -> bool {
        let step = {
            let mut tally = self.tally.borrow_mut();
            tally.steps += 1;
            tally.steps
        };
        if step >= self.plan.steps {
            self.phase = WorldPhase::Draining;
            // Otherwise the rest of the data could take very long, byte by byte.
            self.peers.iter_mut().for_each(SimulatedPeer::read_fast);
            return true;
        }
        let most = self.plan.peers.min(self.setting.peers_max());
        if self.peers.is_empty()
            || (self.peers.len() < most
                && self.chance.once_in(CONNECT_ONCE_IN.min(1 + 5000 / most)))
        {
            self.connect();
            return true;
        }
        if self.setting.has(Feature::Services) && self.chance.once_in(50) {
            self.run_services();
        }
        let place = self.chance.below(self.peers.len());
        match self.chance.below(100) {
            0..30 => {
                let most = self.amount();
                self.peers[place].flush(most);
            }
            30..60 => {
                let most = self.amount();
                if self.peers[place].read_state == PeerReadState::Reading {
                    self.peers[place].read(most);
                    self.begin_shortages(place);
                    self.note_calls(place);
                }
            }
            60..70 => {
                self.read_monitor();
            }
            _ if self.peers[place].stage == Stage::Refused => self.leave(place),
            70 if self.chance.once_in(4) => self.leave(place),
            71 if self.chance.once_in(self.setting.stall_once_in()) => {
                let peer = &mut self.peers[place];
                peer.read_state = if peer.read_state == PeerReadState::Reading {
                    PeerReadState::Stalled
                } else {
                    PeerReadState::Reading
                };
            }
            73 if self.chance.once_in(50) => {
                let time = Duration::from_millis(self.chance.below(3000) as u64);
                machine::with(|machine| machine.pass(time));
            }
            72 if self.chance.once_in(40) => self.misbehave(place),
            73 if self.setting.has(Feature::KernelShortages) && self.chance.once_in(10) => {
                let time = Duration::from_micros(self.chance.below(1000) as u64);
                machine::with(|machine| machine.run_out_of_memory(time));
            }
            // Each replacement takes time for each peer.
            73 if self.chance.once_in(3 + self.peers.len() / 10) => {
                machine::with(|machine| machine.send_signal(ProcessSignal::Reexecute));
            }
            // Longer than the bus waits before it retries a write that the kernel rejected.
            75 if self.setting.has(Feature::KernelShortages) && self.chance.once_in(5) => {
                machine::with(|machine| machine.pass(Duration::from_millis(20)));
            }
            // The oracle does not see a reload by signal, so the policy must not change with it.
            74 if !self.setting.has(Feature::ChangingPolicy) && self.chance.once_in(100) => {
                machine::with(|machine| machine.send_signal(ProcessSignal::HangUp));
            }
            _ => self.send_random(place),
        }
        true
    }

    /// Returns how many bytes a peer sends or reads at once: often all, sometimes one.
    fn amount(&mut self) -> usize {
        match self.chance.below(4) {
            0 => 1 + self.chance.below(16),
            1 => 1 + self.chance.below(600),
            _ => usize::MAX,
        }
    }

    fn connect(&mut self) {
        let count = {
            let mut tally = self.tally.borrow_mut();
            tally.connections += 1;
            tally.connections
        };
        let capacity = match self.chance.below(3) {
            0 => 1 + self.chance.below(100),
            1 => 1 + self.chance.below(5000),
            _ => 200_000,
        };
        let mut peer = self.connect_anywhere(100 + count as u32, capacity);
        let serial = peer.next_serial();
        if self.chance.once_in(60) {
            // The bus closes a connection that sends anything else before Hello.
            peer.is_misbehaving = true;
            let signal =
                Builder::signal(path(PATHS[1]), interface(INTERFACES[0]), member(MEMBERS[0]));
            peer.send_raw(build(signal, serial, &[]));
        }
        peer.send(hello(serial));
        self.peers.push(peer);
    }

    /// Lets started services connect, exit or hang, and returns true if any did something.
    pub(super) fn run_services(&mut self) -> bool {
        let started: Vec<_> = machine::with(|machine| {
            let running = machine.processes().filter(|(_, process)| process.end.is_none());
            running.map(|(pid, process)| (pid, process.words.clone())).collect()
        });
        let mut acted = self.name_services();
        for (pid, words) in started {
            let named = words.last().and_then(|word| word.to_str()).unwrap_or_default();
            let service = SERVICES.into_iter().find(|(name, _)| *name == named);
            let (named, behavior) = service.expect("the daemon starts only these services");
            match behavior {
                ServiceBehavior::Connects if self.connected_services.insert(pid) => {
                    self.connect();
                    let peer = self.peers.last_mut().expect("a peer was just added");
                    peer.read_fast();
                    if self.chance.once_in(2) {
                        self.unnamed_services.push((peer.socket, named));
                    } else {
                        request_name(peer, named);
                    }
                }
                ServiceBehavior::Exits => {
                    machine::with(|machine| machine.end(pid, ProcessEnd::Exited(1)))
                }
                ServiceBehavior::Connects | ServiceBehavior::Hangs => continue,
            }
            acted = true;
        }
        acted
    }

    /// Lets connected services with a unique name request their well-known name, and returns true
    /// if any did.
    fn name_services(&mut self) -> bool {
        let before = self.unnamed_services.len();
        for (socket, named) in std::mem::take(&mut self.unnamed_services) {
            let place = self.peers.iter().position(|peer| peer.socket == socket);
            // The service may have disconnected.
            let Some(place) = place else { continue };
            self.begin_shortages(place);
            match self.peers[place].stage {
                Stage::Named(_) => request_name(&mut self.peers[place], named),
                Stage::Refused => {}
                Stage::Handshake { .. } | Stage::Unnamed => {
                    self.unnamed_services.push((socket, named))
                }
            }
        }
        self.unnamed_services.len() < before
    }

    fn leave(&mut self, place: usize) {
        let mut peer = self.peers.swap_remove(place);
        peer.leave();
        self.departed.push(peer);
    }

    /// Sends something for which the bus closes the connection, immediately or after a timeout.
    fn misbehave(&mut self, place: usize) {
        let has_descriptors = self.chance.once_in(2);
        let peer = &mut self.peers[place];
        peer.is_misbehaving = true;
        match has_descriptors {
            // The message declares none of these descriptors.
            true => {
                let serial = peer.next_serial();
                peer.send_with_fds(call_bus("GetId", serial, &[]), 2, 0);
            }
            false => {
                peer.send_raw(b"l\x09\x00\x01 this is not a message, and never will be".to_vec())
            }
        }
    }

    /// Remembers the calls that arrived, for a later reply.
    fn note_calls(&mut self, place: usize) {
        // With kernel shortages, the oracle must know which calls were answered, so only the callee
        // replies, not an eavesdropper.
        let is_strict = self.setting.has(Feature::KernelShortages);
        let peer = &mut self.peers[place];
        let own = match peer.stage {
            Stage::Named(id) => format!(":1.{id}"),
            _ => String::new(),
        };
        let uid = peer.user.uid;
        for bytes in peer.take_unhandled() {
            let message = Message::parse(&bytes).expect("received messages are valid");
            self.note_container(uid, &message);
            let caller = message.sender().and_then(|name| id_of(name.as_str()));
            let is_own = message.destination().is_some_and(|name| name.as_str() == own);
            if is_strict && !is_own && self.setting.has(Feature::Eavesdroppers) {
                continue;
            }
            if let (MessageType::MethodCall, true, Some(caller)) =
                (message.message_type(), message.expects_reply(), caller)
            {
                self.peers[place].calls.push((caller, message.serial().get()));
            }
        }
    }
}

fn request_name(peer: &mut SimulatedPeer, named: &str) {
    let serial = peer.next_serial();
    let args = [Value::from(named), Value::Uint32(0)];
    peer.send(call_bus("RequestName", serial, &args));
}

/// The inverse of the probability that a peer connects in a step, unless the plan has thousands of
/// peers.
const CONNECT_ONCE_IN: usize = 20;
