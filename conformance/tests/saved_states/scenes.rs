//! Real clients of real buses, whose states are captured.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use conformance::{
    BUS_NAME, BUS_PATH, BusUnderTest, InstalledProgram, PeerStream, PlainMessage, PlainValue,
    ReceivedDescriptors, ScratchFolder, TestConfig, TestPeer, field, kind, statistics,
};

use crate::capture::CapturedState;

/// A bus with clients in a certain situation.
pub(crate) struct Scene {
    /// The name of the golden files.
    pub(crate) name: &'static str,
    /// Starts the bus and its clients.
    pub(crate) prepare: fn() -> SceneStage,
    /// Whether the bus serves clients that connect now.
    pub(crate) newcomers: Newcomers,
}

/// What happens to clients that connect after the state was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Newcomers {
    /// The bus serves them.
    Served,
    /// They wait, because other clients have not finished the handshake.
    Waiting,
}

pub(crate) const SCENES: &[Scene] = &[
    Scene { name: "session", prepare: session, newcomers: Newcomers::Served },
    Scene { name: "limits", prepare: limits, newcomers: Newcomers::Served },
    Scene { name: "crowd", prepare: crowd, newcomers: Newcomers::Waiting },
];

/// A running bus with its clients.
pub(crate) struct SceneStage {
    installed: InstalledProgram,
    bus: BusUnderTest,
    /// Clients whose messages the test does not have to keep unread.
    peers: Vec<TestPeer>,
    /// Clients that do not read.
    slow: Vec<TestPeer>,
    /// Clients that have not finished the handshake.
    streams: Vec<PeerStream>,
    metrics: Vec<UnixStream>,
    _scratch: ScratchFolder,
}

impl SceneStage {
    fn new(config: &TestConfig, scratch: ScratchFolder) -> Self {
        let installed = InstalledProgram::new();
        let bus = installed.start_bus(config);
        let (peers, slow, streams) = (Vec::new(), Vec::new(), Vec::new());
        Self { installed, bus, peers, slow, streams, metrics: Vec::new(), _scratch: scratch }
    }

    /// Captures the state of the bus, which serves on.
    pub(crate) fn capture(&mut self) -> CapturedState {
        CapturedState::of(&mut self.peers[0], &self.installed)
    }

    /// Checks that the bus answers the clients.
    pub(crate) fn check_alive(&mut self) {
        for peer in &mut self.peers {
            assert!(peer.is_alive());
        }
    }

    /// The well-known names on the bus.
    pub(crate) fn names(&mut self) -> BTreeSet<String> {
        well_known_names(&mut self.peers[0])
    }

    /// Ends the bus. Services that were being started end with it.
    pub(crate) fn stop(self) {
        self.bus.stop();
    }
}

/// The well-known names on a bus.
pub(crate) fn well_known_names(peer: &mut TestPeer) -> BTreeSet<String> {
    let reply = peer.call(PlainMessage::to_bus("ListNames"));
    let names = reply.body[0].strings().expect("an array of strings").into_iter();
    names.filter(|name| !name.starts_with(':') && *name != BUS_NAME).map(str::to_owned).collect()
}

/// A session bus with connections of every stage, and everything that connections can have.
fn session() -> SceneStage {
    let scratch = ScratchFolder::new();
    let path = |name: &str| scratch.join(name).display().to_string();
    scratch.file(
        "slow.service",
        "[D-BUS Service]\nName=com.example.Slow\nExec=/bin/sh -c 'sleep 20; exit 1'\n",
    );
    scratch.file("idle.service", "[D-BUS Service]\nName=com.example.Idle\nExec=/bin/false\n");
    let config = TestConfig::session()
        .element(&format!("<servicedir>{}</servicedir>", scratch.path().display()))
        .listen("nonce-tcp:host=127.0.0.1")
        .element(&format!("<listen>unix:path={}</listen>", path("bus")))
        .element(&format!(
            "<?diligence <metrics_socket>{}</metrics_socket><flight_recorder>65536</flight_recorder>\
             <flight_recorder_folder>{}</flight_recorder_folder>\
             <limit name='max_connections_per_second_per_user'>1000</limit>\
             <limit name='max_match_rules_per_connection' user='root'>600</limit> ?>",
            path("metrics"),
            path("records"),
        ))
        .policy(
            "context='mandatory'",
            "<deny send_destination='com.example.Owner' send_interface='com.example.I' send_member='Forbidden'/>",
        );
    let mut stage = SceneStage::new(&config, scratch);
    add_handshakes(&mut stage);
    add_names(&mut stage);
    add_rules(&mut stage);
    add_observers(&mut stage);
    add_calls(&mut stage);
    add_starts(&mut stage);
    add_queue(&mut stage);
    add_partial_messages(&mut stage);
    let mut metrics = UnixStream::connect(stage._scratch.join("metrics")).expect("the bus listens");
    metrics.write_all(b"GET /metr").expect("a short request");
    stage.metrics.push(metrics);
    // The bus has processed everything before it answers the last client.
    stage.check_alive();
    stage
}

/// Clients before and between the lines of the handshake, one of them over TCP.
fn add_handshakes(stage: &mut SceneStage) {
    let address = |kind| {
        let address = stage.bus.address().split(';').find(|entry| entry.starts_with(kind));
        address.expect("the bus listens there")
    };
    let connect = || PeerStream::connect(address("unix"));
    let (new, mut half, mut asked, mut agreed) = (connect(), connect(), connect(), connect());
    half.write(b"\0AUTH EXTER");
    asked.write(b"\0");
    assert_eq!(asked.say("AUTH EXTERNAL").as_deref(), Some("DATA"));
    agreed.write(b"\0");
    let uid: String = conformance::hex(conformance::RunAs::own_uid().to_string().as_bytes());
    assert!(agreed.say(&format!("AUTH EXTERNAL {uid}")).is_some_and(|line| line.starts_with("OK")));
    assert_eq!(agreed.say("NEGOTIATE_UNIX_FD").as_deref(), Some("AGREE_UNIX_FD"));
    let mut tcp = PeerStream::connect(address("nonce-tcp"));
    tcp.write(b"\0");
    assert!(tcp.say("AUTH").is_some_and(|line| line.starts_with("REJECTED")));
    stage.streams.extend([new, half, asked, agreed, tcp]);
    let before_hello = TestPeer::before_hello(address("unix"), ReceivedDescriptors::Negotiated);
    stage.slow.push(before_hello);
}

/// An owner, and connections that wait for its names.
fn add_names(stage: &mut SceneStage) {
    let mut owner = stage.bus.peer();
    let mut waiting = stage.bus.peer_without_descriptors();
    let mut last = stage.bus.peer();
    assert_eq!(owner.request_name("com.example.Owner", 1), 1, "it allows a replacement");
    assert_eq!(owner.request_name("com.example.Owner.Second", 0), 1);
    assert_eq!(waiting.request_name("com.example.Owner", 0), 2);
    assert_eq!(last.request_name("com.example.Owner", 0), 2);
    assert_eq!(last.request_name("com.example.Owner.Second", 4), 3, "it does not wait");
    let forbidden =
        PlainMessage::call("com.example.Owner", "/com/example", "com.example.I", "Forbidden");
    assert_eq!(waiting.call(forbidden).error_name(), "AccessDenied");
    let variables = vec![PlainValue::Entry(
        Box::new(PlainValue::text("COLOR")),
        Box::new(PlainValue::text("blue")),
    )];
    let update = PlainMessage::to_bus("UpdateActivationEnvironment");
    let reply = last.call(update.arg(PlainValue::Array("{ss}".into(), variables)));
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    stage.peers.extend([owner, waiting, last]);
}

/// Match rules of all kinds, some of them more than once.
fn add_rules(stage: &mut SceneStage) {
    let (mut listener, mut other) = (stage.bus.peer(), stage.bus.peer());
    for rule in [
        "",
        "type='signal',member='Twice'",
        "type='signal',member='Twice'",
        "type='signal',sender='com.example.Owner',interface='com.example.I',path='/com/example'",
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='com.example.A'",
        "path_namespace='/com/example',arg0namespace='com.example'",
        "arg1path='/a/',arg63='last'",
        "destination=':1.0',eavesdrop='true'",
        "type='error'",
    ] {
        listener.add_match(rule);
    }
    for number in 0..16 {
        other.add_match(&format!("type='signal',member='Member{}'", number % 12));
    }
    stage.peers.extend([listener, other]);
}

/// A monitor and a reader of a trace.
fn add_observers(stage: &mut SceneStage) {
    let mut monitor = stage.bus.peer();
    let become_monitor =
        PlainMessage::call(BUS_NAME, BUS_PATH, "org.freedesktop.DBus.Monitoring", "BecomeMonitor");
    let rules = PlainValue::texts(&["type='signal',member='Seen'", "type='error'"]);
    let reply = monitor.call(become_monitor.arg(rules).arg(PlainValue::U32(0)));
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    let mut reader = stage.bus.peer();
    let start = PlainMessage::call(BUS_NAME, BUS_PATH, "org.diligence.Trace1", "Start");
    let reply = reader.call(start.arg(PlainValue::Array("{sv}".into(), Vec::new())));
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    stage.slow.push(monitor);
    stage.peers.push(reader);
}

/// Calls that wait for their replies, and one that was answered.
fn add_calls(stage: &mut SceneStage) {
    let (mut caller, mut callee) = (stage.bus.peer(), stage.bus.peer());
    callee.request_name("com.example.Callee", 0);
    caller.round_trip(&mut callee);
    for _ in 0..3 {
        caller.send(PlainMessage::some_call("com.example.Callee"));
        assert!(callee.receive().is_some());
    }
    let to = caller.name().to_owned();
    callee.send(PlainMessage::some_call(&to));
    assert!(caller.receive().is_some());
    stage.peers.extend([caller, callee]);
}

/// A service that is being started, and a message with a descriptor for it.
fn add_starts(stage: &mut SceneStage) {
    let mut caller = stage.bus.peer();
    let start = PlainMessage::to_bus("StartServiceByName");
    caller.send(start.arg(PlainValue::text("com.example.Slow")).arg(PlainValue::U32(0)));
    send_with_descriptors(&mut caller, PlainMessage::some_call("com.example.Slow"), 2);
    stage.peers.push(caller);
}

/// Messages, some with descriptors, for a connection that does not read.
fn add_queue(stage: &mut SceneStage) {
    let (mut sender, mut slow) = (stage.bus.peer(), stage.bus.peer());
    let mut other = stage.bus.peer();
    for recipient in [&mut slow, &mut other] {
        recipient.add_match("type='signal',interface='com.example.Queued'");
    }
    // The first messages are in the buffers of the kernel. A few that were not written in this turn
    // count as queued, too.
    for number in 0.. {
        let signal = PlainMessage::signal("/com/example", "com.example.Queued", "Long");
        let body = PlainValue::text(&"x".repeat(1_000));
        sender.send(signal.arg(PlainValue::U32(number)).arg(body));
        if statistics::number(&statistics::totals(&mut sender), "QueuedBytes") > 6_000 {
            break;
        }
    }
    for number in 0..6 {
        let signal = PlainMessage::signal("/com/example", "com.example.Queued", "Short");
        let signal = signal.arg(PlainValue::U32(number));
        match number % 2 {
            0 => send_with_descriptors(&mut sender, signal, 1),
            _ => drop(sender.send(signal)),
        }
    }
    let mut caller = stage.bus.peer();
    caller.send(PlainMessage::some_call(slow.name()));
    stage.peers.extend([sender, caller]);
    stage.slow.extend([slow, other]);
}

/// Connections whose last message has not arrived as a whole.
fn add_partial_messages(stage: &mut SceneStage) {
    for (len, cut) in [(10, 3), (10, 20), (300, 120), (1_000, 900)] {
        let mut sender = stage.bus.peer();
        let call = PlainMessage::some_call("com.example.Callee")
            .field(field::UNIX_FDS, PlainValue::U32(1))
            .arg(PlainValue::text(&"x".repeat(len)));
        let bytes = sender.numbered(call).encode();
        let null = File::open("/dev/null").expect("it exists");
        sender.send_with_descriptors(&bytes[..cut], &[null.as_fd()]);
        stage.slow.push(sender);
    }
}

fn send_with_descriptors(sender: &mut TestPeer, message: PlainMessage, count: u32) {
    let null = File::open("/dev/null").expect("it exists");
    let message = message.field(field::UNIX_FDS, PlainValue::U32(count));
    let bytes = sender.numbered(message).encode();
    let descriptors: Vec<_> = (0..count).map(|_| null.as_fd()).collect();
    sender.send_with_descriptors(&bytes, &descriptors);
}

/// A bus whose limits have been reached: calls are refused, and messages are dropped for a full
/// queue.
fn limits() -> SceneStage {
    let config = TestConfig::session()
        .limit("max_outgoing_bytes", 8_000)
        .limit("max_match_rules_per_connection", 2)
        .limit("max_replies_per_connection", 3)
        .limit("max_names_per_connection", 2);
    let mut stage = SceneStage::new(&config, ScratchFolder::new());
    let (mut sender, mut slow) = (stage.bus.peer(), stage.bus.peer());
    slow.request_name("com.example.Slow", 0);
    for rule in ["type='signal'", "type='signal',member='Dropped'"] {
        slow.add_match(rule);
    }
    assert_eq!(slow.ask_bus("AddMatch", "member='Refused'").error_name(), "LimitsExceeded");
    let request = PlainMessage::to_bus("RequestName").arg(PlainValue::text("com.example.More"));
    let refused = slow.call(request.arg(PlainValue::U32(0)));
    assert_eq!(refused.error_name(), "LimitsExceeded");
    let body = "x".repeat(500);
    for number in 0..1_000 {
        let signal = PlainMessage::signal("/com/example", "com.example.I", "Dropped");
        sender.send(signal.arg(PlainValue::U32(number)).arg(PlainValue::text(&body)));
    }
    assert!(sender.is_alive(), "the bus has routed everything");
    let totals = statistics::totals(&mut sender);
    assert!(statistics::number(&totals, "LostMessages") > 0, "{totals:?}");
    let mut caller = stage.bus.peer();
    for _ in 0..3 {
        caller.send(PlainMessage::some_call(sender.name()));
        assert!(sender.receive().is_some());
    }
    let refused = caller.call(PlainMessage::some_call(sender.name()));
    assert_eq!(refused.error_name(), "LimitsExceeded", "{}", refused.summary());
    stage.peers.extend([sender, caller]);
    stage.slow.push(slow);
    stage
}

/// A bus where clients wait to be served, because others have not finished the handshake.
fn crowd() -> SceneStage {
    let config = TestConfig::session().limit("max_incomplete_connections", 4);
    let mut stage = SceneStage::new(&config, ScratchFolder::new());
    let mut peer = stage.bus.peer();
    peer.request_name("com.example.Crowd", 0);
    stage.peers.push(peer);
    for _ in 0..4 + 3 {
        stage.streams.push(PeerStream::connect(stage.bus.address()));
    }
    stage.check_alive();
    stage
}
