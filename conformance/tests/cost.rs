//! The cost of a small message for the bus, as counts that do not depend on the speed of the
//! machine.
//!
//! These tests run only with Diligence, because dbus-daemon exceeds the limits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use conformance::process::status_number;
use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, PlainValue, ScratchFolder, Signal, TestConfig,
    TestPeer, check_all, diligence, link_bus, note, run_tests, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(a_round_trip_costs_the_bus_three_system_calls_each_way).requires(diligence()),
        test_case!(a_round_trip_wakes_the_bus_twice).requires(diligence()),
        test_case!(instructions_per_message_stay_below_the_limits).requires(numbers_apply()),
    ])
}

/// Enough that the cost of attaching the tracer is negligible.
const ROUND_TRIPS: u32 = 500;

/// System calls for one round trip: wait, read, write for the call, and the same for the reply.
const SYSTEM_CALLS: u32 = 6;

/// Wake-ups for one round trip: one for the call, one for the reply.
const WAKE_UPS: u64 = 2;

/// Instructions per message that callgrind counts outside of the kernel.
///
/// The numbers apply to rustc 1.95 and the `dev` profile on x86-64. Another compiler, other
/// `[profile.dev]` settings, or a libc or processor with other copy loops can change all of them
/// slightly. After such a change, or if a change of the bus is worth its cost, replace the numbers
/// with the printed ones. Two runs differ only by the random keys of the hash tables, by
/// up to 3 % with many rules and less without them. [`SLACK`] covers this and a few small changes.
const COSTS: [InstructionCost; 4] = [
    InstructionCost {
        name: "round-trip",
        usual: 14_670,
        shares: 1,
        options: &[],
        send: round_trips,
    },
    InstructionCost {
        name: "round-trip-traced",
        usual: 20_050,
        shares: 1,
        options: TRACED,
        send: round_trips,
    },
    InstructionCost {
        name: "delivery-to-one-of-10",
        usual: 2_130,
        shares: RECIPIENTS,
        options: &[],
        send: broadcasts,
    },
    InstructionCost {
        name: "signal-past-1000-rules",
        usual: 8_840,
        shares: 1,
        options: &[],
        send: signals_past_rules,
    },
];

/// The options with which the bus traces every message.
const TRACED: &[&str] = &["--flight-recorder=1MiB"];

/// The allowed increase over the usual number, in percent.
const SLACK: u64 = 10;

/// Messages before the count begins, so that one-time costs such as growing tables are not counted.
const WARM_UP: u32 = 100;

/// Enough that the random keys of the hash tables hardly change the result while rules are added.
const COUNTED: u32 = 2_000;

/// The number of recipients of each broadcast signal.
const RECIPIENTS: u32 = 10;

/// Connections that own the rules that do not match; the share of each is below the default limit
/// of 512.
const RULE_OWNERS: u32 = 10;
const RULES_EACH: u32 = 100;

fn a_round_trip_costs_the_bus_three_system_calls_each_way() {
    // Tracing must not add a system call.
    let options: [&[&str]; 2] = [&[], TRACED];
    check_all(&options, |options| options.join(" "), |options| count_system_calls(options));
}

fn count_system_calls(options: &[&str]) {
    let mut bus = BusUnderTest::start_with(&TestConfig::session(), |program| program.args(options));
    let (mut caller, mut callee) = (bus.peer(), bus.peer());
    let process = bus.process().id().to_string();
    let tracer = ExternalProgram::named("strace", "strace").args(["-c", "-f", "-p", &process]);
    let mut tracer = tracer.start();
    tracer.wait_for("the tracer to attach", |_, stderr| stderr.contains("attached").then_some(()));
    (0..ROUND_TRIPS).for_each(|_| round_trip(&mut caller, &mut callee));
    tracer.signal(Signal::INT);
    let table = tracer.finish().stderr;
    let total = total_calls(&table).unwrap_or_else(|| panic!("no total in\n{table}"));
    // Attaching the tracer interrupts one call, which is then repeated. The tracer may detach
    // before it has seen the end of the last write and the beginning of the next wait.
    let expected = ROUND_TRIPS * SYSTEM_CALLS;
    assert!(
        (expected - 2..=expected + 4).contains(&total),
        "{total} system calls for {ROUND_TRIPS} round trips, {expected} expected\n{table}"
    );
}

fn a_round_trip_wakes_the_bus_twice() {
    let mut bus = BusUnderTest::session();
    let (mut caller, mut callee) = (bus.peer(), bus.peer());
    let process = bus.process().id();
    round_trip(&mut caller, &mut callee);
    let before = wake_ups(process);
    (0..ROUND_TRIPS).for_each(|_| round_trip(&mut caller, &mut callee));
    let woken = wake_ups(process) - before;
    let expected = u64::from(ROUND_TRIPS) * WAKE_UPS;
    // Fewer if the bus was still awake when the reply arrived; more only because of other
    // processes.
    assert!(woken <= expected + 4, "{woken} wake-ups for {ROUND_TRIPS} round trips");
}

fn instructions_per_message_stay_below_the_limits() {
    check_all(&COSTS, |cost| cost.name.to_owned(), InstructionCost::check);
}

/// The requirement that the table applies to the bus under test.
fn numbers_apply() -> Result<(), String> {
    if std::env::var_os("DILIGENCE_BUS").is_some() {
        return Err("only without DILIGENCE_BUS, which may have any profile".to_owned());
    }
    // The program and the tests are in the same folder, so they have the same profile.
    let usual = cfg!(all(debug_assertions, target_arch = "x86_64"));
    usual.then_some(()).ok_or_else(|| "only for the dev profile on x86-64".to_owned())
}

/// A kind of message, and the number of instructions that the bus needs for one.
struct InstructionCost {
    name: &'static str,
    /// The usual number of instructions for one share.
    usual: u64,
    /// The number of shares into which the cost of a message is divided: its recipients, for
    /// broadcasts.
    shares: u32,
    /// Additional options of the bus.
    options: &'static [&'static str],
    /// Connects the peers, sends this number of messages, and returns the peers.
    send: fn(&BusUnderTest, u32) -> Vec<TestPeer>,
}

impl InstructionCost {
    fn check(&self) {
        let profile = self.profile();
        let without = self.instructions(WARM_UP, &profile);
        // The longer run is second, so its profile remains.
        let with = self.instructions(WARM_UP + COUNTED, &profile);
        let measured = with.saturating_sub(without) / u64::from(COUNTED * self.shares);
        note(&format!("{}: {measured} instructions", self.name));
        let ceiling = self.usual * (100 + SLACK) / 100;
        assert!(
            measured <= ceiling,
            "{measured} instructions, and {ceiling} is the ceiling. Where they go: \
             callgrind_annotate --inclusive=yes {}",
            profile.display()
        );
        assert!(
            measured >= ceiling / 2,
            "{measured} instructions, less than half of the ceiling of {ceiling}: nothing was \
             counted, or the table is out of date"
        );
    }

    /// All instructions of a bus from its start to its end, with this number of messages in
    /// between.
    fn instructions(&self, messages: u32, profile: &Path) -> u64 {
        let links = ScratchFolder::new();
        let bus = BusUnderTest::start_with(&TestConfig::session(), |_| {
            ExternalProgram::named("valgrind", "valgrind")
                .env("DILIGENCE_UNCHECKED", "1")
                .args(["--quiet", "--tool=callgrind"])
                .arg(format!("--callgrind-out-file={}", profile.display()))
                .arg(link_bus(&links))
                .args(self.options)
        });
        // A peer that disconnects earlier would do so at a varying moment.
        let peers = (self.send)(&bus, messages);
        bus.stop();
        drop(peers);
        let text = fs::read_to_string(profile).expect("callgrind writes its file at the end");
        let total = text.lines().find_map(|line| line.strip_prefix("summary: "));
        total.and_then(|number| number.trim().parse().ok()).expect("a summary in the profile")
    }

    /// A file that remains after the test, to examine a failure.
    fn profile(&self) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cost-{}.callgrind", self.name))
    }
}

fn round_trips(bus: &BusUnderTest, count: u32) -> Vec<TestPeer> {
    let (mut caller, mut callee) = (bus.peer(), bus.peer());
    (0..count).for_each(|_| round_trip(&mut caller, &mut callee));
    vec![caller, callee]
}

fn broadcasts(bus: &BusUnderTest, count: u32) -> Vec<TestPeer> {
    let mut sender = bus.peer();
    let mut recipients: Vec<_> = (0..RECIPIENTS).map(|_| listener(bus)).collect();
    (0..count).for_each(|_| broadcast(&mut sender, &mut recipients));
    recipients.push(sender);
    recipients
}

fn signals_past_rules(bus: &BusUnderTest, count: u32) -> Vec<TestPeer> {
    let mut peers: Vec<_> = (0..RULE_OWNERS).map(|_| bus.peer()).collect();
    for owner in &mut peers {
        (0..RULES_EACH).for_each(|number| owner.add_match(&rule_for_none(number)));
    }
    let (mut sender, mut recipient) = (bus.peer(), listener(bus));
    (0..count).for_each(|_| broadcast(&mut sender, std::slice::from_mut(&mut recipient)));
    peers.extend([sender, recipient]);
    peers
}

/// A rule that differs from the signal in one key, a different one in turn.
fn rule_for_none(number: u32) -> String {
    match number % 4 {
        0 => format!("{RULE},member='Other{number}'"),
        1 => format!("{RULE},path='/other/{number}'"),
        2 => format!("{RULE},arg0='other {number}'"),
        _ => format!("{RULE},sender=':7.{number}'"),
    }
}

/// A client that subscribes to the signal.
fn listener(bus: &BusUnderTest) -> TestPeer {
    let mut peer = bus.peer();
    peer.add_match(RULE);
    peer
}

/// The next signal is sent when all recipients have this one, so that each is read and sent
/// separately.
fn broadcast(sender: &mut TestPeer, recipients: &mut [TestPeer]) {
    let signal =
        PlainMessage::signal("/", "com.example.Cost", "Changed").arg(PlainValue::text("value"));
    sender.send(signal);
    for recipient in recipients {
        assert_eq!(recipient.receive().expect("the signal").member(), "Changed");
    }
}

const RULE: &str = "type='signal',interface='com.example.Cost'";

fn round_trip(caller: &mut TestPeer, callee: &mut TestPeer) {
    let serial = caller.send(PlainMessage::call(callee.name(), "/", "com.example.Cost", "Ping"));
    let call = callee.receive().expect("the call");
    let reply = callee.numbered(PlainMessage::reply(&call));
    callee.send(reply);
    let reply = caller.receive().expect("the reply");
    assert_eq!(reply.reply_serial(), Some(serial));
}

/// The number of calls in the last line of strace's table: `100.00 0.01 3 3006 total`.
fn total_calls(table: &str) -> Option<u32> {
    let line = table.lines().find(|line| line.trim_end().ends_with("total"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

/// The number of voluntary context switches of a process, each of which ends with a wake-up.
fn wake_ups(process: u32) -> u64 {
    status_number(process, "voluntary_ctxt_switches")
}
