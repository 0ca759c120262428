//! Exports recordings to the formats of other programs.
//!
//! - [`write_json`]: messages with their arguments, one object per line.
//! - [`flat`]: the flat table, with one row for each message, including the facts about its call.
//!   [`write_csv`] writes it as text, [`write_parquet`] by columns, for analyzing many recordings
//!   together.
//! - [`write_sqlite`]: a database, with views for the most frequent questions.
//! - [`write_dot`]: the traffic between programs, as a graph for Graphviz.
//!
//! Each function takes a capture and a selection of its messages. The schemas and their versions
//! are described in docs/export.md. [`capture::timeline::chrome_trace`] writes traces for trace
//! viewers.

#![forbid(unsafe_code)]

mod csv;
mod dot;
mod error;
pub mod flat;
mod json;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
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
