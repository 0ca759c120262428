//! How large the messages of each member are.

use std::cmp::Reverse;

use super::By;
use super::key::{Names, What};
use crate::collected::collected;
use crate::model::{Capture, Message};
use crate::table::{Cell, Column, Table, Unit};

/// The smallest, mean and largest message of each member, calls and what answers them apart. Those
/// with most bytes come first.
pub fn member_sizes<'c>(
    capture: &'c Capture,
    messages: impl Iterator<Item = Message<'c>>,
) -> Table {
    let mut names = Names::new(capture);
    let sized = messages.filter_map(|message| {
        let key = By::Member.key(&message, &mut names)?;
        Some(((message.bus(), key, What::from(message.kind())), u64::from(message.len())))
    });
    let mut rows = collected(sized);
    rows.sort_by_key(|(_, sizes)| Reverse(sizes.iter().sum::<u64>()));
    let mut table = Table::new(COLUMNS);
    for ((bus, key, what), sizes) in rows {
        let mut row = names.cells(By::Member, bus, key);
        row.pop();
        row.push(Cell::text(what.word()));
        row.extend(numbers(&sizes));
        table.push(row);
    }
    table
}

/// Of sizes of which there is one at least.
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
    Column::number("messages", Unit::Count),
    Column::number("smallest", Unit::Bytes),
    Column::number("mean", Unit::Bytes),
    Column::number("largest", Unit::Bytes),
    Column::number("total", Unit::Bytes),
];
