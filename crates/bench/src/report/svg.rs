//! A plot as an SVG element, whose colors come from the style sheet of the page.

use std::fmt::Write as _;

use super::html::HtmlEscaped;

/// An SVG element under construction. Lengths are in pixels.
pub(super) struct Svg {
    text: String,
}

/// The part of a text that is placed at the given point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Middle,
    End,
}

impl Svg {
    pub(super) fn new((width, height): (f64, f64)) -> Self {
        Self { text: format!("<svg viewBox=\"0 0 {width} {height}\">\n") }
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], class: &str) {
        let _ = write!(self.text, "<polyline class=\"{class}\" points=\"");
        for (x, y) in points {
            let _ = write!(self.text, "{x:.1},{y:.1} ");
        }
        self.text.push_str("\"/>\n");
    }

    /// Draws a filled shape, given as a path relative to its center.
    pub(super) fn marker(&mut self, (x, y): (f64, f64), shape: &str, class: &str) {
        let _ = writeln!(self.text, "<path class=\"{class}\" d=\"M{x:.1} {y:.1}{shape}\"/>");
    }

    /// Draws a filled rectangle between two corners.
    pub(super) fn bar(&mut self, (x, y): (f64, f64), (right, bottom): (f64, f64), class: &str) {
        let (width, height) = (right - x, bottom - y);
        let _ = writeln!(
            self.text,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        );
    }

    /// Draws a text, vertically centered at the point.
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = HtmlEscaped(text);
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" dy=\".35em\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    pub(super) fn end(self) -> String {
        self.text + "</svg>"
    }
}
