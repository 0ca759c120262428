//! Parsing of match rules on the command line.

use wire::match_rule::{MatchRule, MatchRuleError};

/// Checks the syntax of a match rule. The returned text is unchanged, and it is sent to the bus.
pub(crate) fn match_rule(text: &str) -> Result<String, MatchRuleError> {
    MatchRule::parse(text).map(|_| text.to_owned())
}
