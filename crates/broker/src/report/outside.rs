//! Lines about those who have no connection: who wants one, what is started, and the bus itself.

use bus::{Event, Unserved};

use super::who::{ProcessOf, Source, Who};
use super::{services, usage};
use crate::activation::Children;
use crate::log::{Record, Severity};

/// What there is to say; `None` for what is about a connection.
pub(super) fn record(event: &Event, children: &Children) -> Option<Record> {
    match event {
        Event::Unserved(unserved) => Some(of_unserved(unserved)),
        Event::Fault { text, .. } => Some(Record::line(Severity::Warning, text)),
        _ => services::record(event, children),
    }
}

fn of_unserved(unserved: &Unserved) -> Record {
    let who = Who { culprit: unserved.culprit(), source: Source::Kernel };
    let usage = usage(unserved.obstacle.reached());
    let line = format!("{unserved}{usage}; this one is of {}.", ProcessOf(&who));
    let mut record = Record::line(Severity::Warning, line);
    who.add_to(&mut record);
    record
}
