//! What is looked at: recordings, or a bus.

use std::path::PathBuf;
use std::sync::{Arc, RwLock, mpsc};
use std::{fmt, thread};

use capture::Capture;
use capture::model::OpenError;
use capture::record::RecordingRecord;
use recorder::{BusListenError, BusPlace, BusWatch, RollingCapture, SourceState};
use tokio::sync::watch;

use crate::missing::MissedMessages;

/// What is looked at.
#[derive(Clone, Debug)]
pub struct ViewerSubject {
    title: String,
    /// Where it is, if it is a bus.
    place: Option<BusPlace>,
    shared: Arc<RwLock<SubjectContent>>,
    changes: watch::Receiver<SubjectState>,
    /// Told when somebody looks, if that makes a difference.
    looks: Option<mpsc::SyncSender<()>>,
}

/// Why there is nothing to look at.
#[derive(Debug)]
pub enum SubjectFailure {
    /// A recording cannot be read.
    Open(OpenError),
    /// The bus does not let us.
    Listen(BusPlace, BusListenError),
}

/// How far it is.
#[derive(Clone, Debug)]
pub enum SubjectState {
    /// It is read.
    Loading,
    /// It is there, and will not change any more.
    Whole,
    /// It is there, and grows.
    Live,
    /// The bus has gone. What was seen of it is there.
    Gone,
    /// Nothing can be shown.
    Failed(Arc<SubjectFailure>),
}

/// What there is to show.
#[derive(Debug)]
pub(crate) enum SubjectContent {
    Recording(Box<Capture>),
    Bus {
        rolling: Box<RollingCapture>,
        /// Messages that there were in all.
        messages: u64,
        missing: MissedMessages,
    },
}

impl ViewerSubject {
    /// Recordings, which are read by a thread from now on.
    pub fn recordings(paths: Vec<PathBuf>) -> Self {
        let title = title(&paths);
        let shared = Arc::new(RwLock::new(SubjectContent::Recording(Box::default())));
        let (sender, changes) = watch::channel(SubjectState::Loading);
        let place = Arc::clone(&shared);
        thread::spawn(move || {
            let state = match Capture::open_side_by_side(&paths) {
                Ok(capture) => {
                    *write(&place) = SubjectContent::Recording(Box::new(capture));
                    SubjectState::Whole
                }
                Err(error) => SubjectState::Failed(Arc::new(SubjectFailure::Open(error))),
            };
            sender.send_replace(state);
        });
        Self { title, place: None, shared, changes, looks: None }
    }

    /// A bus, which a thread listens to from now on.
    ///
    /// # Errors
    ///
    /// If the bus does not let us.
    pub fn bus(place: BusPlace) -> Result<Self, Arc<SubjectFailure>> {
        let subject = Self::bus_when_looked_at(place);
        subject.look();
        let mut changes = subject.changes();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("without drivers it needs nothing of the system");
        let opened =
            runtime.block_on(changes.wait_for(|state| !matches!(state, SubjectState::Loading)));
        match opened.map(|state| state.clone()) {
            Ok(SubjectState::Failed(failure)) => Err(failure),
            // The thread tells what has become of it before it ends.
            Ok(_) | Err(_) => Ok(subject),
        }
    }

    /// A bus, which a thread listens to once somebody looks.
    pub fn bus_when_looked_at(place: BusPlace) -> Self {
        let rolling = Box::new(RollingCapture::new(MESSAGES_KEPT));
        let bus = SubjectContent::Bus { rolling, messages: 0, missing: MissedMessages::default() };
        let shared = Arc::new(RwLock::new(bus));
        let (sender, changes) = watch::channel(SubjectState::Loading);
        let (looks, looked_at) = mpsc::sync_channel(1);
        let subject = Self {
            title: place.to_string(),
            place: Some(place.clone()),
            shared: Arc::clone(&shared),
            changes,
            looks: Some(looks),
        };
        // What listens stays in the thread that has opened it.
        thread::spawn(move || {
            if looked_at.recv().is_ok() {
                open(place, &shared, &sender);
            }
        });
        subject
    }

    /// Somebody looks.
    pub(crate) fn look(&self) {
        if let Some(looks) = &self.looks {
            // If it is full, somebody has looked before.
            let _ = looks.try_send(());
        }
    }

    /// Where it is, if it is a bus.
    pub(crate) const fn place(&self) -> Option<&BusPlace> {
        self.place.as_ref()
    }

    /// What people call it.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// How far it is.
    pub fn state(&self) -> SubjectState {
        self.changes.borrow().clone()
    }

    /// Tells whenever it has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<SubjectState> {
        self.changes.clone()
    }

    /// What there is to see of it now.
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

    /// How many messages there were before the first one that is still there.
    pub(crate) fn before(&self) -> u64 {
        match self {
            Self::Recording(_) => 0,
            Self::Bus { rolling, messages, .. } => messages - rolling.capture().len() as u64,
        }
    }

    /// What of a bus was not heard.
    pub(crate) fn missing(&self) -> MissedMessages {
        match self {
            Self::Recording(_) => MissedMessages::default(),
            Self::Bus { missing, .. } => *missing,
        }
    }

    fn push(&mut self, record: RecordingRecord<'_>) {
        if let Self::Bus { rolling, messages, missing } = self {
            *messages += u64::from(matches!(record, RecordingRecord::Message(_)));
            missing.learn(&record);
            rolling.push(record);
        }
    }
}

/// What people call recordings: the names of the files, without their folders, which are nobody's
/// business to whom the page is sent.
pub fn title(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths
        .iter()
        .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
        .collect();
    names.join(", ")
}

fn open(place: BusPlace, shared: &RwLock<SubjectContent>, sender: &watch::Sender<SubjectState>) {
    match BusWatch::open(&[place], &[], &mut pusher(shared)) {
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

/// Takes what comes from the bus until it has gone.
fn listen(
    mut watch: BusWatch,
    shared: &RwLock<SubjectContent>,
    sender: &watch::Sender<SubjectState>,
) {
    loop {
        let drained = watch.take(&mut pusher(shared));
        sender.send_replace(SubjectState::Live);
        // Who waits while there is more to take falls behind.
        let is_more = drained == SourceState::More;
        if watch.is_over() || (!is_more && watch.wait(watch.patience()).is_err()) {
            break;
        }
    }
    sender.send_replace(SubjectState::Gone);
}

/// Takes in records. Who wants to look waits for one of them at most: not until all that has come is
/// taken, and not for the bus.
fn pusher(shared: &RwLock<SubjectContent>) -> impl FnMut(RecordingRecord<'_>) {
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

/// Messages of a bus that can be looked at, at least, once so many have come; at most it is twice as
/// many.
const MESSAGES_KEPT: usize = 100_000;
