//! `org.diligence.Trace1`: the bus records how it handles messages into memory that the caller
//! reads.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wire::body::{UnixFd, Value};
use wire::match_rule::MatchRule;
use wire::message::Builder;

use super::call::{Call, Driver};
use super::monitoring::{mediate_eavesdropping, parse};
use crate::routing::{Router, reply_too_long};
use crate::types::{
    CallId, DescriptorPassing, Effect, Effects, Fds, ForeignError, LimitHit, LimitName, LogEvent,
    RING_BYTES_MAX, RING_BYTES_MIN, RefusalReason, RingContents, RingFacts, TraceRequest,
};

/// The options of a trace.
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
    fn parse(options: BTreeMap<&str, Value>) -> Result<Self, RefusalReason> {
        let mut parsed = Self::default();
        for (name, value) in options {
            match (name, value) {
                ("Rules", Value::Array { items, .. }) => parsed.rules = rules(&items)?,
                ("Size", Value::Uint64(bytes)) => parsed.bytes = ring_len(bytes),
                ("Kept", Value::Uint32(kept)) => parsed.kept = kept,
                ("Programs", Value::Boolean(programs)) => parsed.programs = programs,
                (name, _) => {
                    return Err(RefusalReason::TraceOptionUnknown { option: name.into() });
                }
            }
        }
        Ok(parsed)
    }
}

/// The size in bytes of a ring, for a requested size.
const fn ring_len(wanted: u64) -> u64 {
    match wanted {
        ..=RING_BYTES_MIN => RING_BYTES_MIN,
        RING_BYTES_MAX.. => RING_BYTES_MAX,
        _ => wanted.next_power_of_two(),
    }
}

fn rules(texts: &[Value]) -> Result<Vec<MatchRule>, RefusalReason> {
    let rule = |text: &Value| match text {
        Value::String(text) => parse(text),
        _ => Err(RefusalReason::TraceRuleNotString),
    };
    texts.iter().map(rule).collect()
}

pub(super) fn start(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    mediate_eavesdropping(driver, call, fx)?;
    check_descriptors(driver.router, call)?;
    let (options,) = call.args::<(BTreeMap<&str, Value>,)>()?;
    let Options { rules, bytes, kept, programs } = Options::parse(options)?;
    if driver.router.tracing.has(call.from) {
        return Err(RefusalReason::TraceExists);
    }
    check_room(driver.router, bytes)?;
    let contents = RingContents { all_messages: rules.is_empty(), programs };
    let request = Box::new(TraceRequest::New { bytes, kept, contents });
    driver.router.tracing.begin(call.from, bytes, rules);
    fx.push(Effect::OpenRing { call: call.id(), request });
    Ok(())
}

pub(super) fn stop(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    if !driver.router.tracing.end(call.from) {
        return Err(RefusalReason::NoTrace);
    }
    fx.push(Effect::CloseRing { peer: call.from });
    driver.reply(call, &(), fx)
}

pub(super) fn dump(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    mediate_eavesdropping(driver, call, fx)?;
    check_descriptors(driver.router, call)?;
    let request = Box::new(TraceRequest::FlightRecorder);
    fx.push(Effect::OpenRing { call: call.id(), request });
    Ok(())
}

fn check_descriptors(router: &Router, call: &Call<'_>) -> Result<(), RefusalReason> {
    if router.registry[call.from].fds == DescriptorPassing::Agreed && call.message.expects_reply() {
        return Ok(());
    }
    Err(RefusalReason::TraceFdsNotAgreed)
}

/// Checks the limits on the number of traces and on their memory.
fn check_room(router: &Router, bytes: u64) -> Result<(), RefusalReason> {
    let limits = &router.config.traces;
    let refuse = |limit: LimitName, max: u64, used: u64| {
        Err(RefusalReason::TooManyTraces(LimitHit { limit, max, used }))
    };
    let (count, used) = (router.tracing.len() as u64, router.tracing.bytes());
    if count >= limits.max_traces {
        return refuse(LimitName::Traces, limits.max_traces, count);
    }
    if used.saturating_add(bytes) > limits.max_trace_bytes {
        return refuse(LimitName::TraceBytes, limits.max_trace_bytes, used);
    }
    Ok(())
}

/// Replies to Start or Dump after the daemon has opened the ring of a trace, or has failed to.
pub(crate) fn ring_opened(
    call: CallId,
    request: TraceRequest,
    outcome: Result<RingFacts, ForeignError>,
    router: &mut Router,
    fx: &mut Effects,
) {
    let sent = match outcome {
        Ok(ring) => {
            let builder = Builder::method_return(call.serial);
            let args = (UnixFd(0), about(&ring, request));
            let fds = match request {
                TraceRequest::New { .. } => Fds::OfRing,
                TraceRequest::FlightRecorder => Fds::OfRecorder,
            };
            router.send_own(call.peer, builder, &args, fds, fx).map_err(reply_too_long)
        }
        Err(error) => {
            if let TraceRequest::New { .. } = request {
                router.tracing.end(call.peer);
            }
            Err(RefusalReason::RingNotOpened(error))
        }
    };
    match sent {
        Ok(()) => fx.log(LogEvent::Traces { peer: call.peer }),
        Err(error) => router.send_error(call.peer, call.serial, &error, fx),
    }
}

fn about(ring: &RingFacts, request: TraceRequest) -> BTreeMap<&'static str, Value> {
    let mut about = BTreeMap::from([
        ("Version", Value::Uint64(ring.version)),
        ("Size", Value::Uint64(ring.bytes)),
        ("Kept", Value::Uint32(ring.kept)),
    ]);
    if request == TraceRequest::FlightRecorder {
        about.insert("Participants", Value::UnixFd(1));
    }
    about
}

/// Default size of a ring, in bytes.
const RING_BYTES: u64 = 16 << 20;
