//! A database for SQLite.
//!
//! `tables.sql` creates the tables. `views.sql` runs after all rows are inserted, and creates
//! indexes, and views for the most frequent questions.

mod insert;
mod texts;

use std::path::Path;

use capture::Capture;
use capture::model::CapturedMessage;
use rusqlite::Connection;

use crate::ExportError;
use insert::Inserts;

/// Writes a database with the selected messages, and all facts about connections and names, to the
/// empty file at `path`. The file is not a valid database until this function returns.
///
/// # Errors
///
/// If the database cannot be written, or if the recording cannot be read.
pub fn write_sqlite<'c>(
    capture: &'c Capture,
    selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    path: &Path,
) -> Result<(), ExportError> {
    let mut database = Connection::open(path)?;
    database.execute_batch(FAST)?;
    database.execute_batch(TABLES)?;
    let transaction = database.transaction()?;
    Inserts::new(&transaction, capture)?.all(selects)?;
    transaction.execute_batch(VIEWS)?;
    transaction.commit()?;
    database.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// An unfinished file is discarded, so it need not survive a crash. Texts are inserted after the
/// messages that refer to them, so references cannot be checked for each row.
///
/// Indexes are created two times faster with a small cache: SQLite then sorts their entries in parts
/// that fit into the processor's cache, and merges these in a temporary file.
const FAST: &str = "\
PRAGMA foreign_keys = OFF;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -2048;
";

const TABLES: &str = include_str!("tables.sql");

const VIEWS: &str = include_str!("views.sql");
