//! What is different between two recordings that were opened together.

use capture::Capture;
use capture::compare::{differences, members, table as difference_table};
use serde_json::{Value, json};

use super::table::table;
use crate::selection::Selected;

/// The differences beyond noise between what went over some buses and over others.
pub(crate) fn compare(
    capture: &Capture,
    before: &[u16],
    after: &[u16],
    selected: &Selected,
) -> Value {
    let groups = |buses: &[u16]| {
        let mut selector = selected.selector();
        members(capture, |message| buses.contains(&message.bus().0) && selector.selects(message))
    };
    let (before, after) = (groups(before), groups(after));
    let found = differences(&before, &after);
    json!({
        "members": [before.len(), after.len()],
        "table": table(&difference_table(&found)),
    })
}
