//! Making tables, an HTML page or a Markdown document from saved results.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bench::report::{TableStyle, html, markdown, replace_tables, summary_table, text};
use bench::result::{self, BenchRecord};
use bench::scenario::INFOS;
use clap::Args;

use super::error::BenchError;
use crate::output::print;

/// Arguments of `diligence bench render`. Without options, it prints tables on standard output.
#[derive(Debug, Args)]
pub(super) struct Render {
    /// Results that `--json` wrote; several files are merged into one run with more rounds
    #[arg(required = true, value_name = "RESULTS.json")]
    results: Vec<PathBuf>,
    /// Write an HTML page with tables and plots
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write a Markdown document
    #[arg(long, value_name = "FILE.md")]
    document: Option<PathBuf>,
    /// Replace the summary tables between the markers of a Markdown document
    #[arg(long, value_name = "FILE.md")]
    readme: Option<PathBuf>,
}

/// Makes the tables or documents.
pub(super) fn run(render: &Render) -> Result<ExitCode, BenchError> {
    let mut records = Vec::new();
    for path in &render.results {
        records.extend(read(path)?);
    }
    if let Some(path) = &render.report {
        fs::write(path, html(&records, &INFOS)).map_err(BenchError::file(path))?;
    }
    if let Some(path) = &render.document {
        fs::write(path, markdown(&records, &INFOS)).map_err(BenchError::file(path))?;
    }
    if let Some(path) = &render.readme {
        write_tables(&records, path)?;
    }
    if render.report.is_some() || render.document.is_some() || render.readme.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(print(&text(&records, &INFOS, TableStyle::of_stdout())))
}

fn read(path: &Path) -> Result<Vec<BenchRecord>, BenchError> {
    let file = File::open(path).map_err(BenchError::file(path))?;
    let records = result::read(BufReader::new(file));
    records.map_err(|error| BenchError::Results { path: path.to_owned(), error })
}

fn write_tables(records: &[BenchRecord], path: &Path) -> Result<(), BenchError> {
    let text = fs::read_to_string(path).map_err(BenchError::file(path))?;
    let text = replace_tables(&text, |scenario| summary_table(records, &INFOS, scenario))
        .map_err(|error| BenchError::Marker { path: path.to_owned(), error })?;
    fs::write(path, text).map_err(BenchError::file(path))
}
