//! The results of a test program in the format of the Test Anything Protocol, and the list of the
//! results that are known not to pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::bus::Flavour;
use crate::program::RunAs;

/// The outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TapOutcome {
    /// The case has passed.
    Passed,
    /// The case was skipped, for this reason.
    Skipped(String),
    /// The case failed, or its program ended or hung in it.
    Failed(String),
}

impl fmt::Display for TapOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passes"),
            Self::Skipped(reason) => write!(f, "is skipped ({reason})"),
            Self::Failed(reason) => write!(f, "fails ({reason})"),
        }
    }
}

/// The report of one run of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TapReport {
    /// Every case with its outcome, in the order of the report.
    pub cases: Vec<(String, TapOutcome)>,
    /// The reason why the program skipped all cases.
    pub skipped_whole: Option<String>,
    /// The text of `Bail out!`.
    pub bailed_out: Option<String>,
}

impl TapReport {
    /// Parses the output of a program.
    ///
    /// ```
    /// use conformance::tap::{TapOutcome, TapReport};
    ///
    /// let report = TapReport::parse("1..2\nok 1 /a\nok 2 /b # SKIP no root\n");
    /// assert_eq!(report.cases[0], ("/a".to_owned(), TapOutcome::Passed));
    /// assert_eq!(report.cases[1], ("/b".to_owned(), TapOutcome::Skipped("no root".to_owned())));
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines() {
            report.read_line(line);
        }
        report
    }

    fn read_line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("ok ") {
            let (name, directive) = split_directive(rest);
            let outcome = directive.map_or(TapOutcome::Passed, TapOutcome::Skipped);
            self.cases.push((name, outcome));
        } else if let Some(rest) = line.strip_prefix("not ok ") {
            let (name, directive) = split_directive(rest);
            self.cases.push((name, TapOutcome::Failed(directive.unwrap_or_default())));
        } else if let Some(rest) = line.strip_prefix("1..0") {
            self.skipped_whole = Some(split_directive(rest).1.unwrap_or_default());
        } else if let Some(rest) = line.strip_prefix("Bail out!") {
            self.bailed_out = Some(rest.trim().to_owned());
        }
    }
}

/// Splits `1 - name # SKIP reason` into the name and the reason.
fn split_directive(rest: &str) -> (String, Option<String>) {
    let (label, directive) = match rest.split_once(" # ") {
        Some((label, directive)) => (label, Some(directive)),
        None => (rest, None),
    };
    let text = label.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    let text = text.strip_prefix("- ").unwrap_or(text);
    let name = if text.is_empty() { label.trim() } else { text };
    let reason = directive.map(|text| text.strip_prefix("SKIP").unwrap_or(text));
    let reason = reason.map(|text| text.trim_start_matches([' ', '-']).to_owned());
    (name.to_owned(), reason)
}

/// The expected outcome of a listed case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// It fails, with dbus-daemon too.
    Fail,
    /// It fails with Diligence, and passes with dbus-daemon.
    NotYet,
    /// It is skipped for every user.
    Skip,
    /// It is skipped if root runs it, and passes otherwise.
    SkipAsRoot,
    /// It is skipped unless root runs it, and passes then.
    SkipUnlessRoot,
    /// It is skipped on some machines and passes on others.
    SkipMaybe,
}

impl Listed {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "fail" => Self::Fail,
            "not-yet" => Self::NotYet,
            "skip" => Self::Skip,
            "skip-as-root" => Self::SkipAsRoot,
            "skip-unless-root" => Self::SkipUnlessRoot,
            "skip-maybe" => Self::SkipMaybe,
            _ => return None,
        })
    }

    fn allows(self, outcome: &TapOutcome, run: TapRun) -> bool {
        let user = run.user;
        match (self, outcome) {
            (Self::Fail, outcome) => matches!(outcome, TapOutcome::Failed(_)),
            (Self::NotYet, outcome) => {
                (run.bus == Flavour::Diligence) == matches!(outcome, TapOutcome::Failed(_))
            }
            (Self::Skip, outcome) => matches!(outcome, TapOutcome::Skipped(_)),
            (Self::SkipAsRoot, TapOutcome::Skipped(_)) => user == TapPrivilege::Root,
            (Self::SkipAsRoot, TapOutcome::Passed) => user == TapPrivilege::Ordinary,
            (Self::SkipUnlessRoot, TapOutcome::Skipped(_)) => user == TapPrivilege::Ordinary,
            (Self::SkipUnlessRoot, TapOutcome::Passed) => user == TapPrivilege::Root,
            (Self::SkipMaybe, outcome) => !matches!(outcome, TapOutcome::Failed(_)),
            (Self::SkipAsRoot | Self::SkipUnlessRoot, TapOutcome::Failed(_)) => false,
        }
    }
}

/// The user of a test program, and the bus under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapRun {
    /// The bus under test.
    pub bus: Flavour,
    /// The user that runs the program.
    pub user: TapPrivilege,
}

/// The privileges of the user that runs a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapPrivilege {
    /// The superuser, user 0.
    Root,
    /// Any user except root.
    Ordinary,
}

impl TapPrivilege {
    /// The privileges of the user that runs these tests.
    #[must_use]
    pub fn ours() -> Self {
        if RunAs::is_root() { Self::Root } else { Self::Ordinary }
    }
}

/// The list of the cases that do not pass, with outcome and reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectations {
    listed: BTreeMap<String, (Listed, String)>,
}

impl Expectations {
    /// Parses the list: lines of `program/case<TAB>way: reason`; `#` starts a comment line. A name
    /// that starts with `debug-build:` or `plain:` applies to that build only.
    ///
    /// # Panics
    ///
    /// If a line has another form, or two lines name the same case.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut listed = BTreeMap::new();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (case, way, reason) = parse_line(line)
                .unwrap_or_else(|| panic!("not `program/case<TAB>way: reason`: {line:?}"));
            let twice = listed.insert(case.to_owned(), (way, reason.to_owned()));
            assert!(twice.is_none(), "{case} is listed twice");
        }
        Self { listed }
    }

    /// The list in the folder of the tests.
    #[must_use]
    pub fn committed() -> Self {
        Self::parse(include_str!("../expected-failures.txt"))
    }

    /// The difference between an outcome and the list, if there is one.
    #[must_use]
    pub fn complaint(
        &self,
        build: &str,
        case: &str,
        outcome: &TapOutcome,
        run: TapRun,
    ) -> Option<String> {
        let found = self.way(build, case);
        match found {
            None if *outcome == TapOutcome::Passed => None,
            None => Some(format!("{build}:{case} {outcome}, and is not listed")),
            Some(way) if way.allows(outcome, run) => None,
            Some(way) if *outcome == TapOutcome::Passed => {
                Some(format!("{build}:{case} passes, and is listed as {way:?}: remove it"))
            }
            Some(way) => Some(format!("{build}:{case} {outcome}, and is listed as {way:?}")),
        }
    }

    /// The listed outcome of a case, if it is listed.
    #[must_use]
    pub fn way(&self, build: &str, case: &str) -> Option<Listed> {
        let special = format!("{build}:{case}");
        let found = self.listed.get(&special).or_else(|| self.listed.get(case));
        found.map(|(way, _)| *way)
    }

    /// The listed cases that no program has: `seen` contains names with their build before a colon.
    #[must_use]
    pub fn unknown(&self, seen: &BTreeSet<String>) -> Vec<String> {
        let plain: BTreeSet<_> = seen.iter().filter_map(|name| name.split_once(':')).collect();
        let is_seen = |case: &str| {
            seen.contains(case) || plain.iter().any(|(_, without_build)| *without_build == case)
        };
        let unknown = self.listed.keys().filter(|case| !is_seen(case));
        unknown.map(|case| format!("{case} is listed, and no program has it")).collect()
    }
}

fn parse_line(line: &str) -> Option<(&str, Listed, &str)> {
    let (case, rest) = line.split_once('\t')?;
    let (way, reason) = rest.split_once(": ")?;
    Some((case, Listed::parse(way)?, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_a_report() {
        let report = TapReport::parse("1..0 # SKIP - no AppArmor\n");
        assert_eq!(report.skipped_whole.as_deref(), Some("no AppArmor"));
        let report = TapReport::parse("ok 1 - normal\nnot ok 2 /a/b\n# ok\nok 3\nBail out! why\n");
        assert_eq!(report.cases[0], ("normal".into(), TapOutcome::Passed));
        assert_eq!(report.cases[1], ("/a/b".into(), TapOutcome::Failed(String::new())));
        assert_eq!(report.cases[2], ("3".into(), TapOutcome::Passed));
        assert_eq!(report.bailed_out.as_deref(), Some("why"));
    }

    #[test]
    fn listed_cases_expect_their_listed_outcome() {
        let list = Expectations::parse(
            "# comment\np/a\tfail: not yet\np/b\tskip: never\np/c\tskip-as-root: immune\n\
             plain:p/d\tfail: there only\np/f\tnot-yet: to do\n",
        );
        let failed = TapOutcome::Failed("x".into());
        let skipped = TapOutcome::Skipped("y".into());
        let rows = [
            ("p/a", &failed, TapPrivilege::Root, true),
            ("p/a", &TapOutcome::Passed, TapPrivilege::Root, false),
            ("p/b", &skipped, TapPrivilege::Root, true),
            ("p/b", &failed, TapPrivilege::Root, false),
            ("p/c", &skipped, TapPrivilege::Root, true),
            ("p/c", &TapOutcome::Passed, TapPrivilege::Root, false),
            ("p/c", &TapOutcome::Passed, TapPrivilege::Ordinary, true),
            ("p/d", &failed, TapPrivilege::Root, true),
            ("p/e", &TapOutcome::Passed, TapPrivilege::Root, true),
            ("p/e", &skipped, TapPrivilege::Root, false),
        ];
        for (case, outcome, user, fine) in rows {
            let run = TapRun { bus: Flavour::Diligence, user };
            let complaint = list.complaint("plain", case, outcome, run);
            assert_eq!(complaint.is_none(), fine, "{case} {outcome}: {complaint:?}");
        }
        let root = TapPrivilege::Root;
        let [ours, theirs] =
            [Flavour::Diligence, Flavour::Reference].map(|bus| TapRun { bus, user: root });
        assert!(list.complaint("debug-build", "p/d", &failed, ours).is_some());
        assert!(list.complaint("plain", "p/f", &failed, ours).is_none());
        assert!(list.complaint("plain", "p/f", &failed, theirs).is_some());
        assert!(list.complaint("plain", "p/f", &TapOutcome::Passed, theirs).is_none());
    }
}
