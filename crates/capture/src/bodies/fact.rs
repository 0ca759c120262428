//! Takes out of facts what may be somebody's business.

use wire::match_rule::MatchRule;

use crate::introspection::Introspection;
use crate::record::{Excerpt, Fact, RecordedProcess};

/// A fact without what somebody has said; `None` if nothing is left of it. Names stay, and what the
/// bus and the system say of connections and processes.
pub(super) fn redacted(fact: Fact) -> Option<Fact> {
    Some(match fact {
        Fact::Peer { unique, process } => Fact::Peer { unique, process: process.map(bare) },
        Fact::Bus { process } => Fact::Bus { process: bare(process) },
        Fact::Rule { ref rule, .. } if !asks_for_headers(rule) => return None,
        Fact::Introspection { name, path, xml } => {
            let xml = Introspection::parse(&xml).ok()?.outline();
            Fact::Introspection { name, path, xml }
        }
        // It stands in the body of an error too.
        Fact::Started { name, failure } => {
            Fact::Started { name, failure: failure.map(|text| crossed_out(&text)) }
        }
        // The query may name what bodies say.
        Fact::Excerpt(excerpt) => Fact::Excerpt(Excerpt { query: String::new(), ..excerpt }),
        Fact::Totals(_)
        | Fact::Ran(_)
        | Fact::Unwatched { .. }
        | Fact::Recorder { .. }
        | Fact::Left { .. }
        | Fact::Owner { .. }
        | Fact::OwnerChanged { .. }
        | Fact::Activatable { .. }
        | Fact::Rule { .. }
        | Fact::Starting { .. }
        | Fact::Dropped { .. }
        | Fact::Late(_)
        | Fact::Ended { .. } => fact,
    })
}

/// A process without its arguments, which are passwords sometimes. Some programs put all of their
/// command line into its first word.
fn bare(process: RecordedProcess) -> RecordedProcess {
    let program = process.command.first().and_then(|word| word.split_whitespace().next());
    let command = program.map(str::to_owned).into_iter().collect();
    RecordedProcess { command, ..process }
}

/// Whether a rule is one, and looks at nothing that bodies say.
fn asks_for_headers(rule: &str) -> bool {
    MatchRule::parse(rule).is_ok_and(|rule| rule.args().is_empty())
}

/// A rule that asks for no arguments, and that each message obeys that obeys this one; `redacted` if
/// there is nothing else that it asks for.
pub(super) fn without_arguments(rule: &str) -> String {
    let rule = MatchRule::parse(rule).map(|rule| rule.without_args().to_string());
    rule.ok().filter(|rule| !rule.is_empty()).unwrap_or_else(|| "redacted".to_owned())
}

fn crossed_out(text: &str) -> String {
    "x".repeat(text.len())
}
