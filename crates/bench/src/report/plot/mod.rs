//! Plots, each an SVG element.

mod axis;
mod bars;
mod canvas;
mod lines;
mod timeline;

pub(super) use bars::Bars;
pub(super) use canvas::Fault;
pub(super) use lines::{Lines, key, number_at};
pub(super) use timeline::timeline;
