//! Selections of messages in a recording.

use std::collections::HashSet;
use std::time::Duration;

use capture::Capture;
use capture::model::CapturedMessage;
use capture::query::{Matcher, Query, QueryError, RecorderMessageCount};
use capture::record::RecordedTime;
use capture::statistics::UnknownReason;
use capture::text::units;
use serde::{Deserialize, Serialize};

/// A selection of messages by a query, a time range and hidden connections. The [`Default`] selects
/// all messages except messages of the recorder.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// A query, in the language that all commands use.
    pub query: String,
    /// The indexes of hidden connections. A message is not selected if one of them is its sender or
    /// destination. The reply to such a message is not selected either.
    pub hidden: Vec<u32>,
    /// The first selected time, in nanoseconds since the first message.
    pub from: Option<f64>,
    /// The end of the selected time, in nanoseconds since the first message.
    pub until: Option<f64>,
}

/// A selection with a parsed query.
#[derive(Debug)]
pub struct SelectedMessages {
    query: Query,
    hidden: HashSet<usize>,
    from: Option<RecordedTime>,
    until: Option<RecordedTime>,
}

/// Applies a selection to one message after the other.
#[derive(Debug)]
pub struct Selector<'s> {
    selected: &'s SelectedMessages,
    matcher: Matcher<'s>,
}

impl Selection {
    /// Returns true if all messages are selected.
    pub(crate) fn is_everything(&self) -> bool {
        let Self { query, hidden, from, until } = self;
        query.trim().is_empty() && hidden.is_empty() && from.is_none() && until.is_none()
    }

    /// Describes the selection in words.
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

    /// Parses the query of the selection.
    ///
    /// # Errors
    ///
    /// If the query is malformed.
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
    /// Returns a selector for the messages of the recording.
    pub fn selector(&self) -> Selector<'_> {
        Selector { selected: self, matcher: self.query.matcher() }
    }

    /// The messages of the recorder that the query would select, and the number of messages that it
    /// does not hide.
    pub(crate) fn of_recorder(&self, capture: &Capture) -> (RecorderMessageCount, usize) {
        (self.query.of_recorder(capture), self.query.total(capture))
    }

    /// Returns true if there is a query.
    pub(crate) fn has_query(&self) -> bool {
        self.query.expression().is_some()
    }

    /// The reason why the recipients that the query tests are unknown; `None` if they are known, or
    /// if it does not test recipients.
    pub(crate) fn unknown_recipients(&self, capture: &Capture) -> Option<UnknownReason> {
        self.query.unknown_recipients(capture)
    }

    /// The reason why this selection selects no message.
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
    /// Returns true if the message is selected.
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

/// A time range and its resolution. Times are nanoseconds since the first message.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SelectionSpan {
    /// The start of the range; `None` for the start of the recording.
    pub from: Option<f64>,
    /// The end of the range; `None` for the end of the recording.
    pub until: Option<f64>,
    /// The resolution: spans with a smaller distance are merged.
    pub finest: f64,
}

/// The start of a recording: the time of its first message. In a recording by the bus itself,
/// messages are in the order of routing, so a later message may be slightly older.
pub fn start(capture: &Capture) -> RecordedTime {
    capture.messages().next().map_or(RecordedTime(0), |message| message.at())
}

/// The error of a malformed query.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct InvalidQuery {
    /// The column of the error, in characters from 1.
    pub column: usize,
    /// A sentence that describes the error.
    pub message: String,
    /// True if more text after the query may make it valid.
    pub is_unfinished: bool,
}

impl InvalidQuery {
    fn new(error: &QueryError, query: &str) -> Self {
        let is_unfinished = error.is_unfinished(query);
        Self { column: error.column, message: error.to_string(), is_unfinished }
    }
}
