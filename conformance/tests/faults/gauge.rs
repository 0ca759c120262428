//! Data about a bus from the kernel, and from its statistics.

use std::time::Duration;

use conformance::process::{open_files, processor_time, status_number};
use conformance::statistics::{self, StatisticsDict, cause_count, dicts};
use conformance::{BusUnderTest, PlainValue, TestPeer, eventually};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

/// A process, observed from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauge {
    pid: u32,
}

impl Gauge {
    pub(crate) fn of(bus: &mut BusUnderTest) -> Self {
        Self { pid: bus.process().id() }
    }

    /// Its resident memory in KiB; 0 with a sanitizer (`DILIGENCE_SANITIZED`), which keeps freed
    /// memory.
    pub(crate) fn memory(self) -> u64 {
        match std::env::var_os("DILIGENCE_SANITIZED") {
            Some(_) => 0,
            None => status_number(self.pid, "VmRSS"),
        }
    }

    /// Its address space, in bytes.
    pub(crate) fn virtual_memory(self) -> u64 {
        status_number(self.pid, "VmSize") * 1024
    }

    /// The number of its open descriptors.
    pub(crate) fn descriptors(self) -> usize {
        open_files(self.pid).len()
    }

    /// Confines its main thread, which passes messages, to these processors.
    pub(crate) fn move_to(self, processors: &CpuSet) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).expect("a process id");
        sched_setaffinity(Some(pid), processors).expect("the process runs");
    }

    /// Its processor time so far.
    pub(crate) fn processor_time(self) -> Duration {
        processor_time(self.pid)
    }
}

/// The reply of GetTotals.
#[derive(Debug, Clone)]
pub(crate) struct GaugeTotals(StatisticsDict);

impl GaugeTotals {
    pub(crate) fn ask(peer: &mut TestPeer) -> Self {
        Self(statistics::totals(peer))
    }

    pub(crate) fn get(&self, key: &str) -> u64 {
        statistics::number(&self.0, key)
    }

    /// The count of a cause; `causes` is for example `DisconnectCauses`.
    pub(crate) fn cause(&self, causes: &str, cause: &str) -> u64 {
        cause_count(&self.0, causes, cause).unwrap_or(0)
    }
}

/// The entry of one connection in the reply of GetConnections.
pub(crate) fn connection(peer: &mut TestPeer, name: &str) -> StatisticsDict {
    let mut all = dicts(peer, "GetConnections").into_iter();
    let found = all.find(|one| one.get("UniqueName") == Some(&PlainValue::text(name)));
    found.unwrap_or_else(|| panic!("the bus does not tell of {name}"))
}

/// The resources of a bus while only one watcher is connected.
#[derive(Debug)]
pub(crate) struct Rest {
    gauge: Gauge,
    pub(crate) memory: u64,
    descriptors: usize,
    numbers: [u64; HELD.len()],
}

impl Rest {
    pub(crate) fn of(gauge: Gauge, watcher: &mut TestPeer) -> Self {
        let totals = GaugeTotals::ask(watcher);
        let numbers = HELD.map(|key| totals.get(key));
        Self { gauge, memory: gauge.memory(), descriptors: gauge.descriptors(), numbers }
    }

    /// Waits until the bus has no more resources than this, and little more memory. Returns its
    /// memory.
    pub(crate) fn is_back(&self, watcher: &mut TestPeer) -> u64 {
        self.holds_no_more(watcher);
        let most = self.memory + SPARE;
        eventually(&format!("at most {most} KiB of memory"), || {
            let memory = self.gauge.memory();
            (memory <= most).then_some(memory)
        })
    }

    /// Waits until the bus holds resources only for the watcher.
    pub(crate) fn holds_no_more(&self, watcher: &mut TestPeer) {
        eventually("the held resources to be freed", || {
            let totals = GaugeTotals::ask(watcher);
            let numbers = HELD.map(|key| totals.get(key));
            // Descriptors that the bus inherited are closed when it is replaced.
            let is_free = self.gauge.descriptors() <= self.descriptors;
            (numbers == self.numbers && is_free).then_some(())
        });
    }
}

/// Memory in KiB that a bus may keep. A second after a disconnect it returns free memory to the
/// system if it has 4 MiB more than at its minimum.
const SPARE: u64 = 6 * 1024;

/// Resources that the bus holds for connections, by the keys of GetTotals. The reply that contains
/// them is not in a queue yet.
const HELD: [&str; 8] = [
    "Connections",
    "IncompleteConnections",
    "Monitors",
    "Names",
    "MatchRules",
    "PendingReplies",
    "QueuedBytes",
    "LosingConnections",
];
