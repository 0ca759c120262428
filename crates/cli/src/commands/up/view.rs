//! The settings of the view: sort order, scroll positions, and visible connections.

use std::cmp::{Ordering, Reverse};
use std::ops::ControlFlow;

use ratatui::crossterm::event::{KeyCode, KeyEvent};
use recorder::ConnectionStatistics;

use super::model::{ConnectionOwner, ConnectionRow, Snapshot, UsedMember};
use crate::screen::controls::{Action, KeyOutcome, ViewControls};
use crate::screen::keys::KeyRow;
use crate::screen::scroll::Scroll;

/// The settings of the view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct UpView {
    /// The order of the connections.
    pub(crate) sort: Sort,
    /// The visibility of this program's own connections.
    pub(crate) own: OwnConnection,
    /// The mode of the view, and the overlay over it.
    pub(crate) controls: ViewControls,
    /// The list that the arrow keys scroll.
    pub(crate) focus: Panel,
    /// The scroll position of each list.
    pub(crate) scrolls: [Scroll; 3],
}

/// The sort orders of the connections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Sort {
    /// By sent messages, the busiest first.
    #[default]
    Messages,
    /// By sent bytes, the busiest first.
    Bytes,
    /// By queued bytes, the longest queue first.
    Queue,
    /// By the name of the program, in alphabetical order.
    Program,
    /// By the time of connection, the newest first.
    Age,
}

/// The visibility of this program's own connections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum OwnConnection {
    /// Own connections are hidden.
    #[default]
    Hidden,
    /// Own connections are shown in a dim style.
    Shown,
}

/// The lists of the page, each of which scrolls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Panel {
    /// The list of connections.
    #[default]
    Connections,
    /// The list of methods and signals.
    Members,
    /// The list of events.
    Events,
}

/// The actions that only this view has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UpCommand {
    /// Selects the next sort order of the connections.
    Sort,
    /// Shows or hides this program's own connections.
    Own,
    /// Selects the next list for the arrow keys.
    Focus,
}

impl UpView {
    /// Performs the action of a key. Breaks if the user quits.
    pub(crate) fn press(&mut self, key: KeyEvent) -> ControlFlow<()> {
        let scroll = &mut self.scrolls[self.focus as usize];
        match self.controls.press(&KEYS, key, scroll) {
            KeyOutcome::Quit => return ControlFlow::Break(()),
            KeyOutcome::Done => {}
            KeyOutcome::View(UpCommand::Sort) => self.sort = self.sort.next(),
            KeyOutcome::View(UpCommand::Own) => self.own = self.own.toggled(),
            KeyOutcome::View(UpCommand::Focus) => self.focus = self.focus.next(),
        }
        ControlFlow::Continue(())
    }

    /// The scroll position of a list.
    pub(crate) const fn scroll(&mut self, panel: Panel) -> &mut Scroll {
        &mut self.scrolls[panel as usize]
    }

    /// The visible connections, in the selected order.
    pub(crate) fn connections<'s>(&self, snapshot: &'s Snapshot) -> Vec<&'s ConnectionRow> {
        let shown = |row: &&ConnectionRow| {
            row.owner != ConnectionOwner::View || self.own == OwnConnection::Shown
        };
        let mut rows: Vec<_> = snapshot.connections.iter().filter(shown).collect();
        rows.sort_by(|one, other| self.sort.compare(one, other).then(age(one).cmp(&age(other))));
        rows
    }
}

impl OwnConnection {
    const fn toggled(self) -> Self {
        match self {
            Self::Hidden => Self::Shown,
            Self::Shown => Self::Hidden,
        }
    }
}

impl Sort {
    /// All sort orders in the order of selection: the label, and the title and mark of the sorted
    /// column.
    const ALL: [(Self, &'static str, (&'static str, char)); 5] = [
        (Self::Messages, "messages", ("MSG/S", '\u{25bc}')),
        (Self::Bytes, "bytes", ("BYTES/S", '\u{25bc}')),
        (Self::Queue, "queue", ("QUEUED", '\u{25bc}')),
        (Self::Program, "program", ("PROGRAM", '\u{25b2}')),
        (Self::Age, "newest", ("NAME", '\u{25bc}')),
    ];

    const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()].0
    }

    /// The label of the sort order in the footer.
    pub(crate) const fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The title of the sorted column, and the mark after it.
    pub(crate) const fn column(self) -> (&'static str, char) {
        Self::ALL[self as usize].2
    }

    fn compare(self, one: &ConnectionRow, other: &ConnectionRow) -> Ordering {
        let queued =
            |row: &ConnectionRow| row.stats.map(|ConnectionStatistics { queued, .. }| queued);
        match self {
            Self::Messages => other.rate.messages.total_cmp(&one.rate.messages),
            Self::Bytes => other.rate.bytes.total_cmp(&one.rate.bytes),
            Self::Queue => queued(other).cmp(&queued(one)),
            Self::Program => label(one).cmp(&label(other)),
            Self::Age => age(other).cmp(&age(one)),
        }
    }
}

/// Sorts methods and signals by message rate, then by count and name, so that idle rows keep their
/// positions.
pub(crate) fn busiest(members: &[UsedMember]) -> Vec<&UsedMember> {
    let mut rows: Vec<_> = members.iter().collect();
    rows.sort_by(|one, other| {
        other
            .rate
            .messages
            .total_cmp(&one.rate.messages)
            .then(Reverse(one.count).cmp(&Reverse(other.count)))
            .then_with(|| (&one.member, &one.owner).cmp(&(&other.member, &other.owner)))
    });
    rows
}

impl Panel {
    const ALL: [Self; 3] = [Self::Connections, Self::Members, Self::Events];

    const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

fn label(row: &ConnectionRow) -> Option<&str> {
    row.program.as_ref().map(|program| program.label.as_str())
}

/// A sort key for the order of connection: the bus first, then unique names, in which `:1.9` comes
/// before `:1.10`.
fn age(row: &ConnectionRow) -> (usize, &str) {
    (if row.owner == ConnectionOwner::Bus { 0 } else { row.unique.len() }, &row.unique)
}

/// The keys of the view.
pub(crate) const KEYS: [KeyRow<Action<UpCommand>>; 8] = [
    KeyRow {
        keys: &[(KeyCode::Char('q'), Action::Quit)],
        name: "q, Ctrl-C",
        help: "end the bus and its programs",
        hint: Some(("q", "quit")),
    },
    KeyRow {
        keys: &[(KeyCode::Char('s'), Action::View(UpCommand::Sort))],
        name: "s",
        help: "sort by messages, bytes, queue, program or age",
        hint: Some(("s", "sort")),
    },
    KeyRow {
        keys: Action::PAUSE_KEYS,
        name: "p, space",
        help: "pause or resume the page; the bus goes on",
        hint: Some(("p", "pause")),
    },
    KeyRow {
        keys: &[(KeyCode::Char('i'), Action::View(UpCommand::Own))],
        name: "i",
        help: "show or hide Diligence's own connections",
        hint: Some(("i", "self")),
    },
    KeyRow {
        keys: &[(KeyCode::Tab, Action::View(UpCommand::Focus))],
        name: "Tab",
        help: "next pane: the one that the arrow keys move",
        hint: Some(("Tab", "pane")),
    },
    Action::LINE_ROW,
    Action::PAGE_ROW,
    Action::HELP_ROW,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Presses a key; returns true if it quits the view.
    fn press(view: &mut UpView, code: KeyCode) -> bool {
        view.press(code.into()).is_break()
    }

    #[test]
    fn keys_toggle_settings_of_the_view() {
        let mut view = UpView::default();
        for code in [KeyCode::Char('p'), KeyCode::Char('i'), KeyCode::Char('h')] {
            assert!(!press(&mut view, code));
            assert_ne!(view, UpView::default());
            assert!(!press(&mut view, code));
            assert_eq!(view, UpView::default());
        }
        press(&mut view, KeyCode::Char('s'));
        press(&mut view, KeyCode::Tab);
        assert_eq!((view.sort, view.focus), (Sort::Bytes, Panel::Members));
        assert!(press(&mut view, KeyCode::Char('q')));
    }

    #[test]
    fn each_list_scrolls_by_itself() {
        let mut view = UpView::default();
        for panel in Panel::ALL {
            view.scroll(panel).show(9, 3);
        }
        press(&mut view, KeyCode::Tab);
        press(&mut view, KeyCode::Down);
        let offsets = Panel::ALL.map(|panel| view.scroll(panel).show(9, 3));
        assert_eq!(offsets, [0, 1, 0]);
    }
}
