//! `org.diligence.Trace1`: what the bus does with messages, written into memory that the caller
//! reads.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use wire::body::{UnixFd, Value};
use wire::match_rule::MatchRule;
use wire::message::Builder;

use super::Call;
use super::monitoring::parse;
use crate::bus::Bus;
use crate::effects::{Effect, Effects, Event, Fds};
use crate::error::{BusError, ErrorKind};
use crate::input::{Asker, FdPassing, Ring};
use crate::own::reply_too_long;
use crate::reached::LimitName;

/// A ring of memory that the daemon is to make or to hand out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RingWish {
    /// A ring for a trace of its own.
    New {
        /// Bytes of the ring: a power of two from [`RING_BYTES_MIN`] to [`RING_BYTES_MAX`].
        bytes: u64,
        /// Bytes of each message that are kept.
        kept: u32,
        /// What goes there.
        contents: RingContents,
    },
    /// That of the flight recorder.
    FlightRecorder,
}

/// What goes into the ring of a trace besides connections that come and go, and services that start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingContents {
    /// All messages, not only those that rules ask for.
    pub all_messages: bool,
    /// The programs of connections that come.
    pub programs: bool,
}

/// What a trace is to be.
#[derive(Debug)]
struct Options {
    rules: Vec<MatchRule>,
    bytes: u64,
    kept: u32,
    programs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { rules: Vec::new(), bytes: RING_BYTES, kept: u32::MAX, programs: false }
    }
}

impl Options {
    fn parse(options: BTreeMap<&str, Value>) -> Result<Self, BusError> {
        let mut parsed = Self::default();
        for (name, value) in options {
            match (name, value) {
                ("Rules", Value::Array { items, .. }) => parsed.rules = rules(&items)?,
                ("Size", Value::Uint64(bytes)) => parsed.bytes = ring_len(bytes),
                ("Kept", Value::Uint32(kept)) => parsed.kept = kept,
                ("Programs", Value::Boolean(programs)) => parsed.programs = programs,
                (name, _) => {
                    let text = format!(
                        "A trace has no option '{name}' of this type: there are Rules (as), Size (t), \
                         Kept (u) and Programs (b)"
                    );
                    return Err(ErrorKind::InvalidArgs.because(text));
                }
            }
        }
        Ok(parsed)
    }
}

/// Bytes that a ring has for who wants so many.
const fn ring_len(wanted: u64) -> u64 {
    match wanted {
        ..=RING_BYTES_MIN => RING_BYTES_MIN,
        RING_BYTES_MAX.. => RING_BYTES_MAX,
        _ => wanted.next_power_of_two(),
    }
}

fn rules(texts: &[Value]) -> Result<Vec<MatchRule>, BusError> {
    let rule = |text: &Value| match text {
        Value::String(text) => parse(text),
        _ => Err(ErrorKind::InvalidArgs.because("The rules of a trace are strings")),
    };
    texts.iter().map(rule).collect()
}

pub(super) fn start(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    bus.mediate_eavesdropping(call.from, fx)?;
    check_descriptors(bus, call)?;
    let (options,) = call.args::<(BTreeMap<&str, Value>,)>()?;
    let Options { rules, bytes, kept, programs } = Options::parse(options)?;
    if bus.traces.has(call.from) {
        return Err(ErrorKind::Failed.because("This connection has a trace already"));
    }
    check_room(bus, bytes)?;
    let contents = RingContents { all_messages: rules.is_empty(), programs };
    let wish = Box::new(RingWish::New { bytes, kept, contents });
    bus.traces.begin(call.from, bytes, rules);
    fx.push(Effect::OpenRing { asker: asker(call), wish });
    Ok(())
}

pub(super) fn stop(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    if !bus.traces.end(call.from) {
        return Err(ErrorKind::Failed.because("This connection has no trace"));
    }
    fx.push(Effect::CloseRing { peer: call.from });
    bus.reply(call, &(), fx)
}

pub(super) fn dump(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    bus.mediate_eavesdropping(call.from, fx)?;
    check_descriptors(bus, call)?;
    let wish = Box::new(RingWish::FlightRecorder);
    fx.push(Effect::OpenRing { asker: asker(call), wish });
    Ok(())
}

const fn asker(call: &Call<'_>) -> Asker {
    Asker { peer: call.from, serial: call.message.serial() }
}

fn check_descriptors(bus: &Bus, call: &Call<'_>) -> Result<(), BusError> {
    if bus.peers[call.from].fds == FdPassing::Agreed && call.message.expects_reply() {
        return Ok(());
    }
    let text = "A trace is handed out as a file descriptor, and this connection takes none";
    Err(ErrorKind::NotSupported.because(text))
}

/// The limits on how many there are, and on their memory.
fn check_room(bus: &Bus, bytes: u64) -> Result<(), BusError> {
    let limits = &bus.config.traces;
    let refuse = |limit: LimitName, max: u64, used: u64| {
        let text = format!("There are too many traces already ({}={max})", limit.as_str());
        Err(ErrorKind::LimitsExceeded.because(text).at_limit(limit, max, used))
    };
    let (count, used) = (bus.traces.len() as u64, bus.traces.bytes());
    if count >= limits.max_traces {
        return refuse(LimitName::Traces, limits.max_traces, count);
    }
    if used.saturating_add(bytes) > limits.max_trace_bytes {
        return refuse(LimitName::TraceBytes, limits.max_trace_bytes, used);
    }
    Ok(())
}

impl Bus {
    /// A ring was opened, or could not be.
    pub(crate) fn ring_opened(
        &mut self,
        asker: Asker,
        wish: RingWish,
        outcome: Result<Ring, String>,
        fx: &mut Effects,
    ) {
        let sent = match outcome {
            Ok(ring) => {
                let builder = Builder::method_return(asker.serial);
                let args = (UnixFd(0), about(&ring, wish));
                let fds = match wish {
                    RingWish::New { .. } => Fds::OfRing,
                    RingWish::FlightRecorder => Fds::OfRecorder,
                };
                let sent = self.send_own(asker.peer, builder, &args, fds, fx);
                sent.map_err(reply_too_long)
            }
            Err(why) => {
                if let RingWish::New { .. } = wish {
                    self.traces.end(asker.peer);
                }
                Err(ErrorKind::Failed.because(why))
            }
        };
        match sent {
            Ok(()) => fx.log(Event::Traces { peer: asker.peer }),
            Err(error) => self.send_error(asker.peer, asker.serial, &error, fx),
        }
    }
}

fn about(ring: &Ring, wish: RingWish) -> BTreeMap<&'static str, Value> {
    let mut about = BTreeMap::from([
        ("Version", Value::Uint64(ring.version)),
        ("Size", Value::Uint64(ring.bytes)),
        ("Kept", Value::Uint32(ring.kept)),
    ]);
    if wish == RingWish::FlightRecorder {
        about.insert("Participants", Value::UnixFd(1));
    }
    about
}

/// Bytes of the smallest ring.
pub const RING_BYTES_MIN: u64 = 64 << 10;

/// Bytes of the largest ring.
pub const RING_BYTES_MAX: u64 = 1 << 30;

/// Bytes of a ring whose size nobody has said.
const RING_BYTES: u64 = 16 << 20;
