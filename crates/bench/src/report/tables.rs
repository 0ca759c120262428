//! Replaces the tables of benchmarks in a Markdown document such as the README.

/// Replaces the text between each pair of markers. The first marker of a pair names a scenario, and
/// `table` returns the table of that scenario, if it was measured.
///
/// ```
/// use bench::report::replace_tables;
///
/// let text = "# A\n<!-- benchmark:connect -->\nold\n<!-- benchmark:end -->\nB\n";
/// let table = |scenario: &str| (scenario == "connect").then(|| "new\n".to_owned());
/// assert_eq!(
///     replace_tables(text, table)?,
///     "# A\n<!-- benchmark:connect -->\nnew\n<!-- benchmark:end -->\nB\n"
/// );
/// # Ok::<(), bench::report::MarkerError>(())
/// ```
///
/// # Errors
///
/// Fails if `text` has no markers or one without its end, or if a scenario was not measured.
pub fn replace_tables(
    text: &str,
    table: impl Fn(&str) -> Option<String>,
) -> Result<String, MarkerError> {
    let (before, mut rest) = text.split_once(START).ok_or(MarkerError::NoStart)?;
    let mut replaced = before.to_owned();
    loop {
        let (scenario, old) = rest.split_once(MARKER_END).ok_or(MarkerError::NoEnd)?;
        let (_, after) = old.split_once(END).ok_or(MarkerError::NoEnd)?;
        let new = table(scenario).ok_or_else(|| MarkerError::NotMeasured(scenario.to_owned()))?;
        let new = new.trim_end();
        replaced.push_str(&format!("{START}{scenario}{MARKER_END}\n{new}\n{END}"));
        let Some((between, next)) = after.split_once(START) else {
            return Ok(replaced + after);
        };
        replaced.push_str(between);
        rest = next;
    }
}

/// The markers in the text do not tell which table belongs where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MarkerError {
    /// The text has no first marker.
    #[error("expected a line {START}SCENARIO{MARKER_END}, found none")]
    NoStart,
    /// The text has no second marker after a first one.
    #[error("expected the line {END} after {START}SCENARIO{MARKER_END}, found none")]
    NoEnd,
    /// The results have no table for the scenario that a marker names.
    #[error("the results have no figures of `bench {0}` for its table")]
    NotMeasured(String),
}

/// The marker before a table, up to the name of its scenario.
const START: &str = "<!-- benchmark:";

/// The part of the marker after the name of the scenario.
const MARKER_END: &str = " -->";

/// The marker after a table.
const END: &str = "<!-- benchmark:end -->";

#[cfg(test)]
mod tests {
    use super::*;

    fn table(scenario: &str) -> Option<String> {
        (scenario != "idle").then(|| format!("{scenario}!\n"))
    }

    #[test]
    fn a_table_needs_its_place_and_its_results() {
        let not_measured = Err(MarkerError::NotMeasured("idle".to_owned()));
        let cases = [
            ("nothing", Err(MarkerError::NoStart)),
            ("<!-- benchmark:a --> b", Err(MarkerError::NoEnd)),
            ("<!-- benchmark:a", Err(MarkerError::NoEnd)),
            ("<!-- benchmark:idle --><!-- benchmark:end -->", not_measured),
            (
                "a <!-- benchmark:b --><!-- benchmark:end --> c <!-- benchmark:d -->\nold\n\
                 <!-- benchmark:end --> e",
                Ok("a <!-- benchmark:b -->\nb!\n<!-- benchmark:end --> c <!-- benchmark:d -->\n\
                    d!\n<!-- benchmark:end --> e"
                    .to_owned()),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(replace_tables(text, table), expected, "{text}");
        }
    }

    #[test]
    fn replacing_a_table_by_itself_changes_nothing() {
        let once = replace_tables("<!-- benchmark:x --><!-- benchmark:end -->", table).unwrap();
        assert_eq!(replace_tables(&once, table), Ok(once));
    }
}
