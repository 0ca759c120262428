//! How many get each signal.

use std::collections::BTreeMap;

use crate::model::{Capture, Message};
use crate::recipients::{Recipients, Unknowable, is_broadcast};
use crate::table::{Cell, Column, Table, Unit};

/// How many broadcast signals had how many recipients: as the bus has written, or else by the match
/// rules of all connections.
///
/// # Errors
///
/// If neither is known.
pub fn recipients(
    capture: &Capture,
    mut selects: impl FnMut(&Message<'_>) -> bool,
) -> Result<Table, Unknowable> {
    let mut recipients = Recipients::find(capture)?;
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
    Ok(as_table(&histogram))
}

fn as_table(histogram: &BTreeMap<u64, (u64, u64)>) -> Table {
    let mut table = Table::new([
        Column::number("recipients", Unit::Count),
        Column::number("signals", Unit::Count),
        Column::number("share", Unit::Share),
        Column::number("copies", Unit::Count),
        Column::number("copied", Unit::Bytes),
    ]);
    let all = histogram.values().map(|(signals, _)| signals).sum();
    for (&recipients, &(signals, bytes)) in histogram {
        table.push([
            Cell::Count(recipients),
            Cell::Count(signals),
            Cell::share(signals, all),
            Cell::Count(signals * recipients),
            Cell::Bytes(bytes),
        ]);
    }
    table
}
