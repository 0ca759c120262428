//! A database: SQLite.
//!
//! `tables.sql` is the schema, `views.sql` what is made of it when all rows are there: indexes, and
//! views that answer what is asked most.

mod insert;
mod texts;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use capture::Capture;
use capture::model::Message;
use rusqlite::Connection;

use crate::ExportError;
use insert::Inserts;

/// Writes a database with the messages that are selected, and all that is known about connections and
/// names. A file that was at `path` is replaced when all is done, and stays if it fails.
///
/// # Errors
///
/// If the database cannot be written.
pub fn write_sqlite<'c>(
    capture: &'c Capture,
    selects: impl FnMut(&Message<'c>) -> bool,
    path: &Path,
) -> Result<(), ExportError> {
    let unfinished = unfinished(path);
    remove_if_there(&unfinished)?;
    match fill(capture, selects, &unfinished) {
        Ok(()) => Ok(fs::rename(&unfinished, path)?),
        Err(error) => {
            // That it failed is what there is to tell.
            let _ = fs::remove_file(&unfinished);
            Err(error)
        }
    }
}

fn fill<'c>(
    capture: &'c Capture,
    selects: impl FnMut(&Message<'c>) -> bool,
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

/// Beside the file that it becomes, so that it is on the same file system.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".unfinished");
    PathBuf::from(name)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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
