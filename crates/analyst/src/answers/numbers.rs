//! Statistics.

use capture::Capture;
use capture::record::EndCause;
use capture::statistics::{Caveat, Subject, Summary};
use serde_json::{Value, json};

use super::table::table;
use crate::question::Refusal;
use crate::selection::Selected;

/// The whole in a few numbers, what to know before they are believed, and why the recording ended.
pub(crate) fn summary(capture: &Capture, selected: &Selected) -> Value {
    let mut summary = Summary::default();
    let mut selector = selected.selector();
    capture
        .messages()
        .filter(|message| selector.selects(message))
        .for_each(|one| summary.add(&one));
    summary.complete(capture, |message| selector.selects(message));
    let caveats = Caveat::of(capture, &summary);
    let foreign = capture.foreign_parts();
    let foreign =
        foreign.map(|part| format!("{} is not read: it is of another recording", part.display()));
    json!({
        "summary": summary,
        "caveats": caveats.iter().map(Caveat::to_string).chain(foreign).collect::<Vec<_>>(),
        "ended": capture.endings().iter().map(EndCause::to_string).collect::<Vec<_>>(),
    })
}

/// The table of this name.
pub(crate) fn statistics(
    capture: &Capture,
    subject: &str,
    selected: &Selected,
) -> Result<Value, Refusal> {
    let subject: Subject = subject.parse().map_err(|_| Refusal::Subject(subject.to_owned()))?;
    let mut selector = selected.selector();
    let found = subject.table(capture, |message| selector.selects(message), None);
    let found = found.map_err(Refusal::Unknowable)?;
    Ok(json!({"subject": subject.as_str(), "about": subject.about(), "table": table(&found)}))
}
