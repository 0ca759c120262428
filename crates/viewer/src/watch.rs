//! Events of a running bus for the page: names that get another owner, objects that a service adds or
//! removes, and the signals of one object.
//!
//! All events of a page travel over one connection to the bus and one HTTP response. A browser opens at
//! most six HTTP connections to one server for all of its pages, and requests need some of them. One
//! response also keeps the order of events when the page looks at something else.

use std::error::Error;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use analyst::value_type::TypeTable;
use axum::body::Bytes;
use inspector::watch::SignalBody;
use inspector::{Inspector, InspectorFailure, ObjectWatch, SignalEvent};
use recorder::BusPlace;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;

use crate::bus::PageReply;

/// What is watched: names always, the objects of `service`, and the signals of the object at `path`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Watched {
    /// A name of a service.
    service: Option<String>,
    /// The path of one of its objects.
    path: Option<String>,
}

/// What one match rule is about.
#[derive(Clone, PartialEq, Eq, Debug)]
enum WatchSubject {
    Names,
    Objects { service: String },
    Object { service: String, path: String },
}

/// What one match rule is about, as the page knows it.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WatchKind {
    /// Names that get another owner.
    Names,
    /// Objects that the service adds or removes.
    Objects,
    /// Signals of the object.
    Object,
}

/// An event.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WatchEvent {
    /// From here on this is watched. What the page asks for now is not older than the next event.
    Begun(Watched),
    /// Something cannot be watched.
    Unwatched {
        /// What it is.
        what: WatchKind,
        /// The reason.
        failure: InspectorFailure,
    },
    /// A signal, or how many were lost.
    Heard {
        /// What the signal is about.
        of: WatchKind,
        /// The signal.
        what: SignalEvent,
    },
}

/// Sends events until the receiver of `lines` is dropped. `changes` says what else is to be watched.
pub(crate) fn listen(
    place: &BusPlace,
    first: Watched,
    changes: &Receiver<Watched>,
    lines: &Sender<Bytes>,
) -> Result<(), Box<dyn Error>> {
    let inspector = Inspector::new(place.connect()?);
    let mut listener = WatchListener { inspector: &inspector, watches: Vec::new(), lines };
    listener.change_to(first);
    while !lines.is_closed() {
        if let Some(last) = changes.try_iter().last() {
            listener.change_to(last);
        }
        inspector.connection().process(Some(TURN))?;
        listener.send_heard()?;
    }
    Ok(())
}

/// The match rules of one page, and where its events go.
struct WatchListener<'a> {
    inspector: &'a Inspector,
    watches: Vec<(WatchSubject, ObjectWatch)>,
    lines: &'a Sender<Bytes>,
}

impl WatchListener<'_> {
    /// Watches something else. Rules that are needed before and after stay, so no event is missed.
    fn change_to(&mut self, watched: Watched) {
        let wanted = watched.subjects();
        self.watches.retain(|(subject, _)| wanted.contains(subject));
        for subject in wanted {
            if self.watches.iter().any(|(known, _)| *known == subject) {
                continue;
            }
            match subject.watch(self.inspector) {
                Ok(watch) => self.watches.push((subject, watch)),
                Err(failure) => self.send(WatchEvent::Unwatched { what: subject.kind(), failure }),
            }
        }
        self.send(WatchEvent::Begun(watched));
    }

    fn send_heard(&self) -> Result<(), InspectorFailure> {
        for (subject, watch) in &self.watches {
            while let Some(what) = watch.poll()? {
                self.send(WatchEvent::Heard { of: subject.kind(), what });
            }
        }
        Ok(())
    }

    fn send(&self, event: WatchEvent) {
        let types = event.types();
        // If the page reads too slowly, the subscription itself reports how many signals were lost.
        let _ = self.lines.blocking_send(PageReply::Answered { answer: event, types }.to_line());
    }
}

impl WatchEvent {
    /// All types that the event mentions.
    fn types(&self) -> TypeTable {
        let mut types = TypeTable::default();
        if let Self::Heard { what: SignalEvent::Signal(signal), .. } = self
            && let SignalBody::Arguments(values) = &signal.body
        {
            values.iter().for_each(|value| types.add_value(&value.0));
        }
        types
    }
}

impl Watched {
    fn subjects(&self) -> Vec<WatchSubject> {
        let mut subjects = vec![WatchSubject::Names];
        if let Some(service) = self.service.clone() {
            subjects.push(WatchSubject::Objects { service: service.clone() });
            let object = |path| WatchSubject::Object { service, path };
            subjects.extend(self.path.clone().map(object));
        }
        subjects
    }
}

impl WatchSubject {
    fn watch(&self, inspector: &Inspector) -> Result<ObjectWatch, InspectorFailure> {
        match self {
            Self::Names => inspector.watch_names(),
            Self::Objects { service } => inspector.watch_objects(service),
            Self::Object { service, path } => inspector.watch(service, path),
        }
    }

    const fn kind(&self) -> WatchKind {
        match self {
            Self::Names => WatchKind::Names,
            Self::Objects { .. } => WatchKind::Objects,
            Self::Object { .. } => WatchKind::Object,
        }
    }
}

/// How soon a change, or the end of the page, is noticed.
const TURN: Duration = Duration::from_millis(20);
