//! The number of recipients of broadcast signals.

use std::collections::BTreeMap;

use crate::model::{Capture, CapturedMessage};
use crate::recipients::{SignalRecipients, UnknownReason, is_broadcast};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Creates a table of broadcast signals by their number of recipients, from the trace of the bus or
/// from the match rules of all connections.
///
/// # Errors
///
/// If the recording has neither.
pub fn recipients(
    capture: &Capture,
    mut selects: impl FnMut(&CapturedMessage<'_>) -> bool,
) -> Result<DataTable, UnknownReason> {
    let mut recipients = SignalRecipients::find(capture)?;
    let mut histogram: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for message in capture.messages() {
        if !is_broadcast(&message) || !selects(&message) {
            continue;
        }
        let Some(count) = recipients.of(&message)? else { continue };
        let (signals, bytes) = histogram.entry(count).or_default();
        *signals += 1;
        *bytes += u64::from(message.len()) * count;
    }
    let all = histogram.values().map(|(signals, _)| signals).sum();
    let count = |name| Column::number(name, ColumnUnit::Count);
    Ok(DataTable::of(
        histogram,
        &[
            (count("recipients"), &|(recipients, _)| Cell::Count(*recipients)),
            (count("signals"), &|(_, (signals, _))| Cell::Count(*signals)),
            (Column::number("share", ColumnUnit::Share), &|(_, (signals, _))| {
                Cell::share(*signals, all)
            }),
            (count("copies"), &|(recipients, (signals, _))| Cell::Count(signals * recipients)),
            (Column::number("copied", ColumnUnit::Bytes), &|(_, (_, bytes))| Cell::Bytes(*bytes)),
        ],
    ))
}
