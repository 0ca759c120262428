//! Files of results: one JSON object per line.

use std::io::{self, BufRead, Write};

use super::{BenchRecord, FORMAT};

/// Writes one record as a line.
///
/// # Errors
///
/// Fails if writing to `out` fails.
pub fn write(out: &mut impl Write, record: &BenchRecord) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}

/// Reads all records of a file; skips empty lines.
///
/// # Errors
///
/// Fails if the file cannot be read, if a line is not a record, or if the format of the file is not
/// supported.
pub fn read(file: impl BufRead) -> Result<Vec<BenchRecord>, ResultsError> {
    let mut records = Vec::new();
    for (index, line) in file.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let record = serde_json::from_str(&line)
            .map_err(|error| ResultsError::Line { number: index + 1, error })?;
        if let BenchRecord::Run(run) = &record
            && run.format != FORMAT
        {
            return Err(ResultsError::Format { found: run.format });
        }
        records.push(record);
    }
    Ok(records)
}

/// Why a file of results cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is not a record.
    #[error("line {number} is not a record: {error}")]
    Line {
        /// The line number, starting at 1.
        number: usize,
        /// The error of the JSON parser.
        error: serde_json::Error,
    },
    /// The file has an unsupported format.
    #[error("unsupported format {found}: expected format {FORMAT}")]
    Format {
        /// The version that the file names.
        found: u32,
    },
}
