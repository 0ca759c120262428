//! What a rule has found.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::rule::{Rule, RuleId};
use super::units;
use crate::model::{Message, MessageId};

/// How bad something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; often meant so.
    Info,
    /// A waste that is small.
    Low,
    /// A waste that somebody may notice.
    Med,
    /// Somebody waits, or something is lost.
    High,
}

/// How sure it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// It looks like it; other explanations are as good.
    Low,
    /// It is so unless the recording misses something.
    Medium,
    /// The messages prove it.
    High,
}

/// What a rule has found: who does what, and what that costs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// How bad it is.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// Who does it.
    pub who: Who,
    /// What it is about, in a form that is the same in another recording: a member, a name.
    pub subject: String,
    /// What they do, as a sentence about them: "asks X every 200 ms, 150 times".
    pub says: String,
    /// What it costs, as far as the recording shows.
    pub cost: Cost,
    /// The messages that show it.
    pub evidence: Evidence,
    /// A query for the messages in question, by which to see whether a change has helped.
    pub query: String,
}

/// A party to a finding.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Who {
    /// What to call it in this recording.
    pub label: String,
    /// What to call it in any recording: a name or a program; `-` if only its unique name is known.
    pub stable: String,
    /// Its program and process, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Its systemd unit, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// What something costs. The parts are compared by [`Cost::as_time`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Cost {
    /// How long somebody waited.
    #[serde(rename = "waited_ns", serialize_with = "nanos")]
    pub waited: Duration,
    /// Calls that need not be.
    pub calls: u64,
    /// Times that a program was woken for nothing.
    pub wake_ups: u64,
    /// Bytes that need not travel.
    pub bytes: u64,
}

/// Messages that show something.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Evidence {
    /// The numbers of the first few, from 1.
    pub first: Vec<u64>,
    /// How many there are in all.
    pub count: u64,
}

impl Finding {
    pub(super) fn new(rule: &Rule, who: Who) -> Self {
        Self {
            rule: rule.id,
            severity: rule.severity,
            confidence: Confidence::High,
            who,
            subject: String::new(),
            says: String::new(),
            cost: Cost::default(),
            evidence: Evidence::default(),
            query: String::new(),
        }
    }

    pub(super) fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    pub(super) fn says(mut self, sentence: impl Into<String>) -> Self {
        self.says = sentence.into();
        self
    }

    pub(super) fn costs(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self
    }

    pub(super) fn shown_by(mut self, messages: &[Message<'_>]) -> Self {
        self.evidence = Evidence::of(messages.iter().map(Message::id));
        self
    }

    pub(super) fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence = evidence;
        self
    }

    pub(super) const fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    pub(super) const fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    pub(super) fn query(mut self, query: impl Into<String>) -> Self {
        self.query = query.into();
        self
    }

    /// The command that shows whether a change has helped, if there is one.
    pub fn check_command(&self, file: &str) -> Option<String> {
        (!self.query.is_empty()).then(|| format!("diligence stats {file} '{}'", self.query))
    }
}

impl Cost {
    /// All parts in one measure: the time that somebody waited, and what the rest would take of a
    /// processor: [`CALL`] for a call, [`WAKE_UP`] for a wake-up, [`BYTES_PER_MICROSECOND`].
    pub fn as_time(&self) -> Duration {
        let micros = self.calls * CALL.as_micros() as u64
            + self.wake_ups * WAKE_UP.as_micros() as u64
            + self.bytes / BYTES_PER_MICROSECOND;
        self.waited + Duration::from_micros(micros)
    }

    /// That of calls with their replies, apart from the time that anybody waits for them.
    pub(super) fn of_calls<'c>(calls: impl IntoIterator<Item = &'c Message<'c>>) -> Self {
        calls.into_iter().fold(Self::default(), |cost, call| Self {
            calls: cost.calls + 1,
            bytes: cost.bytes
                + u64::from(call.len())
                + call.partner().map_or(0, |reply| u64::from(reply.len())),
            ..cost
        })
    }

    /// That of signals: each wakes those who got it, of whom there is one at least.
    pub(super) fn of_signals<'c>(signals: impl IntoIterator<Item = &'c Message<'c>>) -> Self {
        signals.into_iter().fold(Self::default(), |cost, signal| {
            let copies = signal.deliveries().map_or(1, |copies| copies.len() as u64);
            Self {
                wake_ups: cost.wake_ups + copies,
                bytes: cost.bytes + copies * u64::from(signal.len()),
                ..cost
            }
        })
    }

    pub(super) fn of_waiting<'c>(calls: impl IntoIterator<Item = &'c Message<'c>>) -> Self {
        let waited = calls.into_iter().filter_map(Message::duration).sum();
        Self { waited, ..Self::default() }
    }

    pub(super) fn of_bytes<'c>(messages: impl IntoIterator<Item = &'c Message<'c>>) -> Self {
        let bytes = messages.into_iter().map(|message| u64::from(message.len())).sum();
        Self { bytes, ..Self::default() }
    }
}

/// `2 s waited, 150 calls, 1.2 MiB`; the parts that are not nothing.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = (!self.waited.is_zero()).then(|| units::span(self.waited) + " waited");
        let calls = (self.calls > 0).then(|| units::counted(self.calls, "call"));
        let wake_ups = (self.wake_ups > 0).then(|| units::counted(self.wake_ups, "wake-up"));
        let bytes = (self.bytes > 0).then(|| units::bytes(self.bytes));
        let parts: Vec<_> = [waited, calls, wake_ups, bytes].into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "nothing that shows" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

impl Evidence {
    /// The number of messages that are named.
    pub const FIRST: usize = 3;

    pub(super) fn of(ids: impl IntoIterator<Item = MessageId>) -> Self {
        let mut evidence = Self::default();
        ids.into_iter().for_each(|id| evidence.add(id));
        evidence
    }

    pub(super) fn add(&mut self, id: MessageId) {
        if self.first.len() < Self::FIRST {
            self.first.push(id.number());
        }
        self.count += 1;
    }
}

impl Severity {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Med => "med",
            Self::High => "high",
        }
    }
}

impl Confidence {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

fn nanos<S: serde::Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// A small call and its reply, through a bus and back: what `diligence bench ping-pong` measures.
pub const CALL: Duration = Duration::from_micros(30);

/// A program that waits for messages is woken, reads one and waits again.
pub const WAKE_UP: Duration = Duration::from_micros(10);

/// A large message is copied four times on its way, about as fast as this.
pub const BYTES_PER_MICROSECOND: u64 = 1000;
