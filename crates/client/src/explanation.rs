//! Errors of calls, explained with what is known about the callee.

use std::fmt;
use std::time::Duration;

use unix::process;
use wire::names::MemberName;

use crate::core::{CalledMethod, remote_text};
use crate::{CallError, driver};

/// A failed call in words, with the callee and its process.
///
/// [`Connection::explain`](crate::Connection::explain) returns it. Its text is one line, such as
/// `no reply from org.example.Player (:1.5, player.service, pid 123) to Play after 25 s`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErrorExplanation {
    error: CallError,
    callee: Option<CalleeDescription>,
}

/// What is known about the callee of a failed call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CalleeDescription {
    /// The bus name that was called; `None` on a connection to a peer without a bus.
    pub name: Option<String>,
    /// The connection that has the name now.
    pub owner: CalleeOwner,
    /// The process of the callee; `None` if it is unknown.
    pub process: Option<CalleeProcess>,
}

/// The connection that has a called name, when the error was explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CalleeOwner {
    /// The bus did not say, or was not asked.
    Unknown,
    /// No connection has the name.
    Nobody,
    /// The connection with this unique name.
    UniqueName(String),
}

/// The process of a callee.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CalleeProcess {
    /// The process id, in the PID namespace of this program.
    pub pid: u32,
    /// The name of the program, if `/proc` has it. The process itself chose it.
    pub program: Option<String>,
    /// The systemd unit of the process, if it has one.
    pub unit: Option<String>,
}

impl ErrorExplanation {
    pub(crate) fn new(error: &CallError, answers: CalleeAnswers) -> Self {
        let callee = method_of(error).map(|method| CalleeDescription {
            name: method.destination().map(str::to_owned),
            owner: answers.owner,
            process: answers.pid.map(CalleeProcess::read),
        });
        Self { error: error.clone(), callee }
    }

    /// The error that this explains.
    pub const fn error(&self) -> &CallError {
        &self.error
    }

    /// The callee; `None` if the error is not about a callee.
    pub const fn callee(&self) -> Option<&CalleeDescription> {
        self.callee.as_ref()
    }
}

impl fmt::Display for ErrorExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.error, &self.callee) {
            (CallError::TimedOut { method, limit }, Some(callee)) => {
                let (member, limit) = (method.member(), ReadableTime(*limit));
                write!(f, "no reply from {callee} to {member} after {limit}")
            }
            (CallError::Remote { name, message, method }, Some(callee)) => {
                let text = remote_text(name, message);
                write!(f, "{} of {callee} failed: {text}", method.member())
            }
            (CallError::Read { error, member: Some(member) }, Some(callee)) => {
                write!(f, "{} of {callee} cannot be read: {error}", member.member())
            }
            (error, _) => error.fmt(f),
        }
    }
}

impl fmt::Display for CalleeDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("the peer");
        f.write_str(name)?;
        let mut details = Vec::new();
        match &self.owner {
            CalleeOwner::Unknown => {}
            CalleeOwner::Nobody => details.push("without an owner".to_owned()),
            CalleeOwner::UniqueName(unique) if unique == name => {}
            CalleeOwner::UniqueName(unique) => details.push(unique.clone()),
        }
        if let Some(CalleeProcess { pid, program, unit }) = &self.process {
            details.extend(unit.as_ref().or(program.as_ref()).cloned());
            details.push(format!("pid {pid}"));
        }
        match details.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", details.join(", ")),
        }
    }
}

impl CalleeProcess {
    pub(crate) fn read(pid: u32) -> Self {
        let is_printable = |text: &String| !text.chars().any(char::is_control);
        let program = process::executable(pid)
            .and_then(|file| Some(file.file_name()?.to_string_lossy().into_owned()));
        Self {
            pid,
            program: program.or_else(|| process::comm(pid)).filter(is_printable),
            unit: process::unit(pid).filter(is_printable),
        }
    }
}

/// What is known about a callee.
#[derive(Debug)]
pub(crate) struct CalleeAnswers {
    pub(crate) owner: CalleeOwner,
    /// The process, in the PID namespace of this process.
    pub(crate) pid: Option<u32>,
}

impl Default for CalleeAnswers {
    fn default() -> Self {
        Self { owner: CalleeOwner::Unknown, pid: None }
    }
}

/// The results of the [questions] to the bus.
pub(crate) type BusAnswers =
    (Result<String, CallError>, Result<u32, CallError>, Result<u32, CallError>);

impl From<BusAnswers> for CalleeAnswers {
    fn from((owner, pid, own_pid): BusAnswers) -> Self {
        let owner = match owner {
            Ok(owner) => CalleeOwner::UniqueName(owner),
            Err(error) if error.remote_name() == Some(NAME_HAS_NO_OWNER) => CalleeOwner::Nobody,
            Err(_) => CalleeOwner::Unknown,
        };
        // If the bus is in another PID namespace, its process ids mean nothing here.
        let is_same_namespace = own_pid.is_ok_and(|own| own == std::process::id());
        Self { owner, pid: pid.ok().filter(|_| is_same_namespace) }
    }
}

/// The methods of the bus that tell about a callee, each with the name to ask for.
pub(crate) const fn questions<'q>(
    callee: &'q str,
    own: &'q str,
) -> [(MemberName<'static>, &'q str); 3] {
    [
        (driver::GET_NAME_OWNER, callee),
        (driver::GET_PROCESS_ID, callee),
        (driver::GET_PROCESS_ID, own),
    ]
}

/// The callee to ask the bus about; `None` if the error is not about a callee, or if it is the bus.
pub(crate) fn callee_on_bus(error: &CallError) -> Option<&str> {
    method_of(error)?.destination().filter(|name| *name != driver::NAME.as_str())
}

fn method_of(error: &CallError) -> Option<&CalledMethod> {
    match error {
        CallError::Remote { method, .. } | CallError::TimedOut { method, .. } => Some(method),
        CallError::Read { member, .. } => member.as_deref(),
        _ => None,
    }
}

/// A time as people write it: `25 s`, `1.5 s`, `300 ms`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadableTime(pub(crate) Duration);

impl fmt::Display for ReadableTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros() as f64;
        match self.0.as_nanos() {
            nanos @ 1..1000 => write!(f, "{nanos} ns"),
            1000..1_000_000 => write!(f, "{micros} µs"),
            0 | 1_000_000..1_000_000_000 => write!(f, "{} ms", micros / 1e3),
            _ => write!(f, "{} s", micros / 1e6),
        }
    }
}

/// How long an explanation waits for the bus.
pub(crate) const EXPLANATION_TIME_MAX: Duration = Duration::from_millis(500);

const NAME_HAS_NO_OWNER: &str = "org.freedesktop.DBus.Error.NameHasNoOwner";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_people_use() {
        for (nanos, text) in [
            (25_000_000_000, "25 s"),
            (1_500_000_000, "1.5 s"),
            (300_000_000, "300 ms"),
            (1_500_000, "1.5 ms"),
            (20_000, "20 µs"),
            (7, "7 ns"),
            (0, "0 ms"),
        ] {
            assert_eq!(ReadableTime(Duration::from_nanos(nanos)).to_string(), text);
        }
    }

    #[test]
    fn callees_are_described_with_what_is_known() {
        let describe = |name: Option<&str>, owner, process| {
            CalleeDescription { name: name.map(str::to_owned), owner, process }.to_string()
        };
        let process = |program: Option<&str>, unit: Option<&str>| {
            let (program, unit) = (program.map(str::to_owned), unit.map(str::to_owned));
            Some(CalleeProcess { pid: 7, program, unit })
        };
        let owner = || CalleeOwner::UniqueName(":1.5".into());
        let both = process(Some("p"), Some("u.service"));
        assert_eq!(describe(Some("a.b"), owner(), both), "a.b (:1.5, u.service, pid 7)");
        assert_eq!(describe(Some(":1.5"), owner(), process(Some("p"), None)), ":1.5 (p, pid 7)");
        assert_eq!(describe(Some("a.b"), CalleeOwner::Nobody, None), "a.b (without an owner)");
        assert_eq!(describe(Some("a.b"), CalleeOwner::Unknown, None), "a.b");
        assert_eq!(describe(None, CalleeOwner::Unknown, process(None, None)), "the peer (pid 7)");
    }
}
