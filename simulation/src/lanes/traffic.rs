//! The messages that programs with lanes exchange, and the calls of the bus.

use std::fs::File;
use std::os::fd::OwnedFd;

use client::core::{CallHandle, SignalDelivery};
use client::wire::match_rule::MatchRule;
use client::wire::message::{Builder, Flags, MessageType};
use client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use unix::clock;

use super::knowledge::MessageArguments;
use super::{ActiveProgram, BusCall, LaneWorld, ProgramState};

/// What a message is sent to.
enum MessageRecipient {
    Program { number: u32, name: Box<str> },
    Name,
}

impl LaneWorld {
    /// Sends a random message.
    pub(super) fn send_random(&mut self, place: usize) {
        let ProgramState::Connected(program) = &self.programs[place].state else { return };
        let is_narrow = self.programs[place].is_narrow;
        let backlog_max = if is_narrow { NARROW_BACKLOG_MAX } else { BACKLOG_MAX };
        if program.connection.core.waiting_len() > backlog_max {
            return;
        }
        // Half of the programs mostly use their lanes. The messages of others often wait for the bus.
        let often = if self.programs[place].number.is_multiple_of(2) { 200 } else { 20 };
        match self.chance.below(often) {
            0 => self.broadcast(place),
            1 => self.call_bus(place),
            2 => self.request_or_release_name(place),
            3 => self.send_to_name(place),
            _ => self.send_to_program(place),
        }
    }

    /// The arguments of a message to these programs.
    fn arguments(&mut self, place: usize, mut recipients: Vec<u32>) -> MessageArguments {
        // A program that calls the name can be its owner.
        recipients.retain(|recipient| *recipient != self.programs[place].number);
        let number = self.next_message;
        self.next_message += 1;
        self.tally.borrow_mut().sent += 1;
        let program = &mut self.programs[place];
        program.knowledge.note_sent(program.number, &recipients);
        let known = program.knowledge.of_message();
        let len = match self.chance.below(200) {
            // It would take a narrow connection too long.
            _ if program.is_narrow => self.chance.below(100),
            // Too long for a lane.
            0 => 70_000,
            1..4 => 30_000,
            _ => self.chance.below(100),
        };
        let name_owners = program.knowledge.name_owners;
        (number, program.number, recipients, known, name_owners, vec![7; len])
    }

    fn send_to_program(&mut self, place: usize) {
        let own = self.programs[place].number;
        let others: Vec<(u32, Box<str>)> = self
            .connected()
            .filter(|(number, _)| *number != own)
            .map(|(number, program)| (number, program.connection.name.as_str().into()))
            .collect();
        if others.is_empty() {
            return;
        }
        // Mostly the same, so that it is worth to ask for a lane.
        let at = if self.chance.once_in(10) { self.chance.below(others.len()) } else { 0 };
        let (number, name) = others[at].clone();
        self.send_to(place, MessageRecipient::Program { number, name });
    }

    fn send_to_name(&mut self, place: usize) {
        self.send_to(place, MessageRecipient::Name);
    }

    /// Sends a call, with or without a reply, or a signal.
    fn send_to(&mut self, place: usize, recipient: MessageRecipient) {
        let (number, name) = match &recipient {
            MessageRecipient::Program { number, name } => (Some(*number), &**name),
            MessageRecipient::Name => (None, NAME),
        };
        let arguments = self.arguments(place, number.into_iter().collect());
        let descriptors = if self.chance.once_in(20) { 1 + self.chance.below(2) } else { 0 };
        let open = || OwnedFd::from(File::open("/dev/null").expect("/dev/null exists"));
        let descriptors: Vec<OwnedFd> = (0..descriptors).map(|_| open()).collect();
        let to = BusName::new(name).expect("a valid name");
        let call = Builder::method_call(PATH, PASSED).interface(INTERFACE).destination(to);
        let kind = self.chance.below(4);
        let Some(program) = self.program(place) else { return };
        program.connection.sent_at = Some(clock::monotonic());
        let core = &mut program.connection.core;
        let sent = match kind {
            0 => {
                let signal = Builder::signal(PATH, INTERFACE, SENT).destination(to);
                core.send(&signal, &arguments, descriptors).map(drop)
            }
            1 => {
                let call = call.flags(Flags::NO_REPLY_EXPECTED);
                core.send(&call, &arguments, descriptors).map(drop)
            }
            _ => {
                let call = core.call(&call, &arguments, descriptors, None);
                call.map(|call| program.pending.extend([(call, number)]))
            }
        };
        sent.expect("the connection lives");
    }

    fn broadcast(&mut self, place: usize) {
        let own = self.programs[place].number;
        let recipients =
            self.connected().filter(|(number, program)| *number != own && program.is_subscribed);
        let recipients = recipients.map(|(number, _)| number).collect();
        let arguments = self.arguments(place, recipients);
        let signal = Builder::signal(PATH, INTERFACE, SENT);
        let Some(program) = self.program(place) else { return };
        let sent = program.connection.core.send(&signal, &arguments, Vec::new());
        sent.expect("the connection lives");
    }

    /// Calls the bus, so that messages go to the bus until it has routed this one.
    fn call_bus(&mut self, place: usize) {
        let call = bus_method("GetId").flags(Flags::NO_REPLY_EXPECTED);
        let Some(program) = self.program(place) else { return };
        program.connection.core.send(&call, &(), Vec::new()).expect("the connection lives");
    }

    fn request_or_release_name(&mut self, place: usize) {
        let requests = self.chance.once_in(2);
        let Some(program) = self.program(place) else { return };
        if program.bus_calls.values().any(|call| *call != BusCall::Subscribe) {
            // Otherwise the order of the owners would not be known.
            return;
        }
        let core = &mut program.connection.core;
        let (call, kind) = match requests {
            true => {
                let arguments = (NAME, DO_NOT_QUEUE);
                (
                    core.call(&bus_method("RequestName"), &arguments, Vec::new(), None),
                    BusCall::RequestName,
                )
            }
            false => {
                let call = bus_method("ReleaseName");
                (core.call(&call, &(NAME,), Vec::new(), None), BusCall::ReleaseName)
            }
        };
        program.bus_calls.insert(call.expect("the connection lives"), kind);
    }

    /// Answers a call, if there is one.
    pub(super) fn answer(&mut self, place: usize) {
        let Some(program) = self.program(place) else { return };
        if program.requests.is_empty() {
            return;
        }
        let count = program.requests.len();
        let at = self.chance.below(count);
        let Some(program) = self.program(place) else { return };
        let (request, caller) = program.requests.swap_remove(at);
        let arguments = self.arguments(place, vec![caller]);
        let Some(program) = self.program(place) else { return };
        program.connection.sent_at = None;
        let reply = program.connection.core.send(&request.reply(), &arguments, Vec::new());
        reply.expect("the connection lives");
    }

    fn program(&mut self, place: usize) -> Option<&mut ActiveProgram> {
        match &mut self.programs[place].state {
            ProgramState::Connecting(_) => None,
            ProgramState::Connected(program) => Some(program),
        }
    }

    pub(super) fn take_reply(&mut self, place: usize, call: CallHandle) {
        let Some(program) = self.program(place) else { return };
        let outcome = program.connection.core.poll_reply(call).expect("the reply has arrived");
        let reply = outcome.unwrap_or_else(|reason| panic!("a call got no reply: {reason}"));
        let is_error = reply.message_type() == MessageType::Error;
        if let Some(kind) = program.bus_calls.remove(&call) {
            let code = reply.read::<(u32,)>().ok();
            match kind {
                BusCall::Subscribe => program.is_subscribed = true,
                BusCall::RequestName if code == Some((PRIMARY_OWNER,)) => {
                    self.name_owners += 1;
                    let count = self.name_owners;
                    if let Some(program) = self.program(place) {
                        program.last_owned = count;
                    }
                    self.programs[place].knowledge.name_owners = count;
                }
                BusCall::RequestName | BusCall::ReleaseName => {}
            }
            return;
        }
        let callee = program.pending.remove(&call).expect("a call of this program");
        if !is_error {
            let arguments = reply.read::<MessageArguments>().expect("the arguments of a reply");
            return self.receive(place, &arguments);
        }
        if callee.is_some_and(|callee| !self.departed.contains(&callee)) {
            let error = reply.remote_error();
            self.fail(&format!("a call to program {callee:?} got the error {error:?}"));
        }
    }

    pub(super) fn take_signal(&mut self, place: usize) {
        let Some(program) = self.program(place) else { return };
        let signal = program.connection.core.poll_signal(program.subscription);
        let Some(SignalDelivery::Signal(signal)) = signal else {
            self.fail("a signal was lost");
        };
        let arguments = signal.read::<MessageArguments>().expect("the arguments of a signal");
        self.receive(place, &arguments);
    }

    pub(super) fn take_request(&mut self, place: usize) {
        let Some(program) = self.program(place) else { return };
        let request = program.connection.core.poll_request().expect("a call has arrived");
        let arguments = request.read::<MessageArguments>().expect("the arguments of a call");
        let (_, caller, _, _, name_owners, _) = &arguments;
        let to_name = request.message().destination().is_some_and(|to| to.as_str() == NAME);
        let last_owned = program.last_owned;
        if request.expects_reply() {
            program.requests.push((request, *caller));
        }
        if to_name && last_owned < *name_owners {
            self.fail(&format!(
                "the call {arguments:?} went to owner {last_owned} of the name, and its caller knew \
                 of owner {name_owners}"
            ));
        }
        self.receive(place, &arguments);
    }

    fn receive(&mut self, place: usize, arguments: &MessageArguments) {
        let program = &mut self.programs[place];
        let (number, sender, ..) = arguments;
        if *sender == program.number {
            return;
        }
        if let Err(violation) = program.knowledge.receive(program.number, arguments) {
            self.fail(&violation);
        }
        self.received.insert(*number);
        self.tally.borrow_mut().received += 1;
    }
}

/// The rule for all signals of programs.
pub(super) fn rule() -> MatchRule {
    MatchRule::parse("type='signal',interface='com.example.Lanes'").expect("a valid rule")
}

fn bus_method(name: &str) -> Builder<'_> {
    let member = MemberName::new(name).expect("a valid name");
    let bus = BusName::new("org.freedesktop.DBus").expect("a valid name");
    Builder::method_call(ObjectPath::literal("/org/freedesktop/DBus"), member)
        .interface(InterfaceName::literal("org.freedesktop.DBus"))
        .destination(bus)
}

/// The name that programs own by turns.
const NAME: &str = "com.example.Lanes.Name";

const INTERFACE: InterfaceName<'static> = InterfaceName::literal("com.example.Lanes");
const PATH: ObjectPath<'static> = ObjectPath::literal("/");
const PASSED: MemberName<'static> = MemberName::literal("Passed");
const SENT: MemberName<'static> = MemberName::literal("Sent");

/// The flag of `RequestName` with which a program does not wait for the name.
const DO_NOT_QUEUE: u32 = 4;

/// The reply of `RequestName` if the caller owns the name.
const PRIMARY_OWNER: u32 = 1;

/// The number of bytes in the queue of a program from which on it sends no more.
const BACKLOG_MAX: usize = 300_000;

/// The same for a narrow connection.
const NARROW_BACKLOG_MAX: usize = 3000;
