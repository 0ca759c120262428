//! What the log tells of connections.

use std::fmt;

use bus::{End, LogEvent};

use crate::log::MessageId;
use crate::throttled_peer::{ThrottleOutcome, ThrottledPeer};

/// What a line is about. Lines on the same topic are alike, whoever they are about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum LogTopic {
    /// A connection was ended by the bus, for this cause.
    Disconnected(&'static str),
    /// A message was refused, for this cause.
    Refused(&'static str),
    /// Somebody wanted to connect and was not let in, for this cause.
    TurnedAway(&'static str),
    /// Somebody wants to connect and has to wait, for this cause.
    Delayed(&'static str),
    /// Connections are accepted again.
    AcceptingAgain,
    /// The system did not let the bus do something.
    Fault(&'static str),
    /// The policy keeps messages from a connection.
    Withheld(&'static str),
    /// A message has passed a rule that is to be logged.
    Allowed,
    /// The kernel did not take a message, for this cause.
    Undelivered(&'static str),
    /// A connection loses signals.
    Losing,
    /// A connection that lost signals reads again.
    CaughtUp,
    /// A connection has become a monitor.
    Monitor,
    /// A connection has got the ring of a trace.
    Traces,
    /// The configuration was read again for a caller.
    Reloaded,
    /// The configuration could not be read again for a caller.
    ReloadFailed,
    /// A service is being started.
    Starting,
    /// A service that was being started is there.
    Started,
    /// A service did not start, for this cause.
    StartFailed(&'static str),
}

impl LogTopic {
    pub(super) fn of_event(event: &LogEvent) -> Self {
        match event {
            LogEvent::BecameMonitor { .. } => Self::Monitor,
            LogEvent::Traces { .. } => Self::Traces,
            LogEvent::LosingSignals { .. } => Self::Losing,
            LogEvent::CaughtUp { .. } => Self::CaughtUp,
            LogEvent::Undelivered { shortage, .. } => Self::Undelivered(shortage.word()),
            LogEvent::Refused { reason, .. } => Self::Refused(reason.cause()),
            LogEvent::Withheld { by, .. } => Self::Withheld(by.word()),
            LogEvent::Allowed { .. } => Self::Allowed,
            LogEvent::Starting { .. } => Self::Starting,
            LogEvent::Started { .. } => Self::Started,
            LogEvent::StartFailed { problem, .. } => Self::StartFailed(problem.word()),
        }
    }

    pub(super) const fn of_throttled(peer: &ThrottledPeer) -> Self {
        let cause = peer.reason.cause();
        match peer.outcome {
            ThrottleOutcome::Delayed => Self::Delayed(cause),
            ThrottleOutcome::Rejected => Self::TurnedAway(cause),
        }
    }

    pub(super) const fn of_end(end: &End) -> Self {
        Self::Disconnected(end.cause())
    }

    /// How many lines of one connection are written in a while, and how many of one user. A session
    /// starts many services at once.
    pub(super) const fn lines(self) -> LineAllowance {
        match self {
            Self::Starting | Self::Started | Self::StartFailed(_) => {
                LineAllowance { of_connection: 50, of_user: 100 }
            }
            // The next one of the same user says nothing new.
            Self::TurnedAway(_) | Self::Delayed(_) => {
                LineAllowance { of_connection: 1, of_user: 1 }
            }
            _ => LineAllowance { of_connection: 2, of_user: 10 },
        }
    }

    /// The number by which the journal knows such lines. They are the same in all versions.
    pub(super) const fn message_id(self) -> MessageId {
        MessageId(match self {
            Self::Disconnected(_) => "1e06d46f12fc4e95b6625f8bdcf9a8bc",
            Self::Refused(_) => "aabd767d0a4c4cc197610bd2d177cc4c",
            Self::TurnedAway(_) => "87fd6e347b62434b8358c23cb28f87e3",
            Self::Delayed(_) => "f44ba19124614884813d869dce494d1d",
            Self::AcceptingAgain => "1be407e3b57d48cdbcfccedcd0e621ad",
            Self::Fault(_) => "25db8597ccdd46d28ad5c8bc65b6347e",
            Self::Withheld(_) => "2f8c4b0a5d7e4e16a3b9c1d06f72e584",
            Self::Allowed => "b5d1e93c07a64f28916f3ea4c8d2750b",
            Self::Undelivered(_) => "c2b94a7d81f64e0cb3d5e8f1706a29be",
            Self::Losing => "7a3e48b2cb6d416b9e3cf3737ea08664",
            Self::CaughtUp => "a8985d9bce944143b4e66d42c3b65784",
            Self::Traces => "6d1f0a52c3be4b0f9d7c21e8a45f9037",
            Self::Monitor => "0c058c9b7a614502aad35f9b71f129a9",
            Self::Reloaded => "5b9c71d2e8f04a3d9c0e6a7f12b84d55",
            Self::ReloadFailed => "c4f08e6a3d2b47119a5de17b60c3f982",
            Self::Starting => "d330c0ce3f85430bbd3635497acf49c3",
            Self::Started => "8faaada799a34bb28160e7b4b1acfbe3",
            Self::StartFailed(_) => "3fc1707b474d4fbfb9c1725b73fd9da2",
        })
    }

    /// The topic in one word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Disconnected(_) => "disconnected",
            Self::Refused(_) => "refused",
            Self::TurnedAway(_) => "turned-away",
            Self::Delayed(_) => "delayed",
            Self::AcceptingAgain => "accepting-again",
            Self::Fault(_) => "fault",
            Self::Withheld(_) => "withheld",
            Self::Allowed => "allowed",
            Self::Undelivered(_) => "undelivered",
            Self::Losing => "losing-signals",
            Self::CaughtUp => "caught-up",
            Self::Monitor => "became-monitor",
            Self::Traces => "reads-trace",
            Self::Reloaded => "reloaded",
            Self::ReloadFailed => "reload-failed",
            Self::Starting => "starting",
            Self::Started => "started",
            Self::StartFailed(_) => "start-failed",
        }
    }

    /// Why, where the topic alone does not say it.
    pub(super) const fn cause(self) -> Option<&'static str> {
        match self {
            Self::Disconnected(cause)
            | Self::Refused(cause)
            | Self::TurnedAway(cause)
            | Self::Delayed(cause)
            | Self::Fault(cause)
            | Self::Withheld(cause)
            | Self::Undelivered(cause)
            | Self::StartFailed(cause) => Some(cause),
            Self::AcceptingAgain
            | Self::Allowed
            | Self::Losing
            | Self::CaughtUp
            | Self::Monitor
            | Self::Traces
            | Self::Reloaded
            | Self::ReloadFailed
            | Self::Starting
            | Self::Started => None,
        }
    }
}

/// How many lines are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LineAllowance {
    pub(super) of_connection: u32,
    pub(super) of_user: u32,
}

/// What lines of this topic tell, of many.
impl fmt::Display for LogTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disconnected(cause) => write!(f, "connections that were disconnected ({cause})"),
            Self::Refused(cause) => write!(f, "messages that were refused ({cause})"),
            Self::TurnedAway(cause) => write!(f, "connections that were not let in ({cause})"),
            Self::Delayed(cause) => write!(f, "connections that had to wait ({cause})"),
            Self::AcceptingAgain => f.write_str("times that connections were accepted again"),
            Self::Fault(cause) => write!(f, "faults ({cause})"),
            Self::Withheld(cause) => {
                write!(f, "connections that messages are kept from ({cause})")
            }
            Self::Allowed => f.write_str("messages that passed a rule that is logged"),
            Self::Undelivered(cause) => write!(f, "messages that were not delivered ({cause})"),
            Self::Losing => f.write_str("times that signals were lost"),
            Self::CaughtUp => f.write_str("times that a connection has caught up"),
            Self::Monitor => f.write_str("connections that became monitors"),
            Self::Traces => f.write_str("connections that read traces"),
            Self::Reloaded => f.write_str("reloads of the configuration"),
            Self::ReloadFailed => f.write_str("failed reloads of the configuration"),
            Self::Starting => f.write_str("services that were being started"),
            Self::Started => f.write_str("services that were started"),
            Self::StartFailed(cause) => write!(f, "services that did not start ({cause})"),
        }
    }
}
