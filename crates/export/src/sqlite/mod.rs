//! A database: SQLite.
//!
//! `tables.sql` is the schema, `views.sql` what is made of it when all rows are there: indexes, and
//! views that answer what is asked most.

mod insert;
mod texts;

use std::path::Path;

use capture::Capture;
use capture::model::CapturedMessage;
use rusqlite::Connection;

use crate::ExportError;
use insert::Inserts;

/// Writes a database with the messages that are selected, and all that is known about connections and
/// names, into the empty file at `path`. It is not a whole database until this returns.
///
/// # Errors
///
/// If the database cannot be written.
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

/// A file that is not finished is thrown away, so nothing has to be kept for a crash. Texts come after
/// the messages that have them, so what rows refer to cannot be looked up one by one.
const FAST: &str = "\
PRAGMA foreign_keys = OFF;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;
";

const TABLES: &str = include_str!("tables.sql");

const VIEWS: &str = include_str!("views.sql");
