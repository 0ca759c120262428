//! A line for each subject: a metric against a setting.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axis::Axis;
use super::canvas::{Area, Drawn, FONT_SIZE, Fault, Side, px, stroke, svg, text_style};
use crate::report::palette::{AXIS, GRID, Line, Look, Marker, Palette, TEXT};
use crate::result::{Metric, Setting};
use crate::summary::{Comparison, Figure, OURS, Row};

/// A metric against a setting.
pub(in crate::report) struct Lines<'a> {
    /// What the horizontal axis shows, as the cases name it.
    setting: &'a str,
    /// The subjects with their points, ours last so that nothing covers it.
    subjects: Vec<(&'a str, Vec<Point>)>,
    across: Axis,
    up: Axis,
}

#[derive(Clone, Copy)]
struct Point {
    at: f64,
    figure: Figure,
}

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

impl<'a> Lines<'a> {
    /// The plot of a metric over cases that have a number for the setting.
    pub(in crate::report) fn new(
        metric: Metric,
        setting: &'a str,
        comparisons: &[&'a Comparison],
        subjects: &'a [String],
    ) -> Self {
        let of_subject = |subject: &'a String| {
            let points = comparisons.iter().filter_map(|comparison| {
                let figure = *Row { comparison, metric }.figure(subject)?;
                Some(Point { at: number_at(comparison, setting)?, figure })
            });
            let mut points: Vec<_> = points.collect();
            points.sort_by(|one, other| one.at.total_cmp(&other.at));
            (subject.as_str(), points)
        };
        let mut subjects: Vec<_> = subjects.iter().map(of_subject).collect();
        subjects.sort_by_key(|(subject, _)| *subject == OURS);
        let points = || subjects.iter().flat_map(|(_, points)| points);
        let settings: Vec<_> = points().map(|point| point.at).collect();
        let figures: Vec<_> = points().map(|point| point.figure.median).collect();
        let (across, up) = (Axis::of_settings(&settings), Axis::of_figures(&figures));
        Self { setting, subjects, across, up }
    }

    /// Which axes are logarithmic, in words; empty if neither is.
    pub(in crate::report) const fn scales(&self) -> &'static str {
        match (self.across.is_logarithmic(), self.up.is_logarithmic()) {
            (true, true) => "both scales logarithmic",
            (true, false) => "horizontal scale logarithmic",
            (false, true) => "vertical scale logarithmic",
            (false, false) => "",
        }
    }

    /// Draws it.
    pub(in crate::report) fn draw(&self, palette: &Palette) -> Result<String, Fault> {
        svg(SIZE, |area| {
            let mut chart = self.chart(area)?;
            self.mesh(&mut chart)?;
            for (subject, points) in &self.subjects {
                self.subject(area, &chart, (palette.look(subject), points))?;
            }
            Ok(())
        })
    }

    fn chart<'b>(&self, area: &Area<'b>) -> Result<Chart<'b>, Fault> {
        ChartBuilder::on(area)
            .margin_top(px(10.0))
            .margin_right(px(18.0))
            .x_label_area_size(px(42.0))
            .y_label_area_size(px(46.0))
            .build_cartesian_2d(self.across.clone(), self.up.clone())
    }

    fn mesh(&self, chart: &mut Chart<'_>) -> Drawn {
        let title = axis_title(self.setting);
        chart
            .configure_mesh()
            .bold_line_style(stroke(GRID, 1.0))
            .light_line_style(GRID.light.mix(0.5).stroke_width(px(0.7).unsigned_abs()))
            .axis_style(stroke(AXIS, 1.0))
            .set_all_tick_mark_size(px(4.0))
            .label_style(("sans-serif", px(FONT_SIZE), &TEXT.light))
            .x_desc(title)
            .axis_desc_style(text_style(TEXT, Side::Middle))
            .draw()
    }

    /// Draws the line of a subject on the area of the whole plot.
    fn subject(&self, on: &Area<'_>, chart: &Chart<'_>, of: (Look, &[Point])) -> Drawn {
        let (look, points) = of;
        let place = |at: f64, value: f64| chart.plotting_area().map_coordinate(&(at, value));
        let spread = look.ink.light.mix(SPREAD_OPACITY).stroke_width(px(3.0).unsigned_abs());
        for Point { at, figure } in points {
            let ends = [place(*at, figure.low), place(*at, figure.high)];
            on.draw(&PathElement::new(ends, spread))?;
        }
        let path: Vec<_> =
            points.iter().map(|point| place(point.at, point.figure.median)).collect();
        draw_path(on, &path, look)?;
        path.iter().try_for_each(|point| draw_marker(on, *point, look))
    }
}

/// The sign of a subject in a legend: a piece of its line with a marker.
pub(in crate::report) fn key(look: Look) -> Result<String, Fault> {
    svg(KEY_SIZE, |area| {
        let (width, height) = (px(KEY_SIZE.0), px(KEY_SIZE.1));
        draw_path(area, &[(0, height / 2), (width, height / 2)], look)?;
        draw_marker(area, (width / 2, height / 2), look)
    })
}

/// The number that a case has for a setting.
pub(in crate::report) fn number_at(comparison: &Comparison, setting: &str) -> Option<f64> {
    match comparison.case.at.get(setting)? {
        Setting::Number(number) => Some(*number as f64),
        Setting::Word(_) => None,
    }
}

fn axis_title(setting: &str) -> String {
    let words = setting.replace(['_', '-'], " ");
    match setting {
        "size" | "payload" => format!("{words}, bytes"),
        _ => words,
    }
}

fn draw_path(on: &Area<'_>, points: &[(i32, i32)], look: Look) -> Drawn {
    let (ink, points) = (look.ink, points.iter().copied());
    match look.line {
        Line::Strong => on.draw(&PathElement::new(points.collect::<Vec<_>>(), stroke(ink, 2.6))),
        Line::Plain => on.draw(&PathElement::new(points.collect::<Vec<_>>(), stroke(ink, 1.7))),
        Line::Dashed => {
            on.draw(&DashedPathElement::new(points, px(5.0), px(4.0), stroke(ink, 1.7)))
        }
    }
}

fn draw_marker(on: &Area<'_>, (x, y): (i32, i32), look: Look) -> Drawn {
    let polygon = |corners: &[(f64, f64)]| {
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + px(*dx), y + px(*dy))).collect();
        on.draw(&Polygon::new(corners, look.ink.light.filled()))
    };
    match look.marker {
        Marker::Circle => on.draw(&Circle::new((x, y), px(3.6), look.ink.light.filled())),
        Marker::Square => polygon(&[(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)]),
        Marker::Up => polygon(&[(-4.0, 3.4), (4.0, 3.4), (0.0, -4.2)]),
        Marker::Down => polygon(&[(-4.0, -3.4), (4.0, -3.4), (0.0, 4.2)]),
        Marker::Diamond => polygon(&[(0.0, -4.4), (4.4, 0.0), (0.0, 4.4), (-4.4, 0.0)]),
    }
}

/// In pixels.
const SIZE: (f64, f64) = (480.0, 310.0);
const KEY_SIZE: (f64, f64) = (30.0, 14.0);

/// The spread of a figure is drawn behind its marker.
const SPREAD_OPACITY: f64 = 0.4;
