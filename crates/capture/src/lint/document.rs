//! The rules as a document for people.

use std::fmt::Write as _;

use super::finding::{BYTES_PER_MICROSECOND, CALL, WAKE_UP};
use super::finding::{WAIT_HIGH, WAIT_MED, WASTE_MED_PER_SECOND};
use super::rule::{LintRule, RemovedRule, Threshold};
use super::units;

/// The document about all rules, as Markdown.
pub fn document() -> String {
    let measure = format!(
        "A cost is the time that programs waited, added up over all waits, and the processor time \
         that was wasted: {} for a call, {} for a wake-up, and a microsecond for \
         {BYTES_PER_MICROSECOND} bytes. Waits of several programs may overlap, so their sum may be \
         longer than the recording.",
        units::span(CALL),
        units::span(WAKE_UP)
    );
    let severities = format!(
        "The severity follows from the cost, unless the table of rules says otherwise:\n\n\
         | severity | means |\n\
         | --- | --- |\n\
         | high | a program waited for {} or longer at a time, or a message, an answer or a secret \
         was lost |\n\
         | med | a program waited for {} or longer at a time, wasted {} or more of a processor in \
         each second of the recording, or did something wrong without losing anything |\n\
         | low | a smaller waste |\n\
         | info | worth knowing; often intended |\n",
        units::span(WAIT_HIGH),
        units::span(WAIT_MED),
        units::span(WASTE_MED_PER_SECOND)
    );
    let mut text = format!("{HEAD}{}\n\n{severities}{USE}", folded(&measure));
    for rule in LintRule::all() {
        let line = rule.title.replace(' ', "-");
        let anchor = format!("{}-{line}", rule.id).to_lowercase();
        let _ = writeln!(
            text,
            "| [{}](#{anchor}) | {} | {} |",
            rule.id,
            rule.title,
            rule.rating.as_str()
        );
    }
    for rule in LintRule::all() {
        section(&mut text, rule);
    }
    text.push_str(REMOVED);
    for RemovedRule { id, title, why } in LintRule::removed() {
        let _ = writeln!(text, "| {id} | {title} | {why} |");
    }
    text
}

fn section(text: &mut String, rule: &LintRule) {
    let _ = write!(text, "\n## {} {}\n\n", rule.id, rule.title);
    let _ = write!(text, "{}\n\n", folded(rule.meaning));
    for threshold in rule.thresholds {
        let _ = writeln!(text, "- {}", line(threshold));
    }
    let _ = write!(text, "\n{}\n\n", folded(&format!("**Seen:** {}", rule.seen)));
    let _ = write!(text, "{}\n\n", folded(&format!("**What to do:** {}", rule.advice)));
    let _ = writeln!(text, "Severity {}; needs {}.", rule.rating.as_str(), rule.needs.as_str());
}

/// What one rule means, for a terminal.
pub fn explain(rule: &LintRule) -> String {
    let mut text = format!("{} {}\n\n{}\n\n", rule.id, rule.title, folded(rule.meaning));
    text.push_str("Reported from these limits on:\n");
    for threshold in rule.thresholds {
        let _ = writeln!(text, "  - {}", line(threshold));
    }
    let _ = write!(text, "\nSeen:\n{}\n", folded(rule.seen));
    let _ = write!(text, "\nWhat to do:\n{}\n\n", folded(rule.advice));
    let _ = writeln!(text, "Severity {}; needs {}.", rule.rating.as_str(), rule.needs.as_str());
    text
}

fn line(threshold: &Threshold) -> String {
    format!("{}: {} ({})", threshold.what, threshold.from, threshold.source)
}

/// A text in lines of at most [`WIDTH`].
fn folded(text: &str) -> String {
    crate::text::columns::folded(text, WIDTH).join("\n")
}

const WIDTH: usize = 98;

const HEAD: &str = "\
# What `diligence lint` finds

This page is made from the rules themselves; `diligence lint --explain L12` prints a part of it.

`diligence lint FILE` reads a recording and reports what is wrong with how programs talk: which
program does it, what it costs, the first messages that show it, what to do, and the command that shows
whether a change has helped. That the recording itself is incomplete (L50) comes first, since other
findings may be wrong because of it. The others are sorted by severity, and within a severity by cost,
in the terminal and on the page. At most three findings of one rule are among the first ten, so that
others can be seen; `--all` shows all.

";

const USE: &str = "
## In continuous integration

```sh
diligence lint --baseline known.lint --fail-on med run.pcap
```

The exit status is 1 if there is a finding of that severity or worse that is not in the baseline, a
text with one line for each finding that is known. `--update-baseline` writes it; `*` in it stands for
anybody or anything. Lines that were for no finding are reported, so that they can be removed.

## On a bus that is used

`diligence lint --live` applies the same rules to the last messages of a bus: the last 100,000 at least.
Nothing is recorded, so there are no numbers of messages and no commands to check. On a bus of another
kind the rules about match rules know those that are set while it listens and, of busy buses, after some
time no others.

## What stays silent

- L41 tells of limits that were reached. How near to a limit a program is, its bus knows alone:
  `diligence status`, and GetConnectionStats of the reference.
- L38 sees that a service started slowly, and not what it or its unit did meanwhile: that is in the
  journal, which is not recorded.
- L28, L29 and L30 need to know who got a signal: the trace of this bus, or the match rules of all, which
  a bus tells its owner or root only.
- L54 follows a chain of services that need each other by when connections came, called and left: of a
  service that did not take its name, no message says which connection it has. If several connections may
  be it, the service itself is reported.
- dbus-broker has no time limit for a start. A service that hangs is reported there when its caller has
  left.
- L51 needs `record --switches`, and a kernel that lets the recorder see the process of the bus. It sees a
  bus that lost its processor while it was at work; how long one that slept waited to be woken, no
  recording shows.
- Where bodies were redacted (`record --redact`) or cut (`--kept`), no rule takes what is left for what
  the message said; L50 names the rules that cannot judge it. L12 judges only calls without arguments
  then.
- Where headers are cut, these messages are not judged, and no rule takes a reply, a call or a match rule
  for missing that may be one of them; L50 says how many there are.
- L36 groups connections by the name of their program, or by their process if the name is unknown. Connections of
  which neither is recorded are reported together, with low confidence.
- Instruments are left out: connections that made the recording, became monitors, or read the statistics
  or the trace of the bus, and all other connections of their processes.
- Whether a program does anything about a signal (L06) is judged by what it sends soon after. One that
  draws or writes a file looks idle; so that finding is of low confidence.

## The rules

Each rule names a case in which a real program did what the rule finds; a rule that no real program has
ever triggered [is removed](#rules-that-were-removed). Unless a case names a public report, we recorded it.
Most recordings are of sessions of the desktops of Debian 12, from their start on, and of tools in them:
`scripts/record-sessions` makes them again. Newer versions of these programs may behave better.

| rule | finds | severity |
| --- | --- | --- |
";

const REMOVED: &str = "
## Rules that were removed

Their numbers are not used again. A line of a baseline for one of them is reported as a line that is for no
finding.

| rule | found | why it was removed |
| --- | --- | --- |
";
