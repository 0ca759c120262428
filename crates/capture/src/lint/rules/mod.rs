//! The rules, one file each, named by what they find.

mod prelude;

mod asking_each_object;
mod broad_match_rules;
mod broadcasts_to_one;
mod calls_lost_to_leaving;
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
mod managed_objects_again;
mod many_pending_calls;
mod misplaced_replies;
mod mutual_calls;
mod name_checks_before_calls;
mod objects_at_the_root;
mod polling;
mod probing;
mod queues_in_services;
mod reached_limits;
mod repeated_calls;
mod serial_calls;
mod shell_callers;
mod signal_floods;
mod slow_methods;
mod split_changes;
mod starved_bus;
mod synchronous_stalls;
mod talking_to_the_bus;
mod timeouts;
mod unanswered_calls;
mod unchanged_properties;
mod unheard_signals;
mod unwanted_replies;
mod wasted_wake_ups;
mod watching_all_names;

use std::str::FromStr;

use super::finding::LintRuleId;
use super::rule::{LintRule, RemovedRule};

impl LintRule {
    /// All rules, by their numbers.
    pub const fn all() -> &'static [Self] {
        &ALL
    }

    /// The rules that earlier versions had, by their numbers.
    pub const fn removed() -> &'static [RemovedRule] {
        &REMOVED
    }

    /// The rule with this number.
    pub fn find(id: LintRuleId) -> Option<&'static Self> {
        Self::all().iter().find(|rule| rule.id == id)
    }
}

/// All rules, by their numbers. The number of a removed rule is not used again.
const ALL: [LintRule; 46] = [
    duplicate_match_rules::RULE,
    leaked_match_rules::RULE,
    broad_match_rules::RULE,
    watching_all_names::RULE,
    idle_match_rules::RULE,
    wasted_wake_ups::RULE,
    get_instead_of_get_all::RULE,
    asking_each_object::RULE,
    managed_objects_again::RULE,
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
    unheard_signals::RULE,
    broadcasts_to_one::RULE,
    large_audiences::RULE,
    introspection_spam::RULE,
    name_checks_before_calls::RULE,
    talking_to_the_bus::RULE,
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

/// Rules that earlier versions had, by their numbers.
const REMOVED: [RemovedRule; 8] = [
    RemovedRule {
        id: LintRuleId(18),
        title: "waiting for a name by asking for it",
        why: "merged into L16. In our recordings, programs that ask for a missing name again and \
              again also watch the name, because their library does",
    },
    RemovedRule {
        id: LintRuleId(27),
        title: "loops of Set and PropertiesChanged",
        why: "no recording showed it",
    },
    RemovedRule {
        id: LintRuleId(35),
        title: "many descriptors in one message",
        why: "no recording had a message with more than a few descriptors; a bus refuses a message \
              with too many",
    },
    RemovedRule {
        id: LintRuleId(44),
        title: "reading back what was just set",
        why: "no recording showed it; L11 reports a property that is read again and again",
    },
    RemovedRule {
        id: LintRuleId(46),
        title: "calls without an interface",
        why: "no program of the recordings made such calls repeatedly; the specification allows them",
    },
    RemovedRule {
        id: LintRuleId(48),
        title: "secrets in broadcasts",
        why: "no recording showed it, and no public report of such a program was found",
    },
    RemovedRule {
        id: LintRuleId(52),
        title: "a call after every signal",
        why: "it was found only where the call before had caused the signal, as with Orca and \
              at-spi2-registryd, which L10 reports",
    },
    RemovedRule {
        id: LintRuleId(53),
        title: "everybody asks who has come",
        why: "it was found only where recorders themselves asked; L33 reports programs that ask the \
              bus too much",
    },
];

/// Why a text is not the id of a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RuleIdError {
    /// The text does not have the form of an id.
    #[error("\"{found}\" is not the number of a rule; they are written L01 to L53")]
    NotAnId {
        /// The text.
        found: String,
    },
    /// No rule has this number.
    #[error("there is no rule {0}; docs/lint.md has them all")]
    NoSuchRule(LintRuleId),
    /// Earlier versions had a rule with this number.
    #[error("the rule {0} was removed; docs/lint.md says why")]
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
