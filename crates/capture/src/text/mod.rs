//! Texts for people: parsing amounts, formatting numbers with units, suggesting names, aligning
//! columns and styling for a terminal.

pub mod amount;
pub mod columns;
pub mod nearest;
mod style;
pub mod units;
pub mod visible;

pub use style::{Colors, Style};
