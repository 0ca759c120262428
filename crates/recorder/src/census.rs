//! Queries the connections and names of a bus on a second connection, since a monitor must not send
//! messages.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use capture::record::{BusId, Fact, RecordedTotals, RecordingRecord};
use client::wire::body::Value;
use client::wire::names::{InterfaceName, MemberName};
use client::{
    CallError, CallOptions, Connection, Ended, Processed, ReceivedMessage, StartedCall,
    SubscribeError, Subscription, SubscriptionError, driver,
};
use inspector::BusCredentials;

use crate::clock::RecordingClock;
use crate::objects::{Introspector, ObjectIntrospection};
use crate::punctuality::PROBE;
use crate::statistics::{BusStatistics, CONNECTIONS_MAX, number};

/// Queries a bus about its connections at the start, and about each new connection immediately, as
/// a program may be short-lived. It never blocks.
#[derive(Debug)]
pub(crate) struct BusCensus {
    connection: Connection,
    bus: BusId,
    changes: Subscription,
    waiting: VecDeque<CensusQuestion>,
    asked: Vec<(CensusQuestion, StartedCall)>,
    /// Introspects objects too, if requested.
    introspector: Option<Introspector>,
    /// The last replies about the bus and its connections.
    statistics: Option<BusStatistics>,
}

/// The queries that are sent to a bus.
#[derive(Clone, PartialEq, Eq, Debug)]
enum CensusQuestion {
    /// The list of existing names.
    Names,
    /// The list of activatable names.
    Activatable,
    /// The match rules of all connections.
    Rules,
    /// The connection that owns this name.
    Owner(String),
    /// The process of this connection.
    Process(String),
    /// The process of the bus itself.
    Bus,
    /// The counters of a Diligence bus.
    Totals,
    /// The present statistics of a Diligence bus.
    Statistics,
    /// The statistics of its connections.
    Connections,
    /// No information: the copy of this call shows how late copies are read.
    Probe,
}

impl BusCensus {
    /// Subscribes to changes, and queues the first queries.
    pub(crate) fn open(
        connection: Connection,
        bus: BusId,
        objects: ObjectIntrospection,
    ) -> Result<Self, SubscribeError> {
        let changes = connection.subscribe(CHANGES)?;
        let waiting = [
            CensusQuestion::Bus,
            CensusQuestion::Names,
            CensusQuestion::Rules,
            CensusQuestion::Activatable,
        ];
        let waiting = waiting.into();
        let introspector = match objects {
            ObjectIntrospection::Ignored => None,
            ObjectIntrospection::Introspected => Some(Introspector::default()),
        };
        let statistics = None;
        Ok(Self { connection, bus, changes, waiting, asked: Vec::new(), introspector, statistics })
    }

    /// Queries the counters of a Diligence bus, before all other queries.
    pub(crate) fn ask_totals(&mut self) {
        self.waiting.push_front(CensusQuestion::Totals);
        self.ask_more();
    }

    /// Queries a Diligence bus about itself and its connections, unless an earlier query is
    /// pending.
    pub(crate) fn ask_statistics(&mut self) {
        let is_open = |question: &CensusQuestion| matches!(question, CensusQuestion::Connections);
        if self.waiting.iter().any(is_open) || self.asked.iter().any(|(one, _)| is_open(one)) {
            return;
        }
        self.waiting.extend([CensusQuestion::Statistics, CensusQuestion::Connections]);
        self.ask_more();
    }

    /// The last replies about the bus and its connections; `None` if there are none yet.
    pub(crate) const fn statistics(&self) -> Option<&BusStatistics> {
        self.statistics.as_ref()
    }

    /// The connection that sends the queries.
    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns true if all queries have been answered.
    pub(crate) fn is_settled(&self) -> bool {
        self.waiting.is_empty()
            && self.asked.is_empty()
            && self.introspector.as_ref().is_none_or(Introspector::is_settled)
    }

    /// Sends a probe before all other queries.
    pub(crate) fn send_probe(&mut self) {
        self.waiting.push_front(CensusQuestion::Probe);
        self.ask_more();
    }

    /// Examines a recorded message: it may name an object to introspect.
    pub(crate) fn see(&mut self, record: &RecordingRecord<'_>) {
        if let (Some(introspector), RecordingRecord::Message(raw)) =
            (&mut self.introspector, record)
        {
            introspector.see(raw.bytes, self.connection.unique_name().as_str());
        }
    }

    /// Processes received messages, and passes the learned facts to `each`.
    pub(crate) fn take(
        &mut self,
        clock: RecordingClock,
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<(), Ended> {
        while self.connection.process(Some(Duration::ZERO))? != Processed::Nothing {}
        let bus = self.bus;
        let mut learn = |fact| each(RecordingRecord::Fact { at: clock.now(), bus, fact });
        self.take_changes(clock, &mut learn)?;
        for (question, mut call) in std::mem::take(&mut self.asked) {
            match call.poll() {
                None => self.asked.push((question, call)),
                Some(Ok(reply)) => self.answer(question, &reply, clock, &mut learn),
                Some(Err(error)) => refused(question, &error, &mut learn),
            }
        }
        self.ask_more();
        if let Some(introspector) = &mut self.introspector {
            introspector.take(&self.connection, &mut learn);
        }
        self.connection.flush()
    }

    fn take_changes(
        &mut self,
        clock: RecordingClock,
        learn: &mut dyn FnMut(Fact),
    ) -> Result<(), Ended> {
        loop {
            match self.changes.poll() {
                Ok(Some(signal)) => self.changed(&signal, clock, learn),
                Ok(None) => return Ok(()),
                // Connections whose signal was lost are among the names.
                Err(SubscriptionError::Lost { .. } | SubscriptionError::Reconnected) => {
                    self.waiting.push_back(CensusQuestion::Names)
                }
                Err(SubscriptionError::Disconnected(ended)) => return Err(ended),
            }
        }
    }

    fn changed(
        &mut self,
        signal: &ReceivedMessage,
        clock: RecordingClock,
        learn: &mut dyn FnMut(Fact),
    ) {
        let Ok((name, _, new)) = signal.read::<(&str, &str, &str)>() else { return };
        let new = (!new.is_empty()).then(|| new.to_owned());
        match (name.starts_with(':'), new) {
            // Before all other queries, as the connection may be short-lived.
            (true, Some(_)) => self.waiting.push_front(CensusQuestion::Process(name.to_owned())),
            (true, None) => learn(Fact::Left { unique: name.to_owned(), why: None }),
            (false, unique) => {
                if let Some(introspector) = &mut self.introspector {
                    introspector.owner_changed(name);
                }
                // The signal is more precise than a pending reply, and may be newer.
                let is_answered = |question: &CensusQuestion| matches!(question, CensusQuestion::Owner(of) if of == name);
                self.waiting.retain(|question| !is_answered(question));
                self.asked.retain(|(question, _)| !is_answered(question));
                let since = unique.is_some().then(|| clock.now());
                learn(Fact::Owner { name: name.to_owned(), unique, since });
            }
        }
    }

    fn answer(
        &mut self,
        question: CensusQuestion,
        reply: &ReceivedMessage,
        clock: RecordingClock,
        learn: &mut dyn FnMut(Fact),
    ) {
        match question {
            CensusQuestion::Names => self.found_names(reply),
            CensusQuestion::Activatable => {
                let Ok((names,)) = reply.read::<(Vec<String>,)>() else { return };
                names.into_iter().for_each(|name| learn(Fact::Activatable { name }));
            }
            CensusQuestion::Rules => {
                let Ok((rules,)) = reply.read::<(HashMap<String, Vec<String>>,)>() else { return };
                found_rules(rules, learn);
            }
            CensusQuestion::Owner(name) => {
                let Ok((unique,)) = reply.read::<(String,)>() else { return };
                learn(Fact::Owner { name, unique: Some(unique), since: None });
            }
            CensusQuestion::Bus => {
                learn(Fact::Bus { process: BusCredentials::read(reply).process(clock.now()) })
            }
            CensusQuestion::Totals => {
                let Ok((totals,)) = reply.read::<(HashMap<String, Value>,)>() else { return };
                learn(Fact::Totals(read_totals(&totals)));
            }
            CensusQuestion::Statistics => {
                let Ok((totals,)) = reply.read::<(HashMap<String, Value>,)>() else { return };
                self.statistics.get_or_insert_default().read_totals(&totals);
            }
            CensusQuestion::Connections => {
                self.statistics.get_or_insert_default().read_connections(reply);
            }
            CensusQuestion::Probe => {}
            CensusQuestion::Process(unique) => {
                let process = Some(BusCredentials::read(reply).process(clock.now()));
                learn(Fact::Peer { unique, process });
            }
        }
    }

    fn found_names(&mut self, reply: &ReceivedMessage) {
        let Ok((names,)) = reply.read::<(Vec<String>,)>() else { return };
        for name in names.into_iter().filter(|name| *name != driver::NAME.as_str()) {
            self.waiting.push_back(match name.starts_with(':') {
                true => CensusQuestion::Process(name),
                false => CensusQuestion::Owner(name),
            });
        }
    }

    fn ask_more(&mut self) {
        while self.asked.len() < ASKED_MAX {
            let Some(question) = self.waiting.pop_front() else { return };
            let (interface, member, name) = question.call();
            let message = driver::method(member).interface(interface);
            let options = CallOptions::default();
            let started = match (&question, name) {
                (CensusQuestion::Connections, _) => {
                    self.connection.start_call(&message, &(CONNECTIONS_MAX,), options)
                }
                (_, Some(name)) => self.connection.start_call(&message, &(name,), options),
                (_, None) => self.connection.start_call(&message, &(), options),
            };
            // A query can only be unsendable if the connection has ended, which is noticed when it
            // is flushed.
            if let Ok(call) = started {
                self.asked.push((question, call));
            }
        }
    }
}

impl CensusQuestion {
    /// The interface and method of the call, and its argument, if it is a name.
    const fn call(&self) -> (InterfaceName<'static>, MemberName<'static>, Option<&str>) {
        let (interface, member, name) = match self {
            Self::Names => (DRIVER, "ListNames", None),
            Self::Activatable => (DRIVER, "ListActivatableNames", None),
            Self::Rules => (STATS, "GetAllMatchRules", None),
            Self::Owner(name) => (DRIVER, "GetNameOwner", Some(name.as_str())),
            Self::Process(name) => (DRIVER, "GetConnectionCredentials", Some(name.as_str())),
            Self::Bus => (DRIVER, "GetConnectionCredentials", Some(DRIVER.as_str())),
            Self::Totals | Self::Statistics => (STATISTICS, "GetTotals", None),
            Self::Connections => (STATISTICS, "GetConnections", None),
            Self::Probe => (PEER, PROBE, None),
        };
        (interface, MemberName::literal(member), name)
    }
}

/// Handles a query that failed. If a connection left before the bus could reply, its existence is
/// still a fact.
fn refused(question: CensusQuestion, error: &CallError, learn: &mut dyn FnMut(Fact)) {
    if let (CensusQuestion::Process(unique), CallError::Remote { .. }) = (question, error) {
        learn(Fact::Peer { unique, process: None });
    }
}

fn read_totals(totals: &HashMap<String, Value>) -> RecordedTotals {
    let number = |key| number(totals.get(key));
    RecordedTotals {
        messages: number("Messages"),
        bytes: number("Bytes"),
        written_bytes: number("WrittenBytes"),
        copied_bytes: number("CopiedBytes"),
        validated_messages: number("ValidatedMessages"),
        validated_bytes: number("ValidatedBytes"),
    }
}

fn found_rules(rules: HashMap<String, Vec<String>>, learn: &mut dyn FnMut(Fact)) {
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort();
    for (unique, rules) in rules {
        let mut counted = BTreeMap::<String, u64>::new();
        rules.into_iter().for_each(|rule| *counted.entry(rule).or_default() += 1);
        for (rule, times) in counted {
            learn(Fact::Rule { unique: unique.clone(), rule, times });
        }
    }
}

const DRIVER: InterfaceName<'static> = driver::INTERFACE;
const STATISTICS: InterfaceName<'static> = InterfaceName::literal("org.diligence.Statistics1");
const PEER: InterfaceName<'static> = InterfaceName::literal("org.freedesktop.DBus.Peer");
const STATS: InterfaceName<'static> = InterfaceName::literal("org.freedesktop.DBus.Debug.Stats");
const CHANGES: &str = "type='signal',sender='org.freedesktop.DBus',\
                       interface='org.freedesktop.DBus',member='NameOwnerChanged'";

/// The maximum number of concurrent queries. A system bus allows 128 pending calls per connection by
/// default (`max_replies_per_connection`).
const ASKED_MAX: usize = 64;
