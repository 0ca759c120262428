//! The time that the bus spent on the messages of each member.

use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::key::{CanonicalNames, MessageTypeKey};
use super::{GroupKeyKind, UnknownReason};
use crate::model::{Capture, CapturedMessage};
use crate::table::{Cell, Column, ColumnUnit, DataTable};
use crate::timeline::{BusPhase, BusSum, BusTimes, count_columns, phase_column};

/// Creates a table of the time that the bus spent on the messages of each member, with the mean
/// time of each phase. Calls and their replies have separate rows. The first row covers all
/// messages; the others are sorted by total time, the longest first.
///
/// # Errors
///
/// If the recording is not a trace of the bus.
pub fn dispatch(
    capture: &Capture,
    mut selects: impl FnMut(&CapturedMessage<'_>) -> bool,
) -> Result<DataTable, UnknownReason> {
    if capture.messages().all(|message| message.routing().is_none()) {
        return Err(UnknownReason::BusTimes);
    }
    let (mut names, mut times) = (CanonicalNames::new(capture), BusTimes::of(capture));
    let (mut all, mut rows) = (BusSum::default(), Vec::new());
    let mut places: HashMap<_, usize, RandomState> = HashMap::default();
    for message in capture.messages().filter(|message| selects(message)) {
        let Some(time) = times.find(&message) else { continue };
        let Some(key) = GroupKeyKind::Member.key(&message, &mut names) else { continue };
        let group = (message.bus(), key, MessageTypeKey::from(message.kind()));
        let place = *places.entry(group).or_insert(rows.len());
        if place == rows.len() {
            rows.push((group, BusSum::default()));
        }
        rows[place].1.add(&message, &time);
        all.add(&message, &time);
    }
    rows.sort_by_key(|(_, sum)| Reverse(sum.total()));
    let phases = times.phases(&all);
    let mut table = DataTable::new(columns(&phases));
    if !all.is_empty() {
        table.push(cells(vec![Cell::text(ALL), Cell::Absent, Cell::Absent], &mut all, &phases));
    }
    for ((bus, key, what), mut sum) in rows {
        let mut labels = names.cells(GroupKeyKind::Member, bus, key);
        labels.pop();
        labels.push(Cell::text(what.word()));
        table.push(cells(labels, &mut sum, &phases));
    }
    Ok(table)
}

fn columns(phases: &[BusPhase]) -> Vec<Column> {
    let labels = [
        Column::text("member"),
        Column::text("service").spare(),
        Column::text("type").helpful(),
        Column::number("total", ColumnUnit::Time).helpful(),
    ];
    let phases = phases.iter().map(|phase| phase_column(*phase, ColumnUnit::Time));
    labels.into_iter().chain(count_columns()).chain(phases).collect()
}

fn cells(labels: Vec<Cell>, sum: &mut BusSum, phases: &[BusPhase]) -> Vec<Cell> {
    let (total, counts) = (Cell::nanos(sum.total()), sum.counts());
    let phases = phases.iter().map(|phase| sum.mean(*phase));
    labels.into_iter().chain([total]).chain(counts).chain(phases).collect()
}

/// The label of the row for all messages.
const ALL: &str = "(all)";
