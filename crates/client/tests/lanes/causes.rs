//! Three programs exchange random messages over the bus and over lanes. Nobody may receive a
//! message before one that its sender knew of.
//!
//! Each message contains, for each pair of programs, how many messages the first has sent to the
//! second, as far as the sender knows. The recipient must have received all of those that are for
//! itself.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::wire::message::{Builder, Flags};
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::{
    CallOptions, Connection, LaneUse, Processed, ServedInterface, Subscription,
};

use unix::poll::{Interest, wait_for_any};

use crate::support::{BusProgram, PrivateTestBus};

const PROGRAMS: usize = 3;
const WITH_EVENT_LOOP: usize = 1;
const NAME: &str = "org.example.Causes";
const PATH: ObjectPath<'static> = ObjectPath::literal("/");
const INTERFACE: InterfaceName<'static> = InterfaceName::literal(NAME);
const SENT: MemberName<'static> = MemberName::literal("Sent");
const PASSED: MemberName<'static> = MemberName::literal("Passed");

/// For each sender and each recipient, how many messages were sent.
type CauseCounts = Vec<u64>;

/// What a program knows, and has received from each.
struct Program {
    own: usize,
    known: CauseCounts,
    received: [u64; PROGRAMS],
    /// Signals of others, which must be taken into account before a call is.
    signals: Option<Subscription>,
    on_lanes: u64,
}

impl Program {
    fn receive(&mut self, from: usize, known: &[u64]) {
        for sender in 0..PROGRAMS {
            let sent = known[sender * PROGRAMS + self.own];
            let expected = if sender == from { sent - 1 } else { sent };
            assert!(
                self.received[sender] >= expected,
                "program {} has a message of {from}, which knew {sent} of {sender}, but has only {}",
                self.own,
                self.received[sender]
            );
            if sender == from {
                assert_eq!(self.received[sender], expected, "a message twice");
            }
        }
        self.received[from] += 1;
        for (own, other) in self.known.iter_mut().zip(known) {
            *own = (*own).max(*other);
        }
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.as_ref().and_then(|it| it.poll().expect("no loss")) {
            let (from, known): (u32, Vec<u64>) = signal.read().expect("the arguments");
            if from as usize != self.own {
                self.receive(from as usize, &known);
            }
        }
    }

    fn sends_to(&mut self, recipient: usize) {
        self.known[self.own * PROGRAMS + recipient] += 1;
    }
}

/// The messages of a run. A connection keeps the order of calls, and of signals, but when it waits
/// for room in a socket, it queues both apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageKind {
    /// Calls, with and without a reply, and calls of the bus.
    Calls,
    /// Signals to one program and to all.
    Signals,
}

/// A generator of random numbers (xorshift).
struct CauseRandom(u64);

impl CauseRandom {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// What all threads of a run share.
struct CauseStage {
    names: Mutex<Vec<String>>,
    /// How many programs send no more.
    silent: AtomicUsize,
    sent: [[AtomicU64; PROGRAMS]; PROGRAMS],
    lanes: AtomicUsize,
}

fn run(
    bus: &PrivateTestBus,
    stage: &CauseStage,
    own: usize,
    seed: u64,
    (steps, kind): (u64, MessageKind),
) {
    let connection = bus.connect();
    connection.set_lane_use(LaneUse::On);
    let interface = ServedInterface::<Program>::builder(NAME)
        .raw_method(
            "Passed",
            &[("from", "u"), ("known", "at")],
            &[],
            |program: &mut Program, call| {
                program.take_signals();
                let (from, known): (u32, Vec<u64>) = call.read().expect("the types were checked");
                program.receive(from as usize, &known);
                call.reply(&()).expect("the connection lives");
            },
        )
        .build()
        .expect("a valid interface");
    let signals = connection.subscribe_to(PATH, INTERFACE, SENT).expect("the rule is valid");
    let program = Program {
        own,
        known: vec![0; PROGRAMS * PROGRAMS],
        received: [0; PROGRAMS],
        signals: Some(signals),
        on_lanes: 0,
    };
    let object = connection.add_object(PATH, &interface, program).expect("a new object");
    stage.names.lock().expect("no panic")[own] = connection.unique_name().as_str().to_owned();
    while stage.names.lock().expect("no panic").iter().any(String::is_empty) {
        thread::sleep(Duration::from_millis(1));
    }
    let names = stage.names.lock().expect("no panic").clone();
    let mut random =
        CauseRandom(seed.wrapping_mul(PROGRAMS as u64 + 1).wrapping_add(own as u64) | 1);
    let mut pending = Vec::new();
    for _ in 0..steps {
        step(&connection, &object, &names, &mut random, &mut pending, (stage, kind));
    }
    stage.silent.fetch_add(1, Ordering::SeqCst);
    let deadline = Instant::now() + Duration::from_secs(30);
    let is_complete = |program: &Program| {
        stage.silent.load(Ordering::SeqCst) == PROGRAMS
            && (0..PROGRAMS)
                .all(|from| program.received[from] == stage.sent[from][own].load(Ordering::SeqCst))
    };
    loop {
        object.state().take_signals();
        if is_complete(&object.state()) || Instant::now() > deadline {
            break;
        }
        process(&connection, own, Duration::from_millis(5));
    }
    let state = object.state();
    for from in 0..PROGRAMS {
        let sent = stage.sent[from][own].load(Ordering::SeqCst);
        assert_eq!(state.received[from], sent, "messages of {from} to {own}");
    }
    stage.lanes.fetch_add(usize::from(state.on_lanes > 0), Ordering::SeqCst);
    drop(state);
    // Others may still need replies.
    let end = Instant::now() + Duration::from_millis(200);
    while Instant::now() < end {
        process(&connection, own, Duration::from_millis(5));
    }
    for mut call in pending {
        call.poll().expect("each call was answered").expect("a reply");
    }
}

/// Processes a message. One of the programs has an event loop.
fn process(connection: &Connection, own: usize, wait: Duration) -> Processed {
    let mut wait = wait;
    if own == WITH_EVENT_LOOP {
        connection.flush().expect("the bus lives");
        let incoming = connection.incoming_descriptor().expect("descriptors are left");
        wait_for_any(&[(incoming, Interest::Read)], Some(wait)).expect("the kernel waits");
        wait = Duration::ZERO;
    }
    connection.process(Some(wait)).expect("the bus lives")
}

fn step(
    connection: &Connection,
    object: &diligence_client::Object<Program>,
    names: &[String],
    random: &mut CauseRandom,
    pending: &mut Vec<diligence_client::StartedCall>,
    (stage, kind): (&CauseStage, MessageKind),
) {
    let own = object.state().own;
    let choice = random.below(100);
    if choice < 45 {
        // Mostly everything, so that the sockets do not fill: while a connection waits for room, it
        // queues calls and signals without their order.
        let most = if random.below(4) == 0 { 1 } else { 1000 };
        let wait = Duration::from_micros(random.below(200));
        for _ in 0..most {
            let processed = process(connection, own, wait);
            object.state().take_signals();
            if processed == Processed::Nothing {
                break;
            }
        }
    } else if choice < 55 && kind == MessageKind::Signals {
        let mut program = object.state();
        program.take_signals();
        for other in (0..PROGRAMS).filter(|other| *other != own) {
            program.sends_to(other);
            stage.sent[own][other].fetch_add(1, Ordering::SeqCst);
        }
        let args = (own as u32, program.known.clone());
        drop(program);
        connection.emit(PATH, INTERFACE, SENT, &args).expect("the bus lives");
    } else if choice < 55 {
        // Messages go to the bus until it has routed this one.
        let ask = Builder::method_call(PATH, MemberName::literal("GetId"))
            .destination(BusName::new("org.freedesktop.DBus").expect("a name"));
        connection.send(&ask, &(), Vec::new()).expect("the bus lives");
    } else {
        let other = (own + 1 + random.below(PROGRAMS as u64 - 1) as usize) % PROGRAMS;
        let mut program = object.state();
        program.take_signals();
        program.sends_to(other);
        stage.sent[own][other].fetch_add(1, Ordering::SeqCst);
        program.on_lanes += connection.lane_count() as u64;
        let args = (own as u32, program.known.clone());
        drop(program);
        let recipient = BusName::new(&names[other]).expect("a name");
        let call = Builder::method_call(PATH, PASSED).interface(INTERFACE).destination(recipient);
        let sent = match kind {
            MessageKind::Signals => {
                // Calls make the library ask for lanes.
                let ping = Builder::method_call(PATH, MemberName::literal("Ping"))
                    .interface(InterfaceName::literal("org.freedesktop.DBus.Peer"))
                    .destination(recipient)
                    .flags(Flags::NO_REPLY_EXPECTED);
                connection.send(&ping, &(), Vec::new()).expect("the bus lives");
                let signal = Builder::signal(PATH, INTERFACE, SENT).destination(recipient);
                connection.send(&signal, &args, Vec::new()).map(drop)
            }
            MessageKind::Calls if random.below(2) == 0 => {
                let call = call.flags(Flags::NO_REPLY_EXPECTED);
                connection.send(&call, &args, Vec::new()).map(drop)
            }
            MessageKind::Calls => {
                let call = connection.start_call(&call, &args, CallOptions::default());
                pending.push(call.expect("the bus lives"));
                Ok(())
            }
        };
        sent.expect("the bus lives");
        if random.below(3) == 0 {
            connection.flush().expect("the bus lives");
        }
    }
}

/// Runs all programs, with a monitor that comes and goes if `watches`.
fn check(seed: u64, steps: u64, kind: MessageKind, watches: bool) {
    println!("seed {seed}");
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let stage = CauseStage {
        names: Mutex::new(vec![String::new(); PROGRAMS]),
        silent: AtomicUsize::new(0),
        sent: Default::default(),
        lanes: AtomicUsize::new(0),
    };
    thread::scope(|scope| {
        let programs: Vec<_> = (0..PROGRAMS)
            .map(|own| {
                let (bus, stage) = (&bus, &stage);
                scope.spawn(move || run(bus, stage, own, seed, (steps, kind)))
            })
            .collect();
        while watches && !programs.iter().all(|program| program.is_finished()) {
            let monitor = bus.connect();
            let args = (Vec::<&str>::new(), 0_u32);
            let bus_name = "org.freedesktop.DBus";
            let became = monitor.call(
                bus_name,
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus.Monitoring",
                "BecomeMonitor",
                &args,
            );
            became.expect("a monitor");
            thread::sleep(Duration::from_millis(2));
            drop(monitor);
            thread::sleep(Duration::from_millis(10));
        }
        programs.into_iter().for_each(|program| program.join().expect("no violation"));
    });
    assert!(watches || stage.lanes.load(Ordering::SeqCst) > 0, "lanes were used");
}

/// Steps of each program, 4000 unless `DILIGENCE_STEPS` is set.
fn steps() -> u64 {
    let steps = std::env::var("DILIGENCE_STEPS").ok();
    steps.map_or(4_000, |steps| steps.parse().expect("a number"))
}

fn seed() -> u64 {
    match std::env::var("DILIGENCE_SEED") {
        Ok(seed) => seed.parse().expect("a number"),
        Err(_) => u64::from(std::process::id()) * 1_000_003 + 17,
    }
}

#[test]
fn no_call_arrives_before_one_that_its_caller_knew() {
    check(seed(), steps(), MessageKind::Calls, false);
}

#[test]
fn no_signal_arrives_before_one_that_its_sender_knew() {
    check(seed(), steps(), MessageKind::Signals, false);
}

#[test]
fn lanes_that_a_monitor_ends_lose_and_repeat_no_calls() {
    check(seed(), steps(), MessageKind::Calls, true);
}

#[test]
fn lanes_that_a_monitor_ends_lose_and_repeat_no_signals() {
    check(seed(), steps(), MessageKind::Signals, true);
}
