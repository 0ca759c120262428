//! Thousands of simultaneous connections.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use conformance::differential::start_reference;
use conformance::{BusUnderTest, Signal, TestConfig, TestPeer, eventually};

use crate::form::{TestDuration, raise_descriptors};
use crate::gauge::{Gauge, Rest};
use crate::latency::{Latency, LatencyCost};
use crate::worker::{self, WorkerRole};

/// The number of processes that own the connections.
const PROCESSES: usize = 4;

/// Descriptors that the bus needs for other purposes, or reserves.
const OTHER_DESCRIPTORS: u64 = 128;

/// Memory in bytes that the bus may need for each connection; unused queues need none.
const BYTES_EACH: u64 = 8192;

/// The allowed factor of processor time for a call when all of them are connected.
const SLOWER: u32 = 2;
const NOISE: Duration = Duration::from_micros(50);

/// The number of calls in a measurement.
const CALLS: u32 = 1000;

pub(crate) fn thousands_of_connections_cost_little() {
    let form = TestDuration::requested();
    let most = raise_descriptors().saturating_sub(OTHER_DESCRIPTORS);
    let wanted = form.pick(2000, 20_000);
    let count = wanted.min(usize::try_from(most).expect("as much memory as before"));
    let config = ["max_completed_connections", "max_connections_per_user"]
        .iter()
        .fold(TestConfig::session(), |config, limit| config.limit(limit, 1_000_000));
    let mut bus = BusUnderTest::start(&config);
    let gauge = Gauge::of(&mut bus);
    let mut requester = bus.peer();
    let rest = Rest::of(gauge, &mut requester);
    let mut quiet = BusUnderTest::start(&config);
    let crowd = ConnectionCrowd::watched(&bus, count);
    let each = (gauge.memory() - rest.memory) * 1024 / count as u64;
    assert!(each < BYTES_EACH, "{each} bytes for each");
    let SeenConnections { came_in, login, alone, among, left_in } =
        crowd.see_and_leave(&mut bus, &mut quiet);
    quiet.stop();
    assert!(among.processor < alone.processor * SLOWER + NOISE, "{alone} alone, {among} among all");
    let memory = rest.is_back(&mut requester);
    assert_eq!(bus.process().stderr(), "", "nobody has done anything wrong");
    form.report(&format!(
        "connections: {count} in {came_in:?}, {each} bytes each; calls {alone} alone, {among} among \
         them; one more in {login}; all disconnected, with their signals, in {left_in:?}; memory {} to {memory} KiB",
        rest.memory
    ));
    bus.stop();

    let mut reference = start_reference(&config);
    let gauge = Gauge::of(&mut reference);
    let before = gauge.memory();
    let mut quiet = start_reference(&config);
    let crowd = ConnectionCrowd::watched(&reference, count);
    let each = (gauge.memory() - before) * 1024 / count as u64;
    let SeenConnections { came_in, login, alone, among, left_in } =
        crowd.see_and_leave(&mut reference, &mut quiet);
    quiet.stop();
    form.report(&format!(
        "connections, dbus-daemon: {count} in {came_in:?}, {each} bytes each; calls {alone} alone, \
         {among} among them; one more in {login}; all disconnected, with their signals, in {left_in:?}"
    ));
    reference.stop();
}

/// All connections, and a watcher of their names.
struct ConnectionCrowd {
    count: usize,
    processes: Vec<conformance::StartedProgram>,
    listener: TestPeer,
    came_in: Duration,
}

struct SeenConnections {
    came_in: Duration,
    login: Latency,
    alone: LatencyCost,
    among: LatencyCost,
    left_in: Duration,
}

impl ConnectionCrowd {
    fn watched(bus: &BusUnderTest, count: usize) -> Self {
        let mut listener = bus.peer();
        listener.add_match("type='signal',member='NameOwnerChanged'");
        let started = Instant::now();
        let of = |process| count / PROCESSES + usize::from(process < count % PROCESSES);
        let start = |process| worker::start(bus, WorkerRole::Crowd { connections: of(process) });
        let mut processes: Vec<_> = (0..PROCESSES).map(start).collect();
        for process in &mut processes {
            worker::wait_until_there(process);
        }
        Self { count, processes, listener, came_in: started.elapsed() }
    }

    /// Compares with a bus without other connections, kills all of them, and checks that the
    /// watcher received one signal for each connect and one for each disconnect.
    fn see_and_leave(
        mut self,
        bus: &mut BusUnderTest,
        quiet: &mut BusUnderTest,
    ) -> SeenConnections {
        let [alone, among] = calls([quiet, bus]);
        let bus = &*bus;
        let login = Latency::of((0..50).map(|_| login(bus)).collect());
        let came = self.here();
        let started = Instant::now();
        self.processes.iter().for_each(|process| process.signal(Signal::KILL));
        let mut left = BTreeSet::new();
        while left.len() < self.count {
            let message = self.listener.receive().expect("open");
            let [name, _, new] = [0, 1, 2].map(|at| message.body[at].as_str().expect("a name"));
            assert!(new.is_empty() && came.contains(name), "{name} was not there");
            assert!(left.insert(name.to_owned()), "{name} leaves once");
        }
        let Self { came_in, .. } = self;
        SeenConnections { came_in, login, alone, among, left_in: started.elapsed() }
    }

    /// The connections that exist according to the signals so far. They must be exactly the
    /// expected ones.
    fn here(&mut self) -> BTreeSet<String> {
        let mut here = BTreeSet::new();
        eventually("the others to be gone", || {
            for message in self.listener.collect() {
                let [name, old] = [0, 1].map(|at| message.body[at].as_str().expect("a name"));
                let news =
                    if old.is_empty() { here.insert(name.to_owned()) } else { here.remove(name) };
                assert!(news, "{name} comes once and leaves once");
            }
            (here.len() == self.count).then_some(())
        });
        here
    }
}

/// The cost of calls between two peers, on each of two buses.
fn calls(buses: [&mut BusUnderTest; 2]) -> [LatencyCost; 2] {
    let [one, other] = buses.map(|bus| (Gauge::of(bus), [bus.peer(), bus.peer()]));
    let (one_gauge, [mut one_caller, mut one_callee]) = one;
    let (other_gauge, [mut other_caller, mut other_callee]) = other;
    LatencyCost::of_each(
        CALLS,
        [
            (one_gauge, &mut || one_caller.round_trip(&mut one_callee)),
            (other_gauge, &mut || other_caller.round_trip(&mut other_callee)),
        ],
    )
}

/// The time to connect, authenticate and receive the reply to Hello.
fn login(bus: &BusUnderTest) -> Duration {
    let started = Instant::now();
    drop(bus.peer());
    started.elapsed()
}
