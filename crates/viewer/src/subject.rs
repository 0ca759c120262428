//! The subject of a page: a recording (of one or more files) or a live bus.

use std::path::PathBuf;
use std::sync::{Arc, RwLock, mpsc};
use std::{fmt, thread};

use capture::Capture;
use capture::model::OpenError;
use capture::record::RecordingRecord;
use recorder::{BusListenError, BusPlace, BusWatch, RollingCapture, SourceState};
use tokio::sync::watch;

use crate::missing::MissedMessages;

/// A recording or a live bus that a page shows. Copies share the same data.
#[derive(Clone, Debug)]
pub struct ViewerSubject {
    title: String,
    /// The bus, if the subject is one.
    place: Option<BusPlace>,
    shared: Arc<RwLock<SubjectContent>>,
    changes: watch::Receiver<SubjectState>,
    /// Starts the watch on the first page, if the subject is a [`lazy_bus`](Self::lazy_bus).
    starts: Option<mpsc::SyncSender<()>>,
}

/// The reason why a recording or bus cannot be shown.
#[derive(Debug)]
pub enum SubjectFailure {
    /// A recording cannot be read.
    Open(OpenError),
    /// The bus cannot be watched.
    Listen(BusPlace, BusListenError),
}

/// The progress of loading a recording or watching a bus.
#[derive(Clone, Debug)]
pub enum SubjectState {
    /// The recording is being read, or the bus has not been connected yet.
    Loading,
    /// The recording was read completely.
    Complete,
    /// The bus is being watched, and more messages can arrive.
    Live,
    /// The connection to the bus has ended. The messages captured before that are still available.
    Ended,
    /// The recording or bus cannot be shown.
    Failed(Arc<SubjectFailure>),
}

/// The messages that can be shown.
#[derive(Debug)]
pub(crate) enum SubjectContent {
    Recording(Box<Capture>),
    Bus {
        rolling: Box<RollingCapture>,
        /// The number of captured messages, including messages that were dropped since.
        messages: u64,
        missing: MissedMessages,
    },
}

impl ViewerSubject {
    /// Reads recordings in a thread. [`state`](Self::state) reports when they are ready.
    pub fn recordings(paths: Vec<PathBuf>) -> Self {
        let title = title(&paths);
        let shared = Arc::new(RwLock::new(SubjectContent::Recording(Box::default())));
        let (sender, changes) = watch::channel(SubjectState::Loading);
        let place = Arc::clone(&shared);
        thread::spawn(move || {
            let state = match Capture::open_side_by_side(&paths) {
                Ok(capture) => {
                    *write(&place) = SubjectContent::Recording(Box::new(capture));
                    SubjectState::Complete
                }
                Err(error) => SubjectState::Failed(Arc::new(SubjectFailure::Open(error))),
            };
            sender.send_replace(state);
        });
        Self { title, place: None, shared, changes, starts: None }
    }

    /// Watches a bus in a thread. Returns when the bus is connected.
    ///
    /// # Errors
    ///
    /// If the bus cannot be watched.
    pub fn bus(place: BusPlace) -> Result<Self, Arc<SubjectFailure>> {
        let subject = Self::lazy_bus(place);
        subject.start_watch();
        let mut changes = subject.changes();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("without drivers it needs nothing of the system");
        let opened =
            runtime.block_on(changes.wait_for(|state| !matches!(state, SubjectState::Loading)));
        match opened.map(|state| state.clone()) {
            Ok(SubjectState::Failed(failure)) => Err(failure),
            // The thread reports the result before it ends.
            Ok(_) | Err(_) => Ok(subject),
        }
    }

    /// Watches a bus in a thread, which connects when the first page opens.
    pub fn lazy_bus(place: BusPlace) -> Self {
        let rolling = Box::new(RollingCapture::new(MESSAGES_KEPT));
        let bus = SubjectContent::Bus { rolling, messages: 0, missing: MissedMessages::default() };
        let shared = Arc::new(RwLock::new(bus));
        let (sender, changes) = watch::channel(SubjectState::Loading);
        let (starts, started) = mpsc::sync_channel(1);
        let subject = Self {
            title: place.to_string(),
            place: Some(place.clone()),
            shared: Arc::clone(&shared),
            changes,
            starts: Some(starts),
        };
        // The watch must stay in the thread that opened it.
        thread::spawn(move || {
            if started.recv().is_ok() {
                open(place, &shared, &sender);
            }
        });
        subject
    }

    /// Starts the watch of a [`lazy_bus`](Self::lazy_bus), if it has not started yet.
    pub(crate) fn start_watch(&self) {
        if let Some(starts) = &self.starts {
            // The channel is full if an earlier call has already started the watch.
            let _ = starts.try_send(());
        }
    }

    /// The bus, if the subject is one.
    pub(crate) const fn place(&self) -> Option<&BusPlace> {
        self.place.as_ref()
    }

    /// The title of the page.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The current progress of loading or watching.
    pub fn state(&self) -> SubjectState {
        self.changes.borrow().clone()
    }

    /// A receiver that is notified of each change of the state and of each batch of new messages.
    pub(crate) fn changes(&self) -> watch::Receiver<SubjectState> {
        self.changes.clone()
    }

    /// Calls `look` with the messages that can be shown now.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&SubjectContent) -> T) -> T {
        look(&self.shared.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl SubjectContent {
    pub(crate) const fn capture(&self) -> &Capture {
        match self {
            Self::Recording(capture) => capture,
            Self::Bus { rolling, .. } => rolling.capture(),
        }
    }

    /// The number of messages that were dropped before the first one in the capture.
    pub(crate) fn before(&self) -> u64 {
        match self {
            Self::Recording(_) => 0,
            Self::Bus { rolling, messages, .. } => messages - rolling.capture().len() as u64,
        }
    }

    /// The messages of a live bus that were not captured.
    pub(crate) fn missing(&self) -> MissedMessages {
        match self {
            Self::Recording(_) => MissedMessages::default(),
            Self::Bus { missing, .. } => *missing,
        }
    }

    fn push(&mut self, record: RecordingRecord<'_>) {
        if let Self::Bus { rolling, messages, missing } = self {
            *messages += u64::from(matches!(record, RecordingRecord::Message(_)));
            missing.add(&record);
            rolling.push(record);
        }
    }
}

/// A title for recordings: the names of the files. Their directories are left out because a saved
/// page can be sent to other people.
pub fn title(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths
        .iter()
        .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
        .collect();
    names.join(", ")
}

fn open(place: BusPlace, shared: &RwLock<SubjectContent>, sender: &watch::Sender<SubjectState>) {
    match BusWatch::open(&[place], &[], &mut record_sink(shared)) {
        Ok(watch) => {
            sender.send_replace(SubjectState::Live);
            listen(watch, shared, sender);
        }
        Err((place, error)) => {
            sender
                .send_replace(SubjectState::Failed(Arc::new(SubjectFailure::Listen(place, error))));
        }
    }
}

/// Adds messages from the bus until the connection ends.
fn listen(
    mut watch: BusWatch,
    shared: &RwLock<SubjectContent>,
    sender: &watch::Sender<SubjectState>,
) {
    loop {
        let drained = watch.take(&mut record_sink(shared));
        sender.send_replace(SubjectState::Live);
        // Waiting while more messages are pending would make the watch fall behind.
        let has_more = drained == SourceState::More;
        if watch.is_over() || (!has_more && watch.wait(watch.wait_limit()).is_err()) {
            break;
        }
    }
    sender.send_replace(SubjectState::Ended);
}

/// Adds one record under each lock, so that a reader waits for at most one record and never for the
/// bus.
fn record_sink(shared: &RwLock<SubjectContent>) -> impl FnMut(RecordingRecord<'_>) {
    |record| write(shared).push(record)
}

fn write(shared: &RwLock<SubjectContent>) -> std::sync::RwLockWriteGuard<'_, SubjectContent> {
    shared.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl fmt::Display for SubjectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => write!(f, "cannot read {error}"),
            Self::Listen(place, error) => write!(f, "cannot watch {place}: {error}"),
        }
    }
}

impl std::error::Error for SubjectFailure {}

/// The minimum number of recent messages of a bus that stay available. At most twice this number
/// are kept.
const MESSAGES_KEPT: usize = 100_000;
