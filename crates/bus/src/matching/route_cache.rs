//! A cache of the recipients of frequent signals.
//!
//! A program emits few kinds of signals, and emits them often. The recipients depend on the sender,
//! path, interface and member, and on arguments only if a rule tests them. So the recipients
//! without argument rules are cached until a rule or the owner of a name changes.

use alloc::string::String;
use alloc::vec::Vec;

use super::matched_message::MatchedMessage;
use crate::hash::KeyedState;
use crate::types::PeerId;
use wire::match_rule::MatchSubject;

/// The cached recipients of one kind of signal.
#[derive(Debug, Default)]
pub(crate) struct Route {
    generation: u64,
    sender: Option<PeerId>,
    path: String,
    interface: String,
    member: String,
    /// The recipients, no matter which arguments the signal has.
    pub(crate) recipients: Vec<PeerId>,
}

/// A table with one slot for each kind of signal. Several kinds may share a slot.
#[derive(Debug)]
pub(crate) struct RouteCache {
    routes: Vec<Route>,
    hasher: KeyedState,
}

impl RouteCache {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self { routes: Vec::new(), hasher }
    }

    /// The route of a signal, if it was cached in this generation.
    pub(crate) fn get(&self, subject: &MatchedMessage<'_>, generation: u64) -> Option<&Route> {
        let route = self.routes.get(self.place(subject))?;
        (route.generation == generation
            && route.sender == subject.sender()
            && Some(route.member.as_str()) == subject.member()
            && Some(route.path.as_str()) == subject.path()
            && Some(route.interface.as_str()) == subject.interface())
        .then_some(route)
    }

    /// Caches the route of a signal, in place of another, unless it would take too much memory.
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

/// Replaces a text and reuses its memory.
fn replace(text: &mut String, new: Option<&str>) {
    text.clear();
    text.push_str(new.unwrap_or_default());
}

/// Maximum length of the path of a cached signal, in bytes. Interfaces and members are always
/// short.
const PATH_LEN_MAX: usize = 512;

/// Maximum number of recipients of a cached signal. With more recipients, the search is the
/// smallest part of the work.
const RECIPIENTS_MAX: usize = 2048;

/// Number of slots: some tens of kilobytes of memory if signals have few recipients.
const PLACES: usize = 512;
