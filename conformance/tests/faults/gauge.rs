//! What the kernel knows of a process, and what a bus counts.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use diligence_conformance::{BUS_NAME, BUS_PATH, Bus, Message, Peer, Value, eventually, kind};

/// A process, looked at from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauge {
    pid: u32,
}

impl Gauge {
    pub(crate) fn of(bus: &mut Bus) -> Self {
        Self { pid: bus.process().id() }
    }

    /// Memory that it has, in KiB.
    pub(crate) fn memory(self) -> u64 {
        self.status("VmRSS:")
    }

    /// Address space that it has, in bytes.
    pub(crate) fn virtual_memory(self) -> u64 {
        self.status("VmSize:") * 1024
    }

    fn status(self, key: &str) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid)).expect("it runs");
        let line = text.lines().find(|line| line.starts_with(key)).expect("proc(5) has it");
        let number = line.split_whitespace().nth(1).expect("a number");
        number.parse().expect("a number")
    }

    /// Descriptors that it has open.
    pub(crate) fn descriptors(self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid)).expect("it runs").count()
    }

    /// How long it has had a processor, in steps of 10 ms.
    pub(crate) fn used(self) -> Duration {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.pid)).expect("it runs");
        let fields = text.rsplit_once(')').expect("a name in parentheses").1.split_whitespace();
        let ticks = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number"));
        Duration::from_millis(10 * ticks.sum::<u64>())
    }
}

/// What GetTotals tells.
#[derive(Debug, Clone)]
pub(crate) struct Totals {
    numbers: BTreeMap<String, u64>,
    causes: BTreeMap<(String, String), u64>,
}

impl Totals {
    pub(crate) fn ask(peer: &mut Peer) -> Self {
        let reply = ask(peer, "GetTotals");
        let (mut numbers, mut causes) = (BTreeMap::new(), BTreeMap::new());
        for (key, value) in reply.body[0].entries().expect("a dictionary") {
            match value {
                Value::U64(number) => drop(numbers.insert(key.to_owned(), *number)),
                Value::Array(_, entries) => {
                    let entries = entries.iter().map(|entry| (key, entry));
                    causes.extend(entries.map(|(key, entry)| cause(key, entry)));
                }
                _ => {}
            }
        }
        Self { numbers, causes }
    }

    pub(crate) fn get(&self, key: &str) -> u64 {
        *self.numbers.get(key).unwrap_or_else(|| panic!("no {key} in {self:?}"))
    }

    /// How often a cause has come up; `dictionary` is for example `DisconnectCauses`.
    pub(crate) fn cause(&self, dictionary: &str, cause: &str) -> u64 {
        self.causes.get(&(dictionary.to_owned(), cause.to_owned())).copied().unwrap_or(0)
    }
}

fn cause(dictionary: &str, entry: &Value) -> ((String, String), u64) {
    let Value::Entry(cause, count) = entry else { panic!("an entry, not {entry:?}") };
    let (Value::Str(cause), Value::U64(count)) = (&**cause, &**count) else {
        panic!("a cause and a count, not {entry:?}")
    };
    ((dictionary.to_owned(), cause.clone()), *count)
}

/// What GetConnections tells of one connection: its numbers.
pub(crate) fn connection(peer: &mut Peer, name: &str) -> BTreeMap<String, u64> {
    let found = connections(peer).into_iter().find(|(found, _)| found == name);
    found.unwrap_or_else(|| panic!("the bus does not tell of {name}")).1
}

/// The same of all, with their unique names.
pub(crate) fn connections(peer: &mut Peer) -> Vec<(String, BTreeMap<String, u64>)> {
    let reply = ask(peer, "GetConnections");
    let all = reply.body[0].elements().expect("an array").iter();
    let all = all.map(|dict| {
        let dict = dict.entries().expect("a dictionary");
        let name = dict.get("UniqueName").and_then(|name| name.as_str()).unwrap_or_default();
        let numbers = dict.iter().filter_map(|(key, value)| match value {
            Value::U64(number) => Some(((*key).to_owned(), *number)),
            _ => None,
        });
        (name.to_owned(), numbers.collect())
    });
    all.collect()
}

fn ask(peer: &mut Peer, member: &str) -> Message {
    let call = Message::call(BUS_NAME, BUS_PATH, "org.diligence.Statistics1", member);
    let takes_number = member == "GetConnections";
    let reply = peer.call(if takes_number { call.arg(Value::U32(0)) } else { call });
    assert_eq!(reply.kind, kind::RETURN, "{member}: {}", reply.summary());
    reply
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
    pub(crate) fn of(gauge: Gauge, watcher: &mut Peer) -> Self {
        let totals = Totals::ask(watcher);
        let numbers = HELD.map(|key| totals.get(key));
        Self { gauge, memory: gauge.memory(), descriptors: gauge.descriptors(), numbers }
    }

    /// Waits until it has no more than that again, and of memory not much more. Gives what it has.
    pub(crate) fn is_back(&self, watcher: &mut Peer) -> u64 {
        self.holds_no_more(watcher);
        let most = self.memory + SPARE;
        eventually(&format!("no more than {most} KiB of memory"), || {
            let memory = self.gauge.memory();
            (memory <= most).then_some(memory)
        })
    }

    /// Waits until nothing is held for anybody but the watcher.
    pub(crate) fn holds_no_more(&self, watcher: &mut Peer) {
        eventually("all that was held to be given back", || {
            let totals = Totals::ask(watcher);
            let numbers = HELD.map(|key| totals.get(key));
            let same = numbers == self.numbers && self.gauge.descriptors() == self.descriptors;
            same.then_some(())
        });
    }
}

/// KiB that a bus may keep. A second after somebody has left it gives back what is free, if it has 4
/// MiB more than the last time.
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
