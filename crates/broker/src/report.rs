//! What the log says of connections: who, and why.

use std::fmt::{self, Display};

use bus::{Bus, DisconnectReason, Event, PeerId};

use crate::connection::End;
use crate::log::Severity;

/// A connection as an administrator looks for it: name, process, user, program, service.
pub(crate) struct Who<'a> {
    pub(crate) bus: &'a Bus,
    pub(crate) peer: PeerId,
}

impl Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.bus.unique_name(self.peer).unwrap_or("(no name yet)");
        write!(f, "{name}")?;
        let credentials = self.bus.credentials(self.peer);
        let pid = credentials.and_then(|known| known.pid);
        let uid = credentials.and_then(|known| known.uid);
        write!(f, " (")?;
        write_number(f, "uid", uid)?;
        write_number(f, " pid", pid)?;
        if let Some(comm) = pid.and_then(sys::process::comm) {
            write!(f, " comm=\"{comm}\"")?;
        }
        if let Some(unit) = pid.and_then(sys::process::unit) {
            write!(f, " unit=\"{unit}\"")?;
        }
        write!(f, ")")?;
        self.bus.owned_names(self.peer).take(NAMES_MAX).try_for_each(|name| write!(f, " {name}"))
    }
}

fn write_number(f: &mut fmt::Formatter<'_>, what: &str, number: Option<u32>) -> fmt::Result {
    match number {
        Some(number) => write!(f, "{what}={number}"),
        None => write!(f, "{what}=?"),
    }
}

/// Well-known names that are listed of one connection.
const NAMES_MAX: usize = 3;

impl Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("it has closed the connection"),
            Self::Bus(reason) => write_reason(f, reason),
            Self::Handshake(violation) => {
                write!(f, "it broke the rules of the handshake: {violation}")
            }
            Self::Invalid(error) => write!(f, "it sent an invalid message: {error}"),
            Self::UnexpectedFds => {
                f.write_str("it sent file descriptors that the handshake did not agree on")
            }
            Self::FdsTruncated => f.write_str(
                "its file descriptors could not be received; is the limit of open files reached?",
            ),
            Self::FdsPending => f.write_str(
                "it sent file descriptors and for too long no message that they belong to",
            ),
            Self::NotAdmitted => f.write_str("its user may not connect to this bus"),
        }
    }
}

fn write_reason(f: &mut fmt::Formatter<'_>, reason: &DisconnectReason) -> fmt::Result {
    match reason {
        DisconnectReason::InvalidMessage(error) => write!(f, "it sent an invalid message: {error}"),
        DisconnectReason::NotRegistered => {
            f.write_str("it sent a message to others before it said Hello")
        }
        DisconnectReason::MonitorSpoke => f.write_str("it is a monitor and sent a message"),
        DisconnectReason::AuthTimeout => {
            f.write_str("it did not finish the handshake and say Hello in time (auth_timeout)")
        }
        DisconnectReason::FdsNotAgreed => f.write_str(
            "it sent a message with file descriptors that the handshake did not agree on",
        ),
    }
}

/// How much an event matters, and what to say of it.
pub(crate) fn event_line(bus: &Bus, event: &Event) -> (Severity, String) {
    let who = |peer| Who { bus, peer };
    match event {
        Event::BecameMonitor { peer } => {
            (Severity::Info, format!("Connection {} became a monitor.", who(*peer)))
        }
        Event::LosingSignals { peer, sender, queued } => {
            let sender = sender
                .map_or_else(|| String::from("the bus itself"), |sender| who(sender).to_string());
            let line = format!(
                "Connection {} does not keep up: {queued} bytes wait for it, and signals for it are \
                 lost from now on, the first one from {sender}.",
                who(*peer)
            );
            (Severity::Warning, line)
        }
        Event::CaughtUp { peer, lost } => {
            let line =
                format!("Connection {} keeps up again; it has lost {lost} signals.", who(*peer));
            (Severity::Warning, line)
        }
        Event::Refused { peer, why } => {
            (Severity::Warning, format!("A message of {} was refused: {why}", who(*peer)))
        }
    }
}
