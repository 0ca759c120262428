//! Log records about connections, with rate limits.

mod governor;
mod peer_description;
mod services;
mod throttled;
mod topic;

use std::error::Error;
use std::time::Duration;

use bus::{Bus, End, LimitHit, LogEvent, PeerId, Process, Replacement};

use crate::activation::Children;
use crate::busconfig::ConfigError;
use crate::fault::Fault;
use crate::log::{Field, Log, LogRecord, Severity};
use crate::throttled_peer::ThrottledPeer;
pub(crate) use governor::SavedWindow;
use governor::{Governor, LeftOut, LineAdmission, LineSubject, WINDOW, WindowKey};
pub(crate) use peer_description::process;
use peer_description::{DescriptionSource, PeerDescription};
use topic::LogTopic;

/// Logs the events of connections.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    governor: Governor,
}

/// The name of a process that had to be looked up.
#[derive(Debug)]
pub(crate) struct DescribedPeer {
    pub(crate) peer: PeerId,
    pub(crate) process: Process,
}

/// The result of a configuration reload.
#[derive(Debug)]
pub(crate) struct ReloadReport<'e> {
    /// The connection key call of ReloadConfig caused the reload, if one did.
    pub(crate) caller: Option<PeerId>,
    pub(crate) result: Result<(), &'e ConfigError>,
    /// Warnings about the configuration, one line each.
    pub(crate) warnings: Vec<String>,
}

impl Reporter {
    /// Saves the rate limits.
    pub(crate) fn save(&self) -> Vec<SavedWindow> {
        self.governor.save()
    }

    /// Restores the rate limits.
    pub(crate) fn restore(saved: Vec<SavedWindow>) -> Self {
        Self { governor: Governor::restore(saved) }
    }

    /// Logs an event that the core reports.
    pub(crate) fn event(
        &mut self,
        log: &Log,
        bus: &Bus,
        children: &Children,
        event: &LogEvent,
        now: Duration,
    ) -> Option<DescribedPeer> {
        let topic = LogTopic::of_event(event);
        let Some(peer) = peer_of(event) else {
            self.event_of_nobody(log, bus, children, event, now);
            return None;
        };
        let description = self.admit(log, bus, topic, peer, now)?;
        let mut record = event_record(bus, event, &description)?.of(topic.message_id());
        add_facts(&mut record, topic, reached_of(event));
        description.add_to(&mut record);
        log.record(&record);
        described(description)
    }

    /// Logs an event that no connection has caused directly.
    fn event_of_nobody(
        &mut self,
        log: &Log,
        bus: &Bus,
        children: &Children,
        event: &LogEvent,
        now: Duration,
    ) {
        let topic = LogTopic::of_event(event);
        self.sum_up(log, bus, now);
        if self.governor.admit(topic, LineSubject::Unattributed, now) == LineAdmission::Write
            && let Some(record) = services::record(event, children).or_else(|| lanes_record(event))
        {
            write(log, record, topic, None);
        }
    }

    /// Logs a peer that is delayed or rejected.
    pub(crate) fn throttled(&mut self, log: &Log, bus: &Bus, peer: &ThrottledPeer, now: Duration) {
        let topic = LogTopic::of_throttled(peer);
        self.sum_up(log, bus, now);
        let subject = LineSubject::User(peer.credentials.uid);
        if self.governor.admit(topic, subject, now) == LineAdmission::Write {
            write(log, throttled::record(peer), topic, peer.reason.limit_hit());
        }
    }

    /// Logs a failed system operation, within the rate limit.
    pub(crate) fn fault(&mut self, log: &Log, bus: &Bus, fault: &Fault, now: Duration) {
        let topic = LogTopic::Fault(fault.word());
        self.sum_up(log, bus, now);
        if self.governor.admit(topic, LineSubject::Unattributed, now) == LineAdmission::Write {
            write(log, LogRecord::line(Severity::Warning, fault), topic, None);
        }
    }

    /// Whether a line about this peer would be written, so that a look-up of its process is
    /// worthwhile.
    pub(crate) fn is_news(&self, peer: &ThrottledPeer, now: Duration) -> bool {
        self.governor.has_room(LogTopic::of_throttled(peer), peer.credentials.uid, now)
    }

    /// Logs that connections are accepted again.
    pub(crate) fn accepting_again(&self, log: &Log) {
        let topic = LogTopic::AcceptingAgain;
        let record = LogRecord::line(Severity::Notice, "Connections are accepted again");
        let mut record = record.of(topic.message_id());
        add_facts(&mut record, topic, None);
        log.record(&record);
    }

    /// Logs that the bus disconnected a peer. The bus must still know the peer.
    pub(crate) fn end(
        &mut self,
        log: &Log,
        bus: &Bus,
        peer: PeerId,
        end: &End,
        now: Duration,
    ) -> Option<DescribedPeer> {
        let topic = LogTopic::of_end(end);
        let description = self.admit(log, bus, topic, peer, now)?;
        let reached = bus.limit_hit_by(peer, end);
        let line = format!("Connection {description} was disconnected: {end}{}.", usage(reached));
        let mut record = LogRecord::line(Severity::Warning, line).of(topic.message_id());
        add_facts(&mut record, topic, reached);
        description.add_to(&mut record);
        log.record(&record);
        described(description)
    }

    /// Logs the result of a reload. Every user may call ReloadConfig, so lines about calls are
    /// limited.
    pub(crate) fn reload(
        &mut self,
        log: &Log,
        bus: &Bus,
        report: &ReloadReport<'_>,
        now: Duration,
    ) -> Option<DescribedPeer> {
        let (topic, severity, mut line) = match report.result {
            Ok(()) => (LogTopic::Reloaded, Severity::Info, String::from("Reloaded configuration")),
            Err(error) => {
                let line = format!("Unable to reload configuration: {error}");
                (LogTopic::ReloadFailed, Severity::Warning, line)
            }
        };
        let description = match report.caller {
            None => None,
            Some(caller) => Some(self.admit(log, bus, topic, caller, now)?),
        };
        for warning in &report.warnings {
            log.write(Severity::Warning, warning);
        }
        if let Some(description) = &description {
            line.push_str(&format!("; ReloadConfig was called by {description}"));
        }
        let mut record = LogRecord::line(severity, line).of(topic.message_id());
        add_facts(&mut record, topic, None);
        if let Some(description) = &description {
            description.add_to(&mut record);
        }
        log.record(&record);
        description.and_then(described)
    }

    /// Logs that this program has replaced another one.
    pub(crate) fn replaced(&self, log: &Log, replacement: &Replacement) {
        let Replacement { old_version, new_version, paused } = replacement;
        let milliseconds = paused.as_secs_f64() * 1e3;
        let line = format!(
            "Version {new_version} replaced version {old_version}; the bus paused for \
             {milliseconds:.1} ms"
        );
        let topic = LogTopic::Replaced;
        let mut record = LogRecord::line(Severity::Notice, line).of(topic.message_id());
        add_facts(&mut record, topic, None);
        record.field("DBUS_OLD_VERSION", old_version);
        record.field("DBUS_NEW_VERSION", new_version);
        record.field("DBUS_PAUSED_USEC", paused.as_micros());
        log.record(&record);
    }

    /// Logs that another program could not replace this one.
    pub(crate) fn replacement_failed(&self, log: &Log, error: &dyn Error) {
        let topic = LogTopic::ReplaceFailed;
        let line = format!("Cannot replace the bus: {error}");
        let mut record = LogRecord::line(Severity::Error, line).of(topic.message_id());
        add_facts(&mut record, topic, None);
        log.record(&record);
    }

    /// When the next summary of suppressed lines is due, if no other event occurs first.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.governor.due()
    }

    /// Logs the number of lines that expired windows suppressed.
    pub(crate) fn sum_up(&mut self, log: &Log, bus: &Bus, now: Duration) {
        for left_out in self.governor.take_over(now) {
            log.record(&left_out_record(bus, &left_out));
        }
    }

    /// The description of a connection, if a line about it is to be written.
    fn admit(
        &mut self,
        log: &Log,
        bus: &Bus,
        topic: LogTopic,
        peer: PeerId,
        now: Duration,
    ) -> Option<PeerDescription> {
        self.sum_up(log, bus, now);
        let uid = bus.credentials(peer).and_then(|known| known.uid);
        match self.governor.admit(topic, LineSubject::Connection(peer, uid), now) {
            LineAdmission::Write => PeerDescription::look_up(bus, peer),
            LineAdmission::LeaveOut => None,
        }
    }
}

fn described(description: PeerDescription) -> Option<DescribedPeer> {
    let PeerDescription { snapshot, source } = description;
    let peer = snapshot.id.filter(|_| source == DescriptionSource::Kernel)?;
    Some(DescribedPeer { peer, process: snapshot.process })
}

/// The connection that caused an event, if one did.
const fn peer_of(event: &LogEvent) -> Option<PeerId> {
    match event {
        LogEvent::BecameMonitor { peer }
        | LogEvent::Traces { peer }
        | LogEvent::LosingSignals { peer, .. }
        | LogEvent::CaughtUp { peer, .. }
        | LogEvent::Undelivered { peer, .. }
        | LogEvent::Starting { requester: peer, .. }
        | LogEvent::Withheld { peer, .. }
        | LogEvent::Allowed { peer, .. }
        | LogEvent::Refused { peer, .. } => Some(*peer),
        LogEvent::LanesEnded { .. } | LogEvent::Started { .. } | LogEvent::StartFailed { .. } => {
            None
        }
    }
}

fn reached_of(event: &LogEvent) -> Option<LimitHit> {
    match event {
        LogEvent::LosingSignals { reached, .. } => Some(*reached),
        LogEvent::Refused { reason, .. } => reason.limit_hit(),
        _ => None,
    }
}

/// The log record for the end of lanes; `None` for other events.
fn lanes_record(event: &LogEvent) -> Option<LogRecord> {
    let LogEvent::LanesEnded { count, reason } = event else { return None };
    let (lanes, whose) = if *count == 1 { ("lane was", "Its") } else { ("lanes were", "Their") };
    let line = format!("{count} {lanes} ended: {reason}. {whose} messages go through the bus now.");
    Some(LogRecord::line(Severity::Info, line))
}

/// The log record for an event of a connection; `None` if another function writes it.
fn event_record(bus: &Bus, event: &LogEvent, description: &PeerDescription) -> Option<LogRecord> {
    Some(match event {
        LogEvent::Traces { .. } => LogRecord::line(
            Severity::Info,
            format!("Connection {description} started reading the trace."),
        ),
        LogEvent::BecameMonitor { .. } => {
            LogRecord::line(Severity::Info, format!("Connection {description} became a monitor."))
        }
        LogEvent::LosingSignals { sender, reached, .. } => {
            let sender = sender_of(bus, *sender);
            let line = format!(
                "Connection {description} does not keep up: {} {} are queued for it ({}={}), and signals to it \
                 are dropped from now on, the first one from {sender}.",
                reached.used,
                unit(*reached),
                reached.limit.as_str(),
                reached.max,
            );
            LogRecord::line(Severity::Warning, line)
        }
        LogEvent::CaughtUp { lost, .. } => {
            let line = format!("Connection {description} has caught up; it lost {lost} signals.");
            let mut record = LogRecord::line(Severity::Warning, line);
            record.field("DBUS_LOST", lost);
            record
        }
        LogEvent::Undelivered { sender, shortage, .. } => {
            let (sender, why) = (sender_of(bus, *sender), shortage.as_str());
            let line = format!("A message from {sender} to {description} was dropped: {why}");
            LogRecord::line(Severity::Warning, line)
        }
        LogEvent::Starting { name, method, .. } => services::starting(name, method, description),
        LogEvent::Withheld { sender, reason, .. } => {
            let sender = sender_of(bus, *sender);
            let line = format!(
                "The policy withholds messages from connection {description}, the first one from {sender}: \
                 {reason}"
            );
            LogRecord::line(Severity::Info, line)
        }
        LogEvent::Allowed { permission, .. } => {
            let line = format!(
                "A message of {description} matched a policy rule with log=\"true\": {permission}"
            );
            LogRecord::line(Severity::Warning, line)
        }
        LogEvent::LanesEnded { .. } | LogEvent::Started { .. } | LogEvent::StartFailed { .. } => {
            return None;
        }
        LogEvent::Refused { reason, .. } => {
            let blamed = reason.blamed().and_then(|peer| PeerDescription::look_up(bus, peer));
            let blame = blamed
                .as_ref()
                .map(|description| format!(" Its recipient does not read: {description}."));
            let (blame, usage) = (blame.unwrap_or_default(), usage(reason.limit_hit()));
            let reason = reason.logged();
            let line = format!("A message of {description} was refused: {reason}{usage}{blame}");
            let mut record = LogRecord::line(Severity::Warning, line);
            if let Some(PeerDescription { snapshot, .. }) = &blamed {
                record.field("DBUS_RECIPIENT", snapshot.unique_name.as_deref().unwrap_or_default());
                record.fields.extend(
                    snapshot
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

/// Describes a connection for a log line.
pub(crate) fn described_in_line(bus: &Bus, peer: PeerId) -> String {
    PeerDescription::look_up(bus, peer)
        .map_or_else(|| peer.to_string(), |description| description.to_string())
}

/// The limit that was hit, as a suffix of a sentence.
fn usage(reached: Option<LimitHit>) -> String {
    reached.map(|reached| format!(" [{reached}]")).unwrap_or_default()
}

const fn unit(reached: LimitHit) -> &'static str {
    match reached.limit {
        bus::LimitName::OutgoingFds => "file descriptors",
        _ => "bytes",
    }
}

/// Writes a record that belongs to no connection.
fn write(log: &Log, record: LogRecord, topic: LogTopic, hit: Option<LimitHit>) {
    let mut record = record.of(topic.message_id());
    add_facts(&mut record, topic, hit);
    log.record(&record);
}

fn add_facts(record: &mut LogRecord, topic: LogTopic, reached: Option<LimitHit>) {
    record.field("DBUS_EVENT", topic.word());
    if let Some(cause) = topic.cause() {
        record.field("DBUS_CAUSE", cause);
    }
    if let Some(LimitHit { limit, max, used }) = reached {
        record.field("DBUS_LIMIT", limit.as_str());
        record.field("DBUS_LIMIT_VALUE", max);
        record.field("DBUS_LIMIT_USAGE", used);
    }
}

fn left_out_record(bus: &Bus, left_out: &LeftOut) -> LogRecord {
    let LeftOut { topic, key, count } = *left_out;
    let description = match key {
        WindowKey::Connection(peer, uid) => match PeerDescription::look_up(bus, peer) {
            Some(description) => format!(" from {description}"),
            None => of_user(uid),
        },
        WindowKey::User(uid) => of_user(uid),
        WindowKey::Shared => String::new(),
    };
    let (more, seconds) = (grouped(count), WINDOW.as_secs());
    let line = format!("... {more} more like this in {seconds} s{description}: {topic}");
    let mut record = LogRecord::line(Severity::Warning, line).of(topic.message_id());
    add_facts(&mut record, topic, None);
    record.field("DBUS_LEFT_OUT", count);
    record
}

fn of_user(uid: Option<u32>) -> String {
    uid.map_or_else(|| String::from(" from unknown users"), |uid| format!(" from user {uid}"))
}

/// A number with thousands separators, such as `1,203`.
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
    fn thousands_are_separated_by_commas() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1_203, "1,203"), (1_000_000, "1,000,000")]
        {
            assert_eq!(grouped(number), expected);
        }
    }
}
