//! Texts for people: numbers with units, columns of a terminal, and how they look there.

pub mod columns;
mod style;
pub mod units;

pub use style::{Colours, Style};
