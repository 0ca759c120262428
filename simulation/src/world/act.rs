//! What somebody may do.

use std::time::Duration;

use kernel::machine::{self, ProcessEnd};
use kernel::signals::ProcessSignal;
use testkit::world::{build, interface, member, path};
use wire::Message;
use wire::body::Value;
use wire::message::{Builder, MessageType};

use super::choice::{INTERFACES, MEMBERS, PATHS};
use super::message::{call_bus, hello};
use super::{SimulatedWorld, WorldPhase};
use crate::oracle::id_of;
use crate::peer::{Mood, SimulatedPeer, Stage};
use crate::setting::{Fate, Feature, SERVICES};

impl SimulatedWorld {
    /// One step.
    pub(super) fn be_busy(&mut self) -> bool {
        let step = {
            let mut tally = self.tally.borrow_mut();
            tally.steps += 1;
            tally.steps
        };
        if step >= self.plan.steps {
            self.phase = WorldPhase::Quiet;
            // What is left should not take for ever, byte by byte.
            self.peers.iter_mut().for_each(SimulatedPeer::hurry);
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
            self.attend_services();
        }
        let place = self.chance.below(self.peers.len());
        match self.chance.below(100) {
            0..30 => {
                let most = self.amount();
                self.peers[place].flush(most);
            }
            30..60 => {
                let most = self.amount();
                if self.peers[place].mood == Mood::Reads {
                    self.peers[place].read(most);
                    self.begin_shortages(place);
                    self.note_calls(place);
                }
            }
            60..70 => {
                self.listen();
            }
            _ if self.peers[place].stage == Stage::TurnedAway => self.leave(place),
            70 if self.chance.once_in(4) => self.leave(place),
            71 if self.chance.once_in(self.setting.deaf_once_in()) => {
                let peer = &mut self.peers[place];
                peer.mood = if peer.mood == Mood::Reads { Mood::Deaf } else { Mood::Reads };
            }
            73 if self.chance.once_in(50) => {
                let time = Duration::from_millis(self.chance.below(3000) as u64);
                machine::with(|machine| machine.pass(time));
            }
            72 if self.chance.once_in(40) => self.be_rude(place),
            73 if self.setting.has(Feature::KernelShortages) && self.chance.once_in(10) => {
                let time = Duration::from_micros(self.chance.below(1000) as u64);
                machine::with(|machine| machine.run_out_of_memory(time));
            }
            // Longer than the bus waits until it writes again what the kernel did not take.
            75 if self.setting.has(Feature::KernelShortages) && self.chance.once_in(5) => {
                machine::with(|machine| machine.pass(Duration::from_millis(20)));
            }
            // Where it does not change, nobody sees that it is read again.
            74 if !self.setting.has(Feature::ChangingPolicy) && self.chance.once_in(100) => {
                machine::with(|machine| machine.send_signal(ProcessSignal::HangUp));
            }
            _ => self.speak(place),
        }
        true
    }

    /// How many bytes somebody sends or reads at once: often all, sometimes one.
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
        let mut peer = SimulatedPeer::connect(100 + count as u32, self.anybody(), capacity);
        let serial = peer.next_serial();
        if self.chance.once_in(60) {
            // To others nobody speaks before that.
            peer.is_rude = true;
            let signal =
                Builder::signal(path(PATHS[1]), interface(INTERFACES[0]), member(MEMBERS[0]));
            peer.say(build(signal, serial, &[]));
        }
        peer.send(hello(serial));
        self.peers.push(peer);
    }

    /// What was started comes, ends, or does nothing; tells whether anything was done.
    pub(super) fn attend_services(&mut self) -> bool {
        let started: Vec<_> = machine::with(|machine| {
            let running = machine.processes().filter(|(_, process)| process.end.is_none());
            running.map(|(pid, process)| (pid, process.words.clone())).collect()
        });
        let mut acted = self.name_late_services();
        for (pid, words) in started {
            let named = words.last().and_then(|word| word.to_str()).unwrap_or_default();
            let service = SERVICES.into_iter().find(|(name, _)| *name == named);
            let (named, fate) = service.expect("there are no others");
            match fate {
                Fate::Comes if self.arrived.insert(pid) => {
                    self.connect();
                    let peer = self.peers.last_mut().expect("it has connected");
                    peer.hurry();
                    if self.chance.once_in(2) {
                        self.late.push((peer.socket, named));
                    } else {
                        request_name(peer, named);
                    }
                }
                Fate::Ends => machine::with(|machine| machine.end(pid, ProcessEnd::Exited(1))),
                Fate::Comes | Fate::Hangs => continue,
            }
            acted = true;
        }
        acted
    }

    /// Services that have read their unique name take the other; tells whether any did.
    fn name_late_services(&mut self) -> bool {
        let before = self.late.len();
        for (socket, named) in std::mem::take(&mut self.late) {
            let place = self.peers.iter().position(|peer| peer.socket == socket);
            // It may have left.
            let Some(place) = place else { continue };
            self.begin_shortages(place);
            match self.peers[place].stage {
                Stage::Named(_) => request_name(&mut self.peers[place], named),
                Stage::TurnedAway => {}
                Stage::Greeting { .. } | Stage::Nameless => self.late.push((socket, named)),
            }
        }
        self.late.len() < before
    }

    fn leave(&mut self, place: usize) {
        let mut peer = self.peers.swap_remove(place);
        peer.leave();
        self.former.push(peer);
    }

    /// Something that ends a connection, at once or when time has passed.
    fn be_rude(&mut self, place: usize) {
        let has_descriptors = self.chance.once_in(2);
        let peer = &mut self.peers[place];
        peer.is_rude = true;
        match has_descriptors {
            // Descriptors that belong to no message.
            true => {
                let serial = peer.next_serial();
                peer.send_with(call_bus("GetId", serial, &[]), 2, 0);
            }
            false => peer.say(b"l\x09\x00\x01 this is no message, and never will be".to_vec()),
        }
    }

    /// Remembers calls that came, to answer them.
    fn note_calls(&mut self, place: usize) {
        // Where somebody is told that his call was lost, only who was called answers it.
        let is_strict = self.setting.has(Feature::KernelShortages);
        let peer = &mut self.peers[place];
        let own = match peer.stage {
            Stage::Named(id) => format!(":1.{id}"),
            _ => String::new(),
        };
        for bytes in peer.take_unseen() {
            let message = Message::parse(&bytes).expect("it was checked");
            let caller = message.sender().and_then(|name| id_of(name.as_str()));
            let is_own = message.destination().is_some_and(|name| name.as_str() == own);
            if is_strict && !is_own && self.setting.has(Feature::Eavesdroppers) {
                continue;
            }
            if let (MessageType::MethodCall, true, Some(caller)) =
                (message.message_type(), message.expects_reply(), caller)
            {
                peer.calls.push((caller, message.serial().get()));
            }
        }
    }
}

fn request_name(peer: &mut SimulatedPeer, named: &str) {
    let serial = peer.next_serial();
    let args = [Value::from(named), Value::Uint32(0)];
    peer.send(call_bus("RequestName", serial, &args));
}

/// So seldom somebody connects, but where thousands are to be there.
const CONNECT_ONCE_IN: usize = 20;
