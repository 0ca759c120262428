//! Findings that are known: a text that is kept beside a program and reviewed as its source is.
//!
//! ```text
//! # Polls until the battery service sends signals.
//! L12 demo-poller com.example.Battery org.freedesktop.DBus.Properties.GetAll
//! L29 * *
//! ```
//!
//! A line has the rule, who, and what it is about, as `lint --update-baseline` writes them; `*` is
//! any. Unique names are not kept, since they are others in the next recording: `-` stands for
//! whoever is known by nothing else.

use std::fmt;

use super::finding::{Finding, LintRuleId};
use super::rules::RuleIdError;

/// What a baseline file says.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Baseline {
    entries: Vec<BaselineEntry>,
}

/// One line: findings that it is for are left out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BaselineEntry {
    /// The rule.
    pub rule: LintRuleId,
    /// Who does it; `*` is anybody.
    pub who: String,
    /// What it is about; `*` is anything.
    pub subject: String,
}

/// A baseline applied to findings: which of its lines were of use.
#[derive(Debug)]
pub struct Filter<'b> {
    baseline: &'b Baseline,
    used: Vec<bool>,
}

impl Baseline {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let entries = lines.map(|(number, line)| parse_entry(number, line));
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// The text of a file in which all these findings are known.
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> String {
        let mut lines: Vec<_> =
            findings.into_iter().map(|finding| BaselineEntry::of(finding).to_string()).collect();
        lines.sort_unstable();
        lines.dedup();
        let lines: String = lines.into_iter().map(|line| line + "\n").collect();
        format!("{HEAD}{lines}")
    }

    /// Begins to leave out what is known.
    pub fn filter(&self) -> Filter<'_> {
        Filter { baseline: self, used: vec![false; self.entries.len()] }
    }
}

impl Filter<'_> {
    /// Whether a finding is not known.
    pub fn is_new(&mut self, finding: &Finding) -> bool {
        let mut known = false;
        for (entry, used) in self.baseline.entries.iter().zip(&mut self.used) {
            if entry.is_for(finding) {
                (known, *used) = (true, true);
            }
        }
        !known
    }

    /// Lines that were for no finding: what they are about may have been fixed.
    pub fn unused(&self) -> impl Iterator<Item = &BaselineEntry> {
        self.baseline.entries.iter().zip(&self.used).filter(|(_, used)| !**used).map(|(it, _)| it)
    }
}

impl BaselineEntry {
    /// The line for a finding.
    pub fn of(finding: &Finding) -> Self {
        Self {
            rule: finding.rule,
            who: word(&finding.who.stable),
            subject: one_line(&finding.subject),
        }
    }

    fn is_for(&self, finding: &Finding) -> bool {
        let other = Self::of(finding);
        let agrees = |wanted: &str, found: &str| wanted == "*" || wanted == found;
        self.rule == other.rule
            && agrees(&self.who, &other.who)
            && agrees(&self.subject, &other.subject)
    }
}

impl fmt::Display for BaselineEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.rule, self.who, self.subject)
    }
}

/// A malformed line of a baseline.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct BaselineError {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub kind: BaselineErrorKind,
}

/// What can be wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BaselineErrorKind {
    /// The first word is not a rule.
    #[error(transparent)]
    Rule(RuleIdError),
    /// The participant is missing.
    #[error("after the rule comes who does it, or * for anybody")]
    WhoMissing,
    /// The subject is missing.
    #[error("after who does it comes what it is about, or * for anything")]
    SubjectMissing,
}

fn parse_entry(line: usize, text: &str) -> Result<BaselineEntry, BaselineError> {
    let wrong = |kind| BaselineError { line, kind };
    let (rule, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rule = match rule.parse() {
        // It is for no finding, and reported as such, so that the line can be removed.
        Ok(rule) | Err(RuleIdError::Removed(rule)) => rule,
        Err(error) => return Err(wrong(BaselineErrorKind::Rule(error))),
    };
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Err(wrong(BaselineErrorKind::WhoMissing));
    }
    let (who, subject) =
        rest.split_once(char::is_whitespace).ok_or(wrong(BaselineErrorKind::SubjectMissing))?;
    Ok(BaselineEntry { rule, who: who.to_owned(), subject: one_line(subject) })
}

/// A text as one word.
fn word(text: &str) -> String {
    text.replace(|c: char| c.is_whitespace() || c.is_control(), "_")
}

/// A text as one line without space at its ends.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "_").split_whitespace().collect::<Vec<_>>().join(" ")
}

const HEAD: &str = "\
# Findings of diligence lint that are known. A line is the rule, who does it, and what it is about;
# * stands for any. docs/lint.md says what the rules mean.
";
