//! Hours of usual traffic: programs of the demonstration, signals, calls, a slow reader, and
//! clients that connect and disconnect. Memory and latencies stay constant, and every message is
//! accounted for.

use std::fmt;
use std::time::{Duration, Instant};

use conformance::differential;
use conformance::statistics::{dicts, number};
use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, Signal, StartedProgram, TestConfig, TestPeer,
    eventually, instruments_binary,
};

use crate::desktop::quarters;
use crate::form::TestDuration;
use crate::gauge::{Gauge, GaugeTotals};
use crate::latency::Latency;
use crate::numbered::{self, Sequence};
use crate::stop_flag::StopFlag;

/// The queue limit of the slow reader.
const QUEUE: u64 = 1_000_000;

/// The time for which the slow reader sleeps, the time for which it reads then, and the length of
/// its messages: more than fits into its queue.
const DOZE: Duration = Duration::from_millis(1500);
const AWAKE: Duration = Duration::from_millis(300);
const HEAVY: usize = 10_000;

/// The number of samples of a soak, at most one per second.
const SAMPLES: u64 = 60;

/// The allowed increase of a median latency from the second to the last quarter: a half, plus this
/// noise of a machine with other load.
const NOISE: Duration = Duration::from_micros(200);

/// The values of one sample.
struct SoakSample {
    at: Duration,
    memory: u64,
    descriptors: usize,
    used: Duration,
    calls: Latency,
}

/// Formats the sample as a row of a table.
impl fmt::Display for SoakSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, memory, descriptors, used, calls } = self;
        let (minutes, seconds) = (at.as_secs() / 60, at.as_secs() % 60);
        let [half, most] = [50, 99].map(|percent| calls.percentile(percent).as_micros());
        write!(
            f,
            "| {minutes}:{seconds:02} | {memory} | {descriptors} | {half} | {most} | {used:?} |"
        )
    }
}

pub(crate) fn memory_and_latency_stay_constant_in_a_soak() {
    let form = TestDuration::requested();
    let seconds = differential::number("DILIGENCE_SOAK").unwrap_or(form.pick(6, 3600));
    let mut bus = BusUnderTest::start(&TestConfig::session().limit("max_outgoing_bytes", QUEUE));
    let gauge = Gauge::of(&mut bus);
    let mut requester = bus.peer();
    let mut dozer = bus.peer();
    dozer.add_match(&numbered::rule("Heavy"));
    let cast = start_cast(&bus);
    let mut traffic = SoakTraffic::new(&bus);
    let stop = StopFlag::default();
    let mut samples = Vec::new();
    let dozed = std::thread::scope(|scope| {
        let ends = stop.when_dropped();
        let dozing = scope.spawn(|| doze(&mut dozer, &stop));
        let started = Instant::now();
        let every = Duration::from_secs((seconds / SAMPLES).max(1));
        while started.elapsed().as_secs() < seconds {
            let calls = traffic.during(&bus, every);
            let (memory, descriptors) = (gauge.memory(), gauge.descriptors());
            let (at, used) = (started.elapsed(), gauge.processor_time());
            samples.push(SoakSample { at, memory, descriptors, used, calls });
            form.report(&samples[samples.len() - 1].to_string());
        }
        drop(ends);
        dozing.join().expect("it ends well")
    });
    // In KiB. A short soak fills the queue of the slow reader for the first time.
    assert_flat(&samples, form.pick(4096, 512));
    let totals = account(&mut requester, &cast, &traffic);
    let SoakTraffic { light, heavy, gone, .. } = &traffic;
    let lost = totals.get("LostMessages");
    assert_eq!(u64::from(dozed) + lost, u64::from(heavy.count()), "read or counted as lost");
    form.report(&format!(
        "soak: {seconds} s; {} messages, {} deliveries, all accounted for; {} and {} signals of this test, \
         each once and in order; of the latter the slow reader got {dozed} and lost {lost}; {} connections \
         came and went",
        totals.get("Messages"),
        totals.get("Deliveries"),
        light.count(),
        heavy.count(),
        gone.connections,
    ));
    drop(cast);
    bus.stop();
}

fn start_cast(bus: &BusUnderTest) -> Vec<StartedProgram> {
    let start = |part: &str| {
        ExternalProgram::at(instruments_binary())
            .arg("demo")
            .args(part.split(' '))
            .env("DBUS_SESSION_BUS_ADDRESS", bus.address())
            .limit(Duration::from_secs(7200))
            .start()
    };
    ["archive", "battery", "chat room", "chat anna", "chat bob", "volumes", "poller"]
        .map(start)
        .into()
}

/// Reads for a while, from time to time: returns the number of messages, which arrive in order.
fn doze(dozer: &mut TestPeer, stop: &StopFlag) -> u32 {
    let (mut came, mut last) = (0, None);
    let mut take = |message: PlainMessage| {
        let number = message.first_u32();
        assert!(number > last, "{number:?} after {last:?}");
        last = number;
        came += 1;
    };
    while !stop.is_set() {
        // This peer is a slow reader, so it reads nothing for a while.
        std::thread::sleep(DOZE);
        let ends = Instant::now() + AWAKE;
        while Instant::now() < ends {
            dozer.receive_within(Duration::from_millis(10)).into_iter().for_each(&mut take);
        }
    }
    dozer.drain().into_iter().for_each(take);
    came
}

/// Totals of the clients that have disconnected.
#[derive(Debug, Default)]
struct Gone {
    connections: u64,
    sent: u64,
    received: u64,
}

/// The clients of this test.
struct SoakTraffic {
    sender: TestPeer,
    readers: [TestPeer; 2],
    light: Sequence,
    heavy: Sequence,
    pair: [TestPeer; 2],
    gone: Gone,
}

impl SoakTraffic {
    fn new(bus: &BusUnderTest) -> Self {
        let mut readers = [bus.peer(), bus.peer()];
        readers[0].add_match(&numbered::rule("Light"));
        readers[1].add_match(&numbered::rule("Heavy"));
        let (light, heavy, gone) = Default::default();
        Self { sender: bus.peer(), readers, light, heavy, pair: [bus.peer(), bus.peer()], gone }
    }

    fn during(&mut self, bus: &BusUnderTest, time: Duration) -> Latency {
        let ends = Instant::now() + time;
        let mut times = Vec::new();
        while Instant::now() < ends {
            let [light, heavy] = &mut self.readers;
            for ahead in 0..5 {
                self.sender.send(numbered::signal("Light", self.light.count() + ahead, 50));
            }
            self.sender.send(numbered::signal("Heavy", self.heavy.count(), HEAVY));
            (0..5).for_each(|_| self.light.take(&light.receive().expect("open")));
            self.heavy.take(&heavy.receive().expect("open"));
            let [caller, callee] = &mut self.pair;
            times.push(caller.round_trip(callee));
            if self.heavy.count().is_multiple_of(16) {
                self.gone.come_and_go(bus);
            }
            // The load is moderate, so that latency measures the bus and not a queue.
            std::thread::sleep(Duration::from_millis(3));
        }
        Latency::of(times)
    }
}

impl Gone {
    /// A client connects, takes a name, adds a match rule, makes a call, and disconnects.
    fn come_and_go(&mut self, bus: &BusUnderTest) {
        let mut peer = bus.peer();
        assert_eq!(peer.request_name("com.example.Passing", 0), 1);
        peer.add_match("type='signal',interface='com.example.Nothing'");
        let known = peer.ask_bus("NameHasOwner", "com.example.Passing");
        assert_eq!(known.error_name(), "");
        self.connections += 1;
        self.sent += 4;
        // NameAcquired twice, and a reply to each call.
        self.received += 6;
    }
}

/// Checks that no value has grown.
fn assert_flat(samples: &[SoakSample], more_memory: u64) {
    let all = |of: fn(&SoakSample) -> u64| samples.iter().map(of).collect::<Vec<_>>();
    let [second, last] = quarters(&all(|sample| sample.memory));
    assert!(last <= second + more_memory, "{second} and then {last} KiB");
    let [second, last] = quarters(&all(|sample| sample.descriptors as u64));
    assert!(last.abs_diff(second) <= 1, "{second} and then {last} descriptors");
    let [second, last] = quarters(&all(|sample| sample.calls.median().as_micros() as u64));
    let most = second * 3 / 2 + NOISE.as_micros() as u64;
    assert!(last <= most, "{second} and then {last} µs");
}

/// Checks that each message that the bus received was sent by a known peer, and that each message
/// that it queued was or will be received. The traffic pauses meanwhile.
fn account(
    requester: &mut TestPeer,
    cast: &[StartedProgram],
    traffic: &SoakTraffic,
) -> GaugeTotals {
    cast.iter().for_each(|member| member.signal(Signal::STOP));
    let mut last = 0;
    let totals = eventually("all to stand still", || {
        let totals = GaugeTotals::ask(requester);
        let messages = totals.get("Messages");
        // The call for the statistics counts as a message.
        let still = messages == last + 1;
        last = messages;
        still.then_some(totals)
    });
    let connections = dicts(requester, "GetConnections");
    let sum = |key: &str| connections.iter().map(|one| number(one, key)).sum::<u64>();
    // The next call was sent, too, and the reply to the last one has arrived.
    let Gone { sent, received, .. } = traffic.gone;
    assert_eq!(sum("SentMessages") + sent, totals.get("Messages") + 1);
    let got = sum("ReceivedMessages") + sum("QueuedMessages") + received;
    assert_eq!(got, totals.get("Deliveries") + 1);
    assert_eq!(sum("LostMessages"), totals.get("LostMessages"));
    cast.iter().for_each(|member| member.signal(Signal::CONT));
    totals
}
