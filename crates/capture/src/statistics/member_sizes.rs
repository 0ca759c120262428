//! The sizes of the messages of each member.

use std::cmp::Reverse;

use super::GroupKeyKind;
use super::key::{CanonicalNames, MessageTypeKey};
use crate::collected::collected;
use crate::model::{Capture, CapturedMessage};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Creates a table with the smallest, mean and largest message of each member. Calls and their
/// replies have separate rows. The rows are sorted by total bytes, the most first.
pub fn member_sizes<'c>(
    capture: &'c Capture,
    messages: impl Iterator<Item = CapturedMessage<'c>>,
) -> DataTable {
    let mut names = CanonicalNames::new(capture);
    let sized = messages.filter_map(|message| {
        let key = GroupKeyKind::Member.key(&message, &mut names)?;
        Some(((message.bus(), key, MessageTypeKey::from(message.kind())), u64::from(message.len())))
    });
    let mut rows = collected(sized);
    rows.sort_by_key(|(_, sizes)| Reverse(sizes.iter().sum::<u64>()));
    let mut table = DataTable::new(COLUMNS);
    for ((bus, key, what), sizes) in rows {
        let mut row = names.cells(GroupKeyKind::Member, bus, key);
        row.pop();
        row.push(Cell::text(what.word()));
        row.extend(numbers(&sizes));
        table.push(row);
    }
    table
}

/// The cells of a list of sizes, which must not be empty.
fn numbers(sizes: &[u64]) -> [Cell; 5] {
    let (count, total) = (sizes.len() as u64, sizes.iter().sum::<u64>());
    let bytes = |size: Option<u64>| size.map_or(Cell::Absent, Cell::Bytes);
    [
        Cell::Count(count),
        bytes(sizes.iter().min().copied()),
        bytes(total.checked_div(count)),
        bytes(sizes.iter().max().copied()),
        Cell::Bytes(total),
    ]
}

const COLUMNS: [Column; 8] = [
    Column::text("member"),
    Column::text("service"),
    Column::text("type"),
    Column::number("messages", ColumnUnit::Count),
    Column::number("smallest", ColumnUnit::Bytes),
    Column::number("mean", ColumnUnit::Bytes),
    Column::number("largest", ColumnUnit::Bytes),
    Column::number("total", ColumnUnit::Bytes),
];
