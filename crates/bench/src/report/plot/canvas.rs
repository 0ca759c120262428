//! What all plots are drawn on and with.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::palette::{Ink, TEXT};

/// A part of a plot, in units of which [`UNITS`] make a pixel.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Why something cannot be drawn.
pub(in crate::report) type Fault = DrawingAreaErrorKind<io::Error>;

/// Where a text is relative to its point; its middle is at the height of the point.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left,
    Middle,
    Right,
}

/// Draws a plot of a width and height in pixels.
pub(super) fn svg(
    (width, height): (f64, f64),
    draw: impl FnOnce(&Area<'_>) -> Result<(), Fault>,
) -> Result<String, Fault> {
    let mut text = String::new();
    let size = (px(width).unsigned_abs(), px(height).unsigned_abs());
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    draw(&area)?;
    area.present()?;
    drop(area);
    Ok(text)
}

/// Pixels in units of the canvas.
pub(super) fn px(pixels: f64) -> i32 {
    (pixels * UNITS).round() as i32
}

/// A line of a width in pixels.
pub(super) fn stroke(ink: Ink, width: f64) -> ShapeStyle {
    ink.light.stroke_width(px(width).unsigned_abs())
}

/// Text of the usual size.
pub(super) fn text_style(ink: Ink, side: Side) -> TextStyle<'static> {
    let pos = match side {
        Side::Left => HPos::Right,
        Side::Middle => HPos::Center,
        Side::Right => HPos::Left,
    };
    let font = ("sans-serif", px(FONT_SIZE)).into_font();
    font.color(&ink.light).pos(Pos::new(pos, VPos::Center))
}

/// Writes a bold text right of a point that is given in pixels.
pub(super) fn write_title(area: &Area<'_>, text: &str, (x, y): (f64, f64)) -> Drawn {
    let mut style = text_style(TEXT, Side::Right);
    style.font = style.font.style(FontStyle::Bold);
    area.draw_text(text, &style, (px(x), px(y)))
}

/// Writes a text beside a point that is given in pixels.
pub(super) fn write(area: &Area<'_>, text: &str, (x, y): (f64, f64), side: Side) -> Drawn {
    area.draw_text(text, &text_style(TEXT, side), (px(x), px(y)))
}

/// Fills a rectangle whose corners are given in pixels.
pub(super) fn fill(area: &Area<'_>, corners: [(f64, f64); 2], ink: Ink) -> Drawn {
    let corners = corners.map(|(x, y)| (px(x), px(y)));
    area.draw(&Rectangle::new(corners, ink.light.filled()))
}

/// Draws a line between points that are given in pixels.
pub(super) fn line(area: &Area<'_>, ends: [(f64, f64); 2], style: ShapeStyle) -> Drawn {
    let ends = ends.map(|(x, y)| (px(x), px(y)));
    area.draw(&PathElement::new(ends, style))
}

/// What drawing returns.
pub(super) type Drawn = Result<(), Fault>;

/// Coordinates are whole numbers, and a pixel is too coarse for them.
const UNITS: f64 = 8.0;

/// In pixels, for the back end, which divides it by 1.24.
pub(super) const FONT_SIZE: f64 = 15.0;
