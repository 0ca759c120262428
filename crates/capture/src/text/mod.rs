//! Texts of and for people: amounts, numbers with units, columns of a terminal, and how they look there.

pub mod amount;
pub mod columns;
mod style;
pub mod units;

pub use style::{Colours, Style};
