//! `diligence export`: the messages of a recording, for other programs.

use std::fmt;
use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use capture::Capture;
use capture::query::{Query, QueryError};
use capture::show::Format;
use capture::table::csv_line;
use clap::{Args, ValueEnum};

use super::show;
use crate::output::complain;
use crate::recording::{self, OpenError};

/// Which messages to write, and how.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Export {
    /// The recording
    file: String,
    /// Which messages: `member:Get* dur>50ms` [default: all]
    query: Vec<String>,
    /// In which form
    #[arg(long, value_enum)]
    format: Form,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// A JSON object a line, with the arguments
    Json,
    /// Comma-separated values, without the arguments
    Csv,
}

/// Writes the messages to the standard output.
pub(crate) fn run(export: &Export) -> ExitCode {
    match export.write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(ExportError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&format!("diligence export: {error}\n"));
            match error {
                ExportError::Query(_) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

impl Export {
    fn write(&self) -> Result<(), ExportError> {
        let query = Query::parse(&self.query.join(" ")).map_err(ExportError::Query)?;
        let capture = recording::open(&[&self.file]).map_err(ExportError::Open)?;
        let written = match self.format {
            Form::Json => show::messages(&capture, &query, Format::Json),
            Form::Csv => csv(&capture, &query),
        };
        written.map_err(ExportError::Io)
    }
}

fn csv(capture: &Capture, query: &Query) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut line = String::new();
    csv_line(&mut line, KEYS);
    let mut matcher = query.matcher();
    for message in capture.messages().filter(|message| matcher.selects(message)) {
        let duration = message.duration().map(|time| time.as_nanos().to_string());
        let partner = message.partner().map(|partner| partner.id().number().to_string());
        let process = message.from().and_then(|peer| capture.process_label(peer));
        let fields = [
            &message.id().number().to_string(),
            &message.at().0.to_string(),
            &message.bus().0.to_string(),
            message.kind().as_str(),
            &message.flags().bits().to_string(),
            &message.serial().to_string(),
            &message.reply_serial().to_string(),
            message.sender(),
            message.destination(),
            message.path(),
            message.interface(),
            message.member(),
            message.signature(),
            &message.len().to_string(),
            process.as_deref().unwrap_or_default(),
            partner.as_deref().unwrap_or_default(),
            duration.as_deref().unwrap_or_default(),
        ];
        out.write_all(line.as_bytes())?;
        line.clear();
        csv_line(&mut line, fields);
    }
    out.write_all(line.as_bytes())?;
    out.flush()
}

const KEYS: [&str; 17] = [
    "number",
    "time_ns",
    "bus",
    "type",
    "flags",
    "serial",
    "reply_serial",
    "sender",
    "destination",
    "path",
    "interface",
    "member_or_error",
    "signature",
    "size_bytes",
    "process",
    "partner",
    "duration_ns",
];

/// Why nothing is written.
#[derive(Debug)]
enum ExportError {
    Open(OpenError),
    Query(QueryError),
    Io(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Query(error) => write!(f, "the query: {error}"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExportError {}

const LONG_HELP: &str = "\
JSON has the keys of `busctl --json=short monitor` and more: number, size, names, process, duration_ns, \
partner, recipients. CSV has a line of keys first; times are nanoseconds since 1970.

The exit status is 0 when all was written, 1 when it could not be, and 2 when the command line is wrong.";
