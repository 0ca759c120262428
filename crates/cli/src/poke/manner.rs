//! The options of how something is called, with the names and values of busctl, and those of gdbus
//! and dbus-send.

use std::time::Duration;

use clap::{ArgAction, Args};
use inspector::{Authorization, Inspector, InspectorPatience, Manner, ReplyExpectation, Starting};

use crate::amount::{self, OutOfPlace};
use crate::bus_choice::{BusChoice, Unreachable};

/// How something is called.
#[derive(Clone, PartialEq, Eq, Debug, Args)]
pub(crate) struct MannerOptions {
    /// How long to wait for the answer; 0 as without this
    #[arg(short, long, value_name = "TIME", value_parser = patience, default_value = "25s")]
    timeout: Duration,
    /// Whether the service is started if it does not run
    #[arg(long, value_name = "BOOL", value_parser = truth, action = ArgAction::Set, default_value = "true")]
    auto_start: bool,
    /// Whether the user may be asked to allow it
    #[arg(
        short = 'i', long, alias = "interactive", value_name = "BOOL", value_parser = truth,
        action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true"
    )]
    allow_interactive_authorization: bool,
}

impl MannerOptions {
    /// As the inspector takes it.
    pub(crate) fn manner(&self, reply: ReplyExpectation) -> Manner {
        Manner {
            timeout_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX).max(1),
            starting: if self.auto_start { Starting::Allowed } else { Starting::Never },
            reply,
            authorization: match self.allow_interactive_authorization {
                true => Authorization::Interactive,
                false => Authorization::Silent,
            },
        }
    }

    /// Connects to a bus, to wait for no answer longer than it is said here.
    pub(crate) fn inspector(&self, bus: &BusChoice) -> Result<Inspector, Unreachable> {
        bus.inspector(self.patience())
    }

    /// How long to wait where several answers are needed.
    pub(crate) fn patience(&self) -> InspectorPatience {
        let usual = InspectorPatience::default();
        InspectorPatience {
            answer: usual.answer.min(self.timeout),
            whole: usual.whole.min(self.timeout),
        }
    }
}

/// How long to wait.
fn patience(text: &str) -> Result<Duration, OutOfPlace> {
    let time = amount::time_or_none(text)?;
    Ok(if time.is_zero() { TIMEOUT } else { time })
}

/// As busctl and the reference's library have it.
const TIMEOUT: Duration = Duration::from_secs(25);

/// As busctl reads it.
pub(crate) fn truth(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "y" | "true" | "t" | "on" => Ok(true),
        "0" | "no" | "n" | "false" | "f" | "off" => Ok(false),
        _ => Err("expected yes or no"),
    }
}
