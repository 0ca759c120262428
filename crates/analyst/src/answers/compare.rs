//! Differences between two recordings that were opened together.

use capture::Capture;
use capture::compare::{differences, members, table as difference_table, unlike_durations};
use serde::Serialize;

use super::table::TableData;
use crate::selection::SelectedMessages;

/// The differences between two recordings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareAnswer {
    /// The number of members that were used before and after.
    pub members: (usize, usize),
    /// The differences that exceed the noise.
    pub table: TableData,
}

/// Compares the traffic of two sets of buses, and returns the differences that exceed the noise.
pub(crate) fn compare(
    capture: &Capture,
    before: &[u16],
    after: &[u16],
    selected: &SelectedMessages,
) -> CompareAnswer {
    let groups = |buses: &[u16]| {
        let mut selector = selected.selector();
        members(capture, |message| buses.contains(&message.bus().0) && selector.selects(message))
    };
    let methods = |buses: &[u16]| -> Vec<_> {
        let buses = buses.iter().filter_map(|bus| capture.buses().get(usize::from(*bus)));
        buses.map(|bus| bus.method).collect()
    };
    let note = unlike_durations(methods(before), methods(after));
    let (before, after) = (groups(before), groups(after));
    let mut found = difference_table(&differences(&before, &after));
    note.into_iter().for_each(|note| found.add_note(note));
    CompareAnswer { members: (before.len(), after.len()), table: TableData::of(&found) }
}
