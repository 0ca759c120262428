//! What a rule has found.

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::units;
use crate::model::{CapturedMessage, CapturedMessageId};

/// The number of a rule, which never changes: `L07`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LintRuleId(pub u8);

worded_enum! {
    /// How bad something is. [`Cost::severity`] measures it.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(rename = "Severity"))]
    #[serde(rename_all = "kebab-case")]
    pub enum FindingSeverity {
        /// Worth knowing; often intended.
        Info = "info",
        /// A small waste.
        Low = "low",
        /// A program waited for [`WAIT_MED`] or longer, wastes a noticeable part of a processor
        /// ([`WASTE_MED_PER_SECOND`]), or does something wrong without losing anything.
        Med = "med",
        /// A program waited for [`WAIT_HIGH`] or longer, or a message, an answer or a secret was lost.
        High = "high",
    }
}

worded_enum! {
    /// How sure it is.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Confidence {
        /// It looks like it; other explanations are as good.
        Low = "low",
        /// It is so unless the recording misses something.
        Medium = "medium",
        /// The messages prove it.
        High = "high",
    }
}

/// What a rule has found: who does what, and what that costs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub rule: LintRuleId,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// How sure it is.
    pub confidence: Confidence,
    /// Who does it.
    pub who: FindingParty,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "FindingParty"))]
pub struct FindingParty {
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// How long programs waited: the sum of all waits, which may overlap.
    #[serde(rename = "waited_ns", serialize_with = "nanos")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub waited: Duration,
    /// How many waits were added up.
    pub waits: u64,
    /// The longest of them; zero if it is unknown.
    #[serde(rename = "longest_wait_ns", serialize_with = "nanos")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub longest: Duration,
    /// Calls that need not be.
    pub calls: u64,
    /// Times that a program was woken for nothing.
    pub wake_ups: u64,
    /// Bytes that need not travel.
    pub bytes: u64,
}

/// Messages that show something.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The numbers of the first few, from 1.
    pub first: Vec<u64>,
    /// How many there are in all.
    pub count: u64,
}

impl fmt::Display for LintRuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{:02}", self.0)
    }
}

impl Serialize for LintRuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Finding {
    /// A finding about somebody, which does not say yet of which rule it is: [`LintRule::apply`] does, and raises
    /// the severity to that of the rule.
    ///
    /// [`LintRule::apply`]: super::rule::LintRule::apply
    pub(super) fn new(who: FindingParty) -> Self {
        Self {
            rule: LintRuleId(0),
            severity: FindingSeverity::Info,
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

    pub(super) fn shown_by(mut self, messages: &[CapturedMessage<'_>]) -> Self {
        self.evidence = Evidence::of(messages.iter().map(CapturedMessage::id));
        self
    }

    pub(super) fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence = evidence;
        self
    }

    pub(super) const fn severity(mut self, severity: FindingSeverity) -> Self {
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

    /// Narrows the query by another term.
    pub(super) fn selecting(mut self, term: impl AsRef<str>) -> Self {
        self.query += " ";
        self.query += term.as_ref();
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
        self.waited + self.waste()
    }

    /// How bad this is, in a recording of this length. A cost of nothing is [`FindingSeverity::Info`].
    pub fn severity(&self, recorded: Duration) -> FindingSeverity {
        let seconds = recorded.max(Duration::from_secs(1)).as_secs_f64();
        match self.longest {
            longest if longest >= WAIT_HIGH => FindingSeverity::High,
            longest if longest >= WAIT_MED => FindingSeverity::Med,
            _ if self.waste().div_f64(seconds) >= WASTE_MED_PER_SECOND => FindingSeverity::Med,
            _ if self.as_time().is_zero() => FindingSeverity::Info,
            _ => FindingSeverity::Low,
        }
    }

    /// What all but the waiting takes of a processor.
    fn waste(&self) -> Duration {
        let micros = self.calls * CALL.as_micros() as u64
            + self.wake_ups * WAKE_UP.as_micros() as u64
            + self.bytes / BYTES_PER_MICROSECOND;
        Duration::from_micros(micros)
    }

    /// That of calls with their replies, apart from the time that anybody waits for them.
    pub(super) fn of_calls<'c>(calls: impl IntoIterator<Item = &'c CapturedMessage<'c>>) -> Self {
        calls.into_iter().fold(Self::default(), |cost, call| Self {
            calls: cost.calls + 1,
            bytes: cost.bytes
                + u64::from(call.len())
                + call.partner().map_or(0, |reply| u64::from(reply.len())),
            ..cost
        })
    }

    /// That of signals: each wakes those who got it, of whom there is one at least.
    pub(super) fn of_signals<'c>(
        signals: impl IntoIterator<Item = &'c CapturedMessage<'c>>,
    ) -> Self {
        signals.into_iter().fold(Self::default(), |cost, signal| {
            let copies = signal.copies().map_or(1, |copies| copies.count() as u64);
            Self {
                wake_ups: cost.wake_ups + copies,
                bytes: cost.bytes + copies * u64::from(signal.len()),
                ..cost
            }
        })
    }

    pub(super) fn of_waiting<'c>(calls: impl IntoIterator<Item = &'c CapturedMessage<'c>>) -> Self {
        Self::of_waits(calls.into_iter().filter_map(CapturedMessage::duration))
    }

    pub(super) fn of_waits(waits: impl IntoIterator<Item = Duration>) -> Self {
        waits.into_iter().fold(Self::default(), |cost, wait| Self {
            waited: cost.waited + wait,
            waits: cost.waits + 1,
            longest: cost.longest.max(wait),
            ..cost
        })
    }

    pub(super) fn of_bytes<'c>(
        messages: impl IntoIterator<Item = &'c CapturedMessage<'c>>,
    ) -> Self {
        let bytes = messages.into_iter().map(|message| u64::from(message.len())).sum();
        Self { bytes, ..Self::default() }
    }
}

/// `2 s waited, 150 calls, 1.2 MiB`; the parts that are not zero.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = (!self.waited.is_zero()).then(|| self.waiting());
        let calls = (self.calls > 0).then(|| units::counted(self.calls, "call"));
        let wake_ups = (self.wake_ups > 0).then(|| units::counted(self.wake_ups, "wake-up"));
        let bytes = (self.bytes > 0).then(|| units::bytes(self.bytes));
        let parts: Vec<_> = [waited, calls, wake_ups, bytes].into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "nothing that shows" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

impl Cost {
    /// `2 s waited`, or `9 s waited, added up over 4 waits of at most 3 s`.
    fn waiting(&self) -> String {
        let waited = units::span(self.waited);
        match (self.waits, self.longest) {
            (0 | 1, _) => format!("{waited} waited"),
            (waits, Duration::ZERO) => format!("{waited} waited, added up over {waits} waits"),
            (waits, longest) => format!(
                "{waited} waited, added up over {} of at most {}",
                units::counted(waits, "wait"),
                units::span(longest)
            ),
        }
    }
}

impl Evidence {
    /// The number of messages that are named.
    pub const FIRST: usize = 3;

    pub(super) fn of(ids: impl IntoIterator<Item = CapturedMessageId>) -> Self {
        let mut evidence = Self::default();
        ids.into_iter().for_each(|id| evidence.add(id));
        evidence
    }

    pub(super) fn add(&mut self, id: CapturedMessageId) {
        if self.first.len() < Self::FIRST {
            self.first.push(id.number());
        }
        self.count += 1;
    }
}

fn nanos<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// From here on a wait is [`FindingSeverity::High`]: it interrupts what a person does.
pub const WAIT_HIGH: Duration = Duration::from_secs(1);

/// From here on a wait is [`FindingSeverity::Med`]: a person feels it.
pub const WAIT_MED: Duration = Duration::from_millis(100);

/// From here on a waste, for each second of the recording, is [`FindingSeverity::Med`]: 0.01 % of a
/// processor.
pub const WASTE_MED_PER_SECOND: Duration = Duration::from_micros(100);

/// A small call and its reply, through a bus and back: what `diligence bench ping-pong` measures.
pub const CALL: Duration = Duration::from_micros(30);

/// A program that waits for messages is woken, reads one and waits again.
pub const WAKE_UP: Duration = Duration::from_micros(10);

/// A large message is copied four times on its way, about as fast as this.
pub const BYTES_PER_MICROSECOND: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severity_is_decided_by_the_longest_wait_and_the_waste_per_second() {
        let millis = Duration::from_millis;
        let waits = |waits: &[u64]| Cost::of_waits(waits.iter().copied().map(millis));
        let calls = |calls| Cost { calls, ..Cost::default() };
        for (cost, recorded, expected) in [
            (Cost::default(), 1, FindingSeverity::Info),
            (waits(&[1000]), 1, FindingSeverity::High),
            (waits(&[999]), 1, FindingSeverity::Med),
            (waits(&[99; 1000]), 1, FindingSeverity::Low),
            (waits(&[100, 1]), 3600, FindingSeverity::Med),
            (calls(19), 22, FindingSeverity::Low),
            (calls(4), 0, FindingSeverity::Med),
            (calls(40), 10, FindingSeverity::Med),
            (calls(30), 10, FindingSeverity::Low),
        ] {
            assert_eq!(cost.severity(Duration::from_secs(recorded)), expected, "{cost:?}");
        }
    }

    #[test]
    fn waits_that_are_added_up_are_said_to_be() {
        let waits = |waits: &[u64]| Cost::of_waits(waits.iter().copied().map(Duration::from_secs));
        assert_eq!(waits(&[22]).to_string(), "22 s waited");
        let expected = "31 min 19 s waited, added up over 129 waits of at most 22 s";
        let mut all = vec![15; 123];
        all.extend([22, 2, 3, 3, 2, 2]);
        assert_eq!(waits(&all).to_string(), expected);
    }
}
