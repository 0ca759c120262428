//! Replaces the table of benchmarks in the README.

/// Replaces the text between [`HEADLINE_START`] and [`HEADLINE_END`].
///
/// ```
/// use bench::report::replace_headline;
///
/// let text = "# A\n<!-- benchmarks:start -->\nold\n<!-- benchmarks:end -->\nB\n";
/// assert_eq!(
///     replace_headline(text, "new\n")?,
///     "# A\n<!-- benchmarks:start -->\nnew\n<!-- benchmarks:end -->\nB\n"
/// );
/// # Ok::<(), bench::report::MarkerError>(())
/// ```
///
/// # Errors
///
/// Fails if `text` lacks one of the two markers.
pub fn replace_headline(text: &str, headline: &str) -> Result<String, MarkerError> {
    let (before, rest) = text.split_once(HEADLINE_START).ok_or(MarkerError::NoStart)?;
    let (_, after) = rest.split_once(HEADLINE_END).ok_or(MarkerError::NoEnd)?;
    let headline = headline.trim_end();
    Ok(format!("{before}{HEADLINE_START}\n{headline}\n{HEADLINE_END}{after}"))
}

/// The text lacks a marker of the headline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MarkerError {
    /// The text does not have [`HEADLINE_START`].
    #[error("expected the line {HEADLINE_START}, found none")]
    NoStart,
    /// The text does not have [`HEADLINE_END`] after [`HEADLINE_START`].
    #[error("expected the line {HEADLINE_END} after {HEADLINE_START}, found none")]
    NoEnd,
}

/// The marker before the headline.
pub const HEADLINE_START: &str = "<!-- benchmarks:start -->";

/// The marker after the headline.
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
    fn replacing_a_headline_by_itself_changes_nothing() {
        let once = replace_headline("<!-- benchmarks:start --><!-- benchmarks:end -->", "x\n\ny");
        let once = once.unwrap();
        assert_eq!(replace_headline(&once, "x\n\ny"), Ok(once));
    }
}
