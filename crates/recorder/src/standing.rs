//! The facts that are currently true, with which a new file begins.

use std::collections::{BTreeMap, VecDeque};

use capture::record::{
    BusId, Fact, RecordedBus, RecordedProcess, RecordedTime, RecordingOrigin, RecordingRecord,
};

/// The facts that are currently true.
#[derive(Debug)]
pub struct StandingFacts {
    origin: RecordingOrigin,
    buses: Vec<RecordedBus>,
    facts: BTreeMap<(BusId, FactTopic), (RecordedTime, Fact)>,
    /// Connections that have left, the latest ones last.
    departed: VecDeque<(RecordedTime, BusId, Fact)>,
}

/// The topic of a fact. Only the last fact of each topic is true.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum FactTopic {
    Bus,
    Recorder(String),
    Peer(String),
    Owner(String),
    Activatable(String),
    Rule(String, String),
    Introspection(String, String),
}

impl StandingFacts {
    /// Creates an empty set of facts.
    pub const fn new(origin: RecordingOrigin) -> Self {
        Self { origin, buses: Vec::new(), facts: BTreeMap::new(), departed: VecDeque::new() }
    }

    /// Returns the origin of the recording.
    pub const fn origin(&self) -> &RecordingOrigin {
        &self.origin
    }

    /// Updates the facts from a record.
    pub fn learn(&mut self, record: &RecordingRecord<'_>) {
        match record {
            RecordingRecord::Bus(bus) => self.buses.push(bus.clone()),
            RecordingRecord::Fact { at, bus, fact } => self.learn_fact(*at, *bus, fact),
            _ => {}
        }
    }

    fn learn_fact(&mut self, at: RecordedTime, bus: BusId, fact: &Fact) {
        match fact {
            Fact::Left { unique, .. } => self.depart(at, bus, unique),
            Fact::Owner { name, unique: None, .. } => {
                self.facts.remove(&(bus, FactTopic::Owner(name.clone())));
            }
            Fact::Peer { unique, process: Some(process) } => {
                self.identify(at, bus, unique, process.clone());
            }
            _ => {
                if let Some(topic) = topic(fact) {
                    self.facts.insert((bus, topic), (at, fact.clone()));
                }
            }
        }
    }

    /// Adds facts about a process, which may be learned step by step, and even after the connection
    /// left.
    fn identify(&mut self, at: RecordedTime, bus: BusId, unique: &str, process: RecordedProcess) {
        if let Some(fact) = self.departed(bus, unique) {
            return complete(fact, process);
        }
        let unique = unique.to_owned();
        let key = (bus, FactTopic::Peer(unique.clone()));
        let nothing = || (at, Fact::Peer { unique, process: None });
        complete(&mut self.facts.entry(key).or_insert_with(nothing).1, process);
    }

    /// The facts about a connection that has left.
    fn departed(&mut self, bus: BusId, unique: &str) -> Option<&mut Fact> {
        let is_same = |(_, on, fact): &&mut (RecordedTime, BusId, Fact)| {
            *on == bus && matches!(fact, Fact::Peer { unique: one, .. } if one == unique)
        };
        self.departed.iter_mut().rev().find(is_same).map(|(.., fact)| fact)
    }

    /// Removes the match rules of a connection that left. Its process is kept for messages that are
    /// kept.
    fn depart(&mut self, at: RecordedTime, bus: BusId, unique: &str) {
        // Both the trace and a signal of the bus report departures.
        if self.departed(bus, unique).is_some() {
            return;
        }
        let known = self.facts.remove(&(bus, FactTopic::Peer(unique.to_owned())));
        let nothing = || Fact::Peer { unique: unique.to_owned(), process: None };
        self.departed.push_back((at, bus, known.map_or_else(nothing, |(_, fact)| fact)));
        self.departed.drain(..self.departed.len().saturating_sub(DEPARTED_MAX));
        let first = (bus, FactTopic::Rule(unique.to_owned(), String::new()));
        let rules = self.facts.range(first..).map(|(key, _)| key);
        let rules = rules.take_while(|(on, topic)| {
            *on == bus && matches!(topic, FactTopic::Rule(of, _) if of == unique)
        });
        for key in rules.cloned().collect::<Vec<_>>() {
            self.facts.remove(&key);
        }
    }

    /// Returns the facts that were true when messages from `since` on were sent, for a file that
    /// begins there.
    pub fn records(&self, since: RecordedTime) -> impl Iterator<Item = RecordingRecord<'static>> {
        let buses = self.buses.iter().map(|bus| RecordingRecord::Bus(bus.clone()));
        let departed = self.departed.iter().filter(move |(left, ..)| *left >= since);
        let departed = departed.map(|(at, bus, fact)| (*at, *bus, fact));
        let facts = self.facts.iter().map(|((bus, _), (at, fact))| (*at, *bus, fact));
        let facts = facts.filter(move |(at, _, fact)| holds_before(*at, fact, since));
        let facts = departed.chain(facts).map(|(at, bus, fact)| RecordingRecord::Fact {
            at,
            bus,
            fact: fact.clone(),
        });
        buses.chain(facts)
    }
}

/// Adds facts to those about a connection.
fn complete(fact: &mut Fact, learned: RecordedProcess) {
    if let Fact::Peer { process, .. } = fact {
        let known = process.take().unwrap_or_default();
        *process = Some(learned.or(known));
    }
}

/// Returns true if a fact was true before `since`. Later owners follow from later records, and the
/// process of a connection never changes.
fn holds_before(at: RecordedTime, fact: &Fact, since: RecordedTime) -> bool {
    at < since || !matches!(fact, Fact::Owner { .. })
}

fn topic(fact: &Fact) -> Option<FactTopic> {
    Some(match fact {
        Fact::Bus { .. } => FactTopic::Bus,
        Fact::Recorder { unique } => FactTopic::Recorder(unique.clone()),
        Fact::Peer { unique, .. } => FactTopic::Peer(unique.clone()),
        Fact::Owner { name, .. } => FactTopic::Owner(name.clone()),
        Fact::Activatable { name } => FactTopic::Activatable(name.clone()),
        Fact::Rule { unique, rule, .. } => FactTopic::Rule(unique.clone(), rule.clone()),
        Fact::Introspection { name, path, .. } => {
            FactTopic::Introspection(name.clone(), path.clone())
        }
        _ => return None,
    })
}

/// The maximum number of connections that have left and are remembered.
const DEPARTED_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn current(standing: &StandingFacts, since: i64) -> Vec<String> {
        let facts = standing.records(RecordedTime(since)).filter_map(|record| match record {
            RecordingRecord::Fact { fact: Fact::Peer { unique, .. }, .. } => Some(unique),
            RecordingRecord::Fact { fact: Fact::Owner { name, .. }, .. } => Some(name),
            RecordingRecord::Fact { fact: Fact::Rule { rule, .. }, .. } => Some(rule),
            _ => None,
        });
        facts.collect()
    }

    fn learn(standing: &mut StandingFacts, at: i64, fact: Fact) {
        standing.learn(&RecordingRecord::Fact { at: RecordedTime(at), bus: BusId(0), fact });
    }

    #[test]
    fn facts_about_left_connections_stay_with_their_messages() {
        let mut standing = StandingFacts::new(RecordingOrigin::default());
        let unique = || ":1.5".to_owned();
        learn(&mut standing, 1, Fact::Peer { unique: unique(), process: None });
        learn(
            &mut standing,
            2,
            Fact::Rule { unique: unique(), rule: "type='signal'".into(), times: 1 },
        );
        learn(
            &mut standing,
            3,
            Fact::Owner { name: "a.b".into(), unique: Some(unique()), since: None },
        );
        assert_eq!(current(&standing, 9), [":1.5", "a.b", "type='signal'"]);
        assert_eq!(current(&standing, 2), [":1.5", "type='signal'"], "owned only later");
        learn(&mut standing, 10, Fact::Owner { name: "a.b".into(), unique: None, since: None });
        learn(&mut standing, 10, Fact::Left { unique: unique(), why: None });
        assert_eq!(current(&standing, 9), [":1.5"]);
        assert!(current(&standing, 11).is_empty());
    }

    #[test]
    fn facts_learned_after_a_connection_left_do_not_stay() {
        let mut standing = StandingFacts::new(RecordingOrigin::default());
        let process = |pid| Some(RecordedProcess { pid: Some(pid), ..RecordedProcess::default() });
        learn(&mut standing, 1, Fact::Left { unique: ":1.5".into(), why: None });
        learn(&mut standing, 2, Fact::Peer { unique: ":1.5".into(), process: process(7) });
        assert_eq!(current(&standing, 1), [":1.5"]);
        assert!(current(&standing, 3).is_empty());
    }
}
