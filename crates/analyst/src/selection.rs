//! Which messages of a recording are meant.

use std::collections::HashSet;
use std::time::Duration;

use capture::Capture;
use capture::model::CapturedMessage;
use capture::query::{Matcher, OfRecorder, Query, QueryError};
use capture::record::RecordedTime;
use capture::statistics::Unknowable;
use capture::text::units;
use serde::{Deserialize, Serialize};

/// Which messages are meant: those that a query selects, of a stretch of time, in which nobody is
/// involved who is hidden. The [`Default`] means all that the programs did.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// A query, in the language of all commands.
    pub query: String,
    /// Places of connections in the recording. A message that one of them sends, or is addressed to,
    /// is not meant; nor is a reply of which that is so.
    pub hidden: Vec<u32>,
    /// Nanoseconds since the first message, from which on messages are meant.
    pub from: Option<f64>,
    /// Nanoseconds since the first message, before which messages are meant.
    pub until: Option<f64>,
}

/// A selection that was understood.
#[derive(Debug)]
pub struct SelectedMessages {
    query: Query,
    hidden: HashSet<usize>,
    from: Option<RecordedTime>,
    until: Option<RecordedTime>,
}

/// A selection that asks messages one after the other.
#[derive(Debug)]
pub struct Selector<'s> {
    selected: &'s SelectedMessages,
    matcher: Matcher<'s>,
}

impl Selection {
    /// Whether all messages are meant, as nobody has asked for less.
    pub(crate) fn is_everything(&self) -> bool {
        let Self { query, hidden, from, until } = self;
        query.trim().is_empty() && hidden.is_empty() && from.is_none() && until.is_none()
    }

    /// What is meant, in words for people.
    pub(crate) fn words(&self) -> String {
        let time = |nanos: f64| units::duration(Duration::from_nanos(nanos.max(0.0) as u64));
        let hidden = self.hidden.len() as u64;
        let parts = [
            Some(self.query.trim().to_owned()),
            self.from.map(|from| format!("from {}", time(from))),
            self.until.map(|until| format!("until {}", time(until))),
            (hidden > 0).then(|| {
                format!("without {}", units::counted(hidden, "connection", "connections"))
            }),
        ];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Understands what is meant.
    ///
    /// # Errors
    ///
    /// If the query is none.
    pub fn parse(&self, capture: &Capture) -> Result<SelectedMessages, InvalidQuery> {
        let start = start(capture);
        let time = |nanos: f64| RecordedTime(start.0.saturating_add(nanos as i64));
        Ok(SelectedMessages {
            query: Query::parse(&self.query)
                .map_err(|error| InvalidQuery::new(&error, &self.query))?,
            hidden: self.hidden.iter().map(|&peer| peer as usize).collect(),
            from: self.from.map(time),
            until: self.until.map(time),
        })
    }
}

impl SelectedMessages {
    /// Asks messages.
    pub fn selector(&self) -> Selector<'_> {
        Selector { selected: self, matcher: self.query.matcher() }
    }

    /// The messages of the recorder that the query would select, and how many messages there are that it
    /// does not leave out.
    pub(crate) fn of_recorder(&self, capture: &Capture) -> (OfRecorder, usize) {
        (self.query.of_recorder(capture), self.query.total(capture))
    }

    /// Whether there is a query.
    pub(crate) fn has_query(&self) -> bool {
        self.query.expression().is_some()
    }

    /// Why the recipients for which the query asks are unknown; `None` if they are known, or if it does not
    /// ask for them.
    pub(crate) fn unknown_recipients(&self, capture: &Capture) -> Option<Unknowable> {
        self.query.unknown_recipients(capture)
    }

    /// Why no message is meant, for a selection that means none.
    pub(crate) fn no_match(&self, capture: &Capture) -> String {
        let all = Query::default();
        let selector = Selector { selected: self, matcher: all.matcher() };
        let leaves_out = self.query.leaves_out();
        self.query.no_match(capture, &mut |message| {
            selector.is_in_time(message) && !selector.is_hidden(message) && !leaves_out(message)
        })
    }
}

impl Selector<'_> {
    /// Whether a message is meant.
    pub fn selects(&mut self, message: &CapturedMessage<'_>) -> bool {
        self.is_in_time(message) && !self.is_hidden(message) && self.matcher.selects(message)
    }

    fn is_in_time(&self, message: &CapturedMessage<'_>) -> bool {
        let SelectedMessages { from, until, .. } = self.selected;
        from.is_none_or(|from| from <= message.at())
            && until.is_none_or(|until| message.at() < until)
    }

    fn is_hidden(&self, message: &CapturedMessage<'_>) -> bool {
        let hidden = &self.selected.hidden;
        !hidden.is_empty()
            && [message.from(), message.to()]
                .into_iter()
                .flatten()
                .any(|peer| hidden.contains(&peer.index()))
    }
}

/// A stretch of time, and how closely it is looked at. Times are nanoseconds since the first message.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SelectionSpan {
    /// From when; from the beginning without.
    pub from: Option<f64>,
    /// Until when; to the end without.
    pub until: Option<f64>,
    /// What is less apart than this is told as one.
    pub finest: f64,
}

/// When a recording begins: at its first message. Where the bus itself has recorded, messages stand in
/// the order of routing, and a later one may be a little older.
pub fn start(capture: &Capture) -> RecordedTime {
    capture.messages().next().map_or(RecordedTime(0), |message| message.at())
}

/// A malformed query.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct InvalidQuery {
    /// The column of the query, in characters from 1.
    pub column: usize,
    /// What is wrong there, in a sentence.
    pub message: String,
    /// Whether more text behind the query may repair it.
    pub is_unfinished: bool,
}

impl InvalidQuery {
    fn new(error: &QueryError, query: &str) -> Self {
        let is_unfinished = error.is_unfinished(query);
        Self { column: error.column, message: error.to_string(), is_unfinished }
    }
}
