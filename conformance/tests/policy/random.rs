//! Random policies and random messages, from a seed that is printed.

use conformance::differential::SeededRandom;
use conformance::{BUS_NAME, BUS_PATH, PlainMessage, PlainValue, field, flag, kind};

/// Generates policies and messages.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) random: SeededRandom,
}

impl Maker {
    /// The elements `<policy>` of a configuration.
    pub(crate) fn policies(&mut self) -> String {
        let mut policies = String::new();
        // Most policies first allow much, because otherwise hardly any message would pass.
        for rule in OPEN {
            if !self.random.once_in(8) {
                policies.push_str(&in_policy("context='default'", rule));
            }
        }
        for _ in 0..self.random.below(14) {
            let scope = self.random.pick(SCOPES);
            policies.push_str(&in_policy(scope, &self.rule(scope)));
        }
        policies
    }

    fn rule(&mut self, scope: &str) -> String {
        let verdict = self.random.pick(&["allow", "deny", "deny"]);
        let attributes = match self.random.below(10) {
            0 if scope.starts_with("context") => self.attribute(&CONNECT),
            0 | 1 => self.attribute(&OWN),
            2..6 => self.message_rule("send", &[&DESTINATION, &BROADCAST]),
            _ => self.message_rule("receive", &[&SENDER]),
        };
        format!("<{verdict}{attributes}/>")
    }

    fn attribute(&mut self, list: &[(&str, &str)]) -> String {
        let (name, value) = list[self.random.below(list.len())];
        format!(" {name}='{value}'")
    }

    /// Attributes about messages, as far as they may be combined.
    fn message_rule(&mut self, side: &str, own: &[&[(&str, &str)]]) -> String {
        loop {
            let mut attributes = String::new();
            for list in MESSAGE {
                if self.random.once_in(4) {
                    attributes += &self.attribute(list).replace("SIDE", side);
                }
            }
            for list in own {
                if self.random.once_in(3) {
                    attributes += &self.attribute(list);
                }
            }
            if is_possible(&attributes, side) {
                return attributes;
            }
        }
    }

    /// A message that a client could send without being disconnected.
    pub(crate) fn message(&mut self, clients: usize) -> PlainMessage {
        let destination = self.destination(clients);
        let message = match self.random.below(8) {
            0..4 => self.call(&destination),
            4 => self.signal().text(field::DESTINATION, &destination),
            5 | 6 => self.signal(),
            _ => self.answer_to_nothing(&destination),
        };
        if self.random.once_in(6) { message.flags(flag::NO_AUTO_START) } else { message }
    }

    fn destination(&mut self, clients: usize) -> String {
        match self.random.below(3) {
            0 => self.random.pick(NAMES).to_owned(),
            _ => format!(":1.{}", self.random.below(clients)),
        }
    }

    fn call(&mut self, destination: &str) -> PlainMessage {
        let message = PlainMessage::call(
            destination,
            self.random.pick(PATHS),
            "a.b",
            self.random.pick(MEMBERS),
        );
        match self.random.below(4) {
            0 => message.without(field::INTERFACE),
            _ => message.text(field::INTERFACE, self.random.pick(INTERFACES)),
        }
    }

    fn signal(&mut self) -> PlainMessage {
        let (path, member) = (self.random.pick(PATHS), self.random.pick(MEMBERS));
        let message = PlainMessage::signal(path, self.random.pick(INTERFACES), member);
        // Sometimes a call also claims to be a reply.
        match self.random.once_in(12) {
            true => message.field(field::REPLY_SERIAL, PlainValue::U32(NOBODYS_SERIAL)),
            false => message,
        }
    }

    fn answer_to_nothing(&mut self, destination: &str) -> PlainMessage {
        let message = PlainMessage::new(kind::RETURN)
            .field(field::REPLY_SERIAL, PlainValue::U32(NOBODYS_SERIAL))
            .text(field::DESTINATION, destination);
        if self.random.once_in(2) { message } else { self.as_error(message) }
    }

    /// The reply to a call.
    pub(crate) fn answer(&mut self, call: &PlainMessage) -> PlainMessage {
        let reply = PlainMessage::reply(call);
        if self.random.once_in(2) { reply } else { self.as_error(reply) }
    }

    fn as_error(&mut self, mut message: PlainMessage) -> PlainMessage {
        message.kind = kind::ERROR;
        message.text(field::ERROR_NAME, self.random.pick(ERRORS))
    }

    /// A call of the bus that changes only the owners of names.
    pub(crate) fn call_of_bus(&mut self) -> PlainMessage {
        let name = self.random.pick(NAMES);
        match self.random.below(8) {
            0..3 => PlainMessage::to_bus("RequestName")
                .arg(PlainValue::text(name))
                .arg(PlainValue::U32(0)),
            3 => PlainMessage::to_bus("ReleaseName").arg(PlainValue::text(name)),
            4 => PlainMessage::to_bus("GetNameOwner").arg(PlainValue::text(name)),
            5 => PlainMessage::to_bus("NameHasOwner")
                .arg(PlainValue::text(name))
                .without(field::INTERFACE),
            6 => PlainMessage::call(BUS_NAME, "/x", "org.freedesktop.DBus.Peer", "Ping"),
            _ => PlainMessage::call(BUS_NAME, BUS_PATH, "a.b", self.random.pick(MEMBERS)),
        }
    }
}

fn in_policy(scope: &str, rule: &str) -> String {
    format!("<policy {scope}>{rule}</policy>\n")
}

/// Returns true if a rule with these attributes can be parsed.
fn is_possible(attributes: &str, side: &str) -> bool {
    let has = |name: &str| attributes.contains(&format!(" {name}="));
    let has_own = |name: &str| has(&format!("{side}_{name}"));
    let says_something = attributes.contains(side) || has("eavesdrop");
    says_something
        && !(has_own("member") && !has_own("interface") && !has_own("path"))
        && !(has_own("error") && (has_own("member") || has_own("interface")))
        && !(attributes.contains("broadcast='true'") && attributes.contains("destination"))
        && (side != "send" || attributes.contains("send_"))
}

/// A serial that no client uses.
const NOBODYS_SERIAL: u32 = 0xffff_0000;

const OPEN: [&str; 4] = [
    "<allow user='*'/>",
    "<allow own='*'/>",
    "<allow send_destination='*' eavesdrop='true'/>",
    "<allow eavesdrop='true'/>",
];

const SCOPES: &[&str] = &[
    "context='default'",
    "context='default'",
    "context='default'",
    "context='mandatory'",
    "user='root'",
    "user='nobody'",
    "user='daemon'",
    "group='root'",
    "group='nogroup'",
    "group='daemon'",
    "group='bin'",
    "at_console='true'",
    "at_console='false'",
];

const CONNECT: [(&str, &str); 6] = [
    ("user", "*"),
    ("user", "nobody"),
    ("user", "daemon"),
    ("group", "*"),
    // Groups of the clients that are the same in the kernel and in the user database.
    ("group", "root"),
    ("group", "sys"),
];

const OWN: [(&str, &str); 7] = [
    ("own", "*"),
    ("own", "com.example.A"),
    ("own", "com.example.A.b"),
    ("own", "com.example.Bc"),
    ("own_prefix", "com.example"),
    ("own_prefix", "com.example.A"),
    ("own_prefix", "com.example.B"),
];

const DESTINATION: [(&str, &str); 10] = [
    ("send_destination", "*"),
    ("send_destination", "com.example.A"),
    ("send_destination", "com.example.A.b"),
    ("send_destination", "com.example.Bc"),
    ("send_destination", "org.freedesktop.DBus"),
    ("send_destination", ":1.1"),
    ("send_destination", "no name"),
    ("send_destination_prefix", "com.example.A"),
    ("send_destination_prefix", "com.example.B"),
    ("send_destination_prefix", "org.freedesktop"),
];

const SENDER: [(&str, &str); 6] = [
    ("receive_sender", "*"),
    ("receive_sender", "com.example.A"),
    ("receive_sender", "com.example.A.b"),
    ("receive_sender", "com.example.Bc"),
    ("receive_sender", "org.freedesktop.DBus"),
    ("receive_sender", ":1.2"),
];

const BROADCAST: [(&str, &str); 2] = [("send_broadcast", "true"), ("send_broadcast", "false")];

const MESSAGE: [&[(&str, &str)]; 8] = [
    &[
        ("SIDE_type", "*"),
        ("SIDE_type", "method_call"),
        ("SIDE_type", "method_return"),
        ("SIDE_type", "error"),
        ("SIDE_type", "signal"),
    ],
    &[("SIDE_path", "*"), ("SIDE_path", "/x"), ("SIDE_path", "/org/freedesktop/DBus")],
    &[
        ("SIDE_interface", "*"),
        ("SIDE_interface", "a.b"),
        ("SIDE_interface", "org.freedesktop.DBus"),
    ],
    &[("SIDE_member", "*"), ("SIDE_member", "M"), ("SIDE_member", "RequestName")],
    &[("SIDE_error", "*"), ("SIDE_error", "a.E")],
    &[("SIDE_requested_reply", "true"), ("SIDE_requested_reply", "false")],
    &[("eavesdrop", "true"), ("eavesdrop", "false")],
    &[("min_fds", "0"), ("min_fds", "1"), ("max_fds", "0"), ("max_fds", "1")],
];

const NAMES: &[&str] = &["com.example.A", "com.example.A.b", "com.example.Bc"];
const PATHS: &[&str] = &["/x", "/y"];
const INTERFACES: &[&str] = &["a.b", "a.c"];
const MEMBERS: &[&str] = &["M", "N"];
const ERRORS: &[&str] = &["a.E", "a.F"];
