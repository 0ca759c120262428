//! What the bus writes into rings, read as its readers do, while real connections send.

mod peer;

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use capture::Capture;
use capture::record::{BusId, Fact, RawMessage, Record};
use capture::trace::{Assembler, Patience};
use diligence_broker::busconfig::{self, Config, ConfigError};
use diligence_broker::event_loop::{EventLoop, Loaded, Parts, Reload};
use diligence_broker::listen::{Environment, listen, parse};
use diligence_broker::log::{Log, Target};
use peer::Peer;
use sys::rlimit::OpenFiles;
use sys::signals::{Signal, SignalSource};
use trace::{Follower, Step};
use wire::Message;
use wire::body::Value;
use wire::guid::Guid;
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use wire::signature::Signature;

const DRIVER: &str = "org.freedesktop.DBus";
const TRACE: &str = "org.diligence.Trace1";

#[test]
fn stamps_are_in_order_and_recipients_are_those_who_asked() {
    let bus = Bus::start("stamps", |_| {});
    let mut listeners: Vec<_> = (0..5).map(|_| bus.connect()).collect();
    for listener in &mut listeners[..3] {
        listener.call_bus(DRIVER, "AddMatch", &("member='Wanted'",));
    }
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let mut reader = Reader::new(&tracer.start_trace(&[]));
    sender.emit("Wanted");
    let wanted = reader.wait_for("Wanted");
    let mut expected: Vec<u64> = listeners[..3].iter().map(Peer::number).collect();
    expected.sort_unstable();
    let mut recipients: Vec<u64> = wanted.copies.iter().map(|copy| copy.recipient).collect();
    recipients.sort_unstable();
    assert_eq!(recipients, expected);
    for copy in &wanted.copies {
        let written = copy.written_after.expect("it has left");
        assert!(wanted.routed_after <= written, "{wanted:?}");
        assert!(written < Duration::from_secs(2), "{wanted:?}");
        assert_eq!(copy.rules, 1, "by a rule");
    }
    // It is a call for one, and its answer is for the other.
    let to = listeners[4].name.clone();
    sender.call(&to, "Ask");
    let call = reader.wait_for("Ask");
    assert_eq!(call.copies.len(), 1);
    assert_eq!((call.copies[0].recipient, call.copies[0].rules), (listeners[4].number(), 0));
    assert_eq!(call.sender, sender.name);
}

#[test]
fn what_nobody_gets_is_written_down_too() {
    let bus = Bus::start("nobody", |_| {});
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let mut reader = Reader::new(&tracer.start_trace(&[]));
    sender.emit("Unheard");
    assert_eq!(reader.wait_for("Unheard").copies, []);
    sender.call("com.example.Absent", "Refused");
    let refused = reader.wait_for("Refused");
    assert_eq!((refused.copies.len(), refused.sender), (0, sender.name.clone()));
    let error = reader.wait_for("org.freedesktop.DBus.Error.ServiceUnknown");
    assert_eq!(error.sender, DRIVER);
    assert_eq!(error.copies[0].recipient, sender.number());
    sender.call(DRIVER, "GetId");
    assert_eq!(reader.wait_for("GetId").copies, []);
    sender.call("", "Ping");
    assert_eq!(reader.wait_for("Ping").sender, sender.name);
}

#[test]
fn who_is_there_comes_and_goes_is_written_down() {
    let bus = Bus::start("comes", |_| {});
    let mut owner = bus.connect();
    owner.call_bus(DRIVER, "RequestName", &("com.example.Owned", 0_u32));
    let mut tracer = bus.connect();
    let mut reader = Reader::new(&tracer.start_trace(&["member='Nothing'"]));
    let late = bus.connect();
    let late_name = late.name.clone();
    drop(late);
    reader.wait_until(|facts| {
        facts.iter().any(|fact| matches!(fact, Fact::Left { unique, .. } if *unique == late_name))
    });
    let pid = Some(std::process::id());
    let of = |name: &str| {
        let is_its = |fact: &&Fact| matches!(fact, Fact::Peer { unique, .. } if unique == name);
        reader.facts.iter().find(is_its)
    };
    for name in [&owner.name, &late_name, &tracer.name] {
        let Some(Fact::Peer { process: Some(process), .. }) = of(name) else { panic!("{name}") };
        assert_eq!(process.pid, pid);
    }
    let owns =
        Fact::Owner { name: "com.example.Owned".to_owned(), unique: Some(owner.name.clone()) };
    assert!(reader.facts.contains(&owns), "{:?}", reader.facts);
}

#[test]
fn filters_mean_what_they_mean_for_monitors() {
    let bus = Bus::start("filters", |_| {});
    let (mut tracer, mut sender, mut owner) = (bus.connect(), bus.connect(), bus.connect());
    owner.call_bus(DRIVER, "RequestName", &("com.example.Owned", 0_u32));
    let rules = ["member='Wanted'", "destination='com.example.Owned'"];
    let mut reader = Reader::new(&tracer.start_trace(&rules));
    sender.emit("Unwanted");
    sender.call("com.example.Absent", "Unwanted");
    let to = owner.name.clone();
    sender.call(&to, "ByName");
    sender.emit("Wanted");
    reader.wait_for("Wanted");
    let members: Vec<_> = reader.seen.iter().map(|seen| seen.member.as_str()).collect();
    assert_eq!(members, ["ByName", "Wanted"]);
}

#[test]
fn no_more_is_kept_than_was_asked_for() {
    let bus = Bus::start("kept", |_| {});
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let options = vec![("Kept", Value::Uint32(0))];
    let mut reader = Reader::new(&tracer.start_trace_with(options));
    sender.emit("Anything");
    let seen = reader.wait_for_one();
    assert_eq!((seen.member.as_str(), seen.sender.as_str()), ("", ""));
    assert!(seen.len > 64, "its length is known");
}

#[test]
fn a_reader_that_stops_holds_up_nobody_and_learns_what_it_missed() {
    let bus = Bus::start("overrun", |_| {});
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let options = vec![("Size", Value::Uint64(65_536))];
    let ring = tracer.start_trace_with(options);
    let mut follower = Follower::new(ring.as_fd()).expect("a ring");
    let count = 5000;
    (0..count).for_each(|_| sender.emit("Flood"));
    sender.call_bus(DRIVER, "GetId", &());
    let (mut missed, mut read) = (0, 0);
    loop {
        match follower.step() {
            Step::Missed(number) => missed += number,
            Step::Record(_) => read += 1,
            Step::Nothing => break,
            Step::Stopped => panic!("the trace is on"),
        }
    }
    assert!(missed > 1000 && read > 100, "missed {missed}, read {read}");
    assert!(missed + read >= count, "missed {missed}, read {read}");
}

#[test]
fn a_trace_ends_when_it_is_stopped_or_its_connection_ends() {
    let bus = Bus::start("ends", |_| {});
    let mut tracer = bus.connect();
    let first = Reader::new(&tracer.start_trace(&[]));
    let again = tracer.try_trace(vec![]).expect_err("one is enough");
    assert_eq!(again, "org.freedesktop.DBus.Error.Failed");
    tracer.call_bus(TRACE, "Stop", &());
    first.wait_for_end();
    let second = Reader::new(&tracer.start_trace(&[]));
    drop(tracer);
    second.wait_for_end();
}

#[test]
fn memory_for_traces_is_limited() {
    let bus = Bus::start("limits", |config| {
        config.configuration.traces.max_traces = 2;
        config.configuration.traces.max_trace_bytes = 1 << 20;
    });
    let size = |bytes: u64| vec![("Size", Value::Uint64(bytes))];
    let (mut a, mut b, mut c) = (bus.connect(), bus.connect(), bus.connect());
    let limit = "org.freedesktop.DBus.Error.LimitsExceeded";
    assert_eq!(a.try_trace(size(2 << 20)).expect_err("too large"), limit);
    a.try_trace(size(1 << 19)).expect("there is room");
    b.try_trace(size(1 << 19)).expect("there is room");
    assert_eq!(c.try_trace(size(0)).expect_err("too many"), limit);
    drop(a);
    // Its end has been seen when its name is gone.
    while c.try_trace(size(0)).is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let wrong = vec![("Colour", Value::Uint32(7))];
    let invalid = "org.freedesktop.DBus.Error.InvalidArgs";
    assert_eq!(bus.connect().try_trace(wrong).expect_err("no such option"), invalid);
}

#[test]
fn the_flight_recorder_is_handed_out_as_a_recording() {
    let bus = Bus::start("flight", |config| {
        config.document.own.flight_recorder = Some(1 << 20);
        config.configuration.flight_recorder = bus::FlightRecorder::On;
    });
    let (mut reader, mut sender) = (bus.connect(), bus.connect());
    sender.emit("Early");
    sender.call_bus(DRIVER, "GetId", &());
    let ring = reader.ring_of("Dump", &()).expect("there is one");
    let mut bytes = Vec::new();
    std::fs::File::from(ring).read_to_end(&mut bytes).expect("memory");
    let path = bus.path.with_extension("trace");
    std::fs::write(&path, bytes).expect("a file");
    let capture = Capture::open(&path).expect("a recording");
    std::fs::remove_file(&path).expect("it is there");
    assert!(capture.messages().any(|message| message.member() == "Early"));
    assert!(capture.messages().all(|message| message.deliveries().is_some()));
    assert_eq!(capture.gaps().len() + capture.damage().len(), 0);

    let without = Bus::start("without", |_| {});
    let failed = "org.freedesktop.DBus.Error.Failed";
    assert_eq!(without.connect().ring_of("Dump", &()).expect_err("there is none"), failed);
}

/// A bus in a thread of this process, with which it ends.
struct Bus {
    path: PathBuf,
}

impl Bus {
    fn start(name: &str, change: impl FnOnce(&mut Config)) -> Self {
        let name = format!("diligence-trace-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut config = busconfig::built_in_session();
        change(&mut config);
        let (ready, is_ready) = mpsc::channel();
        let socket = path.clone();
        std::thread::spawn(move || run(&socket, config, &ready));
        is_ready.recv().expect("the bus starts");
        Self { path }
    }

    fn connect(&self) -> Peer {
        Peer::connect(&self.path)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A configuration that is never read again.
struct Unchanged;

impl Reload for Unchanged {
    fn read(&mut self) -> Result<Loaded, ConfigError> {
        Ok(busconfig::built_in_session().into())
    }

    fn done(&mut self) {}
}

fn run(path: &Path, config: Config, ready: &mpsc::Sender<()>) {
    let address = parse(&format!("unix:path={}", path.display())).expect("an address");
    let parts = Parts {
        listeners: listen(&address, &mut Environment::default()).expect("a free place"),
        identity: bus::Identity {
            id: Guid::from_bytes([7; 16]),
            machine_id: None,
            pid: std::process::id(),
            uid: sys::credentials::own_credentials().expect("our own").uid,
            security_label: None,
        },
        loaded: config.into(),
        open_files: OpenFiles::current(),
        reload: Box::new(Unchanged),
        log: Log::new("trace", Target::Stderr),
        metrics: None,
        mediator: None,
        signals: SignalSource::block(&[Signal::Terminate]).expect("signals"),
    };
    let mut event_loop = EventLoop::new(parts).expect("an event loop");
    ready.send(()).expect("the test waits");
    event_loop.run().expect("it runs until the end");
}

impl Peer {
    fn call_bus(
        &mut self,
        interface: &str,
        member: &str,
        args: &impl wire::body::EncodeArgs,
    ) -> Vec<u8> {
        let interface = InterfaceName::new(interface).expect("a name");
        let call = builder("/org/freedesktop/DBus", member).interface(interface);
        let destination = BusName::new(DRIVER).expect("a name");
        let serial = self.send(call.destination(destination), args);
        self.reply_to(serial)
    }

    fn call(&mut self, to: &str, member: &str) {
        let call = builder("/com/example", member);
        let call = match BusName::new(to) {
            Ok(to) => call.destination(to),
            Err(_) => call.interface(InterfaceName::literal("org.freedesktop.DBus.Peer")),
        };
        self.send(call, &());
    }

    fn emit(&mut self, member: &str) {
        let path = ObjectPath::literal("/com/example");
        let interface = InterfaceName::literal("com.example.Trace");
        let member = MemberName::new(member).expect("a name");
        self.send(Builder::signal(path, interface, member), &());
    }

    fn start_trace(&mut self, rules: &[&str]) -> OwnedFd {
        let element = Signature::new("s").expect("a type").into();
        let items = rules.iter().map(|&rule| rule.into()).collect();
        self.start_trace_with(vec![("Rules", Value::Array { element, items })])
    }

    fn start_trace_with(&mut self, options: Vec<(&str, Value)>) -> OwnedFd {
        self.try_trace(options).expect("it is ours")
    }

    fn try_trace(&mut self, options: Vec<(&str, Value)>) -> Result<OwnedFd, String> {
        let options: std::collections::BTreeMap<&str, Value> = options.into_iter().collect();
        self.ring_of("Start", &(options,))
    }

    /// The ring that a method gives, or the name of its error.
    fn ring_of(
        &mut self,
        member: &str,
        args: &impl wire::body::EncodeArgs,
    ) -> Result<OwnedFd, String> {
        let reply = self.call_bus(TRACE, member, args);
        let reply = Message::parse(&reply).expect("a message");
        match reply.error_name() {
            Some(name) => Err(name.as_str().to_owned()),
            None => Ok(self.fds.pop().expect("a descriptor came with it")),
        }
    }
}

fn builder<'a>(path: &'a str, member: &'a str) -> Builder<'a> {
    let path = ObjectPath::new(path).expect("a path");
    Builder::method_call(path, MemberName::new(member).expect("a member"))
}

/// Reads a ring until something has come.
struct Reader {
    follower: Follower,
    assembler: Assembler,
    seen: Vec<Seen>,
    facts: Vec<Fact>,
    looked_at: usize,
}

/// A message, with what became of it.
#[derive(Clone, Debug)]
struct Seen {
    /// The member, or the name of an error; empty if nothing was kept.
    member: String,
    sender: String,
    len: u32,
    routed_after: Duration,
    copies: Vec<capture::record::Delivery>,
}

impl Seen {
    fn new(raw: &RawMessage<'_>) -> Self {
        let message = Message::parse(raw.bytes).ok();
        let member = message.and_then(|it| it.member().map(|name| name.as_str().to_owned()));
        let error = message.and_then(|it| it.error_name().map(|name| name.as_str().to_owned()));
        let sender = message.and_then(|it| it.sender().map(|name| name.as_str().to_owned()));
        let trace = raw.trace.expect("all are traced");
        Self {
            member: member.or(error).unwrap_or_default(),
            sender: sender.unwrap_or_default(),
            len: raw.len,
            routed_after: trace.routed_after,
            copies: trace.deliveries.to_vec(),
        }
    }
}

impl Reader {
    fn new(ring: &OwnedFd) -> Self {
        let follower = Follower::new(ring.as_fd()).expect("a ring");
        let assembler = Assembler::new(BusId(0), follower.clock(), Patience::default());
        Self { follower, assembler, seen: Vec::new(), facts: Vec::new(), looked_at: 0 }
    }

    /// The next message that is called so.
    fn wait_for(&mut self, member: &str) -> Seen {
        loop {
            let seen = self.wait_for_one();
            if seen.member == member {
                return seen;
            }
        }
    }

    fn wait_for_one(&mut self) -> Seen {
        let end = Instant::now() + LONGEST;
        while self.looked_at == self.seen.len() {
            self.read();
            assert!(Instant::now() < end, "nothing more comes: {:?} {:?}", self.seen, self.facts);
        }
        self.looked_at += 1;
        self.seen[self.looked_at - 1].clone()
    }

    fn wait_until(&mut self, is_there: impl Fn(&[Fact]) -> bool) {
        let end = Instant::now() + LONGEST;
        while !is_there(&self.facts) {
            self.read();
            assert!(Instant::now() < end, "nothing more comes: {:?}", self.facts);
        }
    }

    fn wait_for_end(mut self) {
        let end = Instant::now() + LONGEST;
        while !matches!(self.follower.step(), Step::Stopped) {
            assert!(Instant::now() < end, "it does not end");
        }
    }

    fn read(&mut self) {
        match self.follower.step() {
            Step::Record(record) => self.assembler.push(record.at, &record.entry),
            Step::Missed(count) => self.assembler.missed(count),
            Step::Nothing => std::thread::sleep(Duration::from_millis(1)),
            Step::Stopped => panic!("the trace is on"),
        }
        while let Some(record) = self.assembler.next_record() {
            match record {
                Record::Message(message) => self.seen.push(Seen::new(&message)),
                Record::Fact { fact, .. } => self.facts.push(fact),
                other => panic!("{other:?}"),
            }
        }
    }
}

/// How long to wait for what must come.
const LONGEST: Duration = Duration::from_secs(20);
