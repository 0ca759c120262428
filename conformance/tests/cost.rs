//! What one small message costs the bus: counts that do not depend on the machine's mood.
//!
//! Only for our own bus: the reference needs more, and that is why ours exists.

use std::fs;
use std::path::{Path, PathBuf};

use conformance::process::status_number;
use conformance::{
    BusUnderTest, ExternalProgram, Flavour, PlainMessage, PlainValue, ScratchFolder, Signal,
    TestConfig, TestPeer, announce, check_all, link_bus,
};

/// Enough that what attaching the tracer costs does not matter.
const ROUND_TRIPS: u32 = 500;

/// System calls for one round trip: wait, read, write for the call, and the same for the reply.
const SYSTEM_CALLS: u32 = 6;

/// Wake-ups for one round trip: one for the call, one for the reply.
const WAKE_UPS: u64 = 2;

/// Instructions for a message: what callgrind counts outside the kernel.
///
/// The numbers are those of rustc 1.95 and the `dev` profile on x86-64. Another compiler, other
/// `[profile.dev]` lines, or a libc or processor with other copy loops may move all of them a
/// little; then, or when a change is worth its price, this table is the place to write what was
/// measured, which the tests print. Between two runs only the random keys of the hash tables differ,
/// which is worth up to 3 % where there are many rules and nothing elsewhere; [`SLACK`] is for that
/// and for small changes, not for many of them.
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

/// What the bus is started with to write down all that it does.
const TRACED: &[&str] = &["--flight-recorder=1MiB"];

/// How much more than usual is still good, in percent.
const SLACK: u64 = 10;

/// Sent before the count begins: what happens once, as a table that grows, is not counted.
const WARM_UP: u32 = 100;

/// Enough that what the keys of the hash tables change while the rules are added does not matter.
const COUNTED: u32 = 2_000;

/// Who hears each of the signals to many.
const RECIPIENTS: u32 = 10;

/// Rules that a signal does not match, each connection's share below the usual limit of 512.
const RULE_OWNERS: u32 = 10;
const RULES_EACH: u32 = 100;

#[test]
fn a_round_trip_costs_the_bus_three_system_calls_each_way() {
    if Flavour::under_test() == Flavour::Reference {
        return;
    }
    // What it does with messages is written down without one more.
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
    // Attaching interrupts one call, which is then made again. The tracer may be gone before it has
    // seen how the last write ends and the wait after it begins.
    let expected = ROUND_TRIPS * SYSTEM_CALLS;
    assert!(
        (expected - 2..=expected + 4).contains(&total),
        "{total} system calls for {ROUND_TRIPS} round trips, {expected} expected\n{table}"
    );
}

#[test]
fn a_round_trip_wakes_the_bus_twice() {
    if Flavour::under_test() == Flavour::Reference {
        return;
    }
    let mut bus = BusUnderTest::session();
    let (mut caller, mut callee) = (bus.peer(), bus.peer());
    let process = bus.process().id();
    round_trip(&mut caller, &mut callee);
    let before = wake_ups(process);
    (0..ROUND_TRIPS).for_each(|_| round_trip(&mut caller, &mut callee));
    let woken = wake_ups(process) - before;
    let expected = u64::from(ROUND_TRIPS) * WAKE_UPS;
    // Less where the bus was still awake when the reply came; more only by what others cause.
    assert!(woken <= expected + 4, "{woken} wake-ups for {ROUND_TRIPS} round trips");
}

#[test]
fn no_message_takes_more_instructions_than_it_did() {
    if let Err(reason) = numbers_apply() {
        return announce(&format!("left out, instructions for a message: {reason}"));
    }
    check_all(&COSTS, |cost| cost.name.to_owned(), InstructionCost::check);
}

/// Whether the bus under test is the one whose instructions stand in the table.
fn numbers_apply() -> Result<(), &'static str> {
    if std::env::var_os("DILIGENCE_BUS").is_some() {
        return Err("DILIGENCE_BUS may be of any profile");
    }
    // The program and the tests are in the same folder, so of the same profile.
    let usual = cfg!(all(debug_assertions, target_arch = "x86_64"));
    usual.then_some(()).ok_or("the numbers are those of the dev profile on x86-64")
}

/// A kind of message, and how many instructions the bus needs for one.
struct InstructionCost {
    name: &'static str,
    /// Instructions for a share.
    usual: u64,
    /// In how many shares the cost of one message is told: recipients, where there are many.
    shares: u32,
    /// Of the bus.
    options: &'static [&'static str],
    /// Sends so many of them, after what has to be there first, and gives all who took part.
    send: fn(&BusUnderTest, u32) -> Vec<TestPeer>,
}

impl InstructionCost {
    fn check(&self) {
        let profile = self.profile();
        let without = self.instructions(WARM_UP, &profile);
        // The longer run is second, so that its profile is the one that stays.
        let with = self.instructions(WARM_UP + COUNTED, &profile);
        let measured = with.saturating_sub(without) / u64::from(COUNTED * self.shares);
        println!("{}: {measured} instructions", self.name);
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

    /// All instructions of a bus from its start to its end, with so many messages in between.
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
        // Who left before the end would leave at a moment that is not always the same.
        let peers = (self.send)(&bus, messages);
        bus.stop();
        drop(peers);
        let text = fs::read_to_string(profile).expect("callgrind writes its file at the end");
        let total = text.lines().find_map(|line| line.strip_prefix("summary: "));
        total.and_then(|number| number.trim().parse().ok()).expect("a summary in the profile")
    }

    /// A file that outlives the test, to look at when it fails.
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

/// A rule for the signal, but for one thing: in turn each of those that rules are told apart by.
fn rule_for_none(number: u32) -> String {
    match number % 4 {
        0 => format!("{RULE},member='Other{number}'"),
        1 => format!("{RULE},path='/other/{number}'"),
        2 => format!("{RULE},arg0='other {number}'"),
        _ => format!("{RULE},sender=':7.{number}'"),
    }
}

/// A client that hears the signal.
fn listener(bus: &BusUnderTest) -> TestPeer {
    let mut peer = bus.peer();
    peer.add_match(RULE);
    peer
}

/// The next signal goes out when all have this one, so that each is read and sent by itself.
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

/// How often a process has gone to sleep of its own will, and so was woken.
fn wake_ups(process: u32) -> u64 {
    status_number(process, "voluntary_ctxt_switches")
}
