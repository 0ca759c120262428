//! Making tables, a page and a document of saved results.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bench::report::{Style, headline, html, markdown, replace_headline, text};
use bench::result::{self, Record};
use bench::scenario::INFOS;
use clap::Args;

use super::error::BenchError;
use crate::output::print;

/// What to make of which results. Without any option it is tables.
#[derive(Debug, Args)]
pub(super) struct Render {
    /// Results that `--json` has written; those of several files count as one run with more rounds
    #[arg(required = true, value_name = "RESULTS.json")]
    results: Vec<PathBuf>,
    /// Write a page with plots
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write a document in Markdown
    #[arg(long, value_name = "FILE.md")]
    document: Option<PathBuf>,
    /// Replace the headline in a document in Markdown, where its markers are
    #[arg(long, value_name = "FILE.md")]
    readme: Option<PathBuf>,
}

/// Makes it.
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
        write_headline(&records, path)?;
    }
    if render.report.is_some() || render.document.is_some() || render.readme.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(print(&text(&records, &INFOS, Style::of_stdout())))
}

fn read(path: &Path) -> Result<Vec<Record>, BenchError> {
    let file = File::open(path).map_err(BenchError::file(path))?;
    let records = result::read(BufReader::new(file));
    records.map_err(|error| BenchError::Results { path: path.to_owned(), error })
}

fn write_headline(records: &[Record], path: &Path) -> Result<(), BenchError> {
    let headline = headline(records, &INFOS).ok_or(BenchError::NoHeadline)?;
    let text = fs::read_to_string(path).map_err(BenchError::file(path))?;
    let text = replace_headline(&text, &headline)
        .map_err(|error| BenchError::Marker { path: path.to_owned(), error })?;
    fs::write(path, text).map_err(BenchError::file(path))
}
