//! Queries: which messages they select, and what may be written in them.

use capture::Capture;
use capture::query;
use serde_json::{Value, json};

use crate::selection::{InvalidQuery, Selected, Selection};

/// How many messages are meant, and a bit for each message, the lowest first.
pub(crate) fn select(capture: &Capture, selected: &Selected) -> (u32, Vec<u8>) {
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

/// What to know of a query that selects `count` messages, in a sentence.
pub(crate) fn note(capture: &Capture, selected: &Selected, count: u32) -> Option<String> {
    if let Some(reason) = selected.unknown_recipients(capture) {
        return Some(format!(
            "Recipients are unknown in this recording, so recipients matches nothing: {reason}"
        ));
    }
    let no_match = || format!("No message matches: {}", selected.no_match(capture));
    (count == 0 && selected.has_query()).then(no_match)
}

/// How many messages there are without each part of a selection; null for a part that it does not have.
pub(crate) fn without(capture: &Capture, selection: &Selection) -> Result<Value, InvalidQuery> {
    let count = |has_part: bool, rest: Selection| {
        has_part.then(|| Ok(select(capture, &rest.parse(capture)?).0)).transpose()
    };
    let Selection { query, hidden, from, until } = selection;
    let (has_query, has_hidden) = (!query.trim().is_empty(), !hidden.is_empty());
    let has_time = from.is_some() || until.is_some();
    Ok(json!({
        "query": count(has_query, Selection { query: String::new(), ..selection.clone() })?,
        "hidden": count(has_hidden, Selection { hidden: Vec::new(), ..selection.clone() })?,
        "time": count(has_time, Selection { from: None, until: None, ..selection.clone() })?,
    }))
}

/// What may be written at a place of a query.
pub(crate) fn complete(capture: &Capture, text: &str, cursor: usize) -> Value {
    let found = query::complete(text, cursor, capture);
    let offers = found.offers.iter().map(|offer| json!({"text": offer.text, "about": offer.about}));
    json!({
        "from": found.replaces.start,
        "to": found.replaces.end,
        "offers": offers.collect::<Vec<_>>(),
    })
}
