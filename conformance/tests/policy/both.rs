//! Two buses of which the same is asked, and the clients that ask.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, OwnedFd};

use conformance::differential::start_reference;
use conformance::{
    BusUnderTest, PeerStream, PlainMessage, PlainValue, ReceivedDescriptors, RunAs, Signal,
    TestConfig, TestPeer, eventually, field, kind,
};

/// A client: a user, and its groups besides its own.
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
    /// `None` is one that was not let in.
    clients: Vec<Option<PolicyClient>>,
    reloads: usize,
}

struct PolicyClient {
    peer: TestPeer,
    /// Calls that it got and has not answered.
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

    /// What the clients hear at first, and of their rules.
    pub(crate) fn begin(&mut self) -> Vec<Vec<String>> {
        let rules = ["type='signal'", "type='signal',member='M'", "eavesdrop='true'"];
        let mut heard = vec![Vec::new(); self.clients.len()];
        for (place, rule) in [(0, 0), (1, 1), (2, 0), (3, 2)] {
            let call = PlainMessage::to_bus("AddMatch").arg(PlainValue::text(rules[rule]));
            add(&mut heard, self.act(place, call, 0));
        }
        heard
    }

    /// Sends a message with so many descriptors, and gives what each client hears then.
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

    /// The oldest call that a client has got and not answered.
    pub(crate) fn unanswered(&mut self, place: usize) -> Option<PlainMessage> {
        self.clients[place].as_mut()?.calls.pop_front()
    }

    /// Gives the bus another policy.
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
        // What a bus says of the reload itself is not the matter here.
        self.settle(0);
    }

    pub(crate) fn stop(self) {
        drop(self.clients);
        self.bus.stop();
    }

    /// Waits until the bus has handled what a client has sent, and then until the others have got
    /// what came of it.
    fn settle(&mut self, first: usize) -> Vec<Vec<String>> {
        let mut heard = vec![Vec::new(); self.clients.len()];
        let order = [first].into_iter().chain(0..self.clients.len());
        for place in order {
            if let Some(client) = &mut self.clients[place] {
                heard[place].extend(client.hear());
            }
        }
        heard
    }
}

impl PolicyClient {
    /// Says Hello, unless it is not let in.
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

    /// All that has come.
    fn hear(&mut self) -> Vec<String> {
        let serial = self.peer.ping();
        let mut heard = Vec::new();
        loop {
            let Some(message) = self.peer.receive() else {
                heard.push("closed".to_owned());
                return heard;
            };
            if message.is_pong(serial) {
                return heard;
            }
            heard.push(message.compared());
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
