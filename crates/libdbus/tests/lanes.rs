//! Unmodified programs exchange messages on lanes, with this library and the bus of this project.

mod common;

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader, ErrorKind, IoSlice, Read, Write};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use client::wire::body::{EncodeArgs, Value};
use client::wire::message::{Builder, Flags};
use client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use client::{CallOptions, Connection, LaneUse};
use common::{compile, compile_with_qt, folder, link_library, package, succeed};
use sys::transfer::{self, TransferWait};
use tempfile::TempDir;

/// A private bus and a library, with which programs run. Whether they use lanes is `lanes`.
struct LaneBusProcess {
    daemon: Child,
    address: String,
    library: TempDir,
    lanes: &'static str,
}

/// The buses on which the programs run. `DILIGENCE_BUS` is the program of the first one; the default
/// is in the folder in which the tests were built.
#[derive(Clone, Copy)]
enum LaneBus {
    Diligence,
    DbusDaemon,
}

impl LaneBus {
    fn program(self) -> PathBuf {
        match self {
            Self::DbusDaemon => "dbus-daemon".into(),
            Self::Diligence => {
                if let Some(program) = env::var_os("DILIGENCE_BUS") {
                    return program.into();
                }
                let test = env::current_exe().expect("the path of this test");
                let program = test.parent().expect("a folder").join("../diligence-bus");
                assert!(program.exists(), "cargo build -p diligence-daemon makes {program:?}");
                program
            }
        }
    }
}

impl LaneBusProcess {
    fn start(bus: LaneBus, lanes: &'static str) -> Self {
        let library = folder();
        link_library(library.path());
        let mut command = Command::new(bus.program());
        command.args(["--session", "--nofork", "--print-address=1"]).stdout(Stdio::piped());
        let mut daemon = command.spawn().expect("the bus starts");
        let address = line(&mut BufReader::new(daemon.stdout.as_mut().expect("a pipe")));
        Self { daemon, address, library, lanes }
    }

    /// Compiles a program of the tests.
    fn compile(&self, program: &str) -> PathBuf {
        compile(program, self.library.path())
    }

    /// A command that uses this bus, with our library.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address)
            .env("LD_LIBRARY_PATH", self.library.path())
            .env("DILIGENCE_LANES", self.lanes)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    /// Starts a program, and waits for its first line.
    fn start_service(&self, program: &Path, mode: &str) -> LaneProgram {
        let mut command = self.command(program);
        let child = command.arg(mode).spawn().expect("the program starts");
        let mut service = LaneProgram::of(child);
        assert_eq!(line(&mut service.output), "ready");
        service
    }

    /// Runs the steps of a caller, and returns its output.
    fn call(&self, program: &Path, steps: &[&str]) -> String {
        let output = succeed(self.command(program).args(steps));
        String::from_utf8(output.stdout).expect("text")
    }
}

impl Drop for LaneBusProcess {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// A program that is killed with the value.
struct LaneProgram {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl LaneProgram {
    fn of(mut child: Child) -> Self {
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, output }
    }
}

impl Drop for LaneProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next line of the output of a program.
fn line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("text");
    line.trim_end().to_owned()
}

/// The numbers of lanes and of routed messages in each line of statistics.
fn statistics(output: &str) -> Vec<(u64, u64)> {
    let number = |text: &str| text.parse().expect("a number");
    let parse = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["lanes", lanes, "messages", messages] => Some((number(lanes), number(messages))),
        _ => None,
    };
    output.lines().filter_map(parse).collect()
}

#[test]
fn all_kinds_of_calls_travel_on_lanes() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    for mode in ["serve", "serve-loop"] {
        let _service = stage.start_service(&program, mode);
        for (kind, is_on_lane) in [
            ("call", true),
            ("loop", true),
            ("filter", true),
            ("threads", true),
            // Its messages have descriptors.
            ("pipe", false),
        ] {
            let output = stage.call(&program, &["call", "statistics", kind, "statistics"]);
            let [(1, before), (1, after)] = statistics(&output)[..] else { panic!("{output}") };
            assert_eq!(after - before < 10, is_on_lane, "{mode} {kind}: {output}");
        }
    }
}

/// The number of lanes, as the bus counts them.
fn lane_count(connection: &Connection) -> u32 {
    let bus = "org.freedesktop.DBus";
    let stats = "org.freedesktop.DBus.Debug.Stats";
    let reply = connection.call(bus, "/org/freedesktop/DBus", stats, "GetStats", &());
    let reply = reply.expect("statistics");
    let (stats,): (BTreeMap<&str, Value>,) = reply.read().expect("a dictionary");
    match stats["org.diligence.Lanes"] {
        Value::Uint32(lanes) => lanes,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_caller_with_the_rust_library_uses_a_lane_to_a_c_program() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    for mode in ["serve", "serve-loop"] {
        let _service = stage.start_service(&program, mode);
        let connection = Connection::open(&stage.address).expect("a bus");
        connection.set_lane_use(LaneUse::On);
        let signals = connection.subscribe_to("/", NAME, "Announced").expect("a valid rule");
        (0..300).for_each(|number| echo(&connection, number));
        assert_eq!((connection.lane_count(), lane_count(&connection)), (1, 1));
        for number in 0..100 {
            call(&connection, "Announce", number);
            let signal = signals.poll().expect("nothing is lost").expect("before the reply");
            assert_eq!(signal.read::<(u64,)>().expect("a number"), (number,));
            echo(&connection, number);
        }
        let failed = connection.call(NAME, "/", NAME, "Leave", &(0_u64,)).expect_err("no reply");
        assert!(failed.to_string().contains("NoReply"), "{failed}");
    }
}

#[test]
fn a_child_that_closes_the_connection_of_its_parent_does_not_end_it() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve-loop");
    let output = stage.call(&program, &["fork"]);
    let [(1, before), (1, after)] = statistics(&output)[..] else { panic!("{output}") };
    assert!(after - before < 10, "{output}");
}

#[test]
fn a_partner_that_announces_descriptors_ends_only_its_lane() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    for mode in ["serve", "serve-loop"] {
        let _service = stage.start_service(&program, mode);
        let partner = LaneAttacker::connect(&stage.address);
        let packet = packet(&partner.call("Echo").unix_fds(1), &(7_u64,));
        let slices = [IoSlice::new(&packet)];
        let send = |fds: &[_]| transfer::send(&partner.lane, &slices, fds, TransferWait::Never);
        // From Linux 6.16 on, the kernel refuses them.
        send(&[partner.lane.as_fd()]).or_else(|_| send(&[])).expect("it has room");
        let connection = &partner.connection;
        for number in 0..100_u64 {
            echo(connection, number);
        }
        assert_eq!(lane_count(connection), 0, "{mode}");
    }
}

#[test]
fn valid_messages_behind_an_invalid_one_are_processed() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    for mode in ["serve", "serve-loop"] {
        let _service = stage.start_service(&program, mode);
        for case in ["short", "of another sender", "to another connection"] {
            let partner = LaneAttacker::connect(&stage.address);
            let announced = partner.connection.subscribe_to("/", NAME, "Announced");
            let announced = announced.expect("a valid rule");
            let other = BusName::new(":1.9999").expect("a name");
            let invalid = match case {
                "short" => b"short".to_vec(),
                "of another sender" => packet(&partner.call("Leave").sender(other), &(1_u64,)),
                _ => packet(&partner.call("Leave").destination(other), &(1_u64,)),
            };
            // While the service is busy, the others are sent.
            partner.send(&packet(&partner.call("Wait"), &(50_u64,)));
            partner.send(&invalid);
            partner.send(&packet(&partner.call("Announce"), &(2_u64,)));
            let signal = announced.next(Some(Duration::from_secs(10))).expect("it lives");
            assert!(signal.is_some(), "{mode}: {case}");
            echo(&partner.connection, 3);
            assert_eq!(lane_count(&partner.connection), 0, "{mode}: {case}");
        }
    }
}

/// While the service is busy, one program sends signals over the bus, another one sends calls on its
/// lane, a third one sends a call on its lane that is too long, and the first sends more signals.
#[test]
fn messages_before_one_that_is_too_long_are_received() {
    const COUNT: u64 = 300;
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let name = BusName::new(NAME).expect("a name");
    let interface = InterfaceName::literal(NAME);
    let count = MemberName::literal("Count");
    let signal = Builder::signal(ObjectPath::ROOT, interface, count).destination(name);
    let call = |method| {
        let call = Builder::method_call(ObjectPath::ROOT, MemberName::literal(method));
        call.interface(interface).destination(name).flags(Flags::NO_REPLY_EXPECTED)
    };
    for mode in ["serve-short", "serve-short-loop"] {
        for order in [[0, 1], [1, 0]] {
            let mut service = stage.start_service(&program, mode);
            let with_bus = Connection::open(&stage.address).expect("a bus");
            // In both orders, because the service reads its lanes in the order of their age.
            let mut with_lanes = order.map(|place| (place, with_lane(&stage.address)));
            with_lanes.sort_by_key(|(place, _)| *place);
            let [(_, other), (_, long)] = &with_lanes;
            let send = |connection: &Connection, message: &Builder<'_>, number: u64| {
                connection.send(message, &(number,), Vec::new()).expect("it lives");
                connection.flush().expect("it lives");
            };
            send(other, &call("Wait"), 200);
            thread::sleep(Duration::from_millis(50));
            (0..COUNT).for_each(|number| send(&with_bus, &signal, number));
            let (bus, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
            // The bus has routed them then.
            with_bus.call(bus, path, bus, "GetId", &()).expect("a reply");
            send(other, &call("Count"), COUNT);
            send(other, &call("Count"), COUNT + 1);
            let text = "x".repeat(2000);
            long.send(&call("Count"), &(&*text,), Vec::new()).expect("it lives");
            long.flush().expect("it lives");
            (COUNT + 2..COUNT + 9).for_each(|number| send(&with_bus, &signal, number));
            let mut received = String::new();
            service.output.read_to_string(&mut received).expect("text");
            let received: Vec<&str> = received.lines().collect();
            let expected: Vec<_> = (0..COUNT + 2).map(|number| format!("count {number}")).collect();
            assert_eq!(received, expected, "{mode}, {order:?}");
        }
    }
}

/// A connection that has a lane to the service.
fn with_lane(address: &str) -> Connection {
    let connection = Connection::open(address).expect("a bus");
    connection.set_lane_use(LaneUse::On);
    let deadline = Instant::now() + Duration::from_secs(10);
    while connection.lane_count() == 0 {
        assert!(Instant::now() < deadline, "the bus opens no lane");
        echo(&connection, 1);
    }
    connection
}

/// The service accepts messages of up to 1000 bytes, and exits when its connection ends. After a
/// call of Leave it exits without an error.
#[test]
fn a_message_that_is_too_long_for_the_receiver_ends_its_connection() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let start = || stage.start_service(&program, "serve-short");
    let exit_code = |mut service: LaneProgram| {
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if let Some(status) = service.child.try_wait().expect("a child") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the service is still connected");
    };
    let long = "x".repeat(2000);

    let service = start();
    let caller = Connection::open(&stage.address).expect("a bus");
    caller.call(NAME, "/", NAME, "Echo", &(&*long,)).expect_err("the service accepts less");
    assert_eq!(exit_code(service), Some(1), "over the bus");

    for (before, code) in [("Echo", 1), ("Leave", 0)] {
        let service = start();
        let partner = LaneAttacker::connect(&stage.address);
        // While the service is busy, the others are sent.
        partner.send(&packet(&partner.call("Wait"), &(50_u64,)));
        partner.send(&packet(&partner.call(before), &(1_u64,)));
        partner.send(&packet(&partner.call("Echo"), &(&*long,)));
        assert_eq!(exit_code(service), Some(code), "{before}");
    }
}

#[test]
fn messages_that_no_receiver_accepts_go_to_the_bus() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve-loop");
    for kind in ["nested", "local-path", "local-interface"] {
        let begun = Instant::now();
        let output = stage.call(&program, &["call", kind]);
        assert_eq!(output, "disconnected\ndone\n", "{kind}");
        assert!(begun.elapsed() < Duration::from_secs(4), "{kind}");
        // The lanes of others have not ended.
        echo(&Connection::open(&stage.address).expect("a bus"), 1);
    }
}

#[test]
fn a_service_without_free_descriptors_stays_connected() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let mut started = 0;
    for limit in 4..16 {
        let start = format!("ulimit -n {limit}; exec \"$0\" serve-loop");
        let mut command = stage.command(Path::new("/bin/sh"));
        let child = command.args(["-c", &start]).arg(&program).spawn().expect("a shell");
        let mut service = LaneProgram::of(child);
        if line(&mut service.output) != "ready" {
            // It has too few to connect.
            continue;
        }
        started += 1;
        let caller = Connection::open(&stage.address).expect("a bus");
        caller.set_lane_use(LaneUse::On);
        (0..50).for_each(|number| echo(&caller, number));
    }
    assert!(started >= 4, "{started}");
}

#[test]
fn floods_on_lanes_do_not_keep_a_program_from_its_bus() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    for mode in ["serve", "serve-loop"] {
        let service = stage.start_service(&program, mode);
        let attackers = [(); 6].map(|()| LaneAttacker::connect(&stage.address));
        let other = Connection::open(&stage.address).expect("a bus");
        let is_over = AtomicBool::new(false);
        let (mut calls, begun) = (0, Instant::now());
        thread::scope(|scope| {
            for attacker in &attackers {
                scope.spawn(|| attacker.flood_until(&is_over));
            }
            let _ends_floods = FloodsUntilDropped(&is_over);
            while begun.elapsed() < Duration::from_secs(1) {
                echo(&other, calls);
                calls += 1;
            }
        });
        let elapsed = begun.elapsed();
        let memory = peak_memory(service.child.id());
        println!("{mode}: {calls} calls in {elapsed:?}, {} MB", memory >> 20);
        assert!(calls >= 3, "{mode}: {calls} calls in {elapsed:?}");
        assert!(memory < 64 << 20, "{mode}: {memory} bytes");
    }
}

/// While there is a lane, the bus accepts replies of its ends without knowing the call.
#[test]
fn a_partner_cannot_answer_calls_to_others() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    for mode in ["serve", "serve-loop"] {
        let _service = stage.start_service(&program, mode);
        let attacker = LaneAttacker::connect(&stage.address);
        let trusted = Connection::open(&stage.address).expect("a bus");
        // From now on, calls are queued instead of refused.
        assert!(trusted.next_request(Some(Duration::ZERO)).expect("it lives").is_none());
        let number: u64 = trusted.unique_name().as_str()[":1.".len()..].parse().expect("a number");
        let friend = Connection::open(&stage.address).expect("a bus");
        let proxy = friend.proxy(NAME, "/", NAME).expect("valid names");
        let call = proxy.start_call("Ask", &(number,), CallOptions::default()).expect("it lives");
        let request = trusted.next_request(Some(Duration::from_secs(10))).expect("it lives");
        let request = request.expect("the service asks");
        for serial in (1..1000).filter_map(NonZeroU32::new) {
            let destination = request.message().sender().expect("the bus states it");
            let forged = Builder::method_return(serial)
                .destination(BusName::new(destination).expect("a name"));
            let sent = attacker.connection.send(&forged, &(666_u64,), Vec::new());
            sent.expect("it lives");
        }
        attacker.connection.flush().expect("it lives");
        // The bus has routed them then.
        let (bus, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
        attacker.connection.call(bus, path, bus, "GetId", &()).expect("a reply");
        request.reply(&(7_u64,)).expect("it lives");
        trusted.flush().expect("it lives");
        let reply = call.wait().expect("an answer");
        assert_eq!(reply.read::<(u64,)>().expect("a number"), (7,), "{mode}");
    }
}

/// Calls a method of the service, which returns its argument.
fn call(connection: &Connection, method: &str, number: u64) {
    let reply = connection.call(NAME, "/", NAME, method, &(number,)).expect("a reply");
    assert_eq!(reply.read::<(u64,)>().expect("a number"), (number,));
}

fn echo(connection: &Connection, number: u64) {
    call(connection, "Echo", number);
}

/// Sets a value, also if the test fails.
struct FloodsUntilDropped<'a>(&'a AtomicBool);

impl Drop for FloodsUntilDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection with an end of a lane to the service, on which it sends what it wants.
struct LaneAttacker {
    lane: OwnedFd,
    connection: Connection,
}

impl LaneAttacker {
    fn connect(address: &str) -> Self {
        let connection = Connection::open(address).expect("a bus");
        let (bus, path, lanes) =
            ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.diligence.Lanes1");
        let opened = connection.subscribe_to(path, lanes, "Opened").expect("a valid rule");
        connection.call(bus, path, lanes, "Request", &(NAME,)).expect("a lane is possible");
        let lane = loop {
            // Calls make the service ask, too.
            for number in 0..20_u64 {
                echo(&connection, number);
            }
            if let Some(signal) = opened.next(Some(Duration::from_millis(50))).expect("it lives") {
                break signal.descriptors()[0].try_clone().expect("descriptors are left");
            }
        };
        Self { lane, connection }
    }

    /// A call of this method of the service.
    fn call(&self, method: &'static str) -> Builder<'_> {
        Builder::method_call(ObjectPath::ROOT, MemberName::literal(method))
            .interface(InterfaceName::literal(NAME))
            .destination(BusName::new(NAME).expect("a name"))
            .sender(self.connection.unique_name())
            .flags(Flags::NO_REPLY_EXPECTED)
    }

    fn send(&self, packet: &[u8]) {
        let sent = transfer::send(&self.lane, &[IoSlice::new(packet)], &[], TransferWait::Never);
        sent.expect("the lane is open and has room");
    }

    /// Sends as many messages as it can, and states that each is the oldest.
    fn flood_until(&self, is_over: &AtomicBool) {
        let packet = packet(&self.call("Echo"), &(7_u64,));
        while !is_over.load(Ordering::Relaxed) {
            let slices = [IoSlice::new(&packet)];
            match transfer::send(&self.lane, &slices, &[], TransferWait::Never) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::yield_now(),
                Err(error) => panic!("the lane has ended: {error}"),
            }
        }
    }
}

/// A packet with a message and its arguments, which states that it is the oldest.
fn packet(message: &Builder<'_>, arguments: &impl EncodeArgs) -> Vec<u8> {
    let mut packet = Vec::new();
    message.write(&mut packet, NonZeroU32::MIN, arguments).expect("a valid message");
    packet.extend(lane::FrameStamp::default().to_bytes());
    packet
}

/// The most memory that a process has used, in bytes.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux has it");
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kilobytes << 10
}

#[test]
fn programs_get_lanes_only_if_the_variable_is_1() {
    for lanes in ["", "0", "yes"] {
        let stage = LaneBusProcess::start(LaneBus::Diligence, lanes);
        let program = stage.compile("lanes");
        let _service = stage.start_service(&program, "serve");
        let output = stage.call(&program, &["call", "statistics"]);
        assert_eq!(statistics(&output)[0].0, 0, "{output}");
    }
}

#[test]
fn a_bus_without_lanes_works_as_before() {
    let stage = LaneBusProcess::start(LaneBus::DbusDaemon, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve-loop");
    let steps = ["call", "loop", "filter", "threads", "announce", "pipe", "timeout"];
    let output = stage.call(&program, &steps);
    assert_eq!(output, "org.freedesktop.DBus.Error.NoReply\ndone\n");
}

#[test]
fn a_reply_does_not_overtake_the_signal_before_it() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve");
    let output = stage.call(&program, &["call", "announce", "statistics"]);
    assert_eq!(statistics(&output)[0].0, 1, "{output}");
}

#[test]
fn calls_without_a_reply_fail() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve");
    let output = stage.call(&program, &["call", "timeout", "statistics", "leave", "statistics"]);
    let errors = output.lines().filter(|line| *line == "org.freedesktop.DBus.Error.NoReply");
    assert_eq!(errors.count(), 2, "{output}");
    assert_eq!(statistics(&output).iter().map(|(lanes, _)| *lanes).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_program_that_waits_for_the_socket_gets_all_messages() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve");
    let output = stage.call(&program, &["call", "socket", "statistics", "call", "statistics"]);
    let [(0, before), (0, after)] = statistics(&output)[..] else { panic!("{output}") };
    assert!(after - before >= 600, "all messages pass the bus: {output}");
}

#[test]
fn a_monitor_sees_all_messages_and_may_use_the_library_too() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve-loop");
    let steps = ["call", "statistics", "monitor", "statistics", "call", "statistics"];
    let output = stage.call(&program, &steps);
    assert!(output.contains("seen 100 connected\n"), "{output}");
    let lanes: Vec<_> = statistics(&output).iter().map(|(lanes, _)| *lanes).collect();
    assert_eq!(lanes, [1, 0, 1], "{output}");
}

#[test]
fn a_call_is_answered_after_its_lane_has_ended() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve");
    let mut command = stage.command(&program);
    let caller = command.args(["call", "statistics", "pause", "wait", "statistics"]).spawn();
    let mut caller = LaneProgram::of(caller.expect("the program starts"));
    assert_eq!(statistics(&line(&mut caller.output))[0].0, 1);
    assert_eq!(line(&mut caller.output), "paused");
    caller.child.stdin.take().expect("a pipe").write_all(b"\n").expect("it reads");
    thread::sleep(Duration::from_millis(100));
    let mut monitor = stage.command("dbus-monitor");
    monitor.env_remove("LD_LIBRARY_PATH");
    let mut monitor = monitor.spawn().expect("dbus-monitor is installed");
    let mut rest = String::new();
    caller.output.read_to_string(&mut rest).expect("text");
    let _ = monitor.kill();
    let _ = monitor.wait();
    assert!(rest.ends_with("done\n"), "{rest}");
    assert_eq!(statistics(&rest)[0].0, 0, "{rest}");
}

#[test]
fn lanes_survive_a_replacement_of_the_bus() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("lanes");
    let _service = stage.start_service(&program, "serve-loop");
    let steps = ["call", "replace", "call", "announce", "replace", "statistics", "call"];
    let output = stage.call(&program, &[&steps[..], &["statistics"]].concat());
    let [(1, before), (1, after)] = statistics(&output)[..] else { panic!("{output}") };
    assert!(after - before < 10, "{output}");
}

#[test]
fn no_message_arrives_before_one_that_its_sender_knew() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let program = stage.compile("causes");
    let count = env::var("DILIGENCE_SEQUENCES").map_or(3, |count| count.parse().expect("a number"));
    for number in 0..count {
        let seed = u64::from(std::process::id()) * 1_000_003 + number;
        for watches in ["0", "1"] {
            println!("seed {seed}, watches {watches}");
            let output = stage.call(&program, &[&seed.to_string(), "10000", watches]);
            assert!(output.ends_with("done\n"), "{output}");
            assert!(watches == "1" || statistics(&output)[0].0 == 3, "{output}");
        }
    }
}

#[test]
fn python_programs_have_the_same_results_with_lanes() {
    let script = package().join("tests/programs/bindings.py");
    let run = |lanes| {
        let stage = LaneBusProcess::start(LaneBus::Diligence, lanes);
        let output = succeed(stage.command("/usr/bin/python3").arg(&script));
        String::from_utf8(output.stdout).expect("text")
    };
    let with_lanes = run("1");
    assert!(with_lanes.ends_with("OK\n"), "{with_lanes}");
    assert_eq!(with_lanes, run("0"));
}

#[test]
fn python_programs_with_main_loops_use_lanes() {
    let stage = LaneBusProcess::start(LaneBus::Diligence, "1");
    let script = package().join("tests/programs/lanes.py");
    let output = succeed(stage.command("/usr/bin/python3").arg(&script));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "OK\n");
}

#[test]
fn qt_programs_use_lanes_and_have_the_same_results() {
    let run = |bus, lanes| {
        let stage = LaneBusProcess::start(bus, lanes);
        let program = compile_with_qt("qt", stage.library.path());
        let output = succeed(&mut stage.command(&program));
        let output = String::from_utf8(output.stdout).expect("text");
        assert!(output.ends_with("OK\n"), "{output}");
        output
    };
    let results = |output: &str| -> Vec<String> {
        let others = output.lines().filter(|line| !line.starts_with("lanes "));
        others.map(str::to_owned).collect()
    };
    let with_lanes = run(LaneBus::Diligence, "1");
    let [(1, before), (1, after), (1, _)] = statistics(&with_lanes)[..] else {
        panic!("{with_lanes}")
    };
    // 600 calls and their replies. While the service is slow, the lane has no room for some of the
    // 300 calls that are sent at once, and these travel over the bus.
    assert!(after - before < 600, "{with_lanes}");
    for bus in [LaneBus::Diligence, LaneBus::DbusDaemon] {
        assert_eq!(results(&run(bus, "0")), results(&with_lanes));
    }
}

/// The name of the service.
const NAME: &str = "org.example.Lanes";
