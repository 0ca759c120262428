//! Takes out of facts what may be somebody's business.

use wire::match_rule::MatchRule;

use crate::introspection::Introspection;
use crate::record::{Excerpt, Fact, Process};

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
fn bare(process: Process) -> Process {
    let program = process.command.first().and_then(|word| word.split_whitespace().next());
    let command = program.map(str::to_owned).into_iter().collect();
    Process { command, ..process }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn process(words: &[&str]) -> Process {
        let command = words.iter().map(|&word| word.to_owned()).collect();
        Process { pid: Some(7), command, ..Process::default() }
    }

    fn rule(rule: &str) -> Fact {
        Fact::Rule { unique: ":1.5".to_owned(), rule: rule.to_owned(), times: 1 }
    }

    fn described(xml: &str) -> Fact {
        let (name, path) = ("org.example.Mail".to_owned(), "/".to_owned());
        Fact::Introspection { name, path, xml: xml.to_owned() }
    }

    fn excerpt(query: &str) -> Fact {
        let query = query.to_owned();
        Fact::Excerpt(Excerpt { query, messages: 1, of: 7, ..Excerpt::default() })
    }

    fn started(failure: Option<&str>) -> Fact {
        Fact::Started { name: "org.example.Mail".to_owned(), failure: failure.map(str::to_owned) }
    }

    #[test]
    fn names_stay_and_words_go() {
        let peer = |words| Fact::Peer { unique: ":1.5".to_owned(), process: Some(process(words)) };
        let bus = |words| Fact::Bus { process: process(words) };
        for (fact, expected) in [
            (peer(&["/bin/mail", "--password", "x"]), Some(peer(&["/bin/mail"]))),
            (peer(&["/bin/mail --password x"]), Some(peer(&["/bin/mail"]))),
            (peer(&[]), Some(peer(&[]))),
            (bus(&["dbus-daemon", "--session"]), Some(bus(&["dbus-daemon"]))),
            (rule("type='signal'"), Some(rule("type='signal'"))),
            (rule("arg0='x'"), None),
            (rule("arg0contains='x'"), None),
            (
                described("<!-- x --><node><node name='x'/></node>"),
                Some(described("<node>\n</node>\n")),
            ),
            (described("x"), None),
            (excerpt("arg0:secret"), Some(excerpt(""))),
            (started(None), Some(started(None))),
            (started(Some("no such file")), Some(started(Some("xxxxxxxxxxxx")))),
        ] {
            assert_eq!(redacted(fact.clone()), expected, "{fact:?}");
        }
    }

    #[test]
    fn filters_are_widened() {
        for (filter, expected) in [
            ("type='signal',arg0='x',member='Came'", "type='signal',member='Came'"),
            ("arg0='x'", "redacted"),
            ("udp port 53", "redacted"),
        ] {
            assert_eq!(without_arguments(filter), expected);
        }
    }
}
