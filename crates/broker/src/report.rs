//! What the log says of connections: who, and why.

use std::fmt::{self, Display};

use bus::{Bus, Cause, DisconnectReason, Event, PeerId, Road};

use crate::activation::Children;
use crate::connection::End;
use crate::log::Severity;

/// A connection as an administrator looks for it: name, process, user, program, service.
pub(crate) struct Who<'a> {
    pub(crate) bus: &'a Bus,
    pub(crate) peer: PeerId,
}

impl Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), Process(self))?;
        self.bus.owned_names(self.peer).take(NAMES_MAX).try_for_each(|name| write!(f, " {name}"))
    }
}

impl<'a> Who<'a> {
    fn name(&self) -> &'a str {
        self.bus.unique_name(self.peer).unwrap_or("(no name yet)")
    }
}

/// The process of a connection, its user, program and service.
struct Process<'a>(&'a Who<'a>);

impl Display for Process<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Who { bus, peer }) = *self;
        let credentials = bus.credentials(*peer);
        let pid = credentials.and_then(|known| known.pid);
        let uid = credentials.and_then(|known| known.uid);
        write_number(f, "uid", uid)?;
        write_number(f, " pid", pid)?;
        if let Some(comm) = pid.and_then(sys::process::comm) {
            write!(f, " comm=\"{comm}\"")?;
        }
        if let Some(unit) = pid.and_then(sys::process::unit) {
            write!(f, " unit=\"{unit}\"")?;
        }
        Ok(())
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
            Self::WrongNonce => {
                f.write_str("it did not send the secret in the file of the address")
            }
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
            Self::StandingUnknown => f.write_str(
                "its groups, or whether its user sits at the machine, cannot be told, and the \
                 policy asks for that",
            ),
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
pub(crate) fn event_line(bus: &Bus, children: &Children, event: &Event) -> (Severity, String) {
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
        Event::Starting { name, road, asker } => {
            (Severity::Info, starting_line(name, road, &who(*asker)))
        }
        Event::Started { name } => {
            (Severity::Info, format!("Successfully activated service '{name}'"))
        }
        Event::StartFailed { start, name, cause, why } => {
            let line = match cause {
                Cause::Process => format!("Activated service '{name}' failed: {why}"),
                Cause::Unit(unit) => format!(
                    "Activation via systemd failed for unit '{unit}' of service '{name}': {why}"
                ),
                Cause::Timeout => why.clone(),
            };
            let wrote = children.tail(*start);
            let wrote = wrote.map_or(String::new(), |tail| format!(". It wrote last: {tail}"));
            (Severity::Warning, line + &wrote)
        }
        Event::Withheld { sender, peer, why } => {
            let sender = sender
                .map_or_else(|| String::from("the bus itself"), |sender| who(sender).to_string());
            let line = format!(
                "Messages are kept from connection {} by the policy, the first one from {sender}: \
                 {why}",
                who(*peer)
            );
            (Severity::Info, line)
        }
        Event::Allowed { peer, what } => (
            Severity::Warning,
            format!("A message of {} passed a rule that is logged: {what}", who(*peer)),
        ),
        Event::Refused { peer, why } => {
            (Severity::Warning, format!("A message of {} was refused: {why}", who(*peer)))
        }
    }
}

fn starting_line(name: &str, road: &Road, asker: &Who<'_>) -> String {
    let (requester, process) = (asker.name(), Process(asker));
    let what = match road {
        Road::Process => format!("Activating service name='{name}'"),
        Road::Unit(unit) => format!("Activating via systemd: service name='{name}' unit='{unit}'"),
        Road::ByItself => format!("Waiting for service name='{name}'"),
    };
    format!("{what} requested by '{requester}' ({process})")
}
