//! The recipients of signals that come again and again.
//!
//! A program emits few kinds of signals, often. Who gets one depends on its sender, path,
//! interface and member, and on arguments only where a rule asks for them; so the answer without
//! arguments is kept until a rule or the owner of a name changes.

use alloc::string::String;
use alloc::vec::Vec;

use super::matched_message::MatchedMessage;
use crate::hash::KeyedState;
use crate::types::PeerId;
use wire::match_rule::MatchSubject;

/// What is kept of one kind of signal.
#[derive(Debug, Default)]
pub(crate) struct Route {
    generation: u64,
    sender: Option<PeerId>,
    path: String,
    interface: String,
    member: String,
    /// Who gets it, whatever its arguments are.
    pub(crate) recipients: Vec<PeerId>,
}

/// A table in which each kind of signal has one place, shared with others.
#[derive(Debug)]
pub(crate) struct RouteCache {
    routes: Vec<Route>,
    hasher: KeyedState,
}

impl RouteCache {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self { routes: Vec::new(), hasher }
    }

    /// The route of a signal, if it was kept in this generation.
    pub(crate) fn get(&self, subject: &MatchedMessage<'_>, generation: u64) -> Option<&Route> {
        let route = self.routes.get(self.place(subject))?;
        (route.generation == generation
            && route.sender == subject.sender()
            && Some(route.member.as_str()) == subject.member()
            && Some(route.path.as_str()) == subject.path()
            && Some(route.interface.as_str()) == subject.interface())
        .then_some(route)
    }

    /// Keeps the route of a signal, in place of another, unless it would take much memory.
    pub(crate) fn put(
        &mut self,
        subject: &MatchedMessage<'_>,
        generation: u64,
        recipients: &[PeerId],
    ) {
        if subject.path().is_some_and(|path| path.len() > PATH_LEN_MAX)
            || recipients.len() > RECIPIENTS_MAX
        {
            return;
        }
        if self.routes.is_empty() {
            self.routes.resize_with(PLACES, Route::default);
        }
        let place = self.place(subject);
        let route = &mut self.routes[place];
        route.generation = generation;
        route.sender = subject.sender();
        replace(&mut route.path, subject.path());
        replace(&mut route.interface, subject.interface());
        replace(&mut route.member, subject.member());
        route.recipients.clear();
        route.recipients.extend_from_slice(recipients);
    }

    fn place(&self, subject: &MatchedMessage<'_>) -> usize {
        let key = (subject.sender(), subject.path(), subject.interface(), subject.member());
        self.hasher.hash(&key) as usize % PLACES
    }
}

/// Puts a text in place of another, in the same memory.
fn replace(text: &mut String, new: Option<&str>) {
    text.clear();
    text.push_str(new.unwrap_or_default());
}

/// Bytes in the path of a signal that is kept; interfaces and members are short anyway.
const PATH_LEN_MAX: usize = 512;

/// Recipients of a signal that is kept. With more than that, finding them is the least work.
const RECIPIENTS_MAX: usize = 2048;

/// How many kinds of signals are kept: some tens of kilobytes, if few listen.
const PLACES: usize = 512;
