//! What is wrong with how the programs talk.

use capture::Capture;
use capture::lint::report::{Report, Source, to_json};
use capture::lint::rule::Rule;
use serde_json::Value;

/// The linter's report, as `diligence lint --json` has it.
pub(crate) fn findings(capture: &Capture) -> Value {
    let report = Report::new(Source::Recording(String::new()), capture, Rule::all());
    serde_json::from_str(&to_json(&report)).expect("a report is JSON")
}
