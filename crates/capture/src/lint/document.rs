//! The generated documentation of the rules.

use std::fmt::Write as _;

use super::finding::{BYTES_PER_MICROSECOND, CALL, WAKE_UP};
use super::finding::{WAIT_HIGH, WAIT_MED, WASTE_MED_PER_SECOND};
use super::rule::{LintRule, Needs, RemovedRule, Threshold};
use super::units;

/// Returns the documentation of all rules as Markdown. docs/lint.md is a copy of it.
pub fn document() -> String {
    let measure = format!(
        "A cost is the sum of all waits of programs and of the wasted processor time: {} for a \
         call, {} for a wake-up, and a microsecond for {BYTES_PER_MICROSECOND} bytes. Waits of \
         several programs may overlap, so their sum may be longer than the recording.",
        units::span(CALL),
        units::span(WAKE_UP)
    );
    let severities = format!(
        "The severity follows from the cost, unless the table of rules names another one:\n\n\
         | severity | meaning |\n\
         | --- | --- |\n\
         | high | a program waited for {} or longer at a time, or a message, a reply or a secret \
         was lost |\n\
         | med | a program waited for {} or longer at a time, wasted {} or more of a processor in \
         each second of the recording, or made a mistake that lost nothing |\n\
         | low | a smaller cost |\n\
         | info | a fact that may be intended |\n",
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
    for RemovedRule { id, title, reason } in LintRule::removed() {
        let _ = writeln!(text, "| {id} | {title} | {reason} |");
    }
    text
}

fn section(text: &mut String, rule: &LintRule) {
    let _ = write!(text, "\n## {} {}\n\n", rule.id, rule.title);
    let _ = write!(text, "{}\n\n", folded(rule.meaning));
    for threshold in rule.thresholds {
        let _ = writeln!(text, "- {}", line(threshold));
    }
    let _ = write!(text, "\n{}\n\n", folded(&format!("**Example:** {}", rule.example)));
    let _ = write!(text, "{}\n\n", folded(&format!("**What to do:** {}", rule.advice)));
    let _ = writeln!(text, "{}", requirements(rule));
}

/// Returns the documentation of one rule for a terminal.
pub fn explain(rule: &LintRule) -> String {
    let mut text = format!("{} {}\n\n{}\n\n", rule.id, rule.title, folded(rule.meaning));
    text.push_str("Thresholds:\n");
    for threshold in rule.thresholds {
        let _ = writeln!(text, "  - {}", line(threshold));
    }
    let _ = write!(text, "\nExample:\n{}\n", folded(rule.example));
    let _ = write!(text, "\nWhat to do:\n{}\n\n", folded(rule.advice));
    let _ = writeln!(text, "{}", requirements(rule));
    text
}

/// The severity of a rule, and the recording that it needs.
fn requirements(rule: &LintRule) -> String {
    let severity = rule.rating.as_str();
    match rule.needs {
        Needs::Messages => format!("Severity: {severity}."),
        needs => format!("Severity: {severity}. Needs {}.", needs.as_str()),
    }
}

fn line(threshold: &Threshold) -> String {
    format!("{}: {} ({})", threshold.quantity, threshold.from, threshold.source)
}

/// Wraps a text to lines of at most [`WIDTH`] characters.
fn folded(text: &str) -> String {
    crate::text::columns::folded(text, WIDTH).join("\n")
}

const WIDTH: usize = 98;

const HEAD: &str = "\
# The rules of `diligence lint`

This page is generated from the rules; `diligence lint --explain L12` prints the section of one rule.

`diligence lint FILE` reads a recording and reports problems in how programs use D-Bus. Each finding names
the program, the cost, the first messages that show the problem, advice, and a command that shows
whether a change has helped. If the recording itself is incomplete, this finding (L50) comes first, because
other findings may be wrong. The others are sorted by severity, and within a severity by cost, in the
terminal and on the page. The first ten findings contain at most three of one rule; `--all` shows all
findings.

";

const USE: &str = "
## In continuous integration

```sh
diligence lint --baseline known.lint --fail-on med run.pcap
```

The exit status is 1 if there is a finding of this severity or a worse one that is not in the baseline. The
baseline is a text file with one line for each known finding: the rule, the program and the subject.
`--update-baseline` writes it. `*` matches any program or any subject. Lines that match no finding are
reported, so that you can remove them.

## On a live bus

`diligence lint --live` applies the same rules to the last messages of a running bus, at least the last
100,000, or the last 32 MiB of them. It records nothing, so the findings have no message numbers and no
commands to check a change. On a bus other than Diligence, the rules about match rules know only the match
rules that are added while it listens; on a busy bus, after some time, they know only the recent ones.

## Limitations

- L41 reports only limits that were reached. Only the bus itself knows how close a program is to a limit: see
  `diligence status`, or GetConnectionStats of dbus-daemon.
- L38 shows that a service started slowly, but not what the service or its unit did meanwhile. The journal has
  that, and it is not recorded.
- L28, L29 and L30 need the recipients of a signal: from the trace of Diligence, or from the match rules of all
  connections, which a bus reveals only to its owner and to root.
- L54 follows chains of services that need each other by the times when connections were made, sent calls and closed.
  No message shows which connection belongs to a service that did not acquire its name. If several connections are
  possible, L54 reports the service itself.
- dbus-broker has no timeout for a start. There, a service that hangs is reported when its caller has
  disconnected.
- L51 needs `record --switches`, and a kernel that lets the recorder observe the process of the bus. It detects a bus
  that lost its processor while it was working. No recording shows how long a sleeping bus waited to be woken.
- Where bodies were redacted (`record --redact`) or cut (`--kept`), rules that need the content of a message ignore
  it; L50 lists these rules. L12 then checks only calls without arguments.
- Messages with cut headers are not checked. No rule concludes that a reply, a call or a match rule is missing if it
  may be among them; L50 reports their number.
- L36 groups connections by the name of their program, or by their process if the name is unknown. If neither was
  recorded, the connections are reported together, with low confidence.
- Connections of tools are not checked: connections that made the recording, became monitors, or read the
  statistics or the trace of the bus, and all other connections of their processes.
- L06 considers that a program reacted to a signal if it sends a message soon after. A program that only draws or
  writes a file seems idle, so the confidence of L06 is low.

## The rules

The list below the description of a rule has its thresholds: a finding needs at least these values, or at most the
values with \"at most\". The source of each value is in parentheses; \"our choice\" means that we chose it from recordings.
Each rule has an example of a real program that triggers it. A rule that no real program has triggered is
[removed](#removed-rules). Unless an example names a public report, we recorded it. Most recordings are of desktop
sessions of Debian 12, from their start, and of tools in them; `scripts/record-sessions` makes them again. Newer
versions of these programs may behave better.

| rule | problem | severity |
| --- | --- | --- |
";

const REMOVED: &str = "
## Removed rules

The ids of removed rules are not used again. A line of a baseline for a removed rule is reported as a line that
matches no finding.

| rule | problem | reason for the removal |
| --- | --- | --- |
";
