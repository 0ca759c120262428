//! Totals and tables of statistics.

use capture::Capture;
use capture::record::EndCause;
use capture::statistics::{Caveat, Summary, TableSubject};
use serde::Serialize;

use super::table::TableData;
use crate::question::QuestionRefusal;
use crate::selection::SelectedMessages;

/// Totals of a selection.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SummaryAnswer {
    /// The totals of the selected messages.
    pub summary: Summary,
    /// Sentences about facts that limit the meaning of the totals.
    pub caveats: Vec<String>,
    /// The reason why the recording ended, in words; one entry for each of its parts.
    pub ended: Vec<String>,
}

/// A table of statistics.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatisticsAnswer {
    /// The name of the table.
    pub subject: &'static str,
    /// A description of the table.
    pub about: &'static str,
    /// The content of the table.
    pub table: TableData,
}

/// Returns the totals of the selected messages.
pub(crate) fn summary(capture: &Capture, selected: &SelectedMessages) -> SummaryAnswer {
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
    SummaryAnswer {
        summary,
        caveats: caveats.iter().map(Caveat::to_string).chain(foreign).collect(),
        ended: capture.endings().iter().map(EndCause::to_string).collect(),
    }
}

/// Returns the table with this name.
pub(crate) fn statistics(
    capture: &Capture,
    subject: &str,
    selected: &SelectedMessages,
) -> Result<StatisticsAnswer, QuestionRefusal> {
    let subject: TableSubject =
        subject.parse().map_err(|_| QuestionRefusal::Subject(subject.to_owned()))?;
    let mut selector = selected.selector();
    let found = subject.table(capture, |message| selector.selects(message), None);
    let found = found.map_err(QuestionRefusal::UnknownReason)?;
    Ok(StatisticsAnswer {
        subject: subject.as_str(),
        about: subject.about(),
        table: TableData::of(&found),
    })
}
