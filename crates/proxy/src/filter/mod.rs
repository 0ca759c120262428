//! Decisions about the messages of one connection, without I/O.
//!
//! The filter is passive, with one exception: after the first Hello it asks the bus for the owners
//! of the names in its rules (`own_calls`), and does not read the client until it knows them.
//!
//! If a call is refused, the filter sends a Ping with its serial to the bus instead, and replaces
//! the reply to the Ping by an error. So the client gets all replies in the order of its calls.

mod driver_calls;
mod from_bus;
mod from_client;
mod log;
mod made_up;
mod own_calls;
mod pending;
mod visible;
mod well_known;

#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::rc::Rc;

use sandbox::{AccessLevel, NameSelector, SandboxRule};
use wire::Message;
use wire::names::WellKnownName;

use crate::command_line::FilterOptions;
use log::FilterLog;
use own_calls::OwnCalls;
use pending::{ClientCalls, PeerCalls};
use visible::VisibleNames;
use well_known::BUS_NAME;

/// Decides about the messages between one client and the bus.
#[derive(Debug)]
pub(crate) struct ConnectionFilter {
    options: Rc<FilterOptions>,
    names: VisibleNames,
    client_calls: ClientCalls,
    peer_calls: PeerCalls,
    own_calls: OwnCalls,
    log: FilterLog,
}

/// What happens to a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It is forwarded without changes, with its descriptors.
    Forward,
    /// This message is forwarded in its place, without descriptors.
    Replace(Vec<u8>),
    /// The message is dropped.
    Drop,
    /// Its sender is disconnected.
    Disconnect(FilterFault),
}

/// A property of a message that makes decisions about its sender's messages unsafe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FilterFault {
    /// The header has a field that the specification does not define.
    UnknownField,
    /// The specification does not define the type of the message.
    UnknownType,
    /// The body does not have the types of its signature.
    InvalidBody,
}

impl std::fmt::Display for FilterFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::UnknownField => "a field of the header is unknown",
            Self::UnknownType => "the type of the message is unknown",
            Self::InvalidBody => "the body does not have the types of its signature",
        })
    }
}

/// Returns the serial of the call to which a message replies.
///
/// Calls and signals can have a reply serial too, which means nothing. If they counted as replies,
/// a client that was called could send any message to any recipient (CVE-2026-94422).
fn answered_call(message: &Message<'_>) -> Option<NonZeroU32> {
    message.reply_serial().filter(|_| message.message_type().is_reply())
}

/// Adds the rule that all clients can talk to the bus.
pub(crate) fn with_bus_rule(mut options: FilterOptions) -> FilterOptions {
    options.rules.push(SandboxRule::Level {
        names: NameSelector::exact(WellKnownName::literal(BUS_NAME)),
        level: AccessLevel::Talk,
    });
    options
}

impl ConnectionFilter {
    /// The filter of a new connection. The options have the [rule for the bus](with_bus_rule).
    pub(crate) fn new(options: Rc<FilterOptions>) -> Self {
        Self {
            log: FilterLog::new(options.logs),
            options,
            names: VisibleNames::default(),
            client_calls: ClientCalls::default(),
            peer_calls: PeerCalls::default(),
            own_calls: OwnCalls::default(),
        }
    }

    /// Returns true while the messages of the client must wait, because the filter asks for owners.
    pub(crate) const fn holds_client(&self) -> bool {
        self.own_calls.are_pending()
    }

    /// Takes the calls of the filter itself, to write to the bus after the forwarded message.
    pub(crate) fn take_own_calls(&mut self) -> Vec<u8> {
        self.own_calls.take_bytes()
    }

    /// Takes the text to print.
    pub(crate) fn take_log(&mut self) -> String {
        self.log.take()
    }
}
