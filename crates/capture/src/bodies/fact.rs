//! Removes private data from facts.

use wire::match_rule::MatchRule;

use crate::introspection::Introspection;
use crate::record::{Excerpt, Fact, RecordedProcess};

/// The fact without data that programs chose; `None` if no data is left. Names stay, as do the
/// facts that the bus and the system report about connections and processes.
pub(super) fn redacted(fact: Fact) -> Option<Fact> {
    Some(match fact {
        Fact::Peer { unique, process } => Fact::Peer { unique, process: process.map(bare) },
        Fact::Bus { process } => Fact::Bus { process: bare(process) },
        Fact::Rule { ref rule, .. } if !tests_only_headers(rule) => return None,
        Fact::Introspection { name, path, xml } => {
            let xml = Introspection::parse(&xml).ok()?.outline();
            Fact::Introspection { name, path, xml }
        }
        // The body of an error message contains it too.
        Fact::Started { name, failure } => {
            Fact::Started { name, failure: failure.map(|text| masked(&text)) }
        }
        // The query may contain values from bodies.
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
        | Fact::Replaced { .. }
        | Fact::Late(_)
        | Fact::Ended { .. } => fact,
    })
}

/// A process without its arguments, which may contain passwords. Some programs put their whole
/// command line into the first argument.
fn bare(process: RecordedProcess) -> RecordedProcess {
    let program = process.command.first().and_then(|word| word.split_whitespace().next());
    let command = program.map(str::to_owned).into_iter().collect();
    RecordedProcess { command, ..process }
}

/// Returns true if a match rule is valid and compares no arguments.
fn tests_only_headers(rule: &str) -> bool {
    MatchRule::parse(rule).is_ok_and(|rule| rule.args().is_empty())
}

/// The match rule without its tests of arguments, which selects more messages; `redacted` if no
/// other test is left.
pub(super) fn without_arguments(rule: &str) -> String {
    let rule = MatchRule::parse(rule).map(|rule| rule.without_args().to_string());
    rule.ok().filter(|rule| !rule.is_empty()).unwrap_or_else(|| "redacted".to_owned())
}

fn masked(text: &str) -> String {
    "x".repeat(text.len())
}
