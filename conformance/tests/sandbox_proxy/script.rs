//! Random rules and actions.

use conformance::differential::SeededRandom;
use conformance::{PlainMessage, PlainValue, WireByteOrder, field, flag, kind};

use crate::proxy::original_is_old;
use crate::side::{PEERS, SideComparison};

/// What happens next, on both sides.
#[derive(Clone, Debug)]
pub(crate) enum SandboxAction {
    /// The client behind the proxy sends this message.
    ClientSends(PlainMessage),
    /// The client sends a message with descriptors to a peer.
    ClientSendsDescriptors(PlainMessage, usize),
    /// The client replies to its oldest pending call, or twice.
    ClientReplies { with_error: bool, times: usize },
    /// A peer sends this message.
    PeerSends(usize, PlainMessage),
    /// A peer sends a message with descriptors.
    PeerSendsDescriptors(usize, PlainMessage, usize),
    /// A peer replies to its oldest pending call.
    PeerReplies { peer: usize, with_error: bool },
    /// A peer disconnects, and another one takes its place.
    PeerReconnects(usize),
    /// The client sends bytes that are not a message of the specification.
    ClientSendsBytes(Vec<u8>),
}

const NAMES: [&str; 6] = [
    "org.example.A",
    "org.example.A.Sub",
    "org.example.B",
    "org.example.Bee",
    "org.other.C",
    "org.example",
];
const PATTERNS: [&str; 12] = [
    "*",
    "",
    "@",
    "*@/a/*",
    "@/a",
    "@/*",
    "com.example.I.*",
    "com.example.I.Get",
    "com.example.I.Get@/a/*",
    "com.example.J.*@/b",
    "com.example.I",
    "Get",
];
const PATHS: [&str; 5] = ["/", "/a", "/a/b", "/ab", "/b"];
const INTERFACES: [&str; 3] = ["", "com.example.I", "com.example.J"];
const MEMBERS: [&str; 3] = ["Get", "Set", "Changed"];
const MATCH_RULES: [&str; 10] = [
    "type='signal'",
    "type='signal',member='Changed'",
    "type='signal',sender='org.example.A'",
    "type='signal',sender='org.freedesktop.DBus'",
    "arg0namespace='org.example'",
    "eavesdrop=true",
    "arg0='eavesdrop'",
    "nonsense",
    "type='signal',eavesdrop='false'",
    "arg0='eavesdrop='",
];

/// The number of match rules about which the bus decides like the original.
const EXACT_MATCH_RULES: usize = MATCH_RULES.len() - 2;
const DRIVER_METHODS: [&str; 22] = [
    "Hello",
    "AddMatch",
    "RemoveMatch",
    "GetId",
    "ListNames",
    "ListActivatableNames",
    "RequestName",
    "ReleaseName",
    "ListQueuedOwners",
    "NameHasOwner",
    "GetNameOwner",
    "StartServiceByName",
    "GetConnectionUnixProcessID",
    "GetConnectionUnixUser",
    "GetConnectionCredentials",
    "GetAdtAuditSessionData",
    "GetConnectionSELinuxSecurityContext",
    "UpdateActivationEnvironment",
    "BecomeMonitor",
    "ReloadConfig",
    "Nonsense",
    "GetNameOwner",
];

/// A serial that no call has.
const UNUSED_SERIAL: u32 = 90_000;

/// The options of a proxy.
pub(crate) fn rules(random: &mut SeededRandom) -> Vec<String> {
    let mut rules = vec!["--filter".to_owned()];
    if random.once_in(4) {
        rules.push("--sloppy-names".to_owned());
    }
    for _ in 0..random.below(7) {
        let name = random.pick(&NAMES);
        let subtree = if random.once_in(3) { ".*" } else { "" };
        let pattern = random.pick(&PATTERNS);
        rules.push(match random.below(8) {
            7 => format!("--call=org.*={pattern}"),
            0 | 1 => format!("--see={name}{subtree}"),
            2 => format!("--talk={name}{subtree}"),
            3 => format!("--own={name}{subtree}"),
            4 | 5 => format!("--call={name}{subtree}={pattern}"),
            _ => format!("--broadcast={name}{subtree}={pattern}"),
        });
    }
    rules
}

/// The peers that own names before the client connects, with their names.
pub(crate) fn owners(random: &mut SeededRandom) -> Vec<(usize, &'static str)> {
    let owns = NAMES.into_iter().filter(|_| random.once_in(2)).collect::<Vec<_>>();
    owns.into_iter().map(|name| (random.below(PEERS), name)).collect()
}

/// Creates the random actions of a sequence.
pub(crate) struct SandboxScript {
    random: SeededRandom,
    /// False if old versions of the original decide differently about broadcasts.
    has_broadcasts: bool,
    comparison: SideComparison,
}

impl SandboxScript {
    pub(crate) fn new(random: SeededRandom, rules: &[String], comparison: SideComparison) -> Self {
        let has_patterns =
            rules.iter().any(|rule| rule.starts_with("--call") || rule.starts_with("--broadcast"));
        Self { random, has_broadcasts: !(has_patterns && original_is_old()), comparison }
    }

    /// A random action. The last one of a sequence may end the connection of the client.
    pub(crate) fn action(&mut self, is_last: bool) -> SandboxAction {
        // The proxy ends the connection for messages of unknown types, which the bus refuses.
        if is_last && self.comparison == SideComparison::Messages && self.random.once_in(2) {
            return SandboxAction::ClientSendsBytes(self.malformed());
        }
        let peer = self.random.below(PEERS);
        match self.random.below(20) {
            0..=3 => SandboxAction::ClientSends(self.client_message()),
            4..=8 => SandboxAction::ClientSends(self.driver_call()),
            9 => SandboxAction::ClientSendsDescriptors(self.client_message(), self.count()),
            10 | 11 => SandboxAction::ClientReplies {
                with_error: self.random.once_in(3),
                times: 1 + self.random.below(2),
            },
            12 | 13 => SandboxAction::PeerSends(peer, self.name_request()),
            14 | 15 => SandboxAction::PeerSends(peer, self.peer_message()),
            16 => {
                let message = self.unicast();
                SandboxAction::PeerSendsDescriptors(peer, message, self.count())
            }
            17 | 18 => SandboxAction::PeerReplies { peer, with_error: self.random.once_in(3) },
            _ => SandboxAction::PeerReconnects(peer),
        }
    }

    fn count(&mut self) -> usize {
        1 + self.random.below(3)
    }

    /// A name of any kind. The sides replace `@0`, `@1` and so on by the unique names of the peers,
    /// and `@client` by the name of the client.
    fn any_name(&mut self) -> String {
        match self.random.below(11) {
            10 => ":1.0".to_owned(),
            0 => "@client".to_owned(),
            1 => "org.freedesktop.DBus".to_owned(),
            2 => ":1.999".to_owned(),
            3 => "org.hidden".to_owned(),
            4 | 5 => format!("@{}", self.random.below(PEERS)),
            _ => self.random.pick(&NAMES).to_owned(),
        }
    }

    /// A name, or a text that is not a name.
    fn any_argument(&mut self) -> PlainValue {
        // The bus refuses other arguments, and the original treats some of them like hidden names.
        if self.comparison == SideComparison::Decisions {
            return PlainValue::text(&self.any_name());
        }
        match self.random.below(12) {
            0 => PlainValue::U32(5),
            1 => PlainValue::text(self.random.pick(&["", "org", "not a name", ":", "org..a"])),
            2 => PlainValue::texts(&["org.example.A"]),
            _ => PlainValue::text(&self.any_name()),
        }
    }

    /// A reply to a call that nobody made.
    fn unexpected_reply(&mut self) -> PlainMessage {
        let reply = PlainMessage::new(self.random.pick(&[&kind::RETURN, &kind::ERROR]).to_owned());
        let reply = match reply.kind {
            kind::ERROR => reply.text(field::ERROR_NAME, "com.example.Failed"),
            _ => reply,
        };
        reply
            .field(field::REPLY_SERIAL, PlainValue::U32(UNUSED_SERIAL))
            .text(field::DESTINATION, &self.any_name())
    }

    fn body_of_message(&mut self, kind: u8) -> PlainMessage {
        let mut message = PlainMessage::new(kind)
            .field(field::PATH, PlainValue::Path(self.random.pick(&PATHS).to_owned()))
            .text(field::MEMBER, self.random.pick(&MEMBERS));
        let interface = self.random.pick(&INTERFACES);
        if !interface.is_empty() {
            message = message.text(field::INTERFACE, interface);
        } else if kind == kind::SIGNAL {
            message = message.text(field::INTERFACE, "com.example.I");
        }
        if self.random.once_in(2) {
            message = message.arg(PlainValue::text(self.random.pick(&NAMES)));
        }
        message
    }

    /// A call or signal of the client to a peer, to all, or to nobody.
    fn client_message(&mut self) -> PlainMessage {
        if self.random.once_in(12) {
            return self.unexpected_reply();
        }
        let kind = if self.random.once_in(3) { kind::SIGNAL } else { kind::CALL };
        let mut message = self.body_of_message(kind);
        // dbus-daemon broadcasts a call without a destination.
        if kind == kind::CALL || !self.random.once_in(4) {
            message = message.text(field::DESTINATION, &self.any_name());
        }
        let message = self.with_flags(message);
        if self.random.once_in(4) { message.order(WireByteOrder::Big) } else { message }
    }

    fn with_flags(&mut self, message: PlainMessage) -> PlainMessage {
        match self.random.below(6) {
            0 => message.flags(flag::NO_REPLY_EXPECTED),
            1 => message.flags(flag::NO_AUTO_START),
            _ => message,
        }
    }

    fn driver_call(&mut self) -> PlainMessage {
        let member = match self.random.pick(&DRIVER_METHODS) {
            "Hello" if original_is_old() => "GetId",
            member => member,
        };
        let mut message = PlainMessage::to_bus(member);
        if self.random.once_in(12) {
            message = match self.random.below(4) {
                0 => message.without(field::INTERFACE),
                1 => PlainMessage::to_bus("Introspect")
                    .text(field::INTERFACE, "org.freedesktop.DBus.Introspectable"),
                2 => PlainMessage::to_bus("GetAll")
                    .text(field::INTERFACE, "org.freedesktop.DBus.Properties")
                    .arg(PlainValue::text("org.freedesktop.DBus")),
                _ => message.text(field::INTERFACE, "org.freedesktop.DBus.Monitoring"),
            };
            return message;
        }
        message = match member {
            "AddMatch" | "RemoveMatch" => {
                let rules = match self.comparison {
                    SideComparison::Messages => &MATCH_RULES[..],
                    // The original refuses all rules that contain such a text.
                    SideComparison::Decisions => &MATCH_RULES[..EXACT_MATCH_RULES],
                };
                message.arg(PlainValue::text(self.random.pick(rules)))
            }
            "RequestName" => {
                let name = self.random.pick(&NAMES);
                message.arg(PlainValue::text(name)).arg(PlainValue::U32(4))
            }
            "ReleaseName" | "ListQueuedOwners" if self.random.once_in(2) => {
                message.arg(PlainValue::text(self.random.pick(&NAMES)))
            }
            "StartServiceByName" => {
                message.arg(PlainValue::text(&self.any_name())).arg(PlainValue::U32(0))
            }
            "Hello" | "GetId" | "ListNames" | "ListActivatableNames" | "ReloadConfig" => message,
            _ => message.arg(self.any_argument()),
        };
        self.with_flags(message)
    }

    fn name_request(&mut self) -> PlainMessage {
        let name = PlainValue::text(self.random.pick(&NAMES));
        // With the original, the rights end with the connection, and in the bus with the name.
        if self.comparison == SideComparison::Messages && self.random.once_in(3) {
            PlainMessage::to_bus("ReleaseName").arg(name)
        } else {
            PlainMessage::to_bus("RequestName").arg(name).arg(PlainValue::U32(4))
        }
    }

    fn unicast(&mut self) -> PlainMessage {
        let kind = if self.random.once_in(3) { kind::SIGNAL } else { kind::CALL };
        let message = self.body_of_message(kind).text(field::DESTINATION, "@client");
        self.with_flags(message)
    }

    fn peer_message(&mut self) -> PlainMessage {
        if self.has_broadcasts && self.random.once_in(2) {
            self.body_of_message(kind::SIGNAL)
        } else {
            self.unicast()
        }
    }

    /// Bytes at which both proxies, or the bus, end the connection.
    fn malformed(&mut self) -> Vec<u8> {
        let mut message = PlainMessage::signal("/a", "com.example.I", "Changed");
        message.serial = 77;
        match self.random.below(5) {
            0 => message.field(77, PlainValue::Byte(1)).encode(),
            1 => {
                message.kind = 9;
                message.encode()
            }
            2 => message.text(field::INTERFACE, "org.freedesktop.DBus.Local").encode(),
            3 => message.without(field::MEMBER).encode(),
            _ => {
                message.serial = 0;
                message.encode()
            }
        }
    }
}
