//! The latest events on a bus.

use std::collections::VecDeque;
use std::time::Duration;

/// A note about an event on the bus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BusNote {
    /// The id of the note.
    pub(crate) id: NoteId,
    /// The monotonic time of the event, or of its last repetition.
    pub(crate) at: Duration,
    /// The kind of event.
    pub(crate) kind: NoteKind,
    /// The description of the event, on one line.
    pub(crate) text: String,
    /// The number of repetitions, at least 1.
    pub(crate) times: u64,
}

/// The kinds of events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum NoteKind {
    /// A connection was added.
    Arrival,
    /// A connection was removed.
    Departure,
    /// A name changed its owner.
    Name,
    /// A call was answered with an error.
    Error,
    /// The bus, or a program that was started with it, logged a line.
    Log,
    /// The bus has a problem, or the view of it is incomplete.
    Problem,
}

impl NoteKind {
    /// The word for the kind in plain output, which programs parse; so the words stay the same.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Arrival => "connected",
            Self::Departure => "left",
            Self::Name => "name",
            Self::Error => "error",
            Self::Log => "log",
            Self::Problem => "problem",
        }
    }
}

/// The id of a note. Ids count up from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct NoteId(u64);

/// The latest notes, in the order of their last event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    next: NoteId,
    list: VecDeque<BusNote>,
}

impl Notes {
    /// Adds a note and returns its id.
    pub(crate) fn add(&mut self, at: Duration, kind: NoteKind, text: String) -> NoteId {
        if self.list.len() == NOTES_MAX {
            self.list.pop_front();
        }
        let id = self.next;
        self.next = NoteId(id.0 + 1);
        self.list.push_back(BusNote { id, at, kind, text, times: 1 });
        id
    }

    /// Adds a note, or counts a repetition if the same note is among the latest ones. Then the note
    /// is the newest again.
    pub(crate) fn add_or_count(&mut self, at: Duration, kind: NoteKind, text: String) {
        let start = self.list.len().saturating_sub(COUNTED_WITHIN);
        let mut latest = self.list.range(start..);
        let same = latest.position(|note| note.kind == kind && note.text == text);
        match same.and_then(|place| self.list.remove(start + place)) {
            Some(note) => self.list.push_back(BusNote { at, times: note.times + 1, ..note }),
            None => drop(self.add(at, kind, text)),
        }
    }

    /// Replaces the text of a note that is still kept, and makes it the newest.
    pub(crate) fn replace(&mut self, id: NoteId, at: Duration, kind: NoteKind, text: String) {
        let place = self.list.iter().rposition(|note| note.id == id);
        if let Some(note) = place.and_then(|place| self.list.remove(place)) {
            self.list.push_back(BusNote { at, kind, text, ..note });
        }
    }

    /// Returns the notes with this id or a later one, and the id of the next note.
    pub(crate) fn since(&self, id: NoteId) -> (impl Iterator<Item = &BusNote>, NoteId) {
        (self.list.iter().filter(move |note| note.id >= id), self.next)
    }

    /// All kept notes, the newest first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &BusNote> {
        self.list.iter().rev()
    }
}

/// The maximum number of kept notes.
const NOTES_MAX: usize = 500;

/// The number of latest notes among which a repetition is counted.
const COUNTED_WITHIN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(notes: &Notes) -> Vec<String> {
        notes.latest().map(|note| format!("{}x{}", note.text, note.times)).collect()
    }

    #[test]
    fn repeated_notes_are_counted_among_the_latest() {
        let mut notes = Notes::default();
        let say = |notes: &mut Notes, text: &str| {
            notes.add_or_count(Duration::ZERO, NoteKind::Error, text.into());
        };
        ["a", "b", "a", "a"].into_iter().for_each(|text| say(&mut notes, text));
        assert_eq!(texts(&notes), ["ax3", "bx1"]);
        (0..COUNTED_WITHIN).for_each(|number| say(&mut notes, &number.to_string()));
        say(&mut notes, "a");
        assert_eq!(texts(&notes)[0], "ax1");
        assert_eq!(notes.latest().count(), COUNTED_WITHIN + 3);
    }

    #[test]
    fn old_notes_are_removed_and_cannot_be_replaced() {
        let mut notes = Notes::default();
        let add = |notes: &mut Notes, text: String| notes.add(Duration::ZERO, NoteKind::Log, text);
        let first = add(&mut notes, "first".into());
        let (_, start) = notes.since(NoteId::default());
        for number in 1..=NOTES_MAX {
            add(&mut notes, number.to_string());
        }
        notes.replace(first, Duration::ZERO, NoteKind::Log, "changed".into());
        assert_eq!(notes.latest().count(), NOTES_MAX);
        assert!(notes.latest().all(|note| note.text != "changed"));
        let (since, next) = notes.since(start);
        assert_eq!(since.count(), NOTES_MAX);
        assert_eq!(notes.since(next).0.count(), 0);
    }

    #[test]
    fn a_note_can_be_replaced() {
        let mut notes = Notes::default();
        let id = notes.add(Duration::ZERO, NoteKind::Arrival, "connected".into());
        notes.add(Duration::ZERO, NoteKind::Log, "other".into());
        notes.replace(id, Duration::from_secs(1), NoteKind::Departure, "connected and left".into());
        assert_eq!(texts(&notes), ["connected and leftx1", "otherx1"]);
    }
}
