//! A bus with its clients, and the messages that each of them receives.

use std::collections::VecDeque;

use conformance::differential::start_reference;
use conformance::{
    BUS_NAME, BusUnderTest, PlainMessage, PlainValue, ReceivedDescriptors, TestConfig, TestPeer,
    eventually, field, kind,
};

use crate::operation::{Operation, OperationKind, resolve, resolve_message};
use crate::{CLIENTS, deviations};

/// One of the two buses.
pub(crate) struct NamesSide {
    bus: BusUnderTest,
    /// Makes calls on behalf of the test. Its messages are not compared.
    clerk: TestPeer,
    seats: Vec<Seat>,
    /// The unique name of each client, also after its disconnect.
    names: Vec<String>,
}

/// The state of a client.
enum Seat {
    Empty,
    Taken(SideClient),
    /// A monitor, which the bus disconnects if it sends a message.
    Watched(TestPeer),
}

struct SideClient {
    peer: TestPeer,
    /// Received calls without a reply so far.
    calls: VecDeque<PlainMessage>,
}

/// The messages that a client has received.
#[derive(Default)]
struct ReceivedMessages {
    messages: Vec<PlainMessage>,
    end: Option<SideEnd>,
}

/// The bus has closed the connection.
struct SideEnd;

impl NamesSide {
    pub(crate) fn ours() -> Self {
        Self::new(BusUnderTest::start(&config()))
    }

    pub(crate) fn reference() -> Self {
        Self::new(start_reference(&config()))
    }

    fn new(bus: BusUnderTest) -> Self {
        let clerk = bus.peer();
        let seats = (0..CLIENTS).map(|_| Seat::Empty).collect();
        let names = (0..CLIENTS).map(no_name).collect();
        Self { bus, clerk, seats, names }
    }

    /// Performs an operation, and returns the messages that each client receives because of it.
    pub(crate) fn act(&mut self, operation: &Operation) -> Vec<Vec<String>> {
        let mut received: Vec<ReceivedMessages> =
            (0..CLIENTS).map(|_| ReceivedMessages::default()).collect();
        self.start(operation, &mut received[operation.client]);
        while self.settle(operation.client, &mut received) {}
        let all = received.into_iter().zip(&self.names);
        all.map(|(received, name)| received.lines(name, self.clerk.name())).collect()
    }

    pub(crate) fn stop(self) {
        drop((self.seats, self.clerk));
        self.bus.stop();
    }

    fn start(&mut self, operation: &Operation, received: &mut ReceivedMessages) {
        let place = operation.client;
        match &operation.act {
            OperationKind::Connect => self.connect(place),
            OperationKind::Send(message) => self.send(place, message, received),
            OperationKind::Answer(answer) => self.answer(place, answer),
            OperationKind::Monitor(rules) => self.monitor(place, rules, received),
            OperationKind::Leave(parting) => self.leave(place, parting),
        }
    }

    fn connect(&mut self, place: usize) {
        if matches!(self.seats[place], Seat::Empty) {
            let peer = TestPeer::before_hello(self.bus.address(), ReceivedDescriptors::Negotiated);
            self.seats[place] = Seat::Taken(SideClient { peer, calls: VecDeque::new() });
            self.names[place] = no_name(place);
        }
    }

    fn send(&mut self, place: usize, message: &PlainMessage, received: &mut ReceivedMessages) {
        let Some(message) = self.prepared(message) else { return };
        if self.names[place] == no_name(place) && self.is_to_absent(&message) {
            return;
        }
        match &mut self.seats[place] {
            Seat::Empty => {}
            Seat::Taken(client) => {
                client.peer.send(message);
            }
            Seat::Watched(peer) => {
                peer.send(message);
                received.messages.extend(peer.until_closed());
                self.end(place, received);
            }
        }
    }

    /// The message to send; `None` where the buses are known to reply differently.
    fn prepared(&mut self, message: &PlainMessage) -> Option<PlainMessage> {
        let message = resolve_message(message, &self.names);
        if self.absent().any(|name| deviations::removes_rule_about(&message, name))
            || deviations::removes_namespace(&message)
        {
            return None;
        }
        Some(match deviations::may_jump_the_queue(&message) {
            Some(name) if self.owners(name) > 1 => deviations::without_queueing(message),
            _ => message,
        })
    }

    /// Returns true if a message is addressed to a disconnected peer. If its sender has not called
    /// Hello, only monitors get it; see [`deviations::removes_rule_about`].
    fn is_to_absent(&self, message: &PlainMessage) -> bool {
        let destination = message.get(field::DESTINATION).and_then(PlainValue::as_str);
        self.absent().any(|name| destination == Some(name))
    }

    /// The unique names of the clients that are disconnected or monitors.
    fn absent(&self) -> impl Iterator<Item = &str> {
        let places = self.seats.iter().zip(&self.names);
        let absent = places.filter(|(seat, _)| !matches!(seat, Seat::Taken(_)));
        absent.map(|(_, name)| name.as_str())
    }

    /// The number of peers that own a name or wait for it.
    fn owners(&mut self, name: &str) -> usize {
        let answer = self.clerk.ask_bus("ListQueuedOwners", name);
        answer.body.first().and_then(PlainValue::elements).map_or(0, <[PlainValue]>::len)
    }

    fn answer(&mut self, place: usize, answer: &PlainMessage) {
        let Seat::Taken(client) = &mut self.seats[place] else { return };
        let Some(call) = client.calls.pop_front() else { return };
        let serial = PlainValue::U32(call.serial);
        let answer = answer.clone().field(field::REPLY_SERIAL, serial);
        client.peer.send(answer.text(field::DESTINATION, call.sender()));
    }

    fn monitor(&mut self, place: usize, rules: &[String], received: &mut ReceivedMessages) {
        let mut rules: Vec<_> = rules.iter().map(|rule| resolve(rule, &self.names)).collect();
        if !rules.is_empty() {
            rules.push(format!("interface='{BARRIER}'"));
        }
        let rules: Vec<_> = rules.iter().map(String::as_str).collect();
        let interface = "org.freedesktop.DBus.Monitoring";
        let call = PlainMessage::to_bus("BecomeMonitor").text(field::INTERFACE, interface);
        let call = call.arg(PlainValue::texts(&rules)).arg(PlainValue::U32(0));
        match std::mem::replace(&mut self.seats[place], Seat::Empty) {
            Seat::Taken(mut client) => {
                let (answer, before) = client.peer.call_and_collect(call);
                received.messages.extend(before);
                let is_monitor = answer.kind == kind::RETURN;
                received.messages.push(answer);
                let peer = client.peer;
                self.seats[place] = match is_monitor {
                    true => Seat::Watched(peer),
                    false => Seat::Taken(SideClient { peer, calls: client.calls }),
                };
            }
            seat => self.seats[place] = seat,
        }
    }

    fn leave(&mut self, place: usize, parting: &[PlainMessage]) {
        let parting: Vec<_> = parting.iter().filter_map(|message| self.prepared(message)).collect();
        let seat = std::mem::replace(&mut self.seats[place], Seat::Empty);
        // For a client without a name, the test cannot find out when the bus has handled its
        // messages.
        if let Seat::Taken(SideClient { mut peer, .. }) = seat
            && self.names[place] != no_name(place)
        {
            let numbered = parting.into_iter().map(|message| peer.numbered(message).encode());
            let bytes: Vec<u8> = numbered.flatten().collect();
            peer.send_bytes(&bytes);
        }
        self.wait_until_gone(place);
    }

    /// Waits until the bus has handled the messages of a client, and then until the others have
    /// received the results. Returns true if a peer was disconnected, which can cause more
    /// messages.
    fn settle(&mut self, first: usize, received: &mut [ReceivedMessages]) -> bool {
        let mut ended = self.hear(&[first], received);
        let all: Vec<_> = (0..CLIENTS).collect();
        ended |= self.hear(&all, received);
        ended
    }

    fn hear(&mut self, places: &[usize], received: &mut [ReceivedMessages]) -> bool {
        let barrier = self.clerk.send(barrier(self.clerk.name()));
        let pings: Vec<_> = places.iter().map(|place| self.seats[*place].ping()).collect();
        let mut ended = false;
        for (place, ping) in places.iter().zip(pings) {
            let received = &mut received[*place];
            let closed = match &mut self.seats[*place] {
                Seat::Empty => false,
                Seat::Taken(client) => client.hear(ping, self.clerk.name(), received),
                Seat::Watched(peer) => watch(peer, barrier, received),
            };
            self.learn_name(*place, received);
            if closed {
                self.end(*place, received);
                ended = true;
            }
        }
        ended
    }

    fn learn_name(&mut self, place: usize, received: &ReceivedMessages) {
        let acquired = received.messages.iter().find(|message| message.member() == "NameAcquired");
        if let Some(name) = acquired.map(PlainMessage::first_text)
            && name.starts_with(':')
            && let Seat::Taken(_) = self.seats[place]
        {
            name.clone_into(&mut self.names[place]);
        }
    }

    fn end(&mut self, place: usize, received: &mut ReceivedMessages) {
        received.end = Some(SideEnd);
        self.seats[place] = Seat::Empty;
        self.wait_until_gone(place);
    }

    fn wait_until_gone(&mut self, place: usize) {
        let name = self.names[place].clone();
        eventually("the end of a connection", || {
            let answer = self.clerk.ask_bus("NameHasOwner", &name);
            (answer.body == [PlainValue::Bool(false)]).then_some(())
        });
    }
}

impl Seat {
    fn ping(&mut self) -> u32 {
        match self {
            Self::Taken(client) => client.peer.ping(),
            Self::Empty | Self::Watched(_) => 0,
        }
    }
}

impl SideClient {
    /// All messages before the reply to a ping; returns true if the bus closes the connection
    /// instead. Calls of the clerk are not counted as pending, because it repeats them as often as
    /// it needs.
    fn hear(&mut self, ping: u32, clerk: &str, received: &mut ReceivedMessages) -> bool {
        while let Some(message) = self.peer.receive() {
            if message.is_pong(ping) {
                return false;
            }
            let is_for_answer = message.sender() != clerk && !deviations::makes_monitor(&message);
            if message.kind == kind::CALL && is_for_answer {
                self.calls.push_back(message.clone());
            }
            received.messages.push(message);
        }
        true
    }
}

/// All messages that a monitor sees before the marker; returns true if the bus closes the
/// connection instead.
fn watch(peer: &mut TestPeer, barrier: u32, received: &mut ReceivedMessages) -> bool {
    while let Some(message) = peer.receive() {
        let is_barrier = message.get(field::INTERFACE) == Some(&PlainValue::text(BARRIER));
        if is_barrier && message.serial == barrier {
            return false;
        }
        received.messages.push(message);
    }
    true
}

impl ReceivedMessages {
    /// The messages as text, without the messages of the clerk.
    fn lines(self, name: &str, clerk: &str) -> Vec<String> {
        let clerk = PlainValue::text(clerk);
        let is_of_clerk = |message: &PlainMessage| {
            let ends = [field::SENDER, field::DESTINATION];
            ends.iter().any(|end| message.get(*end) == Some(&clerk))
        };
        let messages = self.messages.into_iter().filter(|message| !is_of_clerk(message));
        let messages = deviations::normalized(messages.collect(), name);
        let mut lines: Vec<_> = messages.iter().map(line).collect();
        lines.extend(self.end.map(|SideEnd| "closed".to_owned()));
        lines
    }
}

/// A message, with its serial unless it comes from the bus.
fn line(message: &PlainMessage) -> String {
    match message.sender() {
        BUS_NAME | "" => message.compared(),
        _ => format!("{} serial {}", message.compared(), message.serial),
    }
}

/// A message that monitors see, which shows that they have seen all messages before it.
fn barrier(clerk: &str) -> PlainMessage {
    PlainMessage::signal("/", BARRIER, "Barrier").text(field::DESTINATION, clerk)
}

/// A name for a client that has none yet; the bus disconnects it before it uses the name.
fn no_name(place: usize) -> String {
    format!(":1.99999{place}")
}

/// Limits that the clients reach; the limits of names and of rules count differently, see
/// docs/deviations.md.
fn config() -> TestConfig {
    TestConfig::session().limit("max_replies_per_connection", 5)
}

const BARRIER: &str = "differential.Barrier";
