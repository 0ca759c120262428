//! Texts of and for people: amounts, numbers with units, names that may be meant, columns of a terminal, and
//! how they look there.

pub mod amount;
pub mod columns;
pub mod nearest;
mod style;
pub mod units;
pub mod visible;

pub use style::{Colours, Style};
