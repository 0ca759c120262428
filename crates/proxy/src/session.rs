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
                return SessionState::Ended;
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
