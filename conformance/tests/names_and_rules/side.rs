//! A bus with its clients, and what each of them hears.

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
    /// Takes no part; it asks what must be known. What it sends and gets is not compared.
    clerk: TestPeer,
    seats: Vec<Seat>,
    /// The unique name of each client, also after it has gone.
    names: Vec<String>,
}

/// Where a client sits.
enum Seat {
    Empty,
    Taken(SideClient),
    /// A monitor, which is disconnected when it says anything.
    Watched(TestPeer),
}

struct SideClient {
    peer: TestPeer,
    /// Calls that it got and has not answered.
    calls: VecDeque<PlainMessage>,
}

/// What a client has heard.
#[derive(Default)]
struct HeardMessages {
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

    /// Does something, and gives what each client hears then.
    pub(crate) fn act(&mut self, operation: &Operation) -> Vec<Vec<String>> {
        let mut heard: Vec<HeardMessages> =
            (0..CLIENTS).map(|_| HeardMessages::default()).collect();
        self.start(operation, &mut heard[operation.client]);
        while self.settle(operation.client, &mut heard) {}
        let all = heard.into_iter().zip(&self.names);
        all.map(|(heard, name)| heard.told(name, self.clerk.name())).collect()
    }

    pub(crate) fn stop(self) {
        drop((self.seats, self.clerk));
        self.bus.stop();
    }

    fn start(&mut self, operation: &Operation, heard: &mut HeardMessages) {
        let place = operation.client;
        match &operation.act {
            OperationKind::Connect => self.connect(place),
            OperationKind::Send(message) => self.send(place, message, heard),
            OperationKind::Answer(answer) => self.answer(place, answer),
            OperationKind::Monitor(rules) => self.monitor(place, rules, heard),
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

    fn send(&mut self, place: usize, message: &PlainMessage, heard: &mut HeardMessages) {
        let Some(message) = self.prepared(message) else { return };
        match &mut self.seats[place] {
            Seat::Empty => {}
            Seat::Taken(client) => {
                client.peer.send(message);
            }
            Seat::Watched(peer) => {
                peer.send(message);
                heard.messages.extend(peer.until_closed());
                self.end(place, heard);
            }
        }
    }

    /// The message to send; nothing where an answer is known to differ.
    fn prepared(&mut self, message: &PlainMessage) -> Option<PlainMessage> {
        let message = resolve_message(message, &self.names);
        let places = self.seats.iter().zip(&self.names);
        let mut gone = places.filter(|(seat, _)| !matches!(seat, Seat::Taken(_)));
        if gone.any(|(_, name)| deviations::removes_rule_about(&message, name))
            || deviations::removes_namespace(&message)
        {
            return None;
        }
        Some(match deviations::may_jump_the_queue(&message) {
            Some(name) if self.owners(name) > 1 => deviations::without_queueing(message),
            _ => message,
        })
    }

    /// How many have a name or wait for it.
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

    fn monitor(&mut self, place: usize, rules: &[String], heard: &mut HeardMessages) {
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
                heard.messages.extend(before);
                let is_monitor = answer.kind == kind::RETURN;
                heard.messages.push(answer);
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
        // Of one without a name nobody could tell when the bus has handled what it has sent.
        if let Seat::Taken(SideClient { mut peer, .. }) = seat
            && self.names[place] != no_name(place)
        {
            let numbered = parting.into_iter().map(|message| peer.numbered(message).encode());
            let bytes: Vec<u8> = numbered.flatten().collect();
            peer.send_bytes(&bytes);
        }
        self.wait_until_gone(place);
    }

    /// Waits until the bus has handled what a client has sent, and then until the others have got
    /// what came of it. Gives whether anybody was disconnected, of which more may come.
    fn settle(&mut self, first: usize, heard: &mut [HeardMessages]) -> bool {
        let mut ended = self.hear(&[first], heard);
        let all: Vec<_> = (0..CLIENTS).collect();
        ended |= self.hear(&all, heard);
        ended
    }

    fn hear(&mut self, places: &[usize], heard: &mut [HeardMessages]) -> bool {
        let barrier = self.clerk.send(barrier(self.clerk.name()));
        let pings: Vec<_> = places.iter().map(|place| self.seats[*place].ping()).collect();
        let mut ended = false;
        for (place, ping) in places.iter().zip(pings) {
            let heard = &mut heard[*place];
            let closed = match &mut self.seats[*place] {
                Seat::Empty => false,
                Seat::Taken(client) => client.hear(ping, self.clerk.name(), heard),
                Seat::Watched(peer) => watch(peer, barrier, heard),
            };
            self.learn_name(*place, heard);
            if closed {
                self.end(*place, heard);
                ended = true;
            }
        }
        ended
    }

    fn learn_name(&mut self, place: usize, heard: &HeardMessages) {
        let acquired = heard.messages.iter().find(|message| message.member() == "NameAcquired");
        if let Some(name) = acquired.map(PlainMessage::first_text)
            && name.starts_with(':')
            && let Seat::Taken(_) = self.seats[place]
        {
            name.clone_into(&mut self.names[place]);
        }
    }

    fn end(&mut self, place: usize, heard: &mut HeardMessages) {
        heard.end = Some(SideEnd);
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
    /// All that comes before the answer to a ping; gives whether the bus closes instead. What the
    /// clerk asks, as often as it must, is nobody's to answer.
    fn hear(&mut self, ping: u32, clerk: &str, heard: &mut HeardMessages) -> bool {
        while let Some(message) = self.peer.receive() {
            if message.is_pong(ping) {
                return false;
            }
            let is_for_answer = message.sender() != clerk && !deviations::makes_monitor(&message);
            if message.kind == kind::CALL && is_for_answer {
                self.calls.push_back(message.clone());
            }
            heard.messages.push(message);
        }
        true
    }
}

/// All that a monitor sees before the barrier; gives whether the bus closes instead.
fn watch(peer: &mut TestPeer, barrier: u32, heard: &mut HeardMessages) -> bool {
    while let Some(message) = peer.receive() {
        let is_barrier = message.get(field::INTERFACE) == Some(&PlainValue::text(BARRIER));
        if is_barrier && message.serial == barrier {
            return false;
        }
        heard.messages.push(message);
    }
    true
}

impl HeardMessages {
    /// As text, without what the clerk had to do with.
    fn told(self, name: &str, clerk: &str) -> Vec<String> {
        let clerk = PlainValue::text(clerk);
        let is_his = |message: &PlainMessage| {
            let ends = [field::SENDER, field::DESTINATION];
            ends.iter().any(|end| message.get(*end) == Some(&clerk))
        };
        let messages = self.messages.into_iter().filter(|message| !is_his(message));
        let messages = deviations::normalised(messages.collect(), name);
        let mut told: Vec<_> = messages.iter().map(line).collect();
        told.extend(self.end.map(|SideEnd| "closed".to_owned()));
        told
    }
}

/// A message, with its serial when that is not the bus's.
fn line(message: &PlainMessage) -> String {
    match message.sender() {
        BUS_NAME | "" => message.compared(),
        _ => format!("{} serial {}", message.compared(), message.serial),
    }
}

/// Monitors see it, and by it that they have seen all before it.
fn barrier(clerk: &str) -> PlainMessage {
    PlainMessage::signal("/", BARRIER, "Barrier").text(field::DESTINATION, clerk)
}

/// The name of a client that has none yet; the bus does not get that far.
fn no_name(place: usize) -> String {
    format!(":1.99999{place}")
}

/// A limit that is met; those of names and of rules count differently, see docs/deviations.md.
fn config() -> TestConfig {
    TestConfig::session().limit("max_replies_per_connection", 5)
}

const BARRIER: &str = "differential.Barrier";
