//! Describes the cases that a quick run omits.

use std::collections::BTreeMap;

use crate::result::{BenchCase, CaseSetting};
use crate::scenario::{Effort, LibraryBuilder, Scenario};
use crate::wording::command_line;

/// Returns a sentence about the cases that only a full run has; `None` if a quick run has them all.
///
/// Counts only cases that are known without building the programs of libraries.
pub(super) fn by(effort: Effort, scenario: &dyn Scenario) -> Option<String> {
    if effort == Effort::Full {
        return None;
    }
    let cases = |effort: Effort| -> Vec<BenchCase> {
        let mut ignore = |_: &str| {};
        let mut libraries = LibraryBuilder::new(None, effort, &mut ignore);
        scenario.trials(effort, &mut libraries).into_iter().map(|trial| trial.case).collect()
    };
    sentence(&cases(Effort::Full), &cases(Effort::Quick))
}

fn sentence(full: &[BenchCase], quick: &[BenchCase]) -> Option<String> {
    let (all, kept) = (values(full), values(quick));
    let parts: Vec<String> = all
        .into_iter()
        .filter_map(|(setting, values)| {
            let kept = kept.get(setting).map(Vec::as_slice).unwrap_or_default();
            let left: Vec<String> =
                values.into_iter().filter(|value| !kept.contains(value)).map(word).collect();
            let shown = match left.split_at(left.len().min(VALUES_MAX)) {
                ([], _) => return None,
                (shown, []) => shown.join(", "),
                (shown, more) => format!("{} and {} more", shown.join(", "), more.len()),
            };
            Some(format!("{} {shown}", setting.replace('_', " ")))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("--quick leaves out: {}.", parts.join("; ")))
}

/// The number of values that the sentence lists for each setting.
const VALUES_MAX: usize = 5;

/// Returns the values of each setting, in the order of the cases. A case without settings is
/// represented by its label.
fn values(cases: &[BenchCase]) -> BTreeMap<&str, Vec<CaseSetting>> {
    let mut values: BTreeMap<&str, Vec<CaseSetting>> = BTreeMap::new();
    let mut add = |setting, value: CaseSetting| {
        let values = values.entry(setting).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    };
    for case in cases {
        if case.at.is_empty() {
            add("case", CaseSetting::Word(case.label.clone()));
        }
        for (setting, value) in &case.at {
            add(setting, value.clone());
        }
    }
    values
}

fn word(value: CaseSetting) -> String {
    match value {
        CaseSetting::Number(number) => number.to_string(),
        CaseSetting::Word(word) => command_line(&[word]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::PingPong;

    #[test]
    fn a_quick_run_names_what_it_leaves_out() {
        let some = PingPong { sizes: Some(vec![1]), ..PingPong::default() };
        assert_eq!(
            by(Effort::Quick, &some).as_deref(),
            Some("--quick leaves out: read buffer 2048, 65536.")
        );
        assert_eq!(by(Effort::Full, &some), None);
        let all = by(Effort::Quick, &PingPong::default()).unwrap_or_default();
        assert!(all.contains("size 3, 10, 31, 100, 316 and 7 more"), "{all}");
    }

    #[test]
    fn cases_without_settings_have_their_labels() {
        let case = |label: &str| BenchCase::new(label, []);
        let full = [case("connect"), case("stream 64 KiB")];
        assert_eq!(
            sentence(&full, &full[..1]).as_deref(),
            Some("--quick leaves out: case 'stream 64 KiB'.")
        );
        assert_eq!(sentence(&full, &full), None);
    }
}
