//! The connection of one program, and its connection to the bus.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use sys::poll::{Interest, Poller};
use sys::transfer::{self, DescriptorDelivery, TransferWait};
use wire::Message;
use wire::framer::{Frame, Framer, FramerLimits, Space};
use wire::message::InvalidMessage;

use crate::bus_connection::BusStream;
use crate::command_line::FilterOptions;
use crate::filter::{ConnectionFilter, FilterFault, Verdict};
use crate::handshake::{HandshakeFault, HandshakeRelay};
use crate::outgoing::OutgoingBytes;

/// One of the two connections of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionSide {
    /// The connection of the program.
    Client,
    /// The connection to the bus.
    Bus,
}

impl SessionSide {
    const BOTH: [Self; 2] = [Self::Client, Self::Bus];

    const fn other(self) -> Self {
        match self {
            Self::Client => Self::Bus,
            Self::Bus => Self::Client,
        }
    }
}

/// The connection of one program, and its connection to the bus.
#[derive(Debug)]
pub(crate) struct ProxySession {
    client: SessionEnd,
    bus: SessionEnd,
    bus_is_unix: bool,
    /// `None` after the handshake.
    handshake: Option<HandshakeRelay>,
    /// `None` if everything is forwarded.
    filter: Option<ConnectionFilter>,
    /// True after one side has ended. What was queued for the other side is still written.
    is_ending: bool,
}

/// One connection of a session.
#[derive(Debug)]
struct SessionEnd {
    socket: OwnedFd,
    token: u64,
    interest: Option<Interest>,
    framer: Framer,
    /// Descriptors that were received and belong to messages that are not complete.
    descriptors: VecDeque<OwnedFd>,
    outgoing: OutgoingBytes,
    /// True if nothing can be written any more.
    is_gone: bool,
}

/// The reason why a session is ended by the proxy.
#[derive(Debug)]
enum SessionFault {
    Handshake(HandshakeFault),
    Message(SessionSide, InvalidMessage),
    Filter(FilterFault),
    LostDescriptors,
}

impl fmt::Display for SessionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handshake(fault) => write!(f, "disconnected a client: {fault}"),
            Self::Message(SessionSide::Client, error) => {
                write!(f, "disconnected a client: its message is not valid: {error}")
            }
            Self::Message(SessionSide::Bus, error) => {
                write!(f, "disconnected a client: a message of the bus is not valid: {error}")
            }
            Self::Filter(fault) => write!(f, "disconnected a client: {fault}"),
            Self::LostDescriptors => {
                f.write_str("disconnected a client: too many descriptors are open")
            }
        }
    }
}

/// What the event loop does with a session after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionState {
    /// The session continues after the event.
    Open,
    /// The session has ended, and its sockets can be closed.
    Ended,
}

impl ProxySession {
    /// A session at the start of its handshake. The tokens name the sockets in events.
    pub(crate) fn new(
        client: OwnedFd,
        bus: BusStream,
        tokens: [u64; 2],
        options: &Rc<FilterOptions>,
    ) -> Self {
        let [client_token, bus_token] = tokens;
        Self {
            client: SessionEnd::new(client, client_token),
            bus: SessionEnd::new(bus.socket, bus_token),
            bus_is_unix: bus.is_unix,
            handshake: Some(HandshakeRelay::default()),
            filter: options.is_enabled.then(|| ConnectionFilter::new(Rc::clone(options))),
            is_ending: false,
        }
    }

    /// Starts to wait for events of both sockets.
    pub(crate) fn watch(&mut self, poller: &Poller) -> io::Result<()> {
        SessionSide::BOTH.into_iter().try_for_each(|side| self.update_interest(side, poller))
    }

    /// Handles an event of one socket: reads once, and writes what both sockets take.
    pub(crate) fn handle(
        &mut self,
        side: SessionSide,
        scratch: &mut [u8],
        poller: &Poller,
    ) -> SessionState {
        match self.try_handle(side, scratch) {
            Ok(()) => {}
            Err(SessionError::Fault(fault)) => {
                crate::warn(&fault.to_string());
                // The messages before the fault are still delivered.
                self.is_ending = true;
                SessionSide::BOTH.into_iter().for_each(|side| self.write(side));
            }
            Err(SessionError::Io) => return SessionState::Ended,
        }
        self.print_log();
        if self.is_ending && self.client.outgoing.is_empty() && self.bus.outgoing.is_empty() {
            return SessionState::Ended;
        }
        match self.watch(poller) {
            Ok(()) => SessionState::Open,
            Err(_) => SessionState::Ended,
        }
    }

    fn try_handle(&mut self, side: SessionSide, scratch: &mut [u8]) -> Result<(), SessionError> {
        if self.reads(side) {
            self.read(side, scratch)?;
        }
        loop {
            SessionSide::BOTH.into_iter().for_each(|side| self.write(side));
            // A queue that was full may have space now, and the filter may not hold the client any
            // more.
            let mut has_moved = false;
            for side in SessionSide::BOTH {
                has_moved |= self.forward_parked(side, scratch)?;
            }
            if !has_moved {
                return Ok(());
            }
        }
    }

    /// Writes what one socket takes.
    fn write(&mut self, side: SessionSide) {
        let end = self.end_mut(side);
        if end.outgoing.write_to(&end.socket).is_err() {
            // Messages that the peer sent before it disconnected are still read and forwarded.
            end.outgoing = OutgoingBytes::default();
            end.is_gone = true;
        }
    }

    /// Reads once from a socket, and forwards the complete messages.
    fn read(&mut self, side: SessionSide, scratch: &mut [u8]) -> Result<(), SessionError> {
        let in_handshake = self.handshake.is_some();
        let end = self.end_mut(side);
        let mut received = Vec::new();
        let wait = TransferWait::Never;
        let outcome = if in_handshake {
            transfer::receive(&end.socket, &mut scratch[..HANDSHAKE_READ], &mut received, wait)
        } else {
            match end.framer.space(scratch) {
                Space::Scratch(space) => transfer::receive(&end.socket, space, &mut received, wait),
                Space::Large { buffer, room } => {
                    transfer::receive_more(&end.socket, buffer, room, &mut received, wait)
                }
            }
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                end.framer.park(scratch);
                return Ok(());
            }
            Err(_) => {
                self.is_ending = true;
                return Ok(());
            }
        };
        if outcome.descriptors == DescriptorDelivery::Truncated {
            return Err(SessionFault::LostDescriptors.into());
        }
        if outcome.bytes == 0 {
            self.is_ending = true;
            return Ok(());
        }
        // A receive returns at most 253 descriptors.
        let count = received.len() as u32;
        end.descriptors.extend(received);
        if in_handshake {
            return self.shake_hands(side, &scratch[..outcome.bytes], count);
        }
        end.framer.received(outcome.bytes);
        end.framer.received_fds(count);
        let forwarded = self.forward(side, scratch);
        self.end_mut(side).framer.park(scratch);
        forwarded.map(drop)
    }

    /// Forwards bytes of the handshake, and keeps the messages after them.
    fn shake_hands(
        &mut self,
        side: SessionSide,
        bytes: &[u8],
        descriptors: u32,
    ) -> Result<(), SessionError> {
        let Some(handshake) = &mut self.handshake else { return Ok(()) };
        let had_begun = handshake.has_begun();
        let mut lines = Vec::new();
        let taken = match side {
            SessionSide::Client => handshake.client_bytes(bytes, &mut lines),
            SessionSide::Bus => handshake.bus_bytes(bytes).inspect(|taken| {
                lines.extend_from_slice(&bytes[..*taken]);
            }),
        };
        let taken = taken.map_err(SessionFault::Handshake)?;
        let is_first = !had_begun && handshake.has_begun();
        if handshake.is_complete() {
            self.handshake = None;
        }
        if is_first {
            self.send_credentials()?;
        }
        self.end_mut(side.other()).outgoing.push_owned(lines, Vec::new());
        let end = self.end_mut(side);
        end.framer.keep(&bytes[taken..]);
        end.framer.received_fds(descriptors);
        Ok(())
    }

    /// Writes the first byte to the bus, with the credentials of this process.
    fn send_credentials(&mut self) -> Result<(), SessionError> {
        if !self.bus_is_unix {
            self.bus.outgoing.push(&[0], Vec::new());
            return Ok(());
        }
        // Nothing was written before, so there is space.
        transfer::send_credentials(&self.bus.socket, TransferWait::Never)
            .map_err(|_| SessionError::Io)
    }

    /// Forwards messages that were received before. Returns true if there were any.
    fn forward_parked(
        &mut self,
        side: SessionSide,
        scratch: &mut [u8],
    ) -> Result<bool, SessionError> {
        if !self.reads(side)
            || self.handshake.is_some()
            || !self.end(side).framer.has_message(scratch)
        {
            return Ok(false);
        }
        let framer = &mut self.end_mut(side).framer;
        framer.unpark(scratch);
        let forwarded = self.forward(side, scratch);
        self.end_mut(side).framer.park(scratch);
        forwarded
    }

    /// Forwards the messages in the scratch buffer while the other side has space. Returns true if
    /// there were any.
    fn forward(&mut self, side: SessionSide, scratch: &[u8]) -> Result<bool, SessionError> {
        let mut has_moved = false;
        while self.reads(side) {
            let next = self.end_mut(side).framer.next(scratch);
            let Some(frame) = next.map_err(|error| SessionFault::Message(side, error))? else {
                break;
            };
            let bytes = match &frame {
                Frame::Scratch(bytes) => bytes,
                Frame::Owned(bytes) => &**bytes,
            };
            let (verdict, descriptors) = self.decide(side, bytes)?;
            let to = self.end_mut(side.other());
            match (verdict, frame) {
                _ if to.is_gone => {}
                (Verdict::Forward, Frame::Scratch(bytes)) => to.outgoing.push(bytes, descriptors),
                (Verdict::Forward, Frame::Owned(bytes)) => {
                    to.outgoing.push_owned(bytes, descriptors);
                }
                (Verdict::Replace(bytes), _) => to.outgoing.push(&bytes, Vec::new()),
                (Verdict::Drop, _) => {}
                (Verdict::Disconnect(fault), _) => return Err(SessionFault::Filter(fault).into()),
            }
            if let Some(filter) = &mut self.filter {
                self.bus.outgoing.push(&filter.take_own_calls(), Vec::new());
            }
            has_moved = true;
        }
        Ok(has_moved)
    }

    /// Decides about a message, and takes its descriptors.
    fn decide(
        &mut self,
        side: SessionSide,
        bytes: &[u8],
    ) -> Result<(Verdict, Vec<OwnedFd>), SessionError> {
        let invalid = |error| SessionFault::Message(side, error);
        let message = match Message::parse(bytes) {
            Ok(message) => message,
            // Without a filter, the recipient judges the message.
            Err(_) if self.filter.is_none() => return Ok((Verdict::Forward, Vec::new())),
            Err(error) => return Err(invalid(error).into()),
        };
        let end = self.end_mut(side);
        let count = end.framer.claim_fds(&message).map_err(invalid)? as usize;
        let descriptors = end.descriptors.drain(..count).collect();
        let verdict = match (&mut self.filter, side) {
            (None, _) => Verdict::Forward,
            (Some(filter), SessionSide::Client) => filter.client_message(&message),
            (Some(filter), SessionSide::Bus) => filter.bus_message(&message),
        };
        Ok((verdict, descriptors))
    }

    /// Returns true if the next bytes of a socket can be read or forwarded now.
    fn reads(&self, side: SessionSide) -> bool {
        let is_held = side == SessionSide::Client
            && (self.handshake.as_ref().is_some_and(HandshakeRelay::waits_for_bus)
                || self.filter.as_ref().is_some_and(ConnectionFilter::holds_client));
        !self.is_ending && !is_held && !self.end(side.other()).outgoing.is_full()
    }

    fn update_interest(&mut self, side: SessionSide, poller: &Poller) -> io::Result<()> {
        let reads = self.reads(side);
        let end = self.end_mut(side);
        let wanted = match (reads, !end.outgoing.is_empty()) {
            (true, true) => Some(Interest::ReadWrite),
            (true, false) => Some(Interest::Read),
            (false, true) => Some(Interest::Write),
            // A hang-up would be reported again and again.
            (false, false) => None,
        };
        if wanted == end.interest {
            return Ok(());
        }
        match (end.interest, wanted) {
            (_, None) => poller.remove(&end.socket)?,
            (None, Some(wanted)) => poller.add(&end.socket, end.token, wanted)?,
            (Some(_), Some(wanted)) => poller.modify(&end.socket, end.token, wanted)?,
        }
        end.interest = wanted;
        Ok(())
    }

    fn print_log(&mut self) {
        let Some(filter) = &mut self.filter else { return };
        let text = filter.take_log();
        if !text.is_empty() {
            let mut stdout = io::stdout().lock();
            // If nobody reads the log, there is nowhere to report it.
            let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        }
    }

    fn end(&self, side: SessionSide) -> &SessionEnd {
        match side {
            SessionSide::Client => &self.client,
            SessionSide::Bus => &self.bus,
        }
    }

    fn end_mut(&mut self, side: SessionSide) -> &mut SessionEnd {
        match side {
            SessionSide::Client => &mut self.client,
            SessionSide::Bus => &mut self.bus,
        }
    }
}

impl SessionEnd {
    fn new(socket: OwnedFd, token: u64) -> Self {
        Self {
            socket,
            token,
            interest: None,
            framer: Framer::new(FramerLimits::default()),
            descriptors: VecDeque::new(),
            outgoing: OutgoingBytes::default(),
            is_gone: false,
        }
    }
}

/// The end of a session that is not regular.
#[derive(Debug)]
enum SessionError {
    /// A reason that is logged.
    Fault(SessionFault),
    /// A socket that does not work any more.
    Io,
}

impl From<SessionFault> for SessionError {
    fn from(fault: SessionFault) -> Self {
        Self::Fault(fault)
    }
}

/// The bytes of one read during the handshake.
const HANDSHAKE_READ: usize = 4096;

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use sys::socket::socket_pair;
    use wire::framer::SCRATCH_LEN_MIN;
    use wire::message::Builder;
    use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

    use super::*;
    use crate::filter::with_bus_rule;

    /// A session with the other ends of its sockets.
    struct SessionBench {
        session: ProxySession,
        program: OwnedFd,
        bus: OwnedFd,
        poller: Poller,
        scratch: Vec<u8>,
    }

    impl SessionBench {
        fn new(rules: &[&str]) -> Self {
            let (client, program) = socket_pair().unwrap();
            let (to_bus, bus) = socket_pair().unwrap();
            let rules = sandbox::SandboxRules::parse(rules.iter().copied()).unwrap();
            let options = FilterOptions { is_enabled: true, rules, ..Default::default() };
            let stream = BusStream { socket: to_bus, is_unix: true };
            let options = Rc::new(with_bus_rule(options));
            let session = ProxySession::new(client, stream, [0, 1], &options);
            let (poller, scratch) = (Poller::new().unwrap(), vec![0; SCRATCH_LEN_MIN]);
            let mut bench = Self { session, program, bus, poller, scratch };
            bench.session.watch(&bench.poller).unwrap();
            bench
        }

        /// A session whose handshake is complete, and whose client has called Hello.
        fn after_hello(rules: &[&str]) -> Self {
            let mut bench = Self::new(rules);
            bench.client_sends(b"\0AUTH EXTERNAL 30\r\nBEGIN\r\n");
            bench.bus_sends(b"OK 00\r\n");
            assert_eq!(bench.at_program(), b"OK 00\r\n");
            bench.client_sends(&call_of_bus("Hello", 1));
            bench
        }

        fn client_sends(&mut self, bytes: &[u8]) -> SessionState {
            send_all(&self.program, bytes);
            self.session.handle(SessionSide::Client, &mut self.scratch, &self.poller)
        }

        fn bus_sends(&mut self, bytes: &[u8]) -> SessionState {
            send_all(&self.bus, bytes);
            self.session.handle(SessionSide::Bus, &mut self.scratch, &self.poller)
        }

        fn at_bus(&self) -> Vec<u8> {
            receive_all(&self.bus)
        }

        fn at_program(&self) -> Vec<u8> {
            receive_all(&self.program)
        }
    }

    fn send_all(socket: &OwnedFd, bytes: &[u8]) {
        let slices = [io::IoSlice::new(bytes)];
        let sent = transfer::send(socket, &slices, &[], TransferWait::Never);
        assert_eq!(sent.unwrap(), bytes.len());
    }

    fn receive_all(socket: &OwnedFd) -> Vec<u8> {
        let mut all = Vec::new();
        let mut buffer = vec![0; 1 << 20];
        let mut descriptors = Vec::new();
        while let Ok(outcome) =
            transfer::receive(socket, &mut buffer, &mut descriptors, TransferWait::Never)
            && outcome.bytes > 0
        {
            all.extend_from_slice(&buffer[..outcome.bytes]);
        }
        all
    }

    fn call_of_bus(member: &'static str, serial: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        Builder::method_call(ObjectPath::ROOT, MemberName::literal(member))
            .interface(InterfaceName::literal("org.freedesktop.DBus"))
            .destination(BusName::new("org.freedesktop.DBus").unwrap())
            .write(&mut bytes, NonZeroU32::new(serial).unwrap(), &())
            .unwrap();
        bytes
    }

    fn return_of_bus(call: u32, owner: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        Builder::method_return(NonZeroU32::new(call).unwrap())
            .sender(BusName::new("org.freedesktop.DBus").unwrap())
            .write(&mut bytes, NonZeroU32::MIN, &(owner,))
            .unwrap();
        bytes
    }

    #[test]
    fn a_client_waits_until_the_owners_are_known() {
        let mut bench = SessionBench::after_hello(&["talk=a.b"]);
        assert!(!bench.at_bus().is_empty());
        let call = call_of_bus("GetId", 2);
        assert_eq!(bench.client_sends(&call), SessionState::Open);
        assert_eq!(bench.at_bus(), b"");
        bench.bus_sends(&return_of_bus(1, ":1.5"));
        assert_eq!(bench.at_program(), return_of_bus(1, ":1.5"));
        assert_eq!(bench.at_bus(), b"");
        // The filter used the serials 2 and 3; the client may use them now.
        bench.bus_sends(&return_of_bus(3, ":1.4"));
        assert_eq!(
            bench.session.handle(SessionSide::Client, &mut bench.scratch, &bench.poller),
            SessionState::Open
        );
        assert_eq!(bench.at_bus(), call);
        assert_eq!(bench.at_program(), b"");
    }

    #[test]
    fn messages_before_a_fault_are_delivered() {
        let mut bench = SessionBench::after_hello(&[]);
        bench.at_bus();
        let call = call_of_bus("GetId", 2);
        let with_garbage = [&call, &[0xff; 32][..]].concat();
        assert_eq!(bench.client_sends(&with_garbage), SessionState::Ended);
        assert_eq!(bench.at_bus(), call);
    }

    #[test]
    fn data_of_the_bus_that_is_not_valid_ends_the_session() {
        for bytes in [&b"garbage of the bus"[..], &[0; 16], &[0xff; 32]] {
            let mut bench = SessionBench::after_hello(&[]);
            assert_eq!(bench.bus_sends(bytes), SessionState::Ended, "{bytes:?}");
        }
        let mut bench = SessionBench::new(&[]);
        assert_eq!(bench.bus_sends(b"OK too early\r\n"), SessionState::Ended);
    }

    #[test]
    fn a_full_queue_stops_reading_from_the_other_side() {
        let mut bench = SessionBench::after_hello(&[]);
        bench.at_bus();
        let call = call_of_bus("GetId", 7);
        let batch = call.repeat(500);
        let mut sent = 0;
        // The other end of the connection to the bus does not read.
        while bench.session.reads(SessionSide::Client) {
            assert_eq!(bench.client_sends(&batch), SessionState::Open);
            sent += batch.len();
            assert!(sent < 16 << 20, "the proxy reads without a limit");
        }
        assert_eq!(bench.session.client.interest, None);
        assert_eq!(bench.session.bus.interest, Some(Interest::ReadWrite));
        let mut received = 0;
        while received < sent {
            let bytes = bench.at_bus().len();
            assert!(bytes > 0, "{received} of {sent} bytes");
            received += bytes;
            let state = bench.session.handle(SessionSide::Bus, &mut bench.scratch, &bench.poller);
            assert_eq!(state, SessionState::Open);
        }
        assert!(bench.session.reads(SessionSide::Client));
        assert_eq!(bench.session.client.interest, Some(Interest::Read));
    }

    #[test]
    fn what_was_queued_is_written_after_the_end_of_the_other_side() {
        let mut bench = SessionBench::after_hello(&[]);
        bench.at_bus();
        let call = call_of_bus("GetId", 7);
        let batch = call.repeat(500);
        let mut sent = 0;
        while bench.session.bus.outgoing.is_empty() {
            bench.client_sends(&batch);
            sent += batch.len();
        }
        let (program, _) = socket_pair().unwrap();
        drop(std::mem::replace(&mut bench.program, program));
        let handle = |bench: &mut SessionBench, side| {
            bench.session.handle(side, &mut bench.scratch, &bench.poller)
        };
        assert_eq!(handle(&mut bench, SessionSide::Client), SessionState::Open);
        let mut received = 0;
        loop {
            received += bench.at_bus().len();
            if handle(&mut bench, SessionSide::Bus) == SessionState::Ended {
                break;
            }
        }
        received += bench.at_bus().len();
        assert_eq!(received, sent);
    }
}
