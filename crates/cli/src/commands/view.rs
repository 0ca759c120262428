//! `diligence view`: shows recordings or a running bus as a page in the browser.
//!
//! The page and its server are in [`viewer`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use capture::bodies::Bodies;
use clap::Args;
use sys::poll::{Events, Interest, Poller};
use sys::signals::{ProcessSignal, SignalSource};
use viewer::subject::{SubjectFailure, SubjectState};
use viewer::{CallPermission, PageExportError, PageServer, ViewerSubject};

use crate::bus_choice::BusChoice;
use crate::exit::ExitError;
use crate::output::{DocumentOutput, print, print_message};
use crate::private_bus::end_requested;
use crate::progress::{WorkProgress, WorkTask, conclude_file};
use crate::recording::{self, RecordingError};

/// Arguments of `diligence view`.
#[derive(Debug, Args)]
#[command(
    mut_group("BusChoice", |group| group.requires("live")),
    after_long_help = LONG_HELP,
)]
pub(crate) struct ViewArgs {
    /// Recordings, which are shown together on one time axis
    #[arg(required_unless_present = "live", conflicts_with = "live", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Watch a running bus
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    bus: BusChoice,
    /// Allow the page to call methods and set properties on the bus
    #[arg(long, requires = "live")]
    allow_calls: bool,
    #[command(flatten)]
    serving: Serving,
    #[command(flatten)]
    saving: Saving,
}

/// Options for serving the page.
#[derive(Debug, Args)]
struct Serving {
    /// Print the address of the page, and do not open a browser
    #[arg(long)]
    no_open: bool,
    /// The port on the loopback address [default: a free port]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
}

/// Options for writing the page into a file.
#[derive(Debug, Args)]
struct Saving {
    /// Write the page with the recording into this file instead, which needs no other files; `-` is
    /// standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["live", "no_open", "port"])]
    export: Option<PathBuf>,
    /// Remove the contents of messages; their types, sizes, times, senders and recipients stay
    #[arg(long, requires = "export")]
    redact: bool,
}

impl ViewArgs {
    /// Serves the page until the user ends it, or writes it into a file.
    pub(crate) fn run(&self) -> Result<(), ViewError> {
        match &self.saving.export {
            Some(out) => self.write(out),
            None => self.show(),
        }
    }

    fn write(&self, out: &Path) -> Result<(), ViewError> {
        let capture = recording::open_side_by_side(&self.files).map_err(ViewError::Read)?;
        let title = viewer::subject::title(&self.files);
        let bodies = if self.saving.redact { Bodies::Redacted } else { Bodies::Whole };
        let work = WorkProgress::start(WorkTask::Other("writing the page"));
        let created = DocumentOutput::check_inputs(Some(out), &capture)
            .and_then(|()| DocumentOutput::create(Some(out)));
        let written = created.map_err(PageExportError::Io).and_then(|mut output| {
            viewer::export(&capture, &title, bodies, &mut output)?;
            Ok(output.finish()?)
        });
        written.map_err(|error| ViewError::Write { path: out.to_owned(), error })?;
        drop(work);
        conclude_file(out, capture.len() as u64);
        Ok(())
    }

    fn show(&self) -> Result<(), ViewError> {
        let signals = SignalSource::block(&[
            ProcessSignal::Interrupt,
            ProcessSignal::Terminate,
            ProcessSignal::HangUp,
        ])?;
        let subject = match self.live {
            true => ViewerSubject::bus(self.bus.place()).map_err(ViewError::Nothing)?,
            false => ViewerSubject::recordings(self.files.clone()),
        };
        let calls =
            if self.allow_calls { CallPermission::Allowed } else { CallPermission::Refused };
        let server = PageServer::start(self.serving.port, subject.clone(), calls, print_address)?;
        let poller = Poller::new()?;
        poller.add(&signals, 0, Interest::Read)?;
        let mut is_shown = false;
        let mut events = Events::with_capacity(1);
        loop {
            let state = subject.state();
            if let SubjectState::Failed(error) = state {
                return Err(ViewError::Nothing(error));
            }
            let is_loading = matches!(state, SubjectState::Loading);
            let tick = (is_loading || !is_shown).then_some(TICK);
            poller.wait(&mut events, tick)?;
            if end_requested(&signals)?.is_some() {
                return Ok(());
            }
            // By now a file that is not a recording has been recognized.
            if !is_shown && !matches!(subject.state(), SubjectState::Failed(_)) {
                is_shown = true;
                print_address(server.address());
                if !self.serving.no_open {
                    open_browser(&server);
                }
            }
        }
    }
}

fn print_address(address: String) {
    print(&format!("{address}\n"));
}

fn open_browser(server: &PageServer) {
    if let Err(error) = server.open_browser() {
        print_message("diligence view", &format_args!("cannot open a browser: {error}"));
    }
}

/// The page could not be shown or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ViewError {
    /// The recording cannot be read, or the bus cannot be watched.
    #[error("{0}")]
    Nothing(Arc<SubjectFailure>),
    #[error(transparent)]
    Read(RecordingError),
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: PageExportError },
    #[error(transparent)]
    System(#[from] io::Error),
}

impl ExitError for ViewError {}

/// The interval between checks of the recordings. A file that is not a recording is recognized
/// within this time.
const TICK: Duration = Duration::from_millis(100);

const LONG_HELP: &str = "\
The page shows everything that the other commands report about a recording, and a diagram of its \
messages over time. It is served on the loopback address, only to browsers of this user and of root, \
until Ctrl-C ends it.

The command prints an address of the page and opens a browser. The address works once, in one browser; \
after that the command prints another one, for the next browser. A browser that shows the page can load \
it again without an address.

With --export the page becomes one file, which can be sent to a colleague: it needs neither this program \
nor a network. With --redact it contains no values of messages, and no arguments of command lines.

The exit status is 0 if Ctrl-C or SIGTERM ended it, 1 if there was nothing to show, and 2 if the command \
line is wrong.";
