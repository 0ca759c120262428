//! Reports as text: one line for each finding, then the details.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Report, ReportSource};
use crate::lint::finding::{Finding, FindingParty, FindingSeverity, LintRuleId};
use crate::lint::rule::LintRule;
use crate::lint::units;
use crate::text::Style;
use crate::text::columns::{Fit, cells, fit, folded};
use crate::text::visible::printable;

/// The part of the findings that a report shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// The first [`SHOWN`] findings; of the others, the number for each rule.
    First,
    /// All findings in detail.
    All,
}

/// Formats a report as text.
pub fn to_text(report: &Report, extent: Extent, style: Style) -> String {
    let style = Style { width: style.width.max(WIDTH_MIN), ..style };
    let mut text = ReportText { out: String::new(), width: style.width, style };
    text.head(report);
    let (first, rest) = match extent {
        Extent::First => first(&report.findings),
        Extent::All => (report.findings.iter().collect(), Vec::new()),
    };
    text.summary(&first);
    text.rest(&rest);
    text.details(&first, report);
    if let ReportSource::Bus(_) = report.source {
        text.paragraph("", NOT_OF_A_BUS);
    }
    text.out
}

/// Splits findings into those shown and the rest, so that one rule does not hide the others.
fn first(findings: &[Finding]) -> (Vec<&Finding>, Vec<&Finding>) {
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for finding in findings {
        let same = first.iter().filter(|shown: &&&Finding| shown.rule == finding.rule).count();
        let has_room = first.len() < SHOWN && (findings.len() <= SHOWN || same < SHOWN_OF_RULE);
        if has_room { first.push(finding) } else { rest.push(finding) }
    }
    (first, rest)
}

struct ReportText {
    out: String,
    width: usize,
    style: Style,
}

impl ReportText {
    fn head(&mut self, report: &Report) {
        let known = match report.known {
            0 => String::new(),
            known => format!(", and {known} known from the baseline"),
        };
        let head = format!(
            "{}: {} in {}, {}: {}{known}",
            report.source.name(),
            units::counted(report.messages as u64, "message"),
            units::span(report.span),
            units::counted(report.connections as u64, "connection"),
            units::counted(report.findings.len() as u64, "finding")
        );
        self.paragraph("", &head);
        if let Some(sentence) = report.of_recorder.sentence() {
            self.paragraph("", &sentence);
        }
    }

    /// Writes one line for each finding.
    fn summary(&mut self, findings: &[&Finding]) {
        if findings.is_empty() {
            return;
        }
        self.out.push('\n');
        let name_width =
            findings.iter().map(|finding| cells(&finding.party.label)).max().unwrap_or(0);
        let name_width = name_width.min(WHO_MAX).min(self.width / NAME_WIDTH_PART);
        for (index, finding) in findings.iter().enumerate() {
            let name = fit(&printable(&finding.party.label), name_width, Fit::End);
            let rest = format!("{}  {name}  {}", finding.rule, printable(&finding.says));
            let severity = format!("{:4}", finding.severity.as_str());
            let severity = match finding.severity {
                FindingSeverity::High => self.style.alarm(severity),
                _ => severity,
            };
            let rest = cut(&rest, self.width - SEVERITY_END);
            let _ = writeln!(self.out, "{:>3}  {severity} {rest}", index + 1);
        }
    }

    /// Writes one line for each rule with findings that are not shown.
    fn rest(&mut self, findings: &[&Finding]) {
        if findings.is_empty() {
            return;
        }
        let mut by_rule: BTreeMap<LintRuleId, Vec<&Finding>> = BTreeMap::new();
        for finding in findings {
            by_rule.entry(finding.rule).or_default().push(finding);
        }
        self.out.push_str("\nMore findings, shown with --all:\n");
        for (rule, findings) in by_rule {
            let count = units::counted(findings.len() as u64, "finding");
            let first = &findings[0].party.label;
            let line = format!("     {rule} {}: {count}, first {first}", title(rule));
            let line = cut(&printable(&line), self.width);
            let _ = writeln!(self.out, "{line}");
        }
    }

    fn details(&mut self, findings: &[&Finding], report: &Report) {
        let mut explained = Vec::new();
        for (index, finding) in findings.iter().enumerate() {
            let head = format!("{:>3}. {} {}", index + 1, finding.rule, title(finding.rule));
            let _ = writeln!(self.out, "\n{}", self.style.strong(head));
            self.detail(finding, report);
            if !explained.contains(&finding.rule) {
                explained.push(finding.rule);
                self.paragraph(
                    "advice",
                    LintRule::find(finding.rule).map_or("", |rule| rule.advice),
                );
            }
        }
    }

    fn detail(&mut self, finding: &Finding, report: &Report) {
        self.paragraph("", &format!("{} {}.", party_text(&finding.party), finding.says));
        let cost = finding.cost.as_time();
        if !cost.is_zero() {
            let text = match finding.cost.waited.is_zero() {
                true => format!("about {}: {}", units::span(cost), finding.cost),
                false => finding.cost.to_string(),
            };
            self.paragraph("cost", &text);
        }
        if finding.evidence.count > 0 {
            self.paragraph("seen in", &evidence(finding, &report.source));
        }
        if let Some(command) = report.check_command(finding) {
            let _ = writeln!(self.out, "{INDENT}{:8} {}", "check", printable(&command));
        }
    }

    /// Writes a text behind a label, wrapped to the width.
    fn paragraph(&mut self, word: &str, text: &str) {
        let indent = if word.is_empty() { INDENT } else { HANGING };
        let is_head = self.out.is_empty();
        let width = self.width - indent.len();
        for (index, line) in folded(&printable(text), width).iter().enumerate() {
            let _ = match (is_head, index, word) {
                (true, ..) => writeln!(self.out, "{line}"),
                (_, 0, word) if !word.is_empty() => {
                    writeln!(self.out, "{INDENT}{word:8} {line}")
                }
                _ => writeln!(self.out, "{indent}{line}"),
            };
        }
    }
}

/// The party with its process and unit: `com.example.Mail (maild[4711], mail.service)`.
fn party_text(party: &FindingParty) -> String {
    let program = party.process.as_deref().and_then(|process| process.split('[').next());
    // If the label begins with the name of the program, only the unique name in it adds
    // information.
    let label = match program.and_then(|program| party.label.strip_prefix(program)) {
        Some(rest) if rest.starts_with(" (") => rest.trim_matches([' ', '(', ')']),
        _ => &party.label,
    };
    let more: Vec<_> = party.process.iter().chain(&party.unit).map(String::as_str).collect();
    match more.as_slice() {
        [] => label.to_owned(),
        more => format!("{label} ({})", more.join(", ")),
    }
}

fn title(rule: LintRuleId) -> &'static str {
    LintRule::find(rule).map_or("", |rule| rule.title)
}

fn evidence(finding: &Finding, source: &ReportSource) -> String {
    let first: Vec<_> = finding.evidence.first.iter().map(u64::to_string).collect();
    let count = units::counted(finding.evidence.count, "message");
    let sure = format!("confidence {}", finding.confidence.as_str());
    match (first.as_slice(), source) {
        ([], _) | (_, ReportSource::Bus(_)) => format!("{count}; {sure}"),
        _ => format!("{count}, first {}; {sure}", first.join(", ")),
    }
}

/// Shortens a text to at most `width` cells.
fn cut(text: &str, width: usize) -> String {
    match cells(text) > width {
        true => fit(text, width, Fit::Start),
        false => text.to_owned(),
    }
}

/// The number of findings that are shown, unless all are requested.
pub const SHOWN: usize = 10;

/// The number of them that may belong to one rule, if there are more findings.
const SHOWN_OF_RULE: usize = 3;

/// The column at which the severity ends in a line of the summary.
const SEVERITY_END: usize = 10;

/// The note that ends the report about a live bus.
const NOT_OF_A_BUS: &str = "Message numbers and commands to check a change are not shown, because \
                            nothing was recorded. diligence record makes a file that has both.";

const WIDTH_MIN: usize = 60;
const WHO_MAX: usize = 30;

/// The name takes at most this fraction of a line.
const NAME_WIDTH_PART: usize = 4;
const INDENT: &str = "     ";
const HANGING: &str = "              ";
