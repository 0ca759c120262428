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
    let rows: Vec<_> =
        [LEGEND.map(str::to_owned)].into_iter().chain(members.iter().map(cells_of)).collect();
    let mut widths = widths(&rows);
    if let Room::Line(line) = shape.room {
        let [name, kind, signature, result, flags] = widths;
        let others = name + kind + signature + flags + GAPS;
        widths[RESULT] = result.min(line.saturating_sub(others).max(VALUE_MIN));
    }
    let (legend, rows) =
        rows.split_first().map_or((None, [].as_slice()), |(first, rest)| (Some(first), rest));
    let legend = legend
        .filter(|_| shape.has_legend)
        .map(|row| shape.style.strong(padded(row, &widths).concat()) + "\n");
    let lines =
        rows.iter().zip(members).map(|(row, member)| line(row, member, &widths, shape.style));
    legend.into_iter().chain(lines).collect()
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
