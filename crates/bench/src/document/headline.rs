//! The table for the first page of the project.

use std::fmt;

use super::in_a_sentence;
use super::markdown::{Columns, Spread, Table};
use crate::report::HEADLINE_SCENARIO;
use crate::result::Record;
use crate::scenario_info::{Heading, ScenarioInfo};
use crate::summary::{OURS, Summary, runs};

/// The table of [`HEADLINE_SCENARIO`], with what it takes to read it; `None` if that was not run.
#[must_use]
pub fn headline(records: &[Record], infos: &[ScenarioInfo]) -> Option<String> {
    let summary = Summary::of(records);
    let scenario = summary.find(HEADLINE_SCENARIO)?;
    let heading = Heading::of(scenario, infos);
    let comparisons = scenario.comparisons.iter();
    let rows = comparisons.flat_map(|comparison| comparison.rows(&heading.metrics)).collect();
    let (columns, spread) = (Columns::WithMetric, Spread::Hidden);
    let table = Table { rows, subjects: &scenario.subjects, columns, spread };
    let mut runs: Vec<_> = runs(records).map(in_a_sentence).collect();
    runs.dedup();
    Some(format!(
        "{table}\nMedians; ↓ lower is better, ↑ higher is better; *to best* is {OURS} divided by \
         the best other bus. {}\n",
        runs.join(" ")
    ))
}

/// A text with this between [`HEADLINE_START`] and [`HEADLINE_END`], in the place of what is there.
///
/// ```
/// use diligence_bench::document::replace_headline;
///
/// let text = "# A\n<!-- benchmarks:start -->\nold\n<!-- benchmarks:end -->\nB\n";
/// assert_eq!(
///     replace_headline(text, "new\n")?,
///     "# A\n<!-- benchmarks:start -->\nnew\n<!-- benchmarks:end -->\nB\n"
/// );
/// # Ok::<(), diligence_bench::document::MarkerError>(())
/// ```
///
/// # Errors
///
/// See [`MarkerError`].
pub fn replace_headline(text: &str, headline: &str) -> Result<String, MarkerError> {
    let (before, rest) = text.split_once(HEADLINE_START).ok_or(MarkerError::NoStart)?;
    let (_, after) = rest.split_once(HEADLINE_END).ok_or(MarkerError::NoEnd)?;
    let headline = headline.trim_end();
    Ok(format!("{before}{HEADLINE_START}\n{headline}\n{HEADLINE_END}{after}"))
}

/// Why there is no place in a text for the headline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkerError {
    /// It does not have [`HEADLINE_START`].
    NoStart,
    /// It does not have [`HEADLINE_END`] after that.
    NoEnd,
}

impl fmt::Display for MarkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStart => write!(f, "it has no line {HEADLINE_START}"),
            Self::NoEnd => write!(f, "it has no line {HEADLINE_END} after {HEADLINE_START}"),
        }
    }
}

impl std::error::Error for MarkerError {}

/// The headline begins after this.
pub const HEADLINE_START: &str = "<!-- benchmarks:start -->";

/// The headline ends before this.
pub const HEADLINE_END: &str = "<!-- benchmarks:end -->";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_needs_its_place() {
        let start_and_end = "a <!-- benchmarks:start --><!-- benchmarks:end --> b";
        let cases = [
            ("nothing", Err(MarkerError::NoStart)),
            ("<!-- benchmarks:end --><!-- benchmarks:start -->", Err(MarkerError::NoEnd)),
            (
                start_and_end,
                Ok("a <!-- benchmarks:start -->\nnew\n<!-- benchmarks:end --> b".to_owned()),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(replace_headline(text, "new"), expected, "{text}");
        }
    }

    #[test]
    fn a_headline_that_is_there_already_changes_nothing() {
        let once = replace_headline("<!-- benchmarks:start --><!-- benchmarks:end -->", "x\n\ny");
        let once = once.unwrap();
        assert_eq!(replace_headline(&once, "x\n\ny"), Ok(once));
    }
}
