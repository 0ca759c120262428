//! Recordings with content that is known, because a test has made it.
//!
//! ```
//! use testkit::recording::TestRecording;
//!
//! let mut recording = TestRecording::new();
//! let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Count", &());
//! recording.wait_us(300).reply(&call, ":1.6", &(7_u32,));
//! let capture = recording.capture();
//! let reply = capture.messages().last().expect("two messages");
//! assert_eq!(reply.duration(), Some(std::time::Duration::from_micros(300)));
//! ```

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::time::Duration;

use capture::Capture;
use capture::file::PcapngWriter;
use capture::record::{
    BusId, CaptureMethod, Fact, RawMessage, RecordedBus, RecordedProcess, RecordedTime,
    RecordingGap, RecordingOrigin, RecordingRecord, Routing, Stages, Trace, TracedDelivery,
};
use wire::body::EncodeArgs;
use wire::message::{Builder, Flags};
use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};

/// A recording under construction. Its time advances only on request.
#[derive(Debug)]
pub struct TestRecording {
    entries: Vec<RecordedEntry>,
    now: RecordedTime,
    bus: BusId,
    serials: HashMap<String, u32>,
}

/// A recorded call, to reply to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedCall {
    /// The unique name of the caller.
    pub caller: String,
    /// The serial of the call.
    pub serial: NonZeroU32,
}

#[derive(Debug)]
enum RecordedEntry {
    Bus(RecordedBus),
    Message(Stored),
    Fact(RecordedTime, BusId, Fact),
    Gap(RecordingGap),
}

#[derive(Debug)]
struct Stored {
    at: RecordedTime,
    bus: BusId,
    bytes: Vec<u8>,
    len: u32,
    trace: Option<(Routing, Vec<TracedDelivery>)>,
}

/// The name of the bus itself, and of its interface.
pub const DRIVER: &str = "org.freedesktop.DBus";

/// The start time of recordings, in 2026.
const START: RecordedTime = RecordedTime(1_790_000_000_000_000_000);

impl Default for TestRecording {
    fn default() -> Self {
        Self { entries: Vec::new(), now: START, bus: BusId(0), serials: HashMap::new() }
    }
}

impl TestRecording {
    /// Creates an empty recording.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a recording of two buses without messages: `session`, traced, and `system`,
    /// monitored.
    pub fn traced_and_monitored() -> Self {
        let bus = |name: &str, method| RecordedBus {
            name: name.into(),
            method,
            ..RecordedBus::default()
        };
        let mut recording = Self::new();
        recording.bus(bus("session", CaptureMethod::Trace));
        recording.bus(bus("system", CaptureMethod::Monitor));
        recording
    }

    /// Describes a bus; the first one is bus 0.
    pub fn bus(&mut self, bus: RecordedBus) -> &mut Self {
        self.entries.push(RecordedEntry::Bus(bus));
        self
    }

    /// Assigns the following records to this bus.
    pub const fn on(&mut self, bus: BusId) -> &mut Self {
        self.bus = bus;
        self
    }

    /// Returns the current time of the recording.
    pub const fn now(&self) -> RecordedTime {
        self.now
    }

    /// Advances the time by nanoseconds.
    pub const fn wait_ns(&mut self, nanos: i64) -> &mut Self {
        self.now.0 += nanos;
        self
    }

    /// Advances the time by microseconds.
    pub const fn wait_us(&mut self, micros: i64) -> &mut Self {
        self.now.0 += micros * 1000;
        self
    }

    /// Advances the time by milliseconds.
    pub const fn wait_ms(&mut self, millis: i64) -> &mut Self {
        self.wait_us(millis * 1000)
    }

    /// Sets the time relative to the start, forward or back.
    pub const fn at_ms(&mut self, millis: i64) -> &mut Self {
        self.now.0 = START.0 + millis * 1_000_000;
        self
    }

    /// Adds a fact that a recorder has found.
    pub fn fact(&mut self, fact: Fact) -> &mut Self {
        self.entries.push(RecordedEntry::Fact(self.now, self.bus, fact));
        self
    }

    /// Adds a connection with its process.
    pub fn process(&mut self, unique: &str, pid: u32, comm: &str) -> &mut Self {
        let process = RecordedProcess {
            pid: Some(pid),
            comm: Some(comm.to_owned()),
            ..RecordedProcess::default()
        };
        self.fact(Fact::Peer { unique: unique.to_owned(), process: Some(process) })
    }

    /// Adds the owner of a name.
    pub fn owner(&mut self, name: &str, unique: &str) -> &mut Self {
        let unique = Some(unique.to_owned());
        self.fact(Fact::Owner { name: name.to_owned(), unique, since: None })
    }

    /// Adds a match rule; adding it again means that the connection has it once more.
    pub fn rule(&mut self, unique: &str, rule: &str) -> &mut Self {
        let on = self.bus;
        let same = self.entries.iter_mut().find_map(|entry| match entry {
            RecordedEntry::Fact(_, bus, Fact::Rule { unique: of, rule: known, times }) => {
                (*bus == on && of == unique && known == rule).then_some(times)
            }
            _ => None,
        });
        match same {
            Some(times) => *times += 1,
            None => {
                let (unique, rule) = (unique.to_owned(), rule.to_owned());
                self.fact(Fact::Rule { unique, rule, times: 1 });
            }
        }
        self
    }

    /// Adds a gap of missing messages.
    pub fn gap(&mut self, gap: RecordingGap) -> &mut Self {
        self.entries.push(RecordedEntry::Gap(gap));
        self
    }

    /// Adds a call that expects a reply. `what` is path and method: `/org/x org.x.Iface.Method`.
    pub fn call(
        &mut self,
        from: &str,
        to: &str,
        what: &str,
        args: &impl EncodeArgs,
    ) -> RecordedCall {
        self.call_with(Flags::NONE, from, to, what, args)
    }

    /// Adds a call with flags. The method may lack an interface: `/org/x Method`.
    pub fn call_with(
        &mut self,
        flags: Flags,
        from: &str,
        to: &str,
        what: &str,
        args: &impl EncodeArgs,
    ) -> RecordedCall {
        let (path, interface, member) = split(what);
        let mut message = Builder::method_call(path, member).destination(bus_name(to)).flags(flags);
        if let Some(interface) = interface {
            message = message.interface(interface);
        }
        let serial = self.send(from, message, args);
        RecordedCall { caller: from.to_owned(), serial }
    }

    /// Adds a method return for a call.
    pub fn reply(&mut self, call: &RecordedCall, from: &str, args: &impl EncodeArgs) -> &mut Self {
        let message = Builder::method_return(call.serial).destination(bus_name(&call.caller));
        self.send(from, message.flags(Flags::NO_REPLY_EXPECTED), args);
        self
    }

    /// Adds an error reply for a call.
    pub fn error(&mut self, call: &RecordedCall, from: &str, name: &str, text: &str) -> &mut Self {
        let name = ErrorName::new(name).expect("the name of an error");
        let message = Builder::error(name, call.serial).destination(bus_name(&call.caller));
        self.send(from, message.flags(Flags::NO_REPLY_EXPECTED), &(text,));
        self
    }

    /// Adds an error reply of the bus for the last message of `sender`.
    pub fn reply_refused(&mut self, sender: &str, name: &str) -> &mut Self {
        let last = self.serials.get(sender).copied().and_then(NonZeroU32::new);
        let serial = last.expect("the sender has sent a message");
        let call = RecordedCall { caller: sender.to_owned(), serial };
        self.error(&call, DRIVER, name, "it is not there")
    }

    /// Adds a broadcast signal. `what` is path and signal: `/org/x org.x.Iface.Signal`.
    pub fn signal(&mut self, from: &str, what: &str, args: &impl EncodeArgs) -> &mut Self {
        self.send(from, signal(what), args);
        self
    }

    /// Adds a unicast signal.
    pub fn signal_to(
        &mut self,
        from: &str,
        to: &str,
        what: &str,
        args: &impl EncodeArgs,
    ) -> &mut Self {
        self.send(from, signal(what).destination(bus_name(to)), args);
        self
    }

    /// Adds a NameOwnerChanged signal of the bus; an empty text means no owner.
    pub fn owner_changed(&mut self, name: &str, old: &str, new: &str) -> &mut Self {
        let what = "/org/freedesktop/DBus org.freedesktop.DBus.NameOwnerChanged";
        self.signal(DRIVER, what, &(name, old, new))
    }

    /// Adds a call to the bus itself, and its reply a little later.
    pub fn ask_bus(
        &mut self,
        from: &str,
        member: &str,
        args: &impl EncodeArgs,
        answer: &impl EncodeArgs,
    ) -> &mut Self {
        let what = format!("/org/freedesktop/DBus {DRIVER}.{member}");
        let call = self.call(from, DRIVER, &what, args);
        self.wait_us(50).reply(&call, DRIVER, answer)
    }

    /// Adds the deliveries of the last message: each recipient, the time in microseconds after the
    /// message arrived, and the number of matching rules.
    pub fn delivered(&mut self, routed_us: u64, deliveries: &[(u64, u64, u32)]) -> &mut Self {
        let copy = |&(recipient, micros, rules)| TracedDelivery {
            recipient,
            begun_after: Some(Duration::from_micros(micros)),
            written_after: Some(Duration::from_micros(micros)),
            rules,
        };
        let deliveries = deliveries.iter().map(copy).collect();
        let after = Duration::from_micros(routed_us);
        self.last().trace = Some((Routing { after, stages: None }, deliveries));
        self
    }

    /// Adds the routing stages of the last message, in microseconds: when it was read, when its
    /// routing started and, if match rules were searched, when that started and how long it took.
    pub fn staged(&mut self, read: u64, begun: u64, matching: Option<(u64, u64)>) -> &mut Self {
        let micros = Duration::from_micros;
        let stages = Stages::new(micros(read), micros(begun));
        let stages = match matching {
            Some((after, took)) => stages.with_matching(micros(after), micros(took)),
            None => stages,
        };
        let Some((routing, _)) = &mut self.last().trace else {
            panic!("the last message was not delivered");
        };
        routing.stages = Some(stages);
        self
    }

    /// Adds the time in microseconds at which the first bytes of a copy of the last message had
    /// left the bus, before the others.
    pub fn begun(&mut self, copy: usize, micros: u64) -> &mut Self {
        let Some((_, deliveries)) = &mut self.last().trace else {
            panic!("the last message was not delivered");
        };
        deliveries[copy].begun_after = Some(Duration::from_micros(micros));
        self
    }

    /// Truncates the last message to this many bytes.
    pub fn cut(&mut self, kept: usize) -> &mut Self {
        self.last().bytes.truncate(kept);
        self
    }

    /// Adds bytes without any check.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        let len = bytes.len() as u32;
        let bytes = bytes.to_vec();
        let message = Stored { at: self.now, bus: self.bus, bytes, len, trace: None };
        self.entries.push(RecordedEntry::Message(message));
        self
    }

    /// Passes every record to `take`, in order.
    pub fn each(&self, mut take: impl FnMut(RecordingRecord<'_>)) {
        for entry in &self.entries {
            take(match entry {
                RecordedEntry::Bus(bus) => RecordingRecord::Bus(bus.clone()),
                RecordedEntry::Message(stored) => RecordingRecord::Message(stored.raw()),
                RecordedEntry::Fact(at, bus, fact) => {
                    RecordingRecord::Fact { at: *at, bus: *bus, fact: fact.clone() }
                }
                RecordedEntry::Gap(gap) => RecordingRecord::Gap(gap.clone()),
            });
        }
    }

    /// Removes all records. Time and serials continue.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Returns the capture that a program would have read.
    pub fn capture(&self) -> Capture {
        let mut capture = Capture::default();
        self.each(|record| capture.push(record));
        capture
    }

    /// Returns a pcap file with times in microseconds; it omits everything except messages.
    pub fn pcap(&self) -> Vec<u8> {
        let mut file = Vec::new();
        for word in [0xA1B2_C3D4, 0x0004_0002, 0, 0, 1 << 27, 231_u32] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        for entry in &self.entries {
            if let RecordedEntry::Message(stored) = entry {
                let micros = stored.at.0 / 1000;
                let time = [micros / 1_000_000, micros % 1_000_000].map(|part| part as u32);
                let lens = [stored.bytes.len() as u32, stored.len];
                for word in time.into_iter().chain(lens) {
                    file.extend_from_slice(&word.to_le_bytes());
                }
                file.extend_from_slice(&stored.bytes);
            }
        }
        file
    }

    /// Returns the file that our recorder would have written.
    pub fn pcapng(&self) -> Vec<u8> {
        let origin =
            RecordingOrigin { program: Some("a test".to_owned()), ..RecordingOrigin::default() };
        let mut writer = PcapngWriter::new(Vec::new(), &origin).expect("memory takes all");
        self.each(|record| writer.write(&record).expect("memory takes all"));
        writer.finish().expect("memory takes all")
    }

    fn send(&mut self, from: &str, message: Builder<'_>, args: &impl EncodeArgs) -> NonZeroU32 {
        let serial = self.serials.entry(from.to_owned()).or_default();
        *serial += 1;
        let serial = NonZeroU32::new(*serial).expect("not yet 4 billion");
        let mut bytes = Vec::new();
        let message = message.sender(bus_name(from));
        message.write(&mut bytes, serial, args).expect("a message that can be sent");
        self.raw(&bytes);
        serial
    }

    fn last(&mut self) -> &mut Stored {
        match self.entries.last_mut() {
            Some(RecordedEntry::Message(stored)) => stored,
            other => panic!("the last thing recorded is {other:?}, not a message"),
        }
    }
}

impl Stored {
    fn raw(&self) -> RawMessage<'_> {
        RawMessage {
            at: self.at,
            bus: self.bus,
            bytes: &self.bytes,
            len: self.len,
            place: None,
            trace: self
                .trace
                .as_ref()
                .map(|(routing, deliveries)| Trace { routing: *routing, deliveries }),
        }
    }
}

fn signal(what: &str) -> Builder<'_> {
    let (path, interface, member) = split(what);
    Builder::signal(path, interface.expect("a signal has an interface"), member)
}

/// Splits `/org/x org.x.Iface.Member` into path, interface and member.
fn split(what: &str) -> (ObjectPath<'_>, Option<InterfaceName<'_>>, MemberName<'_>) {
    let (path, name) = what.split_once(' ').expect("a path, a space and a name");
    let (interface, member) = name.rsplit_once('.').map_or((None, name), |(i, m)| (Some(i), m));
    (
        ObjectPath::new(path).expect("a path"),
        interface.map(|interface| InterfaceName::new(interface).expect("an interface")),
        MemberName::new(member).expect("a member"),
    )
}

fn bus_name(name: &str) -> BusName<'_> {
    BusName::new(name).expect("a name")
}
