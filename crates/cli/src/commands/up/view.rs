//! What of a bus is looked at, and in which order.

use std::cmp::{Ordering, Reverse};
use std::ops::ControlFlow;

use ratatui::crossterm::event::{KeyCode, KeyEvent};
use recorder::ConnectionStatistics;

use super::model::{ConnectionOwner, ConnectionRow, Snapshot, UsedMember};
use crate::screen::controls::{Action, KeyOutcome, ViewControls};
use crate::screen::keys::KeyRow;
use crate::screen::scroll::Scroll;

/// What of a bus is looked at, and in which order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct UpView {
    /// The order of the connections.
    pub(crate) sort: Sort,
    /// Whether our own connection is among them.
    pub(crate) own: OwnConnection,
    /// Whether the page follows what happens, and what lies over it.
    pub(crate) controls: ViewControls,
    /// The list that the arrow keys move.
    pub(crate) focus: Panel,
    /// Which rows of each list are on the screen.
    pub(crate) scrolls: [Scroll; 3],
}

/// The order of the connections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Sort {
    /// Who sends most messages comes first.
    #[default]
    Messages,
    /// Who sends most bytes.
    Bytes,
    /// For whom most bytes wait.
    Queue,
    /// The programs, by name.
    Program,
    /// Who came last.
    Age,
}

/// Whether our own connection is shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum OwnConnection {
    /// It is not.
    #[default]
    Hidden,
    /// It is, pale.
    Shown,
}

/// The lists of the page, each of which scrolls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Panel {
    /// The connections.
    #[default]
    Connections,
    /// Methods and signals.
    Members,
    /// What happened.
    Events,
}

/// What only this view knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UpCommand {
    /// Another order of the connections.
    Sort,
    /// To show our own connection, or to hide it.
    Own,
    /// To move another list with the arrow keys.
    Focus,
}

impl UpView {
    /// Does what a key asks for.
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

    /// Which rows of a list are on the screen.
    pub(crate) const fn scroll(&mut self, panel: Panel) -> &mut Scroll {
        &mut self.scrolls[panel as usize]
    }

    /// The connections to show, in order.
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
    /// The orders in the circle, each with its word, the title of its column, and the mark behind that.
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

    /// What it is called.
    pub(crate) const fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The title of the column that has the order, and the mark behind it.
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

/// Methods and signals, the busiest first. Those that are as busy stay where they are.
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

/// Unique names count up: `:1.9` comes before `:1.10`, and the bus before all.
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

    /// Presses a key; says whether it quits.
    fn press(view: &mut UpView, code: KeyCode) -> bool {
        view.press(code.into()).is_break()
    }

    #[test]
    fn keys_change_the_view_and_change_it_back() {
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
