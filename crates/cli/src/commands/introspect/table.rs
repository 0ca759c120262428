//! The table of members in the format of busctl.

use std::iter;

use capture::text::Style;
use capture::text::columns::{Fit, Grid};

use super::members::{ObjectRow, ObjectRowKind, ObjectRowResult};

/// The parts and the width of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberTableLayout {
    pub(super) room: LineRoom,
    pub(super) has_legend: bool,
    /// True if interfaces have rows of their own. Their names still affect the width of the columns
    /// if they have no rows, as in busctl.
    pub(super) has_interfaces: bool,
    pub(super) style: Style,
}

/// The room for a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LineRoom {
    /// This number of cells; longer values are truncated.
    Line(usize),
    /// The width is not limited.
    Full,
}

/// Formats the rows as a table.
pub(super) fn render(members: &[ObjectRow], shape: MemberTableLayout) -> String {
    let MemberTableLayout { style, room, has_legend, has_interfaces } = shape;
    let cells = members.iter().map(cells_of);
    let rows: Vec<_> = iter::once(LEGEND.map(str::to_owned)).chain(cells).collect();
    let mut grid = Grid::around(&rows, [Fit::Start; COLUMNS], " ");
    if let LineRoom::Line(line) = room {
        grid.narrow(RESULT, line, VALUE_MIN);
    }
    let legend = has_legend.then(|| style.strong(grid.line(LEGEND)) + "\n");
    let shown = members.iter().zip(&rows[1..]);
    let shown = shown.filter(|(one, _)| has_interfaces || one.kind != ObjectRowKind::Interface);
    let lines = shown.map(|(member, cells)| {
        let paint = |column, text| match (column, &member.result) {
            (NAME, _) if member.kind == ObjectRowKind::Interface => style.strong(text),
            (RESULT, ObjectRowResult::Failure(_)) => style.alarm(text),
            _ => text,
        };
        grid.painted(cells, paint) + "\n"
    });
    legend.into_iter().chain(lines).collect()
}

fn cells_of(member: &ObjectRow) -> [String; COLUMNS] {
    let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let result = match &member.result {
        ObjectRowResult::Types(text) | ObjectRowResult::Value(text) => dash(text),
        ObjectRowResult::Failure(sentence) => format!("error: {sentence}"),
    };
    let kind = member.kind.word().to_owned();
    [member.name.clone(), kind, dash(&member.signature), result, dash(&member.flags)]
}

const LEGEND: [&str; COLUMNS] = ["NAME", "TYPE", "SIGNATURE", "RESULT/VALUE", "FLAGS"];
const COLUMNS: usize = 5;
const NAME: usize = 0;
const RESULT: usize = 3;

/// The minimum width to which values are truncated.
const VALUE_MIN: usize = 40;
