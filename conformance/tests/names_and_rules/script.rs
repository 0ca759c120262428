//! Random sequences of operations.

use conformance::differential::SeededRandom;
use conformance::{BUS_NAME, BUS_PATH, PlainMessage, PlainValue, WireByteOrder, field, flag, kind};

use crate::operation::{Operation, OperationKind, stand_in};
use crate::rules::{GeneratedRule, any_rule};
use crate::{CLIENTS, deviations};

/// Generates a sequence of operations.
pub(crate) struct NamesScript {
    random: SeededRandom,
    /// The rules that each client has added, so that it can remove them.
    rules: Vec<Vec<GeneratedRule>>,
    /// True for clients that are monitors, if their rules are valid.
    watching: [bool; CLIENTS],
}

impl NamesScript {
    pub(crate) fn new(random: SeededRandom) -> Self {
        Self { random, rules: vec![Vec::new(); CLIENTS], watching: [false; CLIENTS] }
    }

    pub(crate) fn operations(&mut self, count: usize) -> Vec<Operation> {
        let mut operations = Vec::new();
        (0..CLIENTS).for_each(|client| operations.extend(joins(client)));
        while operations.len() < count {
            let client = self.somebody();
            let next = self.next(client);
            self.watching[client] = next.iter().any(|operation| operation.is_to_monitor());
            operations.extend(next);
        }
        operations
    }

    /// A random client, rarely a monitor, because every message from a monitor disconnects it.
    fn somebody(&mut self) -> usize {
        let client = self.random.below(CLIENTS);
        match self.watching[client] && !self.random.once_in(8) {
            true => (client + 1) % CLIENTS,
            false => client,
        }
    }

    fn next(&mut self, client: usize) -> Vec<Operation> {
        let act = match self.random.below(40) {
            // A client that is already connected ignores these operations.
            0..4 => return joins(client).to_vec(),
            4 if self.random.once_in(2) => OperationKind::Connect,
            4 => OperationKind::Leave(self.parting(client)),
            5 => OperationKind::Monitor(self.monitor_rules()),
            6..13 => OperationKind::Send(self.rule_call(client)),
            13..21 => OperationKind::Send(self.name_call()),
            21..24 => OperationKind::Send(self.other_call()),
            24..27 => OperationKind::Answer(self.answer()),
            _ => OperationKind::Send(self.message()),
        };
        vec![Operation { client, act }]
    }

    fn parting(&mut self, client: usize) -> Vec<PlainMessage> {
        (0..self.random.below(3)).map(|_| self.any_message(client)).collect()
    }

    fn any_message(&mut self, client: usize) -> PlainMessage {
        match self.random.below(4) {
            0 => self.rule_call(client),
            1 => self.name_call(),
            _ => self.message(),
        }
    }

    fn monitor_rules(&mut self) -> Vec<String> {
        let rules = (0..self.random.below(3)).map(|_| any_rule(&mut self.random));
        rules.filter(|rule| !deviations::watches_owner(rule)).collect()
    }

    fn rule_call(&mut self, client: usize) -> PlainMessage {
        if self.random.once_in(4) {
            return PlainMessage::asking("RemoveMatch", &self.old_rule(client));
        }
        if self.random.once_in(4) {
            return PlainMessage::asking("AddMatch", &any_rule(&mut self.random));
        }
        let rule = GeneratedRule::random(&mut self.random);
        let text = rule.text(&mut self.random);
        self.rules[client].push(rule);
        PlainMessage::asking("AddMatch", &text)
    }

    /// Mostly a rule that was added, perhaps in another spelling.
    fn old_rule(&mut self, client: usize) -> String {
        let rules = &mut self.rules[client];
        if rules.is_empty() || self.random.once_in(5) {
            return any_rule(&mut self.random);
        }
        let place = self.random.below(rules.len());
        let rule = rules.swap_remove(place).shuffled(&mut self.random);
        rule.text(&mut self.random)
    }

    fn name_call(&mut self) -> PlainMessage {
        let member = self.random.pick(&[
            "RequestName",
            "RequestName",
            "RequestName",
            "RequestName",
            "ReleaseName",
            "ReleaseName",
            "ListQueuedOwners",
            "GetNameOwner",
            "NameHasOwner",
        ]);
        let call = PlainMessage::asking(member, &self.name_of_somebody());
        match member {
            "RequestName" => call.arg(PlainValue::U32(self.number_below(8))),
            _ => call,
        }
    }

    fn other_call(&mut self) -> PlainMessage {
        match self.random.below(8) {
            0..3 => PlainMessage::to_bus("ListNames"),
            3 => PlainMessage::to_bus("Hello"),
            4 => PlainMessage::to_bus("GetId").without(field::INTERFACE).arg(PlainValue::U32(1)),
            5 => PlainMessage::asking("StartServiceByName", &self.name_of_somebody())
                .arg(PlainValue::U32(0)),
            6 => PlainMessage::asking("GetConnectionUnixUser", &self.name_of_somebody()),
            _ => PlainMessage::call(BUS_NAME, BUS_PATH, "org.freedesktop.DBus.Peer", "Ping"),
        }
    }

    fn answer(&mut self) -> PlainMessage {
        let answer = match self.random.once_in(3) {
            true => PlainMessage::new(kind::ERROR).text(field::ERROR_NAME, "com.example.Error"),
            false => PlainMessage::new(kind::RETURN),
        };
        self.with_body(answer)
    }

    fn message(&mut self) -> PlainMessage {
        let message = match self.random.below(10) {
            0..5 => self.signal(),
            5 | 6 => {
                let destination = self.destination();
                self.signal().text(field::DESTINATION, &destination)
            }
            7 | 8 => self.call(),
            _ => self.answer_to_nothing(),
        };
        let message = self.with_body(message);
        match self.random.below(20) {
            0 if !deviations::believes_sender(&message) => {
                message.text(field::SENDER, self.random.pick(NAMES))
            }
            1 => message.order(WireByteOrder::Big),
            _ => message,
        }
    }

    fn signal(&mut self) -> PlainMessage {
        let path = self.random.pick(PATHS);
        let interface = self.random.pick(INTERFACES);
        let signal = PlainMessage::signal(path, interface, self.random.pick(MEMBERS));
        match self.random.once_in(16) {
            true => signal.field(field::REPLY_SERIAL, PlainValue::U32(1 + self.number_below(60))),
            false => signal,
        }
    }

    fn call(&mut self) -> PlainMessage {
        let destination = self.destination();
        let (path, member) = (self.random.pick(PATHS), self.random.pick(MEMBERS));
        let call = PlainMessage::call(&destination, path, self.random.pick(INTERFACES), member);
        match self.random.below(8) {
            // dbus-daemon replies to some calls of the bus that expect no reply.
            0 if destination != BUS_NAME => call.flags(flag::NO_REPLY_EXPECTED),
            1 => call.flags(flag::NO_AUTO_START),
            2 => call.without(field::INTERFACE),
            3 => call.without(field::DESTINATION),
            _ => call,
        }
    }

    fn answer_to_nothing(&mut self) -> PlainMessage {
        let serial = PlainValue::U32(1 + self.number_below(60));
        let answer = self.answer().field(field::REPLY_SERIAL, serial);
        match self.random.once_in(8) {
            true => answer,
            false => answer.text(field::DESTINATION, &self.destination()),
        }
    }

    fn destination(&mut self) -> String {
        match self.random.below(12) {
            0 => BUS_NAME.to_owned(),
            1..5 => self.random.pick(NAMES).to_owned(),
            _ => stand_in(self.random.below(CLIENTS)),
        }
    }

    fn name_of_somebody(&mut self) -> String {
        match self.random.below(12) {
            0 => self.destination(),
            1 => self.random.pick(&["no name", "com", "", ":1.999", "com.example.None"]).to_owned(),
            _ => self.random.pick(NAMES).to_owned(),
        }
    }

    fn with_body(&mut self, message: PlainMessage) -> PlainMessage {
        (0..self.random.below(4)).fold(message, |message, _| message.arg(self.argument()))
    }

    fn argument(&mut self) -> PlainValue {
        match self.random.below(12) {
            0 => PlainValue::Path(self.random.pick(PATHS).to_owned()),
            1 => PlainValue::Path(self.random.pick(PATHS).to_owned()),
            2 => PlainValue::U32(7),
            3 => PlainValue::variant(PlainValue::text(self.random.pick(TEXTS))),
            4 => PlainValue::texts(&[self.random.pick(TEXTS)]),
            5 => PlainValue::Signature("as".to_owned()),
            6 => PlainValue::Struct(vec![PlainValue::Byte(1), PlainValue::text("x")]),
            _ => PlainValue::text(self.random.pick(TEXTS)),
        }
    }

    fn number_below(&mut self, end: u32) -> u32 {
        u32::try_from(self.random.below(end as usize)).expect("it is below a u32")
    }
}

/// Connects and sends Hello. A client that is already connected only gets an error.
fn joins(client: usize) -> [Operation; 2] {
    let hello = OperationKind::Send(PlainMessage::to_bus("Hello"));
    [OperationKind::Connect, hello].map(|act| Operation { client, act })
}

pub(crate) const NAMES: &[&str] = &["com.example.A", "com.example.A.b", "com.example.Bc"];
pub(crate) const PATHS: &[&str] = &["/", "/a", "/a/b", "/a/bc", BUS_PATH];
pub(crate) const INTERFACES: &[&str] = &["com.example.I", "com.example.J"];
pub(crate) const MEMBERS: &[&str] = &["M", "N"];
pub(crate) const TEXTS: &[&str] = &[
    "",
    "x",
    "it's",
    "a,b",
    " x ",
    "com",
    "com.example",
    "com.example.A",
    "com.exampleX",
    "/",
    "/a",
    "/a/",
    "/a/b",
    "/a/b/",
    "ä",
];
