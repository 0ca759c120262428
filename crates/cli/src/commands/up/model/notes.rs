//! What happened lately that somebody may want to know.

use std::collections::VecDeque;
use std::time::Duration;

/// One thing that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BusNote {
    /// Which note it is.
    pub(crate) id: NoteId,
    /// When, on the clock of the model. Of several that were the same, the last one.
    pub(crate) at: Duration,
    /// What kind of thing.
    pub(crate) kind: NoteKind,
    /// What, for people; one line.
    pub(crate) text: String,
    /// How often it happened since it was noted first.
    pub(crate) times: u64,
}

/// The kinds of things that are noted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum NoteKind {
    /// A connection has come.
    Arrival,
    /// A connection is gone.
    Departure,
    /// A name has another owner.
    Name,
    /// A call was answered with an error.
    Error,
    /// The bus, or a program that was started with it, has said something in its log.
    Log,
    /// Something is wrong with the bus or the view of it.
    Trouble,
}

impl NoteKind {
    /// The word for it in plain output.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Arrival => "came",
            Self::Departure => "left",
            Self::Name => "name",
            Self::Error => "error",
            Self::Log => "log",
            Self::Trouble => "trouble",
        }
    }
}

/// Which note it is; they are counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct NoteId(u64);

/// The latest notes, in the order in which it happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    next: NoteId,
    list: VecDeque<BusNote>,
}

impl Notes {
    /// Makes a note.
    pub(crate) fn add(&mut self, at: Duration, kind: NoteKind, text: String) -> NoteId {
        if self.list.len() == NOTES_MAX {
            self.list.pop_front();
        }
        let id = self.next;
        self.next = NoteId(id.0 + 1);
        self.list.push_back(BusNote { id, at, kind, text, times: 1 });
        id
    }

    /// Makes a note of something that may happen often: if it is among the latest notes, it is
    /// counted, and is the latest again.
    pub(crate) fn add_or_count(&mut self, at: Duration, kind: NoteKind, text: String) {
        let start = self.list.len().saturating_sub(COUNTED_WITHIN);
        let mut latest = self.list.range(start..);
        let same = latest.position(|note| note.kind == kind && note.text == text);
        match same.and_then(|place| self.list.remove(start + place)) {
            Some(note) => self.list.push_back(BusNote { at, times: note.times + 1, ..note }),
            None => drop(self.add(at, kind, text)),
        }
    }

    /// Says something else in the place of an earlier note, if that is still kept. It happened just
    /// now.
    pub(crate) fn replace(&mut self, id: NoteId, at: Duration, kind: NoteKind, text: String) {
        let place = self.list.iter().rposition(|note| note.id == id);
        if let Some(note) = place.and_then(|place| self.list.remove(place)) {
            self.list.push_back(BusNote { at, kind, text, ..note });
        }
    }

    /// The notes that were made since `id` was the next one, and which is the next one now.
    pub(crate) fn since(&self, id: NoteId) -> (impl Iterator<Item = &BusNote>, NoteId) {
        (self.list.iter().filter(move |note| note.id >= id), self.next)
    }

    /// All notes that are kept, the last one first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &BusNote> {
        self.list.iter().rev()
    }
}

/// Notes that are kept.
const NOTES_MAX: usize = 500;

/// Among so many of the latest notes the same one is counted, not made again.
const COUNTED_WITHIN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(notes: &Notes) -> Vec<String> {
        notes.latest().map(|note| format!("{}x{}", note.text, note.times)).collect()
    }

    #[test]
    fn what_repeats_is_counted_while_it_is_near() {
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
    fn old_notes_make_room_and_are_not_found() {
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
        let id = notes.add(Duration::ZERO, NoteKind::Arrival, "came".into());
        notes.add(Duration::ZERO, NoteKind::Log, "other".into());
        notes.replace(id, Duration::from_secs(1), NoteKind::Departure, "came and left".into());
        assert_eq!(texts(&notes), ["came and leftx1", "otherx1"]);
    }
}
