//! Recordings in the formats of other programs.
//!
//! - [`write_json`]: messages with their arguments, an object a line.
//! - [`flat`]: the table that has all of a message in one row, with what is known of its call.
//!   [`write_csv`] writes it as lines, [`write_parquet`] as columns, for those who put many recordings
//!   side by side.
//! - [`write_sqlite`]: a database, with views that answer what is asked most.
//! - [`write_dot`]: who talks to whom, as a graph that Graphviz draws.
//!
//! Each takes a capture and which of its messages to write. The schemas stand in docs/export.md, each
//! with its version. A trace for viewers of traces is what [`capture::timeline::chrome_trace`] writes.

#![forbid(unsafe_code)]

mod csv;
mod dot;
mod error;
pub mod flat;
mod json;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use csv::write_csv;
pub use dot::write_dot;
pub use error::ExportError;
pub use json::write_json;
#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
#[cfg(feature = "sqlite")]
pub use sqlite::write_sqlite;
