//! The messages of a recording that a query selects, found with all processors.

use std::ops::Range;
use std::thread;

use super::{Expression, Query};
use crate::model::{Capture, CapturedMessage};
use crate::workers::OrderedWorkers;

/// The messages of a capture that a query selects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryMatches(Vec<bool>);

impl Query {
    /// Evaluates the query on all messages of a capture, with all processors.
    pub fn matches(&self, capture: &Capture) -> QueryMatches {
        let parts = (0..capture.len()).step_by(PART_LEN);
        let parts = parts.map(|start| start..capture.len().min(start + PART_LEN));
        // The recipients of signals depend on all messages before them.
        let is_sequential = self.expression().is_some_and(Expression::asks_recipients);
        if capture.len() <= PART_LEN || is_sequential {
            let mut matcher = self.matcher();
            let selected = capture.messages().map(|message| matcher.selects(&message));
            return QueryMatches(selected.collect());
        }
        thread::scope(|scope| {
            let workers = OrderedWorkers::start(scope, || {
                let query = self.clone();
                move |part: Range<usize>| -> Vec<bool> {
                    let mut matcher = query.matcher();
                    let messages = capture.messages_from(part.start).take(part.len());
                    messages.map(|message| matcher.selects(&message)).collect()
                }
            });
            QueryMatches(workers.process(parts).flatten().collect())
        })
    }
}

impl QueryMatches {
    /// Returns true if the query selects a message of the capture.
    pub fn has(&self, message: &CapturedMessage<'_>) -> bool {
        self.0.get(message.id().index()).copied().unwrap_or_default()
    }

    /// Returns the selected messages, in the order of the recording.
    pub fn messages<'c>(
        &self,
        capture: &'c Capture,
    ) -> impl Iterator<Item = CapturedMessage<'c>> + use<'c, '_> {
        capture.messages().zip(&self.0).filter_map(|(message, has)| has.then_some(message))
    }
}

/// The number of messages that a thread evaluates at once.
const PART_LEN: usize = 1 << 14;
