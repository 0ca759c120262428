//! Queries: the messages that they select, and the texts with which they can continue.

use capture::Capture;
use capture::query;
use serde::Serialize;

use super::AnswerBody;
use crate::frame::{ColumnName, FrameColumn, PageFrame};
use crate::selection::{InvalidQuery, SelectedMessages, Selection};

/// The number of selected messages, with notes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelectAnswer {
    /// The number of selected messages.
    pub count: u32,
    /// The number of messages that the query could select.
    pub total: usize,
    /// A sentence about hidden messages of the recorder.
    pub recorder: Option<String>,
    /// The reason why the query selects no message, as a sentence.
    pub note: Option<String>,
}

/// The number of messages without each part of a selection; `None` for absent parts.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountsWithoutParts {
    /// The number without the query.
    pub query: Option<u32>,
    /// The number without hidden connections.
    pub hidden: Option<u32>,
    /// The number without the time range.
    pub time: Option<u32>,
}

/// The texts with which a query can continue.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Completions"))]
pub struct CompleteAnswer {
    /// The first byte that an offer replaces.
    pub from: usize,
    /// The end of the bytes that an offer replaces.
    pub to: usize,
    /// The offers, the most likely first.
    pub offers: Vec<OfferEntry>,
}

/// A text with which a query can continue.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Completion"))]
pub struct OfferEntry {
    /// The text to insert.
    pub text: String,
    /// A short explanation; empty if the text is obvious.
    pub about: &'static str,
}

/// Returns the selected messages as a frame.
pub(crate) fn select(capture: &Capture, selected: &SelectedMessages) -> PageFrame {
    let (count, bits) = selection_counts(capture, selected);
    let (hidden, total) = selected.of_recorder(capture);
    let answer = SelectAnswer {
        count,
        total,
        recorder: hidden.sentence(),
        note: note(capture, selected, count),
    };
    PageFrame::answer(AnswerBody::Select(answer))
        .with_column(ColumnName::Selected, FrameColumn::U8(&bits))
}

/// The number of selected messages, and a bit for each message, the lowest bit first.
fn selection_counts(capture: &Capture, selected: &SelectedMessages) -> (u32, Vec<u8>) {
    let mut bits = vec![0_u8; capture.len().div_ceil(8)];
    let mut count = 0;
    let mut selector = selected.selector();
    for message in capture.messages() {
        if selector.selects(&message) {
            let index = message.id().index();
            bits[index / 8] |= 1 << (index % 8);
            count += 1;
        }
    }
    (count, bits)
}

/// The reason why a query that selects `count` messages selects none, as a sentence.
fn note(capture: &Capture, selected: &SelectedMessages, count: u32) -> Option<String> {
    if let Some(reason) = selected.unknown_recipients(capture) {
        return Some(format!(
            "Recipients are unknown in this recording, so recipients matches nothing: {reason}"
        ));
    }
    let no_match = || format!("No message matches: {}", selected.no_match(capture));
    (count == 0 && selected.has_query()).then(no_match)
}

/// Counts the messages without each part of a selection.
pub(crate) fn without(
    capture: &Capture,
    selection: &Selection,
) -> Result<CountsWithoutParts, InvalidQuery> {
    let count = |has_part: bool, rest: Selection| {
        has_part.then(|| Ok(selection_counts(capture, &rest.parse(capture)?).0)).transpose()
    };
    let Selection { query, hidden, from, until } = selection;
    let (has_query, has_hidden) = (!query.trim().is_empty(), !hidden.is_empty());
    let has_time = from.is_some() || until.is_some();
    Ok(CountsWithoutParts {
        query: count(has_query, Selection { query: String::new(), ..selection.clone() })?,
        hidden: count(has_hidden, Selection { hidden: Vec::new(), ..selection.clone() })?,
        time: count(has_time, Selection { from: None, until: None, ..selection.clone() })?,
    })
}

/// Returns the texts with which a query can continue at the cursor.
pub(crate) fn complete(capture: &Capture, text: &str, cursor: usize) -> CompleteAnswer {
    let found = query::complete(text, cursor, capture);
    let offers = found.offers.into_iter();
    CompleteAnswer {
        from: found.replaces.start,
        to: found.replaces.end,
        offers: offers.map(|offer| OfferEntry { text: offer.text, about: offer.about }).collect(),
    }
}
