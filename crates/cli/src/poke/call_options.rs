//! Options for how a method is called, with the names and values of busctl, gdbus and dbus-send.

use std::time::Duration;

use clap::{ArgAction, Args};
use inspector::{
    Authorization, CallSettings, Inspector, InspectorTimeouts, ReplyExpectation, Starting,
};

use crate::amount::{self, AmountOptionError};
use crate::bus_choice::{BusChoice, Unreachable};

/// Options for how a method is called.
#[derive(Clone, PartialEq, Eq, Debug, Args)]
pub(crate) struct MethodCallOptions {
    /// The time to wait for the reply; 0 means the default
    #[arg(short, long, value_name = "TIME", value_parser = parse_timeout, default_value = "25s")]
    timeout: Duration,
    /// Start the service if it is not running
    #[arg(long, value_name = "BOOL", value_parser = parse_bool, action = ArgAction::Set, default_value = "true")]
    auto_start: bool,
    /// Allow the service to ask the user for authorization
    #[arg(
        short = 'i', long, alias = "interactive", value_name = "BOOL", value_parser = parse_bool,
        action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true"
    )]
    allow_interactive_authorization: bool,
}

impl MethodCallOptions {
    /// The options in the form that the inspector expects.
    pub(crate) fn settings(&self, reply: ReplyExpectation) -> CallSettings {
        CallSettings {
            timeout_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX).max(1),
            starting: if self.auto_start { Starting::Allowed } else { Starting::Never },
            reply,
            authorization: match self.allow_interactive_authorization {
                true => Authorization::Interactive,
                false => Authorization::Silent,
            },
        }
    }

    /// Connects to a bus, with this timeout for every reply.
    pub(crate) fn inspector(&self, bus: &BusChoice) -> Result<Inspector, Unreachable> {
        bus.inspector(self.timeouts())
    }

    /// The timeouts for requests that need several replies.
    pub(crate) fn timeouts(&self) -> InspectorTimeouts {
        let usual = InspectorTimeouts::default();
        InspectorTimeouts {
            reply: usual.reply.min(self.timeout),
            total: usual.total.min(self.timeout),
        }
    }
}

/// Parses a timeout; 0 selects the default.
fn parse_timeout(text: &str) -> Result<Duration, AmountOptionError> {
    let time = amount::time_or_zero(text)?;
    Ok(if time.is_zero() { TIMEOUT } else { time })
}

/// The default timeout of busctl and libdbus.
const TIMEOUT: Duration = Duration::from_secs(25);

/// Parses a boolean with the words of busctl.
pub(crate) fn parse_bool(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "y" | "true" | "t" | "on" => Ok(true),
        "0" | "no" | "n" | "false" | "f" | "off" => Ok(false),
        _ => Err("expected yes or no"),
    }
}
