//! Baselines: text files with known findings, kept and reviewed with the source of a program.
//!
//! ```text
//! # Polls until the battery service sends signals.
//! L12 demo-poller com.example.Battery org.freedesktop.DBus.Properties.GetAll
//! L29 * *
//! ```
//!
//! A line has the rule, the program and the subject, as `lint --update-baseline` writes them; `*`
//! matches any program or subject. Unique names differ in each recording, so they are not written:
//! `-` stands for a connection that has only a unique name.

use std::fmt;

use super::finding::{Finding, LintRuleId};
use super::rules::RuleIdError;

/// The entries of a baseline file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Baseline {
    entries: Vec<BaselineEntry>,
}

/// One line of a baseline. Findings that match it are known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BaselineEntry {
    /// The rule that reports the finding.
    pub rule: LintRuleId,
    /// The program, name or service that the finding is about; `*` matches any.
    pub party: String,
    /// The subject of the finding; `*` matches any.
    pub subject: String,
}

/// A baseline that is applied to findings, with a record of the lines that matched.
#[derive(Debug)]
pub struct Filter<'b> {
    baseline: &'b Baseline,
    used: Vec<bool>,
}

impl Baseline {
    /// Parses the text of a baseline file.
    ///
    /// # Errors
    ///
    /// Returns the first malformed line: an invalid rule id, or a missing program or subject.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let entries = lines.map(|(number, line)| parse_entry(number, line));
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// Returns the text of a baseline file in which all these findings are known.
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> String {
        let mut lines: Vec<_> =
            findings.into_iter().map(|finding| BaselineEntry::of(finding).to_string()).collect();
        lines.sort_unstable();
        lines.dedup();
        let lines: String = lines.into_iter().map(|line| line + "\n").collect();
        format!("{HEAD}{lines}")
    }

    /// Starts to filter findings by this baseline.
    pub fn filter(&self) -> Filter<'_> {
        Filter { baseline: self, used: vec![false; self.entries.len()] }
    }
}

impl Filter<'_> {
    /// Returns true if no line of the baseline matches the finding, and marks the lines that do as
    /// used.
    pub fn is_new(&mut self, finding: &Finding) -> bool {
        let mut known = false;
        for (entry, used) in self.baseline.entries.iter().zip(&mut self.used) {
            if entry.is_for(finding) {
                (known, *used) = (true, true);
            }
        }
        !known
    }

    /// Returns the lines that matched no finding so far. Their problems may have been fixed.
    pub fn unused(&self) -> impl Iterator<Item = &BaselineEntry> {
        self.baseline.entries.iter().zip(&self.used).filter(|(_, used)| !**used).map(|(it, _)| it)
    }
}

impl BaselineEntry {
    /// Returns the line that matches exactly this finding.
    pub fn of(finding: &Finding) -> Self {
        Self {
            rule: finding.rule,
            party: word(&finding.party.stable),
            subject: one_line(&finding.subject),
        }
    }

    fn is_for(&self, finding: &Finding) -> bool {
        let other = Self::of(finding);
        let agrees = |wanted: &str, found: &str| wanted == "*" || wanted == found;
        self.rule == other.rule
            && agrees(&self.party, &other.party)
            && agrees(&self.subject, &other.subject)
    }
}

impl fmt::Display for BaselineEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.rule, self.party, self.subject)
    }
}

/// A malformed line of a baseline.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct BaselineError {
    /// The line number, starting at 1.
    pub line: usize,
    /// The reason why the line is malformed.
    pub kind: BaselineErrorKind,
}

/// The reason why a line of a baseline is malformed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BaselineErrorKind {
    /// The first word is not the id of a rule.
    #[error(transparent)]
    Rule(RuleIdError),
    /// The line ends after the rule.
    #[error("expected the program after the rule, or * for any program")]
    PartyMissing,
    /// The line ends after the program.
    #[error("expected the subject after the program, or * for any subject")]
    SubjectMissing,
}

fn parse_entry(line: usize, text: &str) -> Result<BaselineEntry, BaselineError> {
    let wrong = |kind| BaselineError { line, kind };
    let (rule, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rule = match rule.parse() {
        // It matches no finding, and is reported as unused so that the line can be removed.
        Ok(rule) | Err(RuleIdError::Removed(rule)) => rule,
        Err(error) => return Err(wrong(BaselineErrorKind::Rule(error))),
    };
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Err(wrong(BaselineErrorKind::PartyMissing));
    }
    let (party, subject) =
        rest.split_once(char::is_whitespace).ok_or(wrong(BaselineErrorKind::SubjectMissing))?;
    Ok(BaselineEntry { rule, party: party.to_owned(), subject: one_line(subject) })
}

/// Replaces white space and control characters, so that the text is one word.
fn word(text: &str) -> String {
    text.replace(|c: char| c.is_whitespace() || c.is_control(), "_")
}

/// Joins the lines of a text and trims it.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "_").split_whitespace().collect::<Vec<_>>().join(" ")
}

const HEAD: &str = "\
# Known findings of diligence lint. Each line has a rule, a program and a subject; * matches any
# program or subject. docs/lint.md explains the rules.
";
