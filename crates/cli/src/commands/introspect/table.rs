//! The table of busctl.

use capture::text::Style;
use capture::text::columns::{Fit, fit};

use super::members::{Kind, Member, Outcome};
use crate::aligned::widths;

/// How the table looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) room: Room,
    pub(super) has_legend: bool,
    /// Whether interfaces have rows of their own. Columns are as wide in any case, as busctl has it.
    pub(super) has_interfaces: bool,
    pub(super) style: Style,
}

/// What there is room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// For lines of so many cells: values are cut.
    Line(usize),
    /// For everything.
    Full,
}

/// The table.
pub(super) fn render(members: &[Member], shape: Shape) -> String {
    let Shape { style, has_legend, has_interfaces, .. } = shape;
    let legend = LEGEND.map(str::to_owned);
    let rows: Vec<_> = members.iter().map(|member| (member, cells_of(member))).collect();
    let widths = fitting(&legend, rows.iter().map(|(_, cells)| cells), shape.room);
    let legend = has_legend.then(|| style.strong(padded(&legend, &widths).concat()) + "\n");
    let shown = rows.iter().filter(|(one, _)| has_interfaces || one.kind != Kind::Interface);
    let lines = shown.map(|(member, cells)| line(cells, member, &widths, style));
    legend.into_iter().chain(lines).collect()
}

/// How wide the columns are.
fn fitting<'r>(
    legend: &'r [String; COLUMNS],
    rows: impl Iterator<Item = &'r [String; COLUMNS]>,
    room: Room,
) -> [usize; COLUMNS] {
    let rows: Vec<_> = [legend].into_iter().chain(rows).cloned().collect();
    let mut widths = widths(&rows);
    if let Room::Line(line) = room {
        let [name, kind, signature, result, flags] = widths;
        let others = name + kind + signature + flags + GAPS;
        widths[RESULT] = result.min(line.saturating_sub(others).max(VALUE_MIN));
    }
    widths
}

fn cells_of(member: &Member) -> [String; COLUMNS] {
    let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let result = match &member.result {
        Outcome::Types(text) | Outcome::Value(text) => dash(text),
        Outcome::Failure(sentence) => format!("error: {sentence}"),
    };
    let kind = member.kind.word().to_owned();
    [member.name.clone(), kind, dash(&member.signature), result, dash(&member.flags)]
}

fn line(
    row: &[String; COLUMNS],
    member: &Member,
    widths: &[usize; COLUMNS],
    style: Style,
) -> String {
    let [name, kind, signature, result, flags] = padded(row, widths);
    let name = if member.kind == Kind::Interface { style.strong(name) } else { name };
    let result = match member.result {
        Outcome::Failure(_) => style.alarm(result),
        Outcome::Types(_) | Outcome::Value(_) => result,
    };
    format!("{name}{kind}{signature}{result}{flags}\n")
}

/// The cells of a row, each as wide as its column; the last one as it is. Types are never cut.
fn padded(row: &[String; COLUMNS], widths: &[usize; COLUMNS]) -> [String; COLUMNS] {
    std::array::from_fn(|column| match column {
        FLAGS => row[column].clone(),
        _ => fit(&row[column], widths[column], Fit::Start) + " ",
    })
}

const LEGEND: [&str; COLUMNS] = ["NAME", "TYPE", "SIGNATURE", "RESULT/VALUE", "FLAGS"];
const COLUMNS: usize = 5;
const RESULT: usize = 3;
const FLAGS: usize = 4;

/// Cells between the columns.
const GAPS: usize = COLUMNS - 1;

/// A value is not cut to less.
const VALUE_MIN: usize = 40;
