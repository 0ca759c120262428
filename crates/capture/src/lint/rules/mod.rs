//! The rules, one file each, named after the problem.

mod prelude;

mod broad_match_rules;
mod broadcasts_to_one;
mod calls_lost_to_leaving;
mod calls_to_the_bus;
mod completion_signals;
mod connection_churn;
mod doubled_change_signals;
mod duplicate_match_rules;
mod error_storms;
mod failed_starts;
mod get_instead_of_get_all;
mod idle_match_rules;
mod incomplete_recording;
mod introspection_spam;
mod invalidate_then_get;
mod large_audiences;
mod large_messages;
mod late_names;
mod late_services;
mod leaked_match_rules;
mod many_pending_calls;
mod misplaced_replies;
mod mutual_calls;
mod name_checks_before_calls;
mod objects_at_the_root;
mod one_call_per_object;
mod polling;
mod probing;
mod queues_in_services;
mod reached_limits;
mod repeated_calls;
mod repeated_get_managed_objects;
mod serial_calls;
mod shell_callers;
mod signal_floods;
mod signals_without_recipients;
mod slow_methods;
mod split_changes;
mod starved_bus;
mod synchronous_stalls;
mod timeouts;
mod unanswered_calls;
mod unchanged_properties;
mod unwanted_replies;
mod wasted_wake_ups;
mod watching_all_names;

use std::str::FromStr;

use super::finding::LintRuleId;
use super::rule::{LintRule, RemovedRule};

impl LintRule {
    /// Returns all rules, sorted by id.
    pub const fn all() -> &'static [Self] {
        &ALL
    }

    /// Returns the rules of earlier versions, sorted by id.
    pub const fn removed() -> &'static [RemovedRule] {
        &REMOVED
    }

    /// Returns the rule with this id.
    pub fn find(id: LintRuleId) -> Option<&'static Self> {
        Self::all().iter().find(|rule| rule.id == id)
    }
}

/// All rules, sorted by id. The id of a removed rule is not used again.
const ALL: [LintRule; 46] = [
    duplicate_match_rules::RULE,
    leaked_match_rules::RULE,
    broad_match_rules::RULE,
    watching_all_names::RULE,
    idle_match_rules::RULE,
    wasted_wake_ups::RULE,
    get_instead_of_get_all::RULE,
    one_call_per_object::RULE,
    repeated_get_managed_objects::RULE,
    serial_calls::RULE,
    repeated_calls::RULE,
    polling::RULE,
    unanswered_calls::RULE,
    calls_lost_to_leaving::RULE,
    timeouts::RULE,
    error_storms::RULE,
    probing::RULE,
    slow_methods::RULE,
    synchronous_stalls::RULE,
    mutual_calls::RULE,
    signal_floods::RULE,
    unchanged_properties::RULE,
    split_changes::RULE,
    invalidate_then_get::RULE,
    doubled_change_signals::RULE,
    signals_without_recipients::RULE,
    broadcasts_to_one::RULE,
    large_audiences::RULE,
    introspection_spam::RULE,
    name_checks_before_calls::RULE,
    calls_to_the_bus::RULE,
    large_messages::RULE,
    connection_churn::RULE,
    shell_callers::RULE,
    late_services::RULE,
    late_names::RULE,
    queues_in_services::RULE,
    reached_limits::RULE,
    many_pending_calls::RULE,
    unwanted_replies::RULE,
    completion_signals::RULE,
    objects_at_the_root::RULE,
    misplaced_replies::RULE,
    incomplete_recording::RULE,
    starved_bus::RULE,
    failed_starts::RULE,
];

/// The rules of earlier versions, sorted by id.
const REMOVED: [RemovedRule; 8] = [
    RemovedRule {
        id: LintRuleId(18),
        title: "waiting for a name by polling",
        reason: "merged into L16. In our recordings, programs that look up a missing name repeatedly \
              also watch the name, because their library does",
    },
    RemovedRule {
        id: LintRuleId(27),
        title: "loops of Set and PropertiesChanged",
        reason: "no recording showed it",
    },
    RemovedRule {
        id: LintRuleId(35),
        title: "many file descriptors in one message",
        reason: "no recording had a message with more than a few file descriptors; a bus refuses a \
              message with too many",
    },
    RemovedRule {
        id: LintRuleId(44),
        title: "reading a property right after setting it",
        reason: "no recording showed it; L11 reports a property that is read repeatedly",
    },
    RemovedRule {
        id: LintRuleId(46),
        title: "calls without an interface",
        reason: "no recorded program made such calls repeatedly, and the specification allows them",
    },
    RemovedRule {
        id: LintRuleId(48),
        title: "secrets in broadcasts",
        reason: "no recording showed it, and no public report of such a program was found",
    },
    RemovedRule {
        id: LintRuleId(52),
        title: "a call after every signal",
        reason: "it was found only where a previous call had caused the signal, as with Orca and \
              at-spi2-registryd; L10 reports such sequences",
    },
    RemovedRule {
        id: LintRuleId(53),
        title: "many programs look up a new connection",
        reason: "it was found only where recorders caused it; L33 reports programs that call the bus \
              too often",
    },
];

/// The reason why a text is not the id of a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RuleIdError {
    /// The text does not have the form of an id.
    #[error("\"{found}\" is not the id of a rule; ids look like L01")]
    NotAnId {
        /// The text that was rejected.
        found: String,
    },
    /// No rule has this id.
    #[error("there is no rule {0}; docs/lint.md lists all rules")]
    NoSuchRule(LintRuleId),
    /// A rule of earlier versions had this id.
    #[error("rule {0} was removed; docs/lint.md states the reason")]
    Removed(LintRuleId),
}

impl FromStr for LintRuleId {
    type Err = RuleIdError;

    fn from_str(text: &str) -> Result<Self, RuleIdError> {
        let digits = text.strip_prefix(['L', 'l']);
        let number = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|digits| digits.parse().ok());
        let id = Self(number.ok_or_else(|| RuleIdError::NotAnId { found: text.to_owned() })?);
        let was_removed = || LintRule::removed().iter().any(|removed| removed.id == id);
        match LintRule::find(id) {
            Some(_) => Ok(id),
            None if was_removed() => Err(RuleIdError::Removed(id)),
            None => Err(RuleIdError::NoSuchRule(id)),
        }
    }
}
