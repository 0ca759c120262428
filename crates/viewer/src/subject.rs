//! What is looked at: recordings, or a bus.

use std::path::PathBuf;
use std::sync::{Arc, RwLock, mpsc};
use std::{fmt, thread};

use capture::Capture;
use capture::model::OpenError;
use capture::record::Record;
use recorder::{ListenError, Place, Rolling, Watch};
use tokio::sync::watch;

/// What is looked at.
#[derive(Clone, Debug)]
pub struct Subject {
    title: String,
    shared: Arc<RwLock<Shown>>,
    changes: watch::Receiver<State>,
}

/// How far it is.
#[derive(Clone, Debug)]
pub enum State {
    /// It is read.
    Loading,
    /// It is there, and will not change any more.
    Whole,
    /// It is there, and grows; the number is another one each time.
    Live(u64),
    /// The bus has gone. What was seen of it is there.
    Gone,
    /// Nothing can be shown.
    Failed(Arc<OpenError>),
}

/// What there is to show.
#[derive(Debug)]
pub(crate) enum Shown {
    Recording(Box<Capture>),
    Bus {
        rolling: Box<Rolling>,
        /// Messages that there were in all.
        messages: u64,
    },
}

impl Subject {
    /// Recordings, which are read by a thread from now on.
    pub fn recordings(paths: Vec<PathBuf>) -> Self {
        let title: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        let shared = Arc::new(RwLock::new(Shown::Recording(Box::default())));
        let (sender, changes) = watch::channel(State::Loading);
        let place = Arc::clone(&shared);
        thread::spawn(move || {
            let state = match Capture::open_all(&paths) {
                Ok(capture) => {
                    *write(&place) = Shown::Recording(Box::new(capture));
                    State::Whole
                }
                Err(error) => State::Failed(Arc::new(error)),
            };
            sender.send_replace(state);
        });
        Self { title: title.join(", "), shared, changes }
    }

    /// A bus, which a thread listens to from now on.
    ///
    /// # Errors
    ///
    /// If the bus does not let us.
    pub fn bus(place: &Place) -> Result<Self, (Place, ListenError)> {
        let bus = Shown::Bus { rolling: Box::new(Rolling::new(MESSAGES_KEPT)), messages: 0 };
        let shared = Arc::new(RwLock::new(bus));
        let (sender, changes) = watch::channel(State::Live(0));
        let (told, opened) = mpsc::sync_channel(1);
        let (kept, watched) = (Arc::clone(&shared), place.clone());
        // What listens stays in the thread that has opened it.
        thread::spawn(move || {
            let watch = {
                let mut shown = write(&kept);
                Watch::open(&[watched], &[], &mut |record| shown.push(record))
            };
            match watch {
                Ok(watch) => {
                    let _ = told.send(Ok(()));
                    listen(watch, &kept, &sender);
                }
                Err(error) => drop(told.send(Err(error))),
            }
        });
        opened.recv().expect("the thread tells before it ends")?;
        Ok(Self { title: place.to_string(), shared, changes })
    }

    /// What people call it.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// How far it is.
    pub fn state(&self) -> State {
        self.changes.borrow().clone()
    }

    /// Tells whenever it has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<State> {
        self.changes.clone()
    }

    /// What there is to see of it now.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Shown) -> T) -> T {
        look(&self.shared.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl Shown {
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
            Self::Bus { rolling, messages } => messages - rolling.capture().len() as u64,
        }
    }

    fn push(&mut self, record: Record<'_>) {
        if let Self::Bus { rolling, messages } = self {
            *messages += u64::from(matches!(record, Record::Message(_)));
            rolling.push(record);
        }
    }
}

/// Takes what comes from the bus until it has gone, or nobody looks any more.
fn listen(mut watch: Watch, shared: &RwLock<Shown>, sender: &watch::Sender<State>) {
    for turn in 1.. {
        {
            let mut shown = write(shared);
            watch.take(&mut |record| shown.push(record));
        }
        if watch.is_over() || watch.wait(watch.patience()).is_err() {
            break;
        }
        sender.send_replace(State::Live(turn));
        if sender.is_closed() {
            return;
        }
    }
    sender.send_replace(State::Gone);
}

fn write(shared: &RwLock<Shown>) -> std::sync::RwLockWriteGuard<'_, Shown> {
    shared.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

/// Messages of a bus that can be looked at, at least, once so many have come; at most it is twice as
/// many.
const MESSAGES_KEPT: usize = 100_000;
