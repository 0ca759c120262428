//! The process behind a connection, from the bus and from `/proc`.

use std::collections::HashMap;

use capture::record::{RecordedProcess, RecordedTime};
use client::ReceivedMessage;
use sys::{clock, process};
use wire::body::Value;

/// The reply of a bus to `GetConnectionCredentials`. Entries that the bus does not send are absent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BusCredentials {
    /// The process ID, from `ProcessID`, or from `org.diligence.SandboxedProcessID` for a connection
    /// that another process represents.
    pub pid: Option<u32>,
    /// The user ID, from `UnixUserID`.
    pub uid: Option<u32>,
    /// The group IDs, from `UnixGroupIDs`.
    pub groups: Vec<u32>,
    /// The label of the Linux security module, from `LinuxSecurityLabel`.
    pub label: Option<String>,
    /// The object path of the container that the connection is in, from
    /// `org.freedesktop.DBus.Containers1.Instance`.
    pub container: Option<String>,
}

impl BusCredentials {
    /// Decodes the reply of the bus. If the reply is invalid, all entries are absent.
    pub fn read(reply: &ReceivedMessage) -> Self {
        let entries = reply.read::<(HashMap<String, Value>,)>().map(|(entries,)| entries);
        let entries = entries.unwrap_or_default();
        let number = |key: &str| entries.get(key).and_then(number);
        Self {
            pid: number(SANDBOXED_PROCESS).or_else(|| number("ProcessID")),
            uid: number("UnixUserID"),
            groups: entries.get("UnixGroupIDs").map(numbers).unwrap_or_default(),
            label: entries.get("LinuxSecurityLabel").and_then(label),
            container: entries.get(CONTAINER).and_then(|value| match value {
                Value::ObjectPath(path) => Some(path.to_string()),
                _ => None,
            }),
        }
    }

    /// Reads the properties of the process from `/proc`. If the process has ended, only its IDs are
    /// known. `now` is the current wall-clock time.
    pub fn process(&self, now: RecordedTime) -> RecordedProcess {
        let Some(pid) = self.pid else {
            return RecordedProcess { uid: self.uid, ..RecordedProcess::default() };
        };
        RecordedProcess {
            pid: self.pid,
            uid: self.uid,
            comm: process::comm(pid),
            exe: process::executable(pid).map(|path| path.to_string_lossy().into_owned()),
            command: process::command_line(pid).unwrap_or_default(),
            unit: process::unit(pid),
            cgroup: process::control_group(pid),
            started: started(pid, now),
        }
    }
}

/// The process of a sandboxed connection that its creator represents, in its credentials.
const SANDBOXED_PROCESS: &str = "org.diligence.SandboxedProcessID";

/// The container of a connection, in its credentials.
const CONTAINER: &str = "org.freedesktop.DBus.Containers1.Instance";

/// Returns the start time of a process, with a resolution of 10 ms: the kernel reports it in clock
/// ticks since boot.
fn started(pid: u32, now: RecordedTime) -> Option<RecordedTime> {
    let since_boot = process::started(pid)?;
    let age = clock::boottime().saturating_sub(since_boot);
    let age = i64::try_from(age.as_nanos()).ok()?;
    Some(RecordedTime(now.0 - age))
}

const fn number(value: &Value) -> Option<u32> {
    match value {
        Value::Uint32(number) => Some(*number),
        _ => None,
    }
}

fn numbers(value: &Value) -> Vec<u32> {
    match value {
        Value::Array { items, .. } => items.iter().filter_map(number).collect(),
        _ => Vec::new(),
    }
}

/// Decodes a security label. The bus terminates it with a zero byte.
fn label(value: &Value) -> Option<String> {
    let Value::Bytes(bytes) = value else { return None };
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    Some(String::from_utf8_lossy(bytes).into_owned())
}
