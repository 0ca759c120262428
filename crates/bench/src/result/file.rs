//! Files of results: one JSON object a line.

use std::fmt;
use std::io::{self, BufRead, Write};

use super::{FORMAT, Record};

/// Writes one record as a line.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut impl Write, record: &Record) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}

/// Reads all records of a file. Empty lines are skipped.
///
/// # Errors
///
/// See [`ReadError`].
pub fn read(file: impl BufRead) -> Result<Vec<Record>, ReadError> {
    let mut records = Vec::new();
    for (index, line) in file.lines().enumerate() {
        let line = line.map_err(ReadError::Io)?;
        if line.trim().is_empty() {
            continue;
        }
        let record = serde_json::from_str(&line)
            .map_err(|error| ReadError::Line { number: index + 1, error })?;
        if let Record::Run(run) = &record
            && run.format != FORMAT
        {
            return Err(ReadError::Format { found: run.format });
        }
        records.push(record);
    }
    Ok(records)
}

/// Why a file of results cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// The file itself cannot be read.
    Io(io::Error),
    /// A line is no record.
    Line {
        /// Which, from 1.
        number: usize,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// It was written by a program with another idea of the format.
    Format {
        /// The version that the file says of itself.
        found: u32,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Line { number, error } => write!(f, "line {number} is no record: {error}"),
            Self::Format { found } => {
                write!(f, "it has format {found}, and this program reads format {FORMAT}")
            }
        }
    }
}

impl std::error::Error for ReadError {}
