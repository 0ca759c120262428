//! Who is behind a connection, as the bus tells and the system.

use std::collections::HashMap;

use capture::record::{RecordedProcess, RecordedTime};
use client::ReceivedMessage;
use sys::{clock, process};
use wire::body::Value;

/// What a bus knows of a connection: its answer to GetConnectionCredentials. What it does not tell
/// is absent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BusCredentials {
    /// The process.
    pub pid: Option<u32>,
    /// The user it runs as.
    pub uid: Option<u32>,
    /// The groups it is in.
    pub groups: Vec<u32>,
    /// Its label in the security module of the kernel.
    pub label: Option<String>,
}

impl BusCredentials {
    /// Reads the answer of a bus. Of one that is none it is as if it told nothing.
    pub fn read(reply: &ReceivedMessage) -> Self {
        let entries = reply.read::<(HashMap<String, Value>,)>().map(|(entries,)| entries);
        let entries = entries.unwrap_or_default();
        let number = |key: &str| entries.get(key).and_then(number);
        Self {
            pid: number("ProcessID"),
            uid: number("UnixUserID"),
            groups: entries.get("UnixGroupIDs").map(numbers).unwrap_or_default(),
            label: entries.get("LinuxSecurityLabel").and_then(label),
        }
    }

    /// All that can be learnt about the process, while it can still be looked at. Of one that has
    /// ended it is only what the bus knew. `now` is the time of day.
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

/// When it was started. The kernel counts from the start of the machine, in steps of 10 ms.
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

/// It ends with a 0 byte.
fn label(value: &Value) -> Option<String> {
    let Value::Bytes(bytes) = value else { return None };
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    Some(String::from_utf8_lossy(bytes).into_owned())
}
