//! Results on a terminal: a table that grows while a run goes on, and a progress bar below it.

pub mod number;
pub mod progress;
pub mod table;
pub mod words;
