//! Log lines about service activation, in the words of dbus-daemon.

use bus::{ActivationMethod, LogEvent, StartProblem};

use super::peer_description::{PeerDescription, ProcessClause};
use crate::activation::Children;
use crate::log::{LogRecord, Severity};

/// The record for the start of an activation, which the peer `description` requested.
pub(super) fn starting(
    name: &str,
    method: &ActivationMethod,
    description: &PeerDescription,
) -> LogRecord {
    let what = match method {
        ActivationMethod::Process => format!("Activating service name='{name}'"),
        ActivationMethod::Unit(unit) => {
            format!("Activating via systemd: service name='{name}' unit='{unit}'")
        }
        ActivationMethod::ByItself => format!("Waiting for service name='{name}'"),
    };
    let line =
        format!("{what} requested by '{}' ({})", description.name(), ProcessClause(description));
    let mut record = LogRecord::line(Severity::Info, line);
    record.field("DBUS_SERVICE", name);
    record
}

/// The record for a successful or failed activation; `None` for other events.
pub(super) fn record(event: &LogEvent, children: &Children) -> Option<LogRecord> {
    let (name, mut record) = match event {
        LogEvent::Started { name } => {
            let line = format!("Successfully activated service '{name}'");
            (name, LogRecord::line(Severity::Info, line))
        }
        LogEvent::StartFailed { start, name, problem } => {
            let wrote = children.tail(*start);
            let wrote = wrote.map_or(String::new(), |tail| format!(". Its last output: {tail}"));
            let line = failure(name, problem) + &wrote;
            (name, LogRecord::line(Severity::Warning, line))
        }
        _ => return None,
    };
    record.field("DBUS_SERVICE", name);
    Some(record)
}

fn failure(name: &str, problem: &StartProblem) -> String {
    let why = problem.describe(name);
    match problem {
        StartProblem::Process(_) => format!("Activated service '{name}' failed: {why}"),
        StartProblem::Unit { unit, .. } => {
            format!("Activation via systemd failed for unit '{unit}' of service '{name}': {why}")
        }
        StartProblem::Timeout { .. } => why.to_string(),
    }
}
