//! What the page hears of a running bus while it looks at it: who comes and goes, which objects a service
//! adds and removes, and the signals of one object.
//!
//! All of it goes over one connection to the bus and one answer of HTTP. A browser has no more than six of
//! these for all pages of a program, and questions need some; and what is told in one order stays in it when
//! something else is looked at.

use std::error::Error;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use axum::body::Bytes;
use inspector::{Failure, Heard, Inspector, Watch};
use recorder::Place;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;

use crate::bus::{answered, line};

/// What is looked at: names always, the objects of a service, and one of these.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Watched {
    service: Option<String>,
    path: Option<String>,
}

/// What one rule is about.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Subject {
    Names,
    Objects { service: String },
    Object { service: String, path: String },
}

/// What is watched by one rule, as the page has it.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Names,
    Objects,
    Object,
}

/// What a line tells.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Told {
    /// From here on this is heard: what is asked now misses no change.
    Begun(Watched),
    /// Something is not heard.
    Unwatched { what: Kind, failure: Failure },
    /// This was heard.
    Heard { of: Kind, what: Heard },
}

/// Tells what is heard until nobody takes it any more. `turns` says when it is to be something else.
pub(crate) fn listen(
    place: &Place,
    first: Watched,
    turns: &Receiver<Watched>,
    lines: &Sender<Bytes>,
) -> Result<(), Box<dyn Error>> {
    let inspector = Inspector::new(place.connect()?);
    let mut ears = Ears { inspector: &inspector, watches: Vec::new(), lines };
    ears.turn_to(first);
    while !lines.is_closed() {
        if let Some(last) = turns.try_iter().last() {
            ears.turn_to(last);
        }
        inspector.connection().process(Some(TURN))?;
        ears.tell_heard()?;
    }
    Ok(())
}

/// What listens, and to whom it tells.
struct Ears<'a> {
    inspector: &'a Inspector,
    watches: Vec<(Subject, Watch)>,
    lines: &'a Sender<Bytes>,
}

impl Ears<'_> {
    /// Hears something else. A rule that is wanted before and after stays, so nothing is missed of it.
    fn turn_to(&mut self, watched: Watched) {
        let wanted = watched.subjects();
        self.watches.retain(|(subject, _)| wanted.contains(subject));
        for subject in wanted {
            if self.watches.iter().any(|(known, _)| *known == subject) {
                continue;
            }
            match subject.watch(self.inspector) {
                Ok(watch) => self.watches.push((subject, watch)),
                Err(failure) => self.tell(&Told::Unwatched { what: subject.kind(), failure }),
            }
        }
        self.tell(&Told::Begun(watched));
    }

    fn tell_heard(&self) -> Result<(), Failure> {
        for (subject, watch) in &self.watches {
            while let Some(what) = watch.poll()? {
                self.tell(&Told::Heard { of: subject.kind(), what });
            }
        }
        Ok(())
    }

    fn tell(&self, told: &Told) {
        // Who reads too slowly hears of what was lost from the subscription itself.
        let _ = self.lines.blocking_send(line(&answered(told)));
    }
}

impl Watched {
    fn subjects(&self) -> Vec<Subject> {
        let mut subjects = vec![Subject::Names];
        if let Some(service) = self.service.clone() {
            subjects.push(Subject::Objects { service: service.clone() });
            let object = |path| Subject::Object { service, path };
            subjects.extend(self.path.clone().map(object));
        }
        subjects
    }
}

impl Subject {
    fn watch(&self, inspector: &Inspector) -> Result<Watch, Failure> {
        match self {
            Self::Names => inspector.watch_names(),
            Self::Objects { service } => inspector.watch_objects(service),
            Self::Object { service, path } => inspector.watch(service, path),
        }
    }

    const fn kind(&self) -> Kind {
        match self {
            Self::Names => Kind::Names,
            Self::Objects { .. } => Kind::Objects,
            Self::Object { .. } => Kind::Object,
        }
    }
}

/// How soon it is noticed that something else is to be heard, or that nobody reads any more.
const TURN: Duration = Duration::from_millis(20);
