//! Which plots show a scenario: a rule for all of them.
//!
//! If the cases vary in a number that has more than two values, there are lines against it; if
//! they vary in something else too, there is a *facet* for each of its values, a plot of its own.
//! Otherwise there are bars. A list of unlike things has bars for each of them.

use std::collections::BTreeMap;

use super::plot::number_at;
use crate::result::Setting;
use crate::summary::{Comparison, Scenario};

/// How the cases of a scenario are shown.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Layout<'a> {
    /// Each measures something else.
    Mixed,
    /// All measure the same, each metric on these plots.
    Facets(Vec<Facet<'a>>),
}

/// Cases that are shown on one plot.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Facet<'a> {
    /// What these cases have in common and others do not: `read buffer 2048`. Empty if there is
    /// nothing else.
    pub(super) title: String,
    pub(super) comparisons: Vec<&'a Comparison>,
    pub(super) shape: Shape<'a>,
}

/// How cases are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape<'a> {
    /// As lines against this setting.
    Lines(&'a str),
    /// As groups of bars.
    Bars,
}

impl<'a> Layout<'a> {
    /// How to show a scenario.
    pub(super) fn of(scenario: &'a Scenario) -> Self {
        if scenario.is_mixed() {
            return Self::Mixed;
        }
        let all: Vec<_> = scenario.comparisons.iter().collect();
        let Some(setting) = main_setting(&all) else {
            return Self::Facets(vec![Facet::of_bars(all)]);
        };
        let mut facets: Vec<Facet<'a>> = Vec::new();
        for comparison in &all {
            let title = others(comparison, setting, &all);
            match facets.iter_mut().find(|facet| facet.title == title) {
                Some(facet) => facet.comparisons.push(comparison),
                None => {
                    let (comparisons, shape) = (vec![*comparison], Shape::Lines(setting));
                    facets.push(Facet { title, comparisons, shape });
                }
            }
        }
        Self::Facets(with_short_lines_as_bars(facets, setting))
    }
}

impl<'a> Facet<'a> {
    fn of_bars(comparisons: Vec<&'a Comparison>) -> Self {
        Self { title: String::new(), comparisons, shape: Shape::Bars }
    }
}

/// The number in which the cases vary most; `None` if none has enough values for a line.
fn main_setting<'a>(comparisons: &[&'a Comparison]) -> Option<&'a str> {
    let settings = comparisons.first()?.case.at.keys();
    let numbers = settings
        .filter(|name| comparisons.iter().all(|comparison| number_at(comparison, name).is_some()));
    let most = numbers.rev().max_by_key(|name| values(comparisons, name))?;
    (values(comparisons, most) >= LINE_VALUES_MIN).then_some(most)
}

/// How many values a setting has.
fn values(comparisons: &[&Comparison], setting: &str) -> usize {
    let mut values: Vec<_> =
        comparisons.iter().filter_map(|comparison| comparison.case.at.get(setting)).collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

/// What a case has for all settings but one, as far as cases differ in them.
fn others(comparison: &Comparison, setting: &str, all: &[&Comparison]) -> String {
    let varies = |name: &str| {
        let value = comparison.case.at.get(name);
        all.iter().any(|other| other.case.at.get(name) != value)
    };
    let at: &BTreeMap<String, Setting> = &comparison.case.at;
    let others = at.iter().filter(|(name, _)| *name != setting && varies(name));
    let words: Vec<_> = others
        .map(|(name, value)| {
            let name = name.replace(['_', '-'], " ");
            match value {
                Setting::Number(number) => format!("{name} {number}"),
                Setting::Word(word) => format!("{name}: {word}"),
            }
        })
        .collect();
    words.join(", ")
}

/// Joins all facets that have too few values for a line in one with bars, at the end.
fn with_short_lines_as_bars<'a>(facets: Vec<Facet<'a>>, setting: &str) -> Vec<Facet<'a>> {
    let is_long = |facet: &Facet<'_>| values(&facet.comparisons, setting) >= LINE_VALUES_MIN;
    let (mut long, short): (Vec<_>, Vec<_>) = facets.into_iter().partition(is_long);
    if !short.is_empty() {
        let rest = short.into_iter().flat_map(|facet| facet.comparisons).collect();
        long.push(Facet::of_bars(rest));
    }
    long
}

/// Fewer points make no line.
const LINE_VALUES_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Case, Metric, Record, Sample};
    use crate::summary::Summary;

    type At = [(&'static str, Setting)];

    fn number(number: i64) -> Setting {
        Setting::Number(number)
    }

    fn word(word: &str) -> Setting {
        Setting::from(word)
    }

    fn scenario(cases: &[(Metric, &At)]) -> Scenario {
        let samples: Vec<_> = cases.iter().map(|(metric, at)| sample(*metric, at)).collect();
        Summary::of(&samples).scenarios.remove(0)
    }

    fn sample(metric: Metric, at: &At) -> Record {
        let at: BTreeMap<_, _> =
            at.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Record::Sample(Sample {
            scenario: "s".to_owned(),
            case: Case { label: format!("{at:?}"), at },
            subject: "diligence".to_owned(),
            round: 1,
            figures: [(metric, 1.0)].into(),
            disturbance: 0.0,
        })
    }

    /// The facets in short: title, shape, count of cases.
    fn check(cases: &[&At], expected: &[(&str, Shape<'_>, usize)]) {
        let cases: Vec<_> = cases.iter().map(|at| (Metric::RoundTripUs, *at)).collect();
        let scenario = scenario(&cases);
        let Layout::Facets(facets) = Layout::of(&scenario) else { panic!("{cases:?}") };
        let facets: Vec<_> = facets
            .iter()
            .map(|facet| (facet.title.as_str(), facet.shape, facet.comparisons.len()))
            .collect();
        assert_eq!(facets, expected, "{cases:?}");
    }

    #[test]
    fn cases_are_shown_by_what_varies() {
        let size = |value| ("size", number(value));
        check(&[&[size(1)], &[size(3)], &[size(10)]], &[("", Shape::Lines("size"), 3)]);
        check(&[&[size(1)], &[size(3)]], &[("", Shape::Bars, 2)]);
        check(&[&[]], &[("", Shape::Bars, 1)]);
        check(
            &[&[("library", word("zbus"))], &[("library", word("GDBus"))], &[]],
            &[("", Shape::Bars, 3)],
        );
    }

    #[test]
    fn what_varies_besides_makes_facets() {
        let at = |size, buffer| [("read_buffer", number(buffer)), ("size", number(size))];
        check(
            &[
                &at(1, 2048),
                &at(3, 2048),
                &at(9, 2048),
                &at(1, 65536),
                &at(3, 65536),
                &at(9, 65536),
            ],
            &[
                ("read buffer 2048", Shape::Lines("size"), 3),
                ("read buffer 65536", Shape::Lines("size"), 3),
            ],
        );
        let connections = |count| ("connections", number(count));
        check(
            &[
                &[connections(0)],
                &[connections(10)],
                &[connections(100)],
                &[connections(0), ("rules", word("desktop"))],
            ],
            &[("", Shape::Lines("connections"), 3), ("", Shape::Bars, 1)],
        );
    }

    #[test]
    fn unlike_things_are_a_mixed_list() {
        let scenario = scenario(&[
            (Metric::RoundTripUs, &[("size", number(8))]),
            (Metric::MessagesPerS, &[("size", number(100))]),
            (Metric::ConnectUs, &[]),
        ]);
        assert_eq!(Layout::of(&scenario), Layout::Mixed);
    }
}
