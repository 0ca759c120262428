//! The kinds of log lines about connections, with their rate limits and message ids.

use std::fmt;

use bus::{End, LogEvent};

use crate::log::MessageId;
use crate::throttled_peer::{ThrottleOutcome, ThrottledPeer};

/// The topic of a log line. Lines on the same topic are limited together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum LogTopic {
    /// The bus disconnected a peer, for this cause.
    Disconnected(&'static str),
    /// The bus refused a message, for this cause.
    Refused(&'static str),
    /// The bus rejected a connection, for this cause.
    Rejected(&'static str),
    /// The bus delayed a connection, for this cause.
    Delayed(&'static str),
    /// The bus accepts connections again.
    AcceptingAgain,
    /// A system operation of the bus failed.
    Fault(&'static str),
    /// The policy withholds messages from a connection.
    Withheld(&'static str),
    /// A message matched a policy rule that asks for a log line.
    Allowed,
    /// The kernel did not accept a message, for this cause.
    Undelivered(&'static str),
    /// A connection began to lose signals.
    Losing,
    /// A connection that lost signals reads again.
    CaughtUp,
    /// A connection became a monitor.
    Monitor,
    /// A connection got the ring buffer of a trace.
    Traces,
    /// Lanes were ended, because a change forbids them.
    LanesEnded,
    /// A caller reloaded the configuration.
    Reloaded,
    /// A reload of the configuration by a caller failed.
    ReloadFailed,
    /// Another program has continued the bus.
    Replaced,
    /// Another program could not continue the bus.
    ReplaceFailed,
    /// The activation of a service began.
    Starting,
    /// The activation of a service succeeded.
    Started,
    /// The activation of a service failed, for this cause.
    StartFailed(&'static str),
}

impl LogTopic {
    pub(super) fn of_event(event: &LogEvent) -> Self {
        match event {
            LogEvent::BecameMonitor { .. } => Self::Monitor,
            LogEvent::Traces { .. } => Self::Traces,
            LogEvent::LanesEnded { .. } => Self::LanesEnded,
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
            ThrottleOutcome::Rejected => Self::Rejected(cause),
        }
    }

    pub(super) const fn of_end(end: &End) -> Self {
        Self::Disconnected(end.cause())
    }

    /// The maximum number of lines per window, for one connection and for one user. A session
    /// starts many services at once, so their allowance is larger.
    pub(super) const fn lines(self) -> LineAllowance {
        match self {
            Self::Starting | Self::Started | Self::StartFailed(_) => {
                LineAllowance { of_connection: 50, of_user: 100 }
            }
            // Further lines of the same user add no information.
            Self::Rejected(_) | Self::Delayed(_) => LineAllowance { of_connection: 1, of_user: 1 },
            _ => LineAllowance { of_connection: 2, of_user: 10 },
        }
    }

    /// The `MESSAGE_ID` of such lines in the journal, which is the same in all versions.
    pub(super) const fn message_id(self) -> MessageId {
        MessageId(match self {
            Self::Disconnected(_) => "1e06d46f12fc4e95b6625f8bdcf9a8bc",
            Self::Refused(_) => "aabd767d0a4c4cc197610bd2d177cc4c",
            Self::Rejected(_) => "87fd6e347b62434b8358c23cb28f87e3",
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
            Self::LanesEnded => "f9f8078cd10d48ce87d995259ad382aa",
            Self::Reloaded => "5b9c71d2e8f04a3d9c0e6a7f12b84d55",
            Self::ReloadFailed => "c4f08e6a3d2b47119a5de17b60c3f982",
            Self::Replaced => "9e0b7c54d1f2483aa6c8154fe2703bd6",
            Self::ReplaceFailed => "47d2f6a18b3c4e059f71c0a8d95e26b3",
            Self::Starting => "d330c0ce3f85430bbd3635497acf49c3",
            Self::Started => "8faaada799a34bb28160e7b4b1acfbe3",
            Self::StartFailed(_) => "3fc1707b474d4fbfb9c1725b73fd9da2",
        })
    }

    /// The word for the topic in the `DBUS_EVENT` field.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Disconnected(_) => "disconnected",
            Self::Refused(_) => "refused",
            Self::Rejected(_) => "rejected",
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
            Self::LanesEnded => "lanes-ended",
            Self::Reloaded => "reloaded",
            Self::ReloadFailed => "reload-failed",
            Self::Replaced => "replaced",
            Self::ReplaceFailed => "replace-failed",
            Self::Starting => "starting",
            Self::Started => "started",
            Self::StartFailed(_) => "start-failed",
        }
    }

    /// The topic with this [word](Self::word) and [cause](Self::cause). A cause stays in memory
    /// until the process executes another program.
    pub(super) fn of_words(word: &str, cause: Option<String>) -> Option<Self> {
        let Some(cause) = cause else {
            return [
                Self::AcceptingAgain,
                Self::Allowed,
                Self::Losing,
                Self::CaughtUp,
                Self::Monitor,
                Self::Traces,
                Self::LanesEnded,
                Self::Reloaded,
                Self::ReloadFailed,
                Self::Replaced,
                Self::ReplaceFailed,
                Self::Starting,
                Self::Started,
            ]
            .into_iter()
            .find(|topic| topic.word() == word);
        };
        let with_cause = [
            Self::Disconnected,
            Self::Refused,
            Self::Rejected,
            Self::Delayed,
            Self::Fault,
            Self::Withheld,
            Self::Undelivered,
            Self::StartFailed,
        ];
        let topic = with_cause.into_iter().find(|topic| topic("").word() == word)?;
        Some(topic(String::leak(cause)))
    }

    /// The cause, if the topic alone does not imply it.
    pub(super) const fn cause(self) -> Option<&'static str> {
        match self {
            Self::Disconnected(cause)
            | Self::Refused(cause)
            | Self::Rejected(cause)
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
            | Self::LanesEnded
            | Self::Reloaded
            | Self::ReloadFailed
            | Self::Replaced
            | Self::ReplaceFailed
            | Self::Starting
            | Self::Started => None,
        }
    }
}

/// Maximum number of lines in a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LineAllowance {
    pub(super) of_connection: u32,
    pub(super) of_user: u32,
}

/// A noun phrase for several lines of this topic, used in summaries.
impl fmt::Display for LogTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disconnected(cause) => write!(f, "connections that were disconnected ({cause})"),
            Self::Refused(cause) => write!(f, "messages that were refused ({cause})"),
            Self::Rejected(cause) => write!(f, "rejected connections ({cause})"),
            Self::Delayed(cause) => write!(f, "delayed connections ({cause})"),
            Self::AcceptingAgain => f.write_str("times that connections were accepted again"),
            Self::Fault(cause) => write!(f, "faults ({cause})"),
            Self::Withheld(cause) => {
                write!(f, "connections that messages were withheld from ({cause})")
            }
            Self::Allowed => f.write_str("messages that matched a policy rule with log=\"true\""),
            Self::Undelivered(cause) => write!(f, "messages that were not delivered ({cause})"),
            Self::Losing => f.write_str("times that a connection began to lose signals"),
            Self::CaughtUp => f.write_str("times that a connection has caught up"),
            Self::Monitor => f.write_str("connections that became monitors"),
            Self::Traces => f.write_str("connections that read traces"),
            Self::LanesEnded => f.write_str("times that lanes were ended"),
            Self::Reloaded => f.write_str("reloads of the configuration"),
            Self::ReloadFailed => f.write_str("failed reloads of the configuration"),
            Self::Replaced => f.write_str("replacements of the program"),
            Self::ReplaceFailed => f.write_str("failed replacements of the program"),
            Self::Starting => f.write_str("services that were being started"),
            Self::Started => f.write_str("services that were started"),
            Self::StartFailed(cause) => write!(f, "services that did not start ({cause})"),
        }
    }
}
