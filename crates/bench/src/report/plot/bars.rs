//! Bars: a group for each case, with a bar for each subject.

use super::axis::WIDE_RANGE;
use super::canvas::{Area, Drawn, Fault, Side, fill, line, stroke, svg, write, write_title};
use crate::report::palette::{AXIS, Palette, TEXT};
use crate::show::number;
use crate::summary::{Figure, Outcome, Role, Row, Steadiness};

/// Groups of bars, one below the other.
pub(in crate::report) struct Bars<'a> {
    rows: Vec<Row<'a>>,
    subjects: &'a [String],
    scaling: Scaling,
    titles: Titles,
    width: f64,
}

/// Which bars have the same scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::report) enum Scaling {
    /// All, so that cases can be compared: so far goes the longest.
    Common(f64),
    /// Those of a case, since cases are too far apart.
    Each,
}

/// Whether groups have their cases as titles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Titles {
    Cases,
    /// There is one group, and the title is elsewhere.
    None,
}

impl<'a> Bars<'a> {
    /// A group for each of some rows of one metric.
    pub(in crate::report) fn new(rows: Vec<Row<'a>>, subjects: &'a [String]) -> Self {
        let scaling = Scaling::of(&rows);
        Self { rows, subjects, scaling, titles: Titles::Cases, width: WIDTH }
    }

    /// One group, without a title, for a narrow column.
    pub(in crate::report) fn of_one(row: Row<'a>, subjects: &'a [String]) -> Self {
        let (scaling, titles, width) = (Scaling::Each, Titles::None, NARROW_WIDTH);
        Self { rows: vec![row], subjects, scaling, titles, width }
    }

    /// Which bars have the same scale.
    pub(in crate::report) const fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// Draws them.
    pub(in crate::report) fn draw(&self, palette: &Palette) -> Result<String, Fault> {
        let heights: Vec<_> = self.rows.iter().map(|row| self.height(row)).collect();
        svg((self.width, heights.iter().sum()), |area| {
            let mut top = 0.0;
            for (row, height) in self.rows.iter().zip(&heights) {
                self.group(area, row, top, palette)?;
                top += height;
            }
            Ok(())
        })
    }

    /// Those of the subjects that have a bar, or would have one if they had not failed.
    fn subjects<'b>(&'b self, row: &'b Row<'a>) -> impl Iterator<Item = &'b str> + use<'a, 'b> {
        let subjects = self.subjects.iter().map(String::as_str);
        subjects.filter(|subject| {
            let outcome = row.comparison.find(subject);
            row.figure(subject).is_some() || outcome.is_some_and(Outcome::has_failed)
        })
    }

    fn height(&self, row: &Row<'a>) -> f64 {
        let bars = self.subjects(row).count() as f64 * PITCH;
        match self.titles {
            Titles::Cases => TITLE_HEIGHT + bars + GAP,
            Titles::None => bars + 2.0,
        }
    }

    fn group(&self, area: &Area<'_>, row: &Row<'a>, top: f64, palette: &Palette) -> Drawn {
        let mut top = top;
        if self.titles == Titles::Cases {
            write_title(area, &row.comparison.case.label, (0.0, top + TITLE_HEIGHT / 2.0))?;
            top += TITLE_HEIGHT;
        }
        let start = top;
        for subject in self.subjects(row) {
            self.bar(area, row, subject, (top, palette))?;
            top += PITCH;
        }
        line(area, [(NAME_WIDTH, start), (NAME_WIDTH, top)], stroke(AXIS, 1.0))
    }

    /// The bar of a subject, with its name before it and its figure behind it.
    fn bar(&self, area: &Area<'_>, row: &Row<'a>, subject: &str, of: (f64, &Palette)) -> Drawn {
        let (top, palette) = of;
        let middle = top + PITCH / 2.0;
        write(area, subject, (NAME_WIDTH - 6.0, middle), Side::Left)?;
        let Some(figure) = row.figure(subject) else {
            return write(area, "failed", (NAME_WIDTH + 6.0, middle), Side::Right);
        };
        let x = |value: f64| NAME_WIDTH + (value / self.longest(row)).min(1.0) * self.bar_width();
        let (inner_top, inner_bottom) = (top + BAR_GAP, top + PITCH - BAR_GAP);
        let end = x(figure.median);
        fill(area, [(NAME_WIDTH, inner_top), (end, inner_bottom)], palette.look(subject).ink)?;
        let mut label_start = end + 6.0;
        if figure.steadiness() != Steadiness::Steady {
            line(area, [(x(figure.low), middle), (x(figure.high), middle)], stroke(TEXT, 1.2))?;
            label_start = x(figure.high) + 6.0;
        }
        write(area, &label(row, subject, figure), (label_start, middle), Side::Right)
    }

    /// The value of a bar that takes all the room.
    fn longest(&self, row: &Row<'a>) -> f64 {
        let longest = match self.scaling {
            Scaling::Common(longest) => longest,
            Scaling::Each => highest(row),
        };
        if longest > 0.0 { longest } else { 1.0 }
    }

    fn bar_width(&self) -> f64 {
        self.width - NAME_WIDTH - LABEL_WIDTH
    }
}

impl Scaling {
    /// What to say of it; empty for the usual.
    pub(in crate::report) const fn told(self) -> &'static str {
        match self {
            Self::Common(_) => "",
            Self::Each => "each case to its own scale",
        }
    }

    fn of(rows: &[Row<'_>]) -> Self {
        let highest = || rows.iter().map(highest).filter(|highest| *highest > 0.0);
        let (Some(low), Some(high)) = (highest().reduce(f64::min), highest().reduce(f64::max))
        else {
            return Self::Each;
        };
        if high / low > WIDE_RANGE { Self::Each } else { Self::Common(high) }
    }
}

/// The highest figure of a row.
fn highest(row: &Row<'_>) -> f64 {
    row.figures().map(|(_, figure)| figure.median).fold(0.0, f64::max)
}

/// The figure of a subject; ours with its ratio to the best peer.
fn label(row: &Row<'_>, subject: &str, figure: &Figure) -> String {
    let unit = row.metric.info().unit.sign();
    let figure = format!("{} {unit}", number::significant(figure.median));
    let figure = figure.trim_end();
    match row.ratio() {
        Some(ratio) if Role::of(subject) == Role::Ours => {
            format!("{figure} (×{})", number::ratio(ratio))
        }
        _ => figure.to_owned(),
    }
}

/// In pixels.
const WIDTH: f64 = 480.0;
const NARROW_WIDTH: f64 = 330.0;
const NAME_WIDTH: f64 = 96.0;
const TITLE_HEIGHT: f64 = 22.0;
/// Below a group.
const GAP: f64 = 10.0;
/// From bar to bar.
const PITCH: f64 = 18.0;
/// Above and below a bar.
const BAR_GAP: f64 = 2.5;
/// For the text behind the longest bar: `515,000 MiB/s (×0.83)`.
const LABEL_WIDTH: f64 = 132.0;
