//! What the kernel knows of a process, and what a bus counts.

use std::time::Duration;

use conformance::process::{open_files, processor_time, status_number};
use conformance::statistics::{self, StatisticsDict, cause_count, dicts};
use conformance::{BusUnderTest, PlainValue, TestPeer, eventually};

/// A process, looked at from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauge {
    pid: u32,
}

impl Gauge {
    pub(crate) fn of(bus: &mut BusUnderTest) -> Self {
        Self { pid: bus.process().id() }
    }

    /// Memory that it has, in KiB; none where a sanitizer keeps what is free (`DILIGENCE_SANITIZED`),
    /// since it says nothing of the bus then.
    pub(crate) fn memory(self) -> u64 {
        match std::env::var_os("DILIGENCE_SANITIZED") {
            Some(_) => 0,
            None => status_number(self.pid, "VmRSS"),
        }
    }

    /// Address space that it has, in bytes.
    pub(crate) fn virtual_memory(self) -> u64 {
        status_number(self.pid, "VmSize") * 1024
    }

    /// Descriptors that it has open.
    pub(crate) fn descriptors(self) -> usize {
        open_files(self.pid).len()
    }

    /// How long it has had a processor.
    pub(crate) fn processor_time(self) -> Duration {
        processor_time(self.pid)
    }
}

/// What GetTotals tells.
#[derive(Debug, Clone)]
pub(crate) struct GaugeTotals(StatisticsDict);

impl GaugeTotals {
    pub(crate) fn ask(peer: &mut TestPeer) -> Self {
        Self(statistics::totals(peer))
    }

    pub(crate) fn get(&self, key: &str) -> u64 {
        statistics::number(&self.0, key)
    }

    /// How often a cause has come up; `causes` is for example `DisconnectCauses`.
    pub(crate) fn cause(&self, causes: &str, cause: &str) -> u64 {
        cause_count(&self.0, causes, cause).unwrap_or(0)
    }
}

/// What GetConnections tells of one connection.
pub(crate) fn connection(peer: &mut TestPeer, name: &str) -> StatisticsDict {
    let mut all = dicts(peer, "GetConnections").into_iter();
    let found = all.find(|one| one.get("UniqueName") == Some(&PlainValue::text(name)));
    found.unwrap_or_else(|| panic!("the bus does not tell of {name}"))
}

/// What a bus has while nobody but one watcher is there.
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

    /// Waits until it has no more than that again, and of memory not much more. Gives what it has.
    pub(crate) fn is_back(&self, watcher: &mut TestPeer) -> u64 {
        self.holds_no_more(watcher);
        let most = self.memory + SPARE;
        eventually(&format!("no more than {most} KiB of memory"), || {
            let memory = self.gauge.memory();
            (memory <= most).then_some(memory)
        })
    }

    /// Waits until nothing is held for anybody but the watcher.
    pub(crate) fn holds_no_more(&self, watcher: &mut TestPeer) {
        eventually("all that was held to be given back", || {
            let totals = GaugeTotals::ask(watcher);
            let numbers = HELD.map(|key| totals.get(key));
            let same = numbers == self.numbers && self.gauge.descriptors() == self.descriptors;
            same.then_some(())
        });
    }
}

/// KiB that a bus may keep. A second after somebody has left it gives back what is free, if it has 4
/// MiB more than it had at least.
const SPARE: u64 = 6 * 1024;

/// What a bus holds for those who are there, by the keys of GetTotals. The answer that tells it waits
/// in no queue yet.
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
