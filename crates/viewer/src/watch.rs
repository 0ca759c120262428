//! Events of a running bus for the page: names that change their owner, objects that a service adds
//! or removes, and the signals of one object.
//!
//! All events for a page use one connection to the bus and one HTTP response. A browser opens at
//! most six HTTP connections to one server for all of its pages, and requests need some of these. A
//! single response also keeps the events in order when the user selects another object.

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

/// The scope of a watch: always names, and optionally the objects of `service` and the signals of
/// the object at `path`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Watched {
    /// A unique or well-known name of the service.
    service: Option<String>,
    /// The path of an object of the service.
    path: Option<String>,
}

/// The subject of one subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
enum WatchSubject {
    Names,
    Objects { service: String },
    Object { service: String, path: String },
}

/// The subject of one subscription, for the page.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WatchKind {
    /// Names that change their owner.
    Names,
    /// Objects that the service adds or removes.
    Objects,
    /// Signals of the object.
    Object,
}

/// An event of a watch.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WatchEvent {
    /// The watch covers this scope from now on. Answers to later requests of the page are at least
    /// as recent as the next event.
    Begun(Watched),
    /// A part of the scope cannot be watched.
    Unwatched {
        /// The part that cannot be watched.
        what: WatchKind,
        /// The reason for the failure.
        failure: InspectorFailure,
    },
    /// A signal, or the number of signals that were lost.
    #[serde(rename = "heard")]
    Received {
        /// The subscription that matched the signal.
        of: WatchKind,
        /// The signal, or the number of lost signals.
        what: SignalEvent,
    },
}

/// Sends events until the receiver of `lines` is dropped. `changes` changes the scope of the watch.
///
/// # Errors
///
/// If the bus cannot be connected or closes the connection.
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
        inspector.connection().process(Some(POLL_INTERVAL))?;
        listener.send_signals()?;
    }
    Ok(())
}

/// The subscriptions of one page and the queue for its events.
struct WatchListener<'a> {
    inspector: &'a Inspector,
    watches: Vec<(WatchSubject, ObjectWatch)>,
    lines: &'a Sender<Bytes>,
}

impl WatchListener<'_> {
    /// Changes the scope of the watch. Subscriptions in both the old and the new scope stay active,
    /// so that no event is missed.
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

    fn send_signals(&self) -> Result<(), InspectorFailure> {
        for (subject, watch) in &self.watches {
            while let Some(what) = watch.poll()? {
                self.send(WatchEvent::Received { of: subject.kind(), what });
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
        if let Self::Received { what: SignalEvent::Signal(signal), .. } = self
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

/// The maximum delay before a change of the scope, or the closing of the page, takes effect.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
