//! What somebody may do.

use std::time::Duration;

use diligence_testkit::world::{build, interface, member, name, path};
use kernel::machine::{self, End};
use wire::Message;
use wire::body::Value;
use wire::endian::Endian;
use wire::message::{Builder, Flags, MessageType};
use wire::names::ErrorName;

use super::choice::{INTERFACES, MEMBERS, NAMES, PATHS, WORDS};
use super::message::{call_bus, hello};
use super::{Phase, World};
use crate::oracle::id_of;
use crate::peer::{Mood, Peer, Stage};
use crate::setting::{Fate, SERVICES, Setting};

impl World {
    /// One step.
    pub(super) fn be_busy(&mut self) -> bool {
        let step = {
            let mut tally = self.tally.borrow_mut();
            tally.steps += 1;
            tally.steps
        };
        if step >= self.plan.steps {
            self.phase = Phase::Quiet;
            // What is left should not take for ever, byte by byte.
            self.peers.iter_mut().for_each(Peer::hurry);
            return true;
        }
        let most = self.plan.peers.min(self.setting.peers_max());
        if self.peers.is_empty() || (self.peers.len() < most && self.chance.once_in(20)) {
            self.connect();
            return true;
        }
        if self.setting == Setting::Starting && self.chance.once_in(50) {
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
                    self.note_calls(place);
                }
            }
            60..70 => {
                self.listen();
            }
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
        let mut peer = Peer::connect(100 + count as u32, capacity);
        let serial = peer.next_serial();
        if self.chance.once_in(60) {
            // To others nobody speaks before that.
            peer.is_rude = true;
            let signal =
                Builder::signal(path(PATHS[1]), interface(INTERFACES[0]), member(MEMBERS[0]));
            peer.say(build(signal, serial, &[]), 0);
        }
        peer.send(hello(serial), 0);
        self.peers.push(peer);
    }

    /// What was started comes, ends, or does nothing; tells whether anything was done.
    pub(super) fn attend_services(&mut self) -> bool {
        let started: Vec<_> = machine::with(|machine| {
            let running = machine.processes().filter(|(_, process)| process.end.is_none());
            running.map(|(pid, process)| (pid, process.words.clone())).collect()
        });
        let mut acted = false;
        for (pid, words) in started {
            let named = words.last().and_then(|word| word.to_str()).unwrap_or_default();
            let fate = SERVICES.iter().find(|(name, _)| *name == named).map(|(_, fate)| *fate);
            match fate.expect("there are no others") {
                Fate::Comes if self.arrived.insert(pid) => {
                    self.connect();
                    let peer = self.peers.last_mut().expect("it has connected");
                    let serial = peer.next_serial();
                    let args = [Value::from(named), Value::Uint32(0)];
                    peer.send(call_bus("RequestName", serial, &args), 0);
                    peer.hurry();
                }
                Fate::Ends => machine::with(|machine| machine.end(pid, End::Exited(1))),
                Fate::Comes | Fate::Hangs => continue,
            }
            acted = true;
        }
        acted
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
                peer.send(call_bus("GetId", serial, &[]), 2);
            }
            false => peer.say(b"l\x09\x00\x01 this is no message, and never will be".to_vec(), 0),
        }
    }

    /// Remembers calls that came, to answer them.
    fn note_calls(&mut self, place: usize) {
        let peer = &mut self.peers[place];
        for bytes in peer.take_unseen() {
            let message = Message::parse(&bytes).expect("it was checked");
            let caller = message.sender().and_then(|name| id_of(name.as_str()));
            if let (MessageType::MethodCall, true, Some(caller)) =
                (message.message_type(), message.expects_reply(), caller)
            {
                peer.calls.push((caller, message.serial().get()));
            }
        }
    }

    /// Says something, if it has a name; who has none yet says more behind the question for it.
    fn speak(&mut self, place: usize) {
        if self.peers[place].backlog() > self.setting.backlog_max() || self.peers[place].is_rude {
            return;
        }
        match self.chance.below(10) {
            0..3 => self.signal(place),
            3..6 => self.call(place),
            6..8 => self.answer(place),
            _ => self.ask_bus(place),
        }
    }

    fn signal(&mut self, place: usize) {
        let (path, of, named) = self.member();
        let mut signal = Builder::signal(path, of, named);
        let to = self.somebody();
        if self.chance.once_in(4) {
            signal = signal.destination(name(&to));
        }
        // Whoever it says that it is, the bus knows better.
        if self.chance.once_in(10) {
            signal = signal.sender(name(":1.1"));
        }
        let args = self.arguments();
        self.send(place, signal, &args);
    }

    fn call(&mut self, place: usize) {
        let (path, of, named) = self.member();
        let to = self.somebody();
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

    /// Answers a call, or what nobody has asked.
    fn answer(&mut self, place: usize) {
        let made_up = (1 + self.chance.below(9) as u64, 2 + self.chance.below(50) as u32);
        let asked = self.peers[place].calls.pop();
        let (caller, call) = match asked {
            Some(asked) if !self.chance.once_in(20) => asked,
            _ if self.chance.once_in(3) => made_up,
            _ => return,
        };
        let call = call.try_into().expect("serials are not 0");
        let to = format!(":1.{caller}");
        let answer = match self.chance.once_in(3) {
            true => Builder::error(ErrorName::new("com.example.Error").expect("it is one"), call),
            false => Builder::method_return(call),
        };
        let args = self.arguments();
        self.send(place, answer.destination(name(&to)), &args);
    }

    fn ask_bus(&mut self, place: usize) {
        let rule = self.chance.below(self.rules.len());
        let rule = Value::from(self.rules[rule].text().as_str());
        let named = self.somebody();
        let own = Value::from(self.pick(&NAMES));
        let flags = Value::Uint32(self.chance.below(8) as u32);
        let (method, args) = match self.chance.below(8) {
            0 if self.chance.once_in(20) => ("ReloadConfig", Vec::new()),
            0 | 1 => ("AddMatch", vec![rule]),
            2 => ("RemoveMatch", vec![rule]),
            3 | 4 => ("RequestName", vec![own, flags]),
            5 => ("ReleaseName", vec![own]),
            6 => ("NameHasOwner", vec![Value::from(named.as_str())]),
            _ => ("GetNameOwner", vec![Value::from(named.as_str())]),
        };
        let serial = self.serial(place);
        let message = call_bus(method, serial, &args);
        self.peers[place].send(message, 0);
    }

    fn send(&mut self, place: usize, message: Builder<'_>, args: &[Value]) {
        let endian = if self.chance.once_in(5) { Endian::Big } else { Endian::Little };
        let serial = self.serial(place);
        let descriptors = if self.chance.once_in(12) { 1 + self.chance.below(3) } else { 0 };
        let message = message.endian(endian).unix_fds(descriptors as u32);
        let bytes = build(message, serial, args);
        self.peers[place].send(bytes, descriptors);
    }

    /// The next serial, or one that was there before.
    fn serial(&mut self, place: usize) -> u32 {
        if self.chance.once_in(30) {
            return self.peers[place].last_serial();
        }
        self.peers[place].next_serial()
    }

    /// Somebody who has a name, or had one, or has none.
    fn somebody(&mut self) -> String {
        match self.chance.below(5) {
            0 if self.setting == Setting::Starting => {
                SERVICES[self.chance.below(SERVICES.len())].0.to_owned()
            }
            0 | 1 => self.pick(&NAMES).to_owned(),
            2 => format!(":1.{}", 1 + self.chance.below(self.tally.borrow().connections + 1)),
            _ => {
                let place = self.chance.below(self.peers.len());
                match self.peers[place].stage {
                    Stage::Named(id) => format!(":1.{id}"),
                    _ => "com.nobody".to_owned(),
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

    fn pick<const COUNT: usize>(&mut self, texts: &[&'static str; COUNT]) -> &'static str {
        texts[self.chance.below(COUNT)]
    }
}
