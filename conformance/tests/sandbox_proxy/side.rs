//! A bus with peers, a proxy, and a client behind the proxy.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd};

use conformance::differential::start_reference;
use conformance::{
    BUS_NAME, BusUnderTest, PlainMessage, PlainValue, TestConfig, TestPeer, eventually, field,
    flag, kind,
};

use crate::proxy::{ProxyProgram, RunningProxy};
use crate::script::SandboxAction;

/// The number of peers that are connected to the bus itself.
pub(crate) const PEERS: usize = 3;

/// The bus of both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SideBus {
    /// The bus is dbus-daemon.
    Reference,
    /// The bus is the bus of this project.
    Ours,
}

/// One of the two sides.
pub(crate) struct SandboxSide {
    bus: BusUnderTest,
    _proxy: RunningProxy,
    /// Makes calls on behalf of the test. Its messages are not compared.
    clerk: TestPeer,
    /// The client, until its connection has ended.
    client: Option<SidePeer>,
    client_name: String,
    peers: Vec<SidePeer>,
    /// The serials of calls of the client whose results depend on processes, or are random.
    uncompared: BTreeSet<u32>,
    /// The serials of calls of the client without a reply. The original forwards some replies that
    /// the bus sends nevertheless.
    declined: BTreeSet<u32>,
    /// Whether only decisions are compared, not the texts and the kinds of refusals.
    comparison: SideComparison,
    /// A connection that the proxy has opened, or one in its place, so that the unique names of the
    /// clients are equal.
    _spare: Option<TestPeer>,
    /// The serial of the next message of a peer. The original confuses calls of different peers
    /// with the same serial.
    peer_serial: u32,
}

/// What the two sides must have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SideComparison {
    /// All messages, with the texts of errors.
    Messages,
    /// Whether messages arrive or are refused.
    Decisions,
}

struct SidePeer {
    peer: TestPeer,
    /// Received calls without a reply so far.
    calls: VecDeque<PlainMessage>,
}

/// The serial of the first message of a peer, above the serials of its Pings.
const FIRST_PEER_SERIAL: u32 = 100_000;

/// Methods whose results differ between two buses or two proxies.
const VARYING: [&str; 3] = ["GetId", "GetConnectionUnixProcessID", "GetConnectionCredentials"];

/// Methods that the bus answers in more cases than the original, but that show nothing hidden.
const DIFFERENT: [&str; 2] = ["ListQueuedOwners", "ReleaseName"];

/// The errors by which messages are refused.
const REFUSALS: [&str; 6] = [
    "AccessDenied",
    "InvalidArgs",
    "NameHasNoOwner",
    "ServiceUnknown",
    "UnknownInterface",
    "UnknownMethod",
];

impl SandboxSide {
    /// Starts a side. Before the client connects, each owner gets its name.
    pub(crate) fn new(
        bus: SideBus,
        program: ProxyProgram,
        comparison: SideComparison,
        rules: &[String],
        owners: &[(usize, &str)],
    ) -> Self {
        let config = TestConfig::session();
        let bus = match bus {
            SideBus::Reference => start_reference(&config),
            SideBus::Ours => BusUnderTest::start(&config),
        };
        let clerk = bus.peer();
        let mut peers: Vec<_> = (0..PEERS).map(|_| SidePeer::connect(bus.address())).collect();
        for (peer, name) in owners {
            peers[*peer].peer.request_name(name, 0);
        }
        let options: Vec<_> = rules.iter().map(String::as_str).collect();
        let has_spare =
            (program, comparison) == (ProxyProgram::Original, SideComparison::Decisions);
        let spare = has_spare.then(|| bus.peer());
        let proxy = program.start(bus.address(), &options);
        let mut client = TestPeer::connect(proxy.address());
        if comparison == SideComparison::Decisions {
            // The original requests these signals for the names in its rules, for its own use.
            client.add_match("type='signal',member='NameOwnerChanged'");
        }
        let client_name = client.name().to_owned();
        let client = Some(SidePeer { peer: client, calls: VecDeque::new() });
        let (uncompared, declined) = (BTreeSet::new(), BTreeSet::new());
        let peer_serial = FIRST_PEER_SERIAL;
        let mut side = Self {
            bus,
            _proxy: proxy,
            clerk,
            client,
            client_name,
            peers,
            uncompared,
            declined,
            comparison,
            _spare: spare,
            peer_serial,
        };
        // The original forwards the first messages of its client before it knows all owners.
        side.settle();
        side
    }

    /// Performs an action, and returns what the client and each peer received.
    pub(crate) fn act(&mut self, action: &SandboxAction) -> Vec<Vec<String>> {
        match action {
            SandboxAction::ClientSends(message) => {
                let message = self.resolve(message);
                let is_varying = VARYING.contains(&message.member());
                let is_different = self.comparison == SideComparison::Decisions
                    && (DIFFERENT.contains(&message.member()) || is_of_other_interface(&message));
                let is_declined = message.flags & flag::NO_REPLY_EXPECTED != 0;
                let expects_reply = expects_reply(&message);
                let serial = self.client().send(message);
                self.note_sent(serial, expects_reply);
                if is_varying {
                    self.uncompared.insert(serial);
                }
                if is_declined || is_different {
                    self.declined.insert(serial);
                }
            }
            SandboxAction::ClientSendsDescriptors(message, count) => {
                let message = self.resolve(message);
                let expects_reply = expects_reply(&message);
                let serial = send_descriptors(self.client(), message, *count);
                self.note_sent(serial, expects_reply);
            }
            SandboxAction::ClientReplies { with_error, times } => {
                if let Some(client) = &mut self.client
                    && let Some(call) = client.calls.pop_front()
                {
                    for _ in 0..*times {
                        let serial = self.client().send(reply(&call, *with_error));
                        self.note_sent(serial, false);
                    }
                }
            }
            SandboxAction::PeerSends(peer, message) => {
                let message = self.peer_message(message);
                self.peers[*peer].peer.send(message);
            }
            SandboxAction::PeerSendsDescriptors(peer, message, count) => {
                let message = self.peer_message(message);
                send_descriptors(&mut self.peers[*peer].peer, message, *count);
            }
            SandboxAction::PeerReplies { peer, with_error } => {
                let peer = &mut self.peers[*peer];
                if let Some(call) = peer.calls.pop_front() {
                    peer.peer.send(reply(&call, *with_error));
                }
            }
            SandboxAction::PeerReconnects(peer) => self.reconnect(*peer),
            SandboxAction::ClientSendsBytes(bytes) => {
                self.client().send_bytes(bytes);
                self.client().until_closed();
                self.client = None;
                let name = self.client_name.clone();
                self.wait_for_end(&name);
            }
        }
        self.settle()
    }

    /// Notes that the client has sent a message. The bus answers refused messages with errors even if
    /// they expect no reply, which the original does not.
    fn note_sent(&mut self, serial: u32, expects_reply: bool) {
        if self.comparison == SideComparison::Decisions && !expects_reply {
            self.declined.insert(serial);
        }
    }

    /// Returns true if the client is disconnected.
    pub(crate) fn has_ended(&self) -> bool {
        self.client.is_none()
    }

    pub(crate) fn stop(self) {
        let Self { bus, client, peers, clerk, .. } = self;
        drop((client, peers, clerk));
        bus.stop();
    }

    fn client(&mut self) -> &mut TestPeer {
        &mut self.client.as_mut().expect("the sequence ends with the client").peer
    }

    /// Waits until all messages have arrived that the last action caused.
    fn settle(&mut self) -> Vec<Vec<String>> {
        // Messages of the client arrive at the bus before its Ping, and messages of the peers before
        // theirs. The second Ping of the client comes after all messages of the peers.
        let mut received = vec![Vec::new(); PEERS + 1];
        let ours = self.client.as_mut().map(SidePeer::receive_all).unwrap_or_default();
        received[0].extend(ours);
        for (peer, received) in self.peers.iter_mut().zip(&mut received[1..]) {
            received.extend(peer.receive_all());
        }
        let ours = self.client.as_mut().map(SidePeer::receive_all).unwrap_or_default();
        received[0].extend(ours);
        received[0].retain(|message| {
            message.reply_serial().is_none_or(|serial| !self.declined.contains(&serial))
        });
        if self.comparison == SideComparison::Decisions {
            // The bus answers a peer whose reply the filter does not let pass. The original does not.
            for received in &mut received[1..] {
                received
                    .retain(|message| message.kind != kind::ERROR || message.sender() != BUS_NAME);
            }
        }
        for message in &mut received[0] {
            let is_uncompared = |serial| self.uncompared.contains(&serial);
            if message.kind == kind::RETURN && message.reply_serial().is_some_and(is_uncompared) {
                message.body.clear();
                // The bus gives sandboxed programs no ProcessFD.
                message.descriptors.clear();
                *message = message.clone().without(field::UNIX_FDS);
            }
        }
        let describe = |message: &PlainMessage| self.describe(message);
        received.iter().map(|messages| messages.iter().map(describe).collect()).collect()
    }

    fn describe(&self, message: &PlainMessage) -> String {
        let mut message = message.clone();
        let is_reply = matches!(message.kind, kind::RETURN | kind::ERROR);
        // The original leaves these fields out of the replies that it makes up.
        if is_reply && matches!(message.sender(), "" | BUS_NAME) {
            message = message.without(field::SENDER).without(field::DESTINATION);
        }
        for value in &mut message.body {
            if let PlainValue::Array(_, names) = value {
                names.sort_by_key(|name| format!("{name:?}"));
            }
        }
        let is_refusal = message.kind == kind::ERROR && REFUSALS.contains(&message.error_name());
        if self.comparison == SideComparison::Decisions && is_refusal {
            let serial = message.reply_serial();
            return format!("refused: {serial:?}");
        }
        message.compared()
    }

    fn peer_message(&mut self, message: &PlainMessage) -> PlainMessage {
        let mut message = self.resolve(message);
        message.serial = self.peer_serial;
        self.peer_serial += 1;
        message
    }

    /// Replaces the names that stand for connections.
    fn resolve(&self, message: &PlainMessage) -> PlainMessage {
        let mut message = message.clone();
        let fields = message.fields.iter_mut().map(|(_, value)| value);
        for value in fields.chain(&mut message.body) {
            if let PlainValue::Str(text) = value
                && let Some(name) = text.strip_prefix('@')
            {
                *text = match name.parse::<usize>() {
                    Ok(peer) => self.peers[peer].peer.name().to_owned(),
                    Err(_) => self.client_name.clone(),
                };
            }
        }
        message
    }

    fn reconnect(&mut self, peer: usize) {
        let old = std::mem::replace(&mut self.peers[peer], SidePeer::connect(self.bus.address()));
        let name = old.peer.name().to_owned();
        drop(old);
        self.wait_for_end(&name);
    }

    fn wait_for_end(&mut self, name: &str) {
        eventually("the end of a connection", || {
            let found = self.clerk.ask_bus("NameHasOwner", name);
            (found.body == [PlainValue::Bool(false)]).then_some(())
        });
    }
}

impl SidePeer {
    /// Connects a peer that receives all broadcast signals of others than the bus.
    fn connect(address: &str) -> Self {
        let mut peer = TestPeer::connect(address);
        for interface in ["com.example.I", "com.example.J"] {
            peer.add_match(&format!("type='signal',interface='{interface}'"));
        }
        Self { peer, calls: VecDeque::new() }
    }

    /// Receives all messages that the bus has sent until now.
    fn receive_all(&mut self) -> Vec<PlainMessage> {
        let ping = self.peer.ping();
        let mut messages = Vec::new();
        loop {
            let message = self.peer.receive().expect("the connection is open");
            // Behind a proxy, a pong is like every reply.
            if message.is_pong(ping) {
                return messages;
            }
            if message.kind == kind::CALL {
                self.calls.push_back(message.clone());
            }
            messages.push(message);
        }
    }
}

fn expects_reply(message: &PlainMessage) -> bool {
    message.kind == kind::CALL && message.flags & flag::NO_REPLY_EXPECTED == 0
}

/// True for a call of the bus that is not of its main interface. The original refuses most of them.
fn is_of_other_interface(message: &PlainMessage) -> bool {
    let is_to_bus = message.get(field::DESTINATION) == Some(&PlainValue::text(BUS_NAME));
    is_to_bus && message.get(field::INTERFACE) != Some(&PlainValue::text(BUS_NAME))
}

fn reply(call: &PlainMessage, with_error: bool) -> PlainMessage {
    if with_error {
        PlainMessage::error(call, "com.example.Failed")
    } else {
        PlainMessage::reply(call).arg(PlainValue::U32(7))
    }
}

/// Sends a message with this number of descriptors, and returns its serial.
fn send_descriptors(peer: &mut TestPeer, message: PlainMessage, count: usize) -> u32 {
    let file = File::open("/dev/null").expect("the system has it");
    let descriptors: Vec<BorrowedFd<'_>> = (0..count).map(|_| file.as_fd()).collect();
    let number = u32::try_from(count).expect("a small number");
    let message = peer.numbered(message.field(field::UNIX_FDS, PlainValue::U32(number)));
    peer.send_with_descriptors(&message.encode(), &descriptors);
    message.serial
}
