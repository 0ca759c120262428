//! The peer that calls a method repeatedly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sys::clock;
use wire::body::Value;
use wire::message::{Message, MessageType};
use wire::names::BusName;

use super::{BusSetup, Control, WorkloadRole};
use crate::body_validation::BenchBodyValidation;
use crate::durations::{Distribution, Durations};
use crate::raw::{
    Endpoint, HubOrSpoke, RawConnection, RawError, ReadBuffer, SocketCalls, Template, echo_member,
    member,
};

/// Calls a method repeatedly, and waits for the replies.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CallerPeer {
    pub(crate) endpoint: Endpoint,
    /// The name of the callee; empty if there is no bus.
    pub(crate) destination: String,
    pub(crate) payload: Payload,
    /// The number of warm-up calls of each turn, which are not measured.
    pub(crate) warm_up: u64,
    /// The number of calls of each turn.
    pub(crate) count: u64,
    /// The number of turns, at least one. Each is started and reported separately.
    pub(crate) turns: u64,
    /// The number of calls that wait for replies at the same time, at least 1.
    pub(crate) in_flight: u64,
    /// The number of bytes that are read at once.
    pub(crate) read_buffer: ReadBuffer,
    /// Whether the bodies of replies are validated, as a library does.
    pub(crate) body_validation: BenchBodyValidation,
}

/// The arguments of calls.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Payload {
    /// An array of this many bytes, for the method that takes one.
    Bytes(usize),
    /// A string, for the method that returns it.
    Text(String),
    /// A dictionary with one dictionary of this many variants (`a{sa{sv}}`), as in the replies of
    /// GetManagedObjects.
    Dictionaries(usize),
}

/// The figures of the calls.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct CallerReport {
    /// Time from the first call to the last reply, in nanoseconds.
    pub(crate) elapsed_ns: u64,
    /// Round-trip times; only for sequential calls.
    pub(crate) round_trips: Option<Distribution>,
    /// System calls, excluding the warm-up.
    pub(crate) traffic: SocketCalls,
    /// Size of the last reply in bytes, header and body.
    pub(crate) reply_bytes: u64,
    /// The number of replies whose bodies were validated, including the warm-up.
    pub(crate) validated: u64,
}

impl WorkloadRole for CallerPeer {
    const NAME: &str = "caller";

    type Report = CallerReport;

    fn play(self, control: &mut Control) -> Result<CallerReport, RawError> {
        let mut connection = control.join(&self.endpoint, HubOrSpoke::Hub, BusSetup::default())?;
        connection.set_read_buffer(self.read_buffer);
        let mut call = self.template()?;
        call.continue_from(connection.last_serial());
        for _ in 1..self.turns {
            let report = self.turn(control, &mut connection, &mut call)?;
            control.report(&report).map_err(RawError::system)?;
        }
        self.turn(control, &mut connection, &mut call)
    }
}

impl CallerPeer {
    fn turn(
        &self,
        control: &mut Control,
        connection: &mut RawConnection,
        call: &mut Template,
    ) -> Result<CallerReport, RawError> {
        control.wait()?;
        match self.in_flight {
            0 | 1 => self.one_by_one(connection, call),
            _ => self.many_at_once(connection, call),
        }
    }

    fn template(&self) -> Result<Template, RawError> {
        let name = BusName::new(&self.destination).ok();
        match &self.payload {
            Payload::Bytes(size) => Template::call(name, member(), &(vec![0u8; *size].as_slice(),)),
            Payload::Text(text) => Template::call(name, echo_member(), &(text.as_str(),)),
            Payload::Dictionaries(entries) => {
                Template::call(name, echo_member(), &(dictionaries(*entries),))
            }
        }
    }

    fn one_by_one(
        &self,
        connection: &mut RawConnection,
        call: &mut Template,
    ) -> Result<CallerReport, RawError> {
        for _ in 0..self.warm_up {
            self.round_trip(connection, call)?;
        }
        let traffic = connection.traffic();
        let mut round_trips = Durations::new();
        let mut reply_bytes = 0;
        let start = clock::monotonic();
        let mut before = start;
        for _ in 0..self.count {
            reply_bytes = self.round_trip(connection, call)?;
            let now = clock::monotonic();
            round_trips.record(now - before);
            before = now;
        }
        Ok(CallerReport {
            elapsed_ns: (before - start).as_nanos() as u64,
            round_trips: Some(round_trips.distribution()),
            traffic: connection.traffic().since(traffic),
            reply_bytes: reply_bytes as u64,
            validated: self.validated(),
        })
    }

    fn many_at_once(
        &self,
        connection: &mut RawConnection,
        call: &mut Template,
    ) -> Result<CallerReport, RawError> {
        self.pipeline(connection, call, self.warm_up)?;
        let traffic = connection.traffic();
        let start = clock::monotonic();
        let reply_bytes = self.pipeline(connection, call, self.count)?;
        Ok(CallerReport {
            elapsed_ns: (clock::monotonic() - start).as_nanos() as u64,
            round_trips: None,
            traffic: connection.traffic().since(traffic),
            reply_bytes: reply_bytes as u64,
            validated: self.validated(),
        })
    }

    /// Keeps calls in flight until `count` were answered, and returns the size of a reply. It sends
    /// as many calls at once as replies arrived at once.
    fn pipeline(
        &self,
        connection: &mut RawConnection,
        call: &mut Template,
        count: u64,
    ) -> Result<usize, RawError> {
        let (mut sent, mut answered, mut reply_bytes) = (0, 0, 0);
        let mut out = Vec::new();
        while answered < count {
            out.clear();
            while sent < count && sent - answered < self.in_flight {
                call.next_serial();
                out.extend_from_slice(call.bytes());
                sent += 1;
            }
            connection.send(&out)?;
            reply_bytes = self.await_answer(connection)?;
            answered += 1;
            while let Some(message) = connection.received()? {
                answered += u64::from(self.is_answer(message)?);
            }
        }
        Ok(reply_bytes)
    }

    /// Calls once, and returns the size of the reply.
    fn round_trip(
        &self,
        connection: &mut RawConnection,
        call: &mut Template,
    ) -> Result<usize, RawError> {
        call.next_serial();
        connection.send(call.bytes())?;
        self.await_answer(connection)
    }

    /// Waits for a reply, and returns its size.
    fn await_answer(&self, connection: &mut RawConnection) -> Result<usize, RawError> {
        loop {
            let message = connection.receive()?;
            if self.is_answer(message)? {
                return Ok(message.len());
            }
        }
    }

    /// True if a message is a reply. Calls between two peers are answered in order, so the message
    /// type is sufficient.
    fn is_answer(&self, message: &[u8]) -> Result<bool, RawError> {
        const RETURN: u8 = MessageType::MethodReturn.code();
        const SIGNAL: u8 = MessageType::Signal.code();
        match message[1] {
            RETURN if self.body_validation == BenchBodyValidation::On => {
                Message::parse(message)?.validate_body()?;
                Ok(true)
            }
            RETURN => Ok(true),
            SIGNAL => Ok(false),
            _ => Err(RawError::describe(message)),
        }
    }

    /// The number of validated replies when all calls are answered.
    const fn validated(&self) -> u64 {
        match self.body_validation {
            BenchBodyValidation::On => self.warm_up + self.count,
            BenchBodyValidation::Off => 0,
        }
    }
}

impl Payload {
    /// The size of the payload in bytes.
    pub(crate) const fn len(&self) -> usize {
        match self {
            Self::Bytes(len) => *len,
            Self::Text(text) => text.len(),
            Self::Dictionaries(entries) => *entries * (ENTRY_NAME_LEN + size_of::<u32>()),
        }
    }
}

/// A dictionary with one dictionary of this many variants.
fn dictionaries(entries: usize) -> BTreeMap<String, BTreeMap<String, Value>> {
    let entry = |number| (format!("Property{number:04}"), Value::Uint32(number));
    let properties: BTreeMap<_, _> = (0..entries as u32).map(entry).collect();
    debug_assert!(properties.keys().all(|name| name.len() == ENTRY_NAME_LEN));
    BTreeMap::from([("org.diligence.Bench1".to_owned(), properties)])
}

/// The length of the names in dictionaries, in bytes.
const ENTRY_NAME_LEN: usize = 12;
