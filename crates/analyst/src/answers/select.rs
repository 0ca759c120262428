//! Queries: which messages they select, and what may be written in them.

use capture::Capture;
use capture::query;
use serde_json::{Value, json};

use crate::selection::Selected;

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

/// Why no message is meant, in a sentence.
pub(crate) fn no_match(capture: &Capture, selected: &Selected) -> String {
    format!("No message matches: {}", selected.no_match(capture))
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
