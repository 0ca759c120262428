//! Match rules on the command line.

use wire::match_rule::{MatchRule, MatchRuleError};

/// Reads a match rule, which goes to the bus as it was written.
pub(crate) fn match_rule(text: &str) -> Result<String, MatchRuleError> {
    MatchRule::parse(text).map(|_| text.to_owned())
}
