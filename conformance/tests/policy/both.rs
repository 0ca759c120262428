//! Two buses that get the same messages, and their clients.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, OwnedFd};

use conformance::differential::start_reference;
use conformance::{
    BusUnderTest, PeerStream, PlainMessage, PlainValue, ReceivedDescriptors, RunAs, Signal,
    TestConfig, TestPeer, eventually, field, kind,
};

/// The clients: a user, and its supplementary groups.
pub(crate) const CLIENTS: [(RunAs, &[u32]); 5] = [
    (RunAs { uid: 0, gid: 0 }, &[0]),
    (RunAs::NOBODY, &[]),
    (RunAs { uid: 1, gid: 1 }, &[]),
    (RunAs { uid: 0, gid: 0 }, &[2, 1, 65534]),
    (RunAs::NOBODY, &[2]),
];

/// A bus and its clients.
pub(crate) struct PolicySide {
    bus: BusUnderTest,
    config: TestConfig,
    /// `None` for a client that the bus rejected.
    clients: Vec<Option<PolicyClient>>,
    reloads: usize,
}

struct PolicyClient {
    peer: TestPeer,
    /// Received calls without a reply so far.
    calls: VecDeque<PlainMessage>,
}

impl PolicySide {
    pub(crate) fn ours(policies: &str) -> Self {
        let config = config(policies);
        Self::new(BusUnderTest::start(&config), config)
    }

    pub(crate) fn reference(policies: &str) -> Self {
        let config = config(policies);
        Self::new(start_reference(&config), config)
    }

    fn new(bus: BusUnderTest, config: TestConfig) -> Self {
        let clients = CLIENTS.iter().map(|(user, groups)| {
            let stream = user.act_in(groups, || {
                let mut stream = PeerStream::connect(bus.address());
                stream.log_in(ReceivedDescriptors::Negotiated);
                stream
            });
            let client = PolicyClient { peer: TestPeer::over(stream), calls: VecDeque::new() };
            client.admitted()
        });
        let clients = clients.collect();
        Self { bus, config, clients, reloads: 0 }
    }

    /// The first messages that the clients receive, and the replies about their rules.
    pub(crate) fn begin(&mut self) -> Vec<Vec<String>> {
        let rules = ["type='signal'", "type='signal',member='M'", "eavesdrop='true'"];
        let mut received = vec![Vec::new(); self.clients.len()];
        for (place, rule) in [(0, 0), (1, 1), (2, 0), (3, 2)] {
            let call = PlainMessage::to_bus("AddMatch").arg(PlainValue::text(rules[rule]));
            add(&mut received, self.act(place, call, 0));
        }
        received
    }

    /// Sends a message with a number of descriptors, and returns the messages that each client
    /// receives then.
    pub(crate) fn act(
        &mut self,
        place: usize,
        message: PlainMessage,
        fds: usize,
    ) -> Vec<Vec<String>> {
        if let Some(client) = &mut self.clients[place] {
            client.send(message, fds);
        }
        self.settle(place)
    }

    /// The oldest received call without a reply.
    pub(crate) fn unanswered(&mut self, place: usize) -> Option<PlainMessage> {
        self.clients[place].as_mut()?.calls.pop_front()
    }

    /// Replaces the policy of the bus.
    pub(crate) fn reload(&mut self, policies: &str) {
        self.config = config(policies);
        let folder = self.bus.scratch().path().to_owned();
        std::fs::write(folder.join("bus.conf"), self.config.text(&folder)).expect("a file");
        self.reloads += 1;
        let reloads = self.reloads;
        let process = self.bus.process();
        process.signal(Signal::HUP);
        eventually("the new policy", || {
            let count = process.stderr().matches("Reloaded configuration").count();
            (count == reloads).then_some(())
        });
        // Messages of the bus about the reload itself are not compared.
        self.settle(0);
    }

    pub(crate) fn stop(self) {
        drop(self.clients);
        self.bus.stop();
    }

    /// Waits until the bus has handled the messages of a client, and then until the others have
    /// received the results.
    fn settle(&mut self, first: usize) -> Vec<Vec<String>> {
        let mut received = vec![Vec::new(); self.clients.len()];
        let order = [first].into_iter().chain(0..self.clients.len());
        for place in order {
            if let Some(client) = &mut self.clients[place] {
                received[place].extend(client.hear());
            }
        }
        received
    }
}

impl PolicyClient {
    /// Sends Hello, and returns `None` if the bus rejects the client.
    fn admitted(mut self) -> Option<Self> {
        self.send(PlainMessage::to_bus("Hello"), 0);
        let serial = self.peer.ping();
        while let Some(message) = self.peer.receive() {
            if message.is_pong(serial) {
                return Some(self);
            }
        }
        None
    }

    fn send(&mut self, message: PlainMessage, fds: usize) {
        if fds == 0 {
            self.peer.send(message);
            return;
        }
        let count = u32::try_from(fds).expect("a few");
        let message = message.field(field::UNIX_FDS, PlainValue::U32(count));
        let bytes = self.peer.numbered(message).encode();
        let file = OwnedFd::from(std::fs::File::open("/dev/null").expect("it is there"));
        let fds: Vec<_> = (0..fds).map(|_| file.as_fd()).collect();
        self.peer.send_with_descriptors(&bytes, &fds);
    }

    /// All messages that have arrived.
    fn hear(&mut self) -> Vec<String> {
        let serial = self.peer.ping();
        let mut received = Vec::new();
        loop {
            let Some(message) = self.peer.receive() else {
                received.push("closed".to_owned());
                return received;
            };
            if message.is_pong(serial) {
                return received;
            }
            received.push(message.compared());
            if message.kind == kind::CALL {
                self.calls.push_back(message);
            }
        }
    }
}

fn add(all: &mut [Vec<String>], more: Vec<Vec<String>>) {
    all.iter_mut().zip(more).for_each(|(all, more)| all.extend(more));
}

fn config(policies: &str) -> TestConfig {
    TestConfig::closed().element(policies)
}
