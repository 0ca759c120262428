//! A program that writes to its end of a lane itself, and does not keep the rules.

use std::io::{ErrorKind, IoSlice};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::wire::message::{Builder, Flags};
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::{CallOptions, Connection, IncomingCall, LaneUse, NameFlags};
use lane::FrameStamp;
use unix::poll::wait_for_data;
use unix::transfer::{self, TransferWait};

use super::{NAME, ServiceStep, call, echo, service, start, with_lane};
use crate::support::{BusProgram, PrivateTestBus};

/// A connection that has asked for a lane to the service, and its end.
struct Attacker {
    connection: Connection,
    lane: OwnedFd,
}

impl Attacker {
    fn connect(bus: &PrivateTestBus) -> Self {
        let connection = bus.connect();
        let opened = connection
            .subscribe_to("/org/freedesktop/DBus", LANES, "Opened")
            .expect("a valid rule");
        let deadline = Instant::now() + PATIENCE;
        let ask = || {
            let reply = connection.call(BUS, "/org/freedesktop/DBus", LANES, "Request", &(NAME,));
            reply.expect("a lane is possible");
        };
        ask();
        loop {
            // Calls make the service ask, too.
            (0..20).for_each(|number| call(&connection, "Echo", number));
            if let Some(signal) = opened.next(Some(Duration::from_millis(50))).expect("it lives") {
                let lane = signal.descriptors()[0].try_clone().expect("descriptors are left");
                return Self { connection, lane };
            }
            assert!(Instant::now() < deadline, "the service asks for no lane");
        }
    }

    fn own_name(&self) -> BusName<'_> {
        self.connection.unique_name()
    }

    /// Sends a packet, with descriptors if the kernel allows it.
    fn send(&self, stamp: FrameStamp, message: &[u8], descriptors: &[BorrowedFd<'_>]) {
        self.send_packet(&[message, &stamp.to_bytes()].concat(), descriptors);
    }

    fn send_packet(&self, packet: &[u8], descriptors: &[BorrowedFd<'_>]) {
        let slices = [IoSlice::new(packet)];
        let send =
            |descriptors| transfer::send(&self.lane, &slices, descriptors, TransferWait::Never);
        let sent = send(descriptors).or_else(|error| match error.kind() {
            // From Linux 6.16 on.
            ErrorKind::PermissionDenied if !descriptors.is_empty() => send(&[]),
            _ => Err(error),
        });
        sent.expect("the lane is open and has room");
    }

    /// True if the lane ends, within the time that a program may need.
    fn is_ended(&self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        let mut space = vec![0; lane::FRAME_LEN_MAX];
        while Instant::now() < deadline {
            let mut descriptors = Vec::new();
            let received =
                transfer::receive(&self.lane, &mut space, &mut descriptors, TransferWait::Never);
            if received.is_ok_and(|received| received.bytes == 0) {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

const fn now() -> FrameStamp {
    FrameStamp { behind: 0, sent_at: 1 }
}

/// Sets a value, also if the test fails.
struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The bytes of a call to the service by this sender, which announces this number of descriptors.
fn message(sender: BusName<'_>, flags: Flags, descriptors: u32) -> Vec<u8> {
    message_to(BusName::new(NAME).expect("a name"), sender, flags, descriptors)
}

fn message_to(to: BusName<'_>, sender: BusName<'_>, flags: Flags, descriptors: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    Builder::method_call(ObjectPath::ROOT, MemberName::literal("Echo"))
        .interface(InterfaceName::literal(NAME))
        .destination(to)
        .sender(sender)
        .flags(flags)
        .unix_fds(descriptors)
        .write(&mut bytes, NonZeroU32::MIN, &(7_u64,))
        .expect("a valid message");
    bytes
}

/// Runs an attack on a service that others use, on a lane and over the bus, before and after it.
fn check(attack: impl Fn(&Attacker), ends: bool) {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let (friend, other) = (with_lane(&bus), bus.connect());
    let attacker = Attacker::connect(&bus);
    attack(&attacker);
    let begun = Instant::now();
    for number in 0..100 {
        call(&friend, "Echo", number);
        call(&other, "Echo", number);
    }
    assert!(begun.elapsed() < PATIENCE, "others wait: {:?}", begun.elapsed());
    assert_eq!(friend.lane_count(), 1, "the lanes of others stay");
    if ends {
        assert!(attacker.is_ended(), "the lane of the attacker ends");
        // It can still call over the bus.
        call(&attacker.connection, "Echo", 8);
    }
}

/// While there is a lane, the bus accepts replies of its ends without knowing the call.
#[test]
fn a_partner_cannot_answer_calls_to_others() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let trusted = bus.connect();
    // From now on, calls are queued instead of refused.
    assert!(trusted.next_request(Some(Duration::ZERO)).unwrap().is_none());
    let victim = bus.connect();
    victim.set_lane_use(LaneUse::On);
    victim.request_name(NAME, NameFlags::NONE).expect("the name is free");
    let (server, is_over) = (victim.clone(), AtomicBool::new(false));
    thread::scope(|scope| {
        let _end = SetWhenDropped(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if let Ok(Some(call)) = server.next_request(Some(Duration::from_millis(20))) {
                    echo(&call);
                }
            }
        });
        let attacker = Attacker::connect(&bus);
        assert_eq!(victim.lane_count(), 1);
        let message = Builder::method_call(ObjectPath::ROOT, MemberName::literal("Ask"))
            .destination(trusted.unique_name());
        let forge = |serials: std::ops::Range<u32>| {
            for serial in serials.filter_map(NonZeroU32::new) {
                let reply = Builder::method_return(serial).destination(victim.unique_name());
                let sent = attacker.connection.send(&reply, &(666_u32,), Vec::new());
                sent.expect("the connection lives");
            }
            attacker.connection.flush().expect("the connection lives");
            // The bus has routed the replies.
            let reply = attacker.connection.call(BUS, "/org/freedesktop/DBus", BUS, "GetId", &());
            reply.expect("the bus answers");
        };
        // Before and after the call.
        forge(1..500);
        let call = victim.start_call(&message, &(), CallOptions::default()).expect("it is sent");
        let serial = call.serial().get();
        assert!((1..500).contains(&serial), "{serial}");
        let request = trusted.next_request(Some(PATIENCE)).unwrap().expect("the call");
        forge(serial..serial + 1);
        request.reply(&(7_u32,)).expect("the connection lives");
        trusted.flush().expect("the connection lives");
        let reply = call.wait().expect("a reply");
        assert_eq!(reply.read::<(u32,)>(), Ok((7,)));
        // The second attempt counts; the first one, too, if the victim reads it after its call.
        let dropped = victim.counters().foreign_replies;
        assert!((1..=2).contains(&dropped), "{dropped}");
    });
}

#[test]
fn packets_that_are_no_messages_end_the_lane() {
    check(|attacker| attacker.send(now(), b"not a message", &[]), true);
    check(|attacker| attacker.send(now(), &[], &[]), true);
}

#[test]
fn messages_of_others_end_the_lane() {
    let forge = |attacker: &Attacker| {
        let victim = BusName::new(":1.1").expect("a name");
        attacker.send(now(), &message(victim, Flags::NONE, 0), &[]);
    };
    check(forge, true);
}

#[test]
fn valid_messages_behind_an_invalid_one_are_processed() {
    let other = BusName::new(":1.99").expect("a name");
    check_invalid(|attacker| attacker.send(now(), &message(other, Flags::NONE, 0), &[]));
    check_invalid(|attacker| {
        let to_other = message_to(other, attacker.own_name(), Flags::NONE, 0);
        attacker.send(now(), &to_other, &[]);
    });
    check_invalid(|attacker| attacker.send_packet(b"short", &[]));
}

/// Sends an invalid message between two valid ones.
fn check_invalid(send_invalid: impl Fn(&Attacker)) {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let (seen, calls) = mpsc::channel();
    let note = move |call: &IncomingCall| {
        if call.message().expects_reply() {
            return echo(call);
        }
        seen.send(()).expect("the test waits");
        // Meanwhile, the others are sent.
        thread::sleep(Duration::from_millis(100));
        ServiceStep::Continue
    };
    let _service = service(&bus, LaneUse::On, note);
    let attacker = Attacker::connect(&bus);
    let valid = message(attacker.own_name(), Flags::NO_REPLY_EXPECTED, 0);
    attacker.send(now(), &valid, &[]);
    calls.recv_timeout(PATIENCE).expect("the first call arrives");
    send_invalid(&attacker);
    attacker.send(now(), &valid, &[]);
    calls.recv_timeout(PATIENCE).expect("the call behind the invalid message arrives");
    assert!(attacker.is_ended(), "the lane ends");
}

#[test]
fn descriptors_that_are_announced_end_the_lane() {
    let announced = |attacker: &Attacker| {
        let bytes = message(attacker.own_name(), Flags::NONE, 1);
        attacker.send(now(), &bytes, &[attacker.connection.as_fd()]);
    };
    check(announced, true);
    let missing = |attacker: &Attacker| {
        let bytes = message(attacker.own_name(), Flags::NONE, 1);
        attacker.send(now(), &bytes, &[]);
    };
    check(missing, true);
}

#[test]
fn descriptors_that_are_not_announced_are_closed() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let attacker = Attacker::connect(&bus);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let bytes = message(attacker.own_name(), Flags::NO_REPLY_EXPECTED, 0);
    attacker.send(now(), &bytes, &[writer.as_fd()]);
    drop(writer);
    call(&attacker.connection, "Echo", 8);
    // At its end, a pipe can be read.
    let ended = wait_for_data([reader.as_fd()], Some(PATIENCE)).expect("a pipe");
    assert_eq!(ended, 1, "the service keeps the descriptor");
}

#[test]
fn damaged_bodies_end_the_lane() {
    // The service remembers the header of the valid calls.
    for valid_before in [0, 1, 3] {
        let damage = |attacker: &Attacker| {
            let mut bytes = Vec::new();
            Builder::method_call(ObjectPath::ROOT, MemberName::literal("Note"))
                .destination(BusName::new(NAME).expect("a name"))
                .sender(attacker.own_name())
                .flags(Flags::NO_REPLY_EXPECTED)
                .write(&mut bytes, NonZeroU32::MIN, &("text",))
                .expect("a valid message");
            (0..valid_before).for_each(|_| attacker.send(now(), &bytes, &[]));
            let end = bytes.len() - 1;
            bytes[end] = b'x';
            attacker.send(now(), &bytes, &[]);
        };
        check(damage, true);
    }
}

/// A header that one lane has accepted is not valid on another one.
#[test]
fn messages_of_the_partner_of_another_lane_end_the_lane() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let (calls, received) = mpsc::channel();
    let answer = move |request: &IncomingCall| {
        if request.message().expects_reply() {
            return echo(request);
        }
        calls.send(request.message().sender().map(str::to_owned)).expect("the test waits");
        ServiceStep::Continue
    };
    let _service = service(&bus, LaneUse::On, answer);
    let (victim, attacker) = (Attacker::connect(&bus), Attacker::connect(&bus));
    let bytes = message(victim.own_name(), Flags::NO_REPLY_EXPECTED, 0);
    for _ in 0..2 {
        victim.send(now(), &bytes, &[]);
        let sender = received.recv_timeout(PATIENCE).expect("the call arrives");
        assert_eq!(sender.as_deref(), Some(victim.own_name().as_str()));
    }
    attacker.send(now(), &bytes, &[]);
    assert!(attacker.is_ended(), "the lane of the attacker ends");
    assert_eq!(received.try_recv(), Err(mpsc::TryRecvError::Empty), "the call is dropped");
    // The lane of the victim is still open.
    victim.send(now(), &bytes, &[]);
    received.recv_timeout(PATIENCE).expect("the call arrives");
}

#[test]
fn lies_about_the_order_delay_only_the_liar() {
    for stamp in [
        FrameStamp { behind: u64::MAX, sent_at: u64::MAX },
        FrameStamp { behind: 0, sent_at: 0 },
        FrameStamp { behind: u64::MAX, sent_at: 0 },
    ] {
        let flood = |attacker: &Attacker| {
            for _ in 0..5 {
                attacker.send(
                    stamp,
                    &message(attacker.own_name(), Flags::NO_REPLY_EXPECTED, 0),
                    &[],
                );
            }
        };
        check(flood, false);
    }
}

#[test]
fn floods_of_lies_about_the_order_do_not_keep_a_program_from_others() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let attackers = [(); 3].map(|()| Attacker::connect(&bus));
    let (friend, other) = (with_lane(&bus), bus.connect());
    let is_over = AtomicBool::new(false);
    let sent = AtomicU64::new(0);
    thread::scope(|scope| {
        for attacker in &attackers {
            scope.spawn(|| {
                let bytes = message(attacker.own_name(), Flags::NO_REPLY_EXPECTED, 0);
                let stamp = FrameStamp::default().to_bytes();
                let slices = [IoSlice::new(&bytes), IoSlice::new(&stamp)];
                while !is_over.load(Ordering::Relaxed) {
                    match transfer::send(&attacker.lane, &slices, &[], TransferWait::Never) {
                        Ok(_) => drop(sent.fetch_add(1, Ordering::Relaxed)),
                        Err(_) => thread::yield_now(),
                    }
                }
            });
        }
        let _ends_floods = SetWhenDropped(&is_over);
        thread::sleep(Duration::from_millis(100));
        let begun = Instant::now();
        let mut calls = 0;
        while begun.elapsed() < Duration::from_secs(1) {
            call(&other, "Echo", calls);
            call(&friend, "Echo", calls);
            calls += 1;
        }
        assert_eq!(friend.lane_count(), 1);
        let elapsed = begun.elapsed();
        println!("{calls} calls in {elapsed:?}, {sent:?} messages");
        assert!(calls >= 10, "{calls} calls in {elapsed:?}, {sent:?} messages");
    });
}

#[test]
fn replies_to_calls_of_others_are_dropped() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    // The service calls another one, and the attacker guesses the serial of the call.
    let quiet = bus.connect();
    quiet.request_name("org.example.Slow", NameFlags::NONE).expect("the name is free");
    let slow = thread::spawn(move || {
        let request = quiet.next_request(Some(PATIENCE)).expect("it lives").expect("a call");
        thread::sleep(Duration::from_millis(300));
        request.reply(&(1_u64,)).expect("the connection lives");
        quiet.flush().expect("the connection lives");
    });
    let forward = |request: &IncomingCall| {
        if request.message().member() != Some("Forward") {
            return echo(request);
        }
        let result = request.connection().call("org.example.Slow", "/", NAME, "Ask", &());
        let (number,): (u64,) = result.expect("a reply").read().expect("a number");
        request.reply(&(number,)).expect("the connection lives");
        ServiceStep::Continue
    };
    let _service = service(&bus, LaneUse::On, forward);
    let attacker = Attacker::connect(&bus);
    let other = bus.connect();
    let forwarded = start(&other, "Forward", 0);
    other.flush().expect("the connection lives");
    thread::sleep(Duration::from_millis(100));
    for serial in 1..200 {
        let mut bytes = Vec::new();
        let call = NonZeroU32::new(serial).expect("not 0");
        Builder::method_return(call)
            .destination(BusName::new(NAME).expect("a name"))
            .sender(attacker.own_name())
            .write(&mut bytes, NonZeroU32::MIN, &(666_u64,))
            .expect("a valid message");
        let stamp = now().to_bytes();
        let slices = [IoSlice::new(&bytes), IoSlice::new(&stamp)];
        while transfer::send(&attacker.lane, &slices, &[], TransferWait::Never).is_err() {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let reply = forwarded.wait().expect("a reply");
    assert_eq!(reply.read::<(u64,)>().expect("a number"), (1,), "not the attacker's");
    slow.join().expect("it answered");
}

const BUS: &str = "org.freedesktop.DBus";
const LANES: &str = "org.diligence.Lanes1";

/// The longest time that a test waits for another program.
const PATIENCE: Duration = Duration::from_secs(10);
