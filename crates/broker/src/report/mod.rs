//! What the log says of connections: who, and why, and not too much of the same.

mod governor;
mod outside;
mod services;
mod topic;
mod who;

use std::time::Duration;

use bus::{Bus, End, Event, PeerId, Process, Reached, Unserved};

use crate::activation::Children;
use crate::busconfig::ConfigError;
use crate::log::{Field, Log, Record, Severity};
use governor::{Admission, Governor, LeftOut, Subject, WINDOW, Whose};
use topic::Topic;
pub(crate) use who::process;
use who::{Source, Who};

/// Writes what happens to connections to the log.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    governor: Governor,
}

/// What a process is called, which somebody had to look up.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) peer: PeerId,
    pub(crate) process: Process,
}

/// The result of a reload.
#[derive(Debug)]
pub(crate) struct ReloadReport<'e> {
    /// The connection whose call of ReloadConfig caused it, if one did.
    pub(crate) caller: Option<PeerId>,
    pub(crate) result: Result<(), &'e ConfigError>,
    /// One line each.
    pub(crate) warnings: Vec<String>,
}

impl Reporter {
    /// Writes what the bus wants the administrator to know.
    pub(crate) fn event(
        &mut self,
        log: &Log,
        bus: &Bus,
        children: &Children,
        event: &Event,
        now: Duration,
    ) -> Option<Described> {
        let topic = Topic::of_event(event);
        let Some(peer) = peer_of(event) else {
            self.outside_event(log, bus, children, event, now);
            return None;
        };
        let who = self.admit(log, bus, topic, peer, now)?;
        let mut record = event_record(bus, event, &who)?.of(topic.message_id());
        add_facts(&mut record, topic, reached_of(event));
        who.add_to(&mut record);
        log.record(&record);
        described(who)
    }

    /// Writes what has happened to somebody who has no connection, or to the bus itself.
    fn outside_event(
        &mut self,
        log: &Log,
        bus: &Bus,
        children: &Children,
        event: &Event,
        now: Duration,
    ) {
        let topic = Topic::of_event(event);
        self.sum_up(log, bus, now);
        let subject = match event {
            Event::Unserved(unserved) => Subject::User(unserved.credentials.uid),
            _ => Subject::Nobody,
        };
        if self.governor.admit(topic, subject, now) == Admission::Write
            && let Some(record) = outside::record(event, children)
        {
            let mut record = record.of(topic.message_id());
            add_facts(&mut record, topic, reached_of(event));
            log.record(&record);
        }
    }

    /// Whether there would be a line about this, so that it is worth while to ask who it is.
    pub(crate) fn is_news(&self, unserved: &Unserved, now: Duration) -> bool {
        let topic = Topic::of_unserved(unserved);
        self.governor.has_room(topic, unserved.credentials.uid, now)
    }

    /// Writes that connections are accepted again.
    pub(crate) fn accepting_again(&self, log: &Log) {
        let topic = Topic::AcceptingAgain;
        let record = Record::line(Severity::Notice, "Connections are accepted again");
        let mut record = record.of(topic.message_id());
        add_facts(&mut record, topic, None);
        log.record(&record);
    }

    /// Writes that the bus has ended a connection. It must still know who that was.
    pub(crate) fn end(
        &mut self,
        log: &Log,
        bus: &Bus,
        peer: PeerId,
        end: &End,
        now: Duration,
    ) -> Option<Described> {
        let topic = Topic::of_end(end);
        let who = self.admit(log, bus, topic, peer, now)?;
        let reached = bus.reached_by(peer, end);
        let line = format!("Connection {who} was disconnected: {end}{}.", usage(reached));
        let mut record = Record::line(Severity::Warning, line).of(topic.message_id());
        add_facts(&mut record, topic, reached);
        who.add_to(&mut record);
        log.record(&record);
        described(who)
    }

    /// Writes the result of a reload. Every user may call ReloadConfig, so the lines about calls are
    /// limited.
    pub(crate) fn reload(
        &mut self,
        log: &Log,
        bus: &Bus,
        report: &ReloadReport<'_>,
        now: Duration,
    ) -> Option<Described> {
        let (topic, severity, mut line) = match report.result {
            Ok(()) => (Topic::Reloaded, Severity::Info, String::from("Reloaded configuration")),
            Err(error) => {
                let line = format!("Unable to reload configuration: {error}");
                (Topic::ReloadFailed, Severity::Warning, line)
            }
        };
        let who = match report.caller {
            None => None,
            Some(caller) => Some(self.admit(log, bus, topic, caller, now)?),
        };
        for warning in &report.warnings {
            log.write(Severity::Warning, warning);
        }
        if let Some(who) = &who {
            line.push_str(&format!("; ReloadConfig was called by {who}"));
        }
        let mut record = Record::line(severity, line).of(topic.message_id());
        add_facts(&mut record, topic, None);
        if let Some(who) = &who {
            who.add_to(&mut record);
        }
        log.record(&record);
        who.and_then(described)
    }

    /// When there is something left to be said, if nothing else happens.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.governor.due()
    }

    /// Writes how much was left out in the time that is over.
    pub(crate) fn sum_up(&mut self, log: &Log, bus: &Bus, now: Duration) {
        for left_out in self.governor.take_over(now) {
            log.record(&left_out_record(bus, &left_out));
        }
    }

    /// Who it is, if a line is to be written.
    fn admit(
        &mut self,
        log: &Log,
        bus: &Bus,
        topic: Topic,
        peer: PeerId,
        now: Duration,
    ) -> Option<Who> {
        self.sum_up(log, bus, now);
        let uid = bus.credentials(peer).and_then(|known| known.uid);
        match self.governor.admit(topic, Subject::Connection(peer, uid), now) {
            Admission::Write => Who::look_up(bus, peer),
            Admission::LeaveOut => None,
        }
    }
}

fn described(who: Who) -> Option<Described> {
    let Who { culprit, source } = who;
    let peer = culprit.peer.filter(|_| source == Source::Kernel)?;
    Some(Described { peer, process: culprit.process })
}

/// Whose doing it is, if that is a connection.
const fn peer_of(event: &Event) -> Option<PeerId> {
    match event {
        Event::BecameMonitor { peer }
        | Event::Traces { peer }
        | Event::LosingSignals { peer, .. }
        | Event::CaughtUp { peer, .. }
        | Event::Undelivered { peer, .. }
        | Event::Starting { asker: peer, .. }
        | Event::Withheld { peer, .. }
        | Event::Allowed { peer, .. }
        | Event::Refused { peer, .. } => Some(*peer),
        Event::Started { .. }
        | Event::StartFailed { .. }
        | Event::Unserved(_)
        | Event::Fault { .. } => None,
    }
}

const fn reached_of(event: &Event) -> Option<Reached> {
    match event {
        Event::LosingSignals { reached, .. } => Some(*reached),
        Event::Refused { reached, .. } => *reached,
        Event::Unserved(Unserved { obstacle, .. }) => obstacle.reached(),
        _ => None,
    }
}

/// How much an event of a connection matters, and what to say of it.
fn event_record(bus: &Bus, event: &Event, who: &Who) -> Option<Record> {
    Some(match event {
        Event::Traces { .. } => {
            Record::line(Severity::Info, format!("Connection {who} reads a trace."))
        }
        Event::BecameMonitor { .. } => {
            Record::line(Severity::Info, format!("Connection {who} became a monitor."))
        }
        Event::LosingSignals { sender, reached, .. } => {
            let sender = sender_of(bus, *sender);
            let line = format!(
                "Connection {who} does not keep up: {} {} wait for it ({}={}), and signals for it \
                 are lost from now on, the first one from {sender}.",
                reached.used,
                unit(*reached),
                reached.limit.as_str(),
                reached.max,
            );
            Record::line(Severity::Warning, line)
        }
        Event::CaughtUp { lost, .. } => {
            let line = format!("Connection {who} keeps up again; it has lost {lost} signals.");
            let mut record = Record::line(Severity::Warning, line);
            record.field("DBUS_LOST", lost);
            record
        }
        Event::Undelivered { sender, shortage, .. } => {
            let (sender, why) = (sender_of(bus, *sender), shortage.as_str());
            let line = format!("A message from {sender} to {who} was dropped: {why}");
            Record::line(Severity::Warning, line)
        }
        Event::Starting { name, road, .. } => services::starting(name, road, who),
        Event::Withheld { sender, why, .. } => {
            let sender = sender_of(bus, *sender);
            let line = format!(
                "Messages are kept from connection {who} by the policy, the first one from \
                 {sender}: {why}"
            );
            Record::line(Severity::Info, line)
        }
        Event::Allowed { what, .. } => {
            let line = format!("A message of {who} passed a rule that is logged: {what}");
            Record::line(Severity::Warning, line)
        }
        Event::Started { .. }
        | Event::StartFailed { .. }
        | Event::Unserved(_)
        | Event::Fault { .. } => return None,
        Event::Refused { why, reached, blamed, .. } => {
            let blamed = blamed.and_then(|peer| Who::look_up(bus, peer));
            let blame = blamed.as_ref().map(|who| format!(" Its recipient does not read: {who}."));
            let (blame, usage) = (blame.unwrap_or_default(), usage(*reached));
            let line = format!("A message of {who} was refused: {why}{usage}{blame}");
            let mut record = Record::line(Severity::Warning, line);
            if let Some(Who { culprit, .. }) = &blamed {
                record.field("DBUS_RECIPIENT", culprit.unique_name.as_deref().unwrap_or_default());
                record.fields.extend(
                    culprit
                        .pid
                        .map(|pid| Field { name: "DBUS_RECIPIENT_PID", value: pid.to_string() }),
                );
            }
            record
        }
    })
}

fn sender_of(bus: &Bus, sender: Option<PeerId>) -> String {
    sender.map_or_else(|| String::from("the bus itself"), |sender| described_in_line(bus, sender))
}

/// A connection, for a line of the log.
pub(crate) fn described_in_line(bus: &Bus, peer: PeerId) -> String {
    Who::look_up(bus, peer).map_or_else(|| peer.to_string(), |who| who.to_string())
}

/// The limit that was reached, to be put behind a sentence.
fn usage(reached: Option<Reached>) -> String {
    reached.map(|reached| format!(" [{reached}]")).unwrap_or_default()
}

const fn unit(reached: Reached) -> &'static str {
    match reached.limit {
        bus::LimitName::OutgoingFds => "file descriptors",
        _ => "bytes",
    }
}

fn add_facts(record: &mut Record, topic: Topic, reached: Option<Reached>) {
    record.field("DBUS_EVENT", topic.word());
    if let Some(cause) = topic.cause() {
        record.field("DBUS_CAUSE", cause);
    }
    if let Some(Reached { limit, max, used }) = reached {
        record.field("DBUS_LIMIT", limit.as_str());
        record.field("DBUS_LIMIT_VALUE", max);
        record.field("DBUS_LIMIT_USAGE", used);
    }
}

fn left_out_record(bus: &Bus, left_out: &LeftOut) -> Record {
    let LeftOut { topic, whose, count } = *left_out;
    let who = match whose {
        Whose::Connection(peer, uid) => match Who::look_up(bus, peer) {
            Some(who) => format!(" of {who}"),
            None => of_user(uid),
        },
        Whose::User(uid) => of_user(uid),
        Whose::Anybody => String::new(),
    };
    let (more, seconds) = (grouped(count), WINDOW.as_secs());
    let line = format!("... {more} more like this in {seconds} s: {topic}{who}");
    let mut record = Record::line(Severity::Warning, line).of(topic.message_id());
    add_facts(&mut record, topic, None);
    record.field("DBUS_LEFT_OUT", count);
    record
}

fn of_user(uid: Option<u32>) -> String {
    uid.map_or_else(|| String::from(" of unknown users"), |uid| format!(" of user {uid}"))
}

/// A number with its thousands set apart: `1,203`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1_203, "1,203"), (1_000_000, "1,000,000")]
        {
            assert_eq!(grouped(number), expected);
        }
    }
}
