//! The phases of messages inside the bus, by type and size.

use serde::Serialize;
use wire::message::MessageType;

use super::bus_sum::{BusSum, BusTimes, count_columns, phase_column};
use super::bus_time::BusPhase;
use super::call_times::{SIZES, size_class};
use crate::model::{Capture, CapturedMessage};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// The share of each phase in the time that messages spent inside the bus.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BusShares {
    /// A row for each type and size of messages.
    #[serde(rename = "phases")]
    pub table: DataTable,
    /// True if the bus measured the stages of routing.
    pub has_stages: bool,
    /// The number of messages that are omitted from the table, because some of their times are
    /// unknown.
    pub omitted: u64,
}

/// Computes the phases of the messages that the bus received, by type and size. `None` if the bus
/// recorded no message.
pub fn bus_shares<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> Option<BusShares> {
    let mut times = BusTimes::of(capture);
    let mut sums = TYPES.map(|_| SIZES.map(|_| BusSum::default()));
    let mut all = TYPES.map(|_| BusSum::default());
    let mut whole = BusSum::default();
    for message in capture.messages().filter(|message| selects(message)) {
        let Some(kind) = type_of(message.kind()) else { continue };
        let Some(time) = times.find(&message) else { continue };
        let class = size_class(message.len().into());
        for sum in [&mut sums[kind][class], &mut all[kind], &mut whole] {
            sum.add(&message, &time);
        }
    }
    let phases = times.phases(&whole);
    let mut table = DataTable::new(columns(&phases));
    for ((label, sums), all) in TYPES.iter().zip(&mut sums).zip(&mut all) {
        let sizes = sums.iter_mut().zip(SIZES).filter(|(sum, _)| !sum.is_empty());
        let rows: Vec<_> = sizes.map(|(sum, (_, size))| cells(sum, label, size, &phases)).collect();
        let is_divided = rows.len() > 1;
        rows.into_iter().for_each(|row| table.push(row));
        if is_divided {
            table.push(cells(all, label, "all", &phases));
        }
    }
    let (has_stages, omitted) = (times.has_stages(), times.omitted());
    (!whole.is_empty()).then_some(BusShares { table, has_stages, omitted })
}

fn columns(phases: &[BusPhase]) -> Vec<Column> {
    let labels = [Column::text("type"), Column::text("size")];
    let phases = phases.iter().map(|phase| phase_column(*phase, ColumnUnit::Share));
    labels.into_iter().chain(count_columns()).chain(phases).collect()
}

fn cells(sum: &mut BusSum, label: &str, size: &str, phases: &[BusPhase]) -> Vec<Cell> {
    let labels = [Cell::text(label), Cell::text(size)];
    let counts = sum.counts();
    labels.into_iter().chain(counts).chain(phases.iter().map(|phase| sum.share(*phase))).collect()
}

/// The index in [`TYPES`] of a message type.
const fn type_of(kind: MessageType) -> Option<usize> {
    match kind {
        MessageType::Signal => Some(0),
        MessageType::MethodCall => Some(1),
        MessageType::MethodReturn | MessageType::Error => Some(2),
        MessageType::Unknown(_) => None,
    }
}

/// The message types with separate rows.
const TYPES: [&str; 3] = ["signal", "call", "reply"];
