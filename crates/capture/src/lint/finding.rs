//! Findings: their severity, confidence, cost and evidence.

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::units;
use crate::model::{CapturedMessage, CapturedMessageId};

/// The id of a lint rule, which never changes. It is displayed like `L07`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LintRuleId(pub u8);

worded_enum! {
    /// The severity of a finding. [`Cost::severity`] derives it from the cost.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(rename = "Severity"))]
    #[serde(rename_all = "kebab-case")]
    pub enum FindingSeverity {
        /// A fact that may be intended.
        Info = "info",
        /// A cost below the other levels.
        Low = "low",
        /// A program waited for [`WAIT_MED`] or longer, wasted [`WASTE_MED_PER_SECOND`] or more of
        /// a processor, or made a mistake that lost nothing.
        Med = "med",
        /// A program waited for [`WAIT_HIGH`] or longer, or a message, a reply or a secret was
        /// lost.
        High = "high",
    }
}

worded_enum! {
    /// The confidence of a rule in its finding.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Confidence {
        /// The messages suggest it, but other explanations are equally likely.
        Low = "low",
        /// It is true unless the recording lacks messages.
        Medium = "medium",
        /// The messages prove it.
        High = "high",
    }
}

/// A problem that a rule found: the responsible party, the cost and the evidence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule that found the problem.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub rule: LintRuleId,
    /// The severity, from the cost or fixed by the rule.
    pub severity: FindingSeverity,
    /// The confidence of the rule.
    pub confidence: Confidence,
    /// The program, name or service that causes the problem.
    #[serde(rename = "who")]
    pub party: FindingParty,
    /// The subject in a form that is the same in every recording, such as a member or a name.
    pub subject: String,
    /// A predicate about the party that describes the problem: "calls X every 200 ms, 150 times".
    pub says: String,
    /// The cost, as far as the recording shows it.
    pub cost: Cost,
    /// The messages that show the problem.
    pub evidence: Evidence,
    /// A query for the affected messages, to check whether a change has helped; empty if there is
    /// none.
    pub query: String,
}

/// The program, name or service that a finding is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "FindingParty"))]
pub struct FindingParty {
    /// The name to display for this recording.
    pub label: String,
    /// The name that is the same in every recording: a well-known name or a program; `-` if only
    /// the unique name is known.
    pub stable: String,
    /// The program and its process id, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The systemd unit, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// The cost of a problem. [`Cost::as_time`] converts its parts to one measure.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// The sum of the waits of all programs, which may overlap.
    #[serde(rename = "waited_ns", serialize_with = "nanos")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub waited: Duration,
    /// The number of waits in the sum.
    pub waits: u64,
    /// The longest wait; zero if it is unknown.
    #[serde(rename = "longest_wait_ns", serialize_with = "nanos")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub longest: Duration,
    /// The number of unnecessary calls.
    pub calls: u64,
    /// The number of unnecessary wake-ups of programs.
    pub wake_ups: u64,
    /// The number of bytes that were transferred unnecessarily.
    pub bytes: u64,
}

/// The messages that show a problem.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The numbers of the first messages, at most [`Evidence::FIRST`], starting at 1.
    pub first: Vec<u64>,
    /// The total number of messages.
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
    /// Creates a finding without a rule. [`LintRule::apply`] sets the rule and raises the severity
    /// to the rule's minimum.
    ///
    /// [`LintRule::apply`]: super::rule::LintRule::apply
    pub(super) fn new(party: FindingParty) -> Self {
        Self {
            rule: LintRuleId(0),
            severity: FindingSeverity::Info,
            confidence: Confidence::High,
            party,
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

    /// Adds another term to the query, which narrows it.
    pub(super) fn selecting(mut self, term: impl AsRef<str>) -> Self {
        self.query += " ";
        self.query += term.as_ref();
        self
    }

    /// Returns the command that shows whether a change has helped, if the finding has a query.
    pub fn check_command(&self, file: &str) -> Option<String> {
        (!self.query.is_empty()).then(|| format!("diligence stats {file} '{}'", self.query))
    }
}

impl Cost {
    /// The total cost as a time: the waits plus the processor time of the rest, at [`CALL`] for
    /// each call, [`WAKE_UP`] for each wake-up and a microsecond for each
    /// [`BYTES_PER_MICROSECOND`].
    pub fn as_time(&self) -> Duration {
        self.waited + self.waste()
    }

    /// The severity of this cost in a recording of this length; [`FindingSeverity::Info`] without
    /// any cost.
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

    /// The processor time of everything except the waits.
    fn waste(&self) -> Duration {
        let micros = self.calls * CALL.as_micros() as u64
            + self.wake_ups * WAKE_UP.as_micros() as u64
            + self.bytes / BYTES_PER_MICROSECOND;
        Duration::from_micros(micros)
    }

    /// The cost of calls with their replies, without the time that callers wait.
    pub(super) fn of_calls<'c>(calls: impl IntoIterator<Item = &'c CapturedMessage<'c>>) -> Self {
        calls.into_iter().fold(Self::default(), |cost, call| Self {
            calls: cost.calls + 1,
            bytes: cost.bytes
                + u64::from(call.len())
                + call.partner().map_or(0, |reply| u64::from(reply.len())),
            ..cost
        })
    }

    /// The cost of signals. Each wakes its recipients; if they are unknown, one is assumed.
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

/// Prints the parts that are not zero, like `2 s waited, 150 calls, 1.2 MiB`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = (!self.waited.is_zero()).then(|| self.waiting());
        let calls = (self.calls > 0).then(|| units::counted(self.calls, "call"));
        let wake_ups = (self.wake_ups > 0).then(|| units::counted(self.wake_ups, "wake-up"));
        let bytes = (self.bytes > 0).then(|| units::bytes(self.bytes));
        let parts: Vec<_> = [waited, calls, wake_ups, bytes].into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "no measurable cost" } else { "" })?;
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
    /// The number of messages that a finding names.
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

/// The wait from which a finding has the severity [`FindingSeverity::High`]: it interrupts the
/// user's work.
pub const WAIT_HIGH: Duration = Duration::from_secs(1);

/// The wait from which a finding has the severity [`FindingSeverity::Med`]: the user notices it.
pub const WAIT_MED: Duration = Duration::from_millis(100);

/// The wasted processor time, for each second of the recording, from which a finding has the
/// severity
/// [`FindingSeverity::Med`]: 0.01 % of a processor.
pub const WASTE_MED_PER_SECOND: Duration = Duration::from_micros(100);

/// The processor time of a small call and its reply over a bus, as `diligence bench ping-pong`
/// measures it.
pub const CALL: Duration = Duration::from_micros(30);

/// The processor time to wake a program, let it read one message and wait again.
pub const WAKE_UP: Duration = Duration::from_micros(10);

/// The rate at which a large message is transferred, which includes four copies.
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
    fn costs_of_several_waits_state_the_sum_and_the_longest_wait() {
        let waits = |waits: &[u64]| Cost::of_waits(waits.iter().copied().map(Duration::from_secs));
        assert_eq!(waits(&[22]).to_string(), "22 s waited");
        let expected = "31 min 19 s waited, added up over 129 waits of at most 22 s";
        let mut all = vec![15; 123];
        all.extend([22, 2, 3, 3, 2, 2]);
        assert_eq!(waits(&all).to_string(), expected);
    }
}
