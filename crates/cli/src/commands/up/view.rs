//! What of a bus is looked at, and in which order.

use std::cmp::{Ordering, Reverse};

use super::model::{ConnectionRow, ConnectionStats, MemberRow, Owner, Snapshot};

/// What of a bus is looked at, and in which order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct View {
    /// The order of the connections.
    pub(crate) sort: Sort,
    /// Whether our own connection is among them.
    pub(crate) own: OwnConnection,
    /// Whether the page follows what happens.
    pub(crate) flow: Following,
    /// What lies over the page.
    pub(crate) overlay: Overlay,
    /// The part that the arrows move.
    pub(crate) focus: Panel,
    /// Lines that are scrolled away at the top of each part.
    pub(crate) offsets: [usize; 3],
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

/// Whether the page follows what happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Following {
    /// It does.
    #[default]
    Live,
    /// It shows what was when it was stopped.
    Paused,
}

/// What lies over the page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Overlay {
    /// Nothing.
    #[default]
    None,
    /// What the keys do.
    Help,
}

/// The parts of the page that scroll.
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

/// How far to scroll.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Scroll {
    /// So many lines up.
    Up(usize),
    /// So many lines down.
    Down(usize),
    /// To the first line.
    Start,
}

impl View {
    /// Lines that are scrolled away at the top of a part.
    pub(crate) const fn offset(&self, panel: Panel) -> usize {
        self.offsets[panel as usize]
    }

    /// Scrolls the part that has the focus, of which no more than `lines` can be scrolled away.
    pub(crate) fn scroll(&mut self, scroll: Scroll, lines: usize) {
        let offset = &mut self.offsets[self.focus as usize];
        *offset = match scroll {
            Scroll::Up(count) => offset.saturating_sub(count),
            Scroll::Down(count) => offset.saturating_add(count).min(lines.saturating_sub(1)),
            Scroll::Start => 0,
        };
    }

    /// How many lines the part that has the focus has.
    pub(crate) fn lines(&self, snapshot: &Snapshot) -> usize {
        match self.focus {
            Panel::Connections => self.connections(snapshot).len(),
            Panel::Members => snapshot.members.len(),
            Panel::Events => snapshot.notes.len(),
        }
    }

    /// The connections to show, in order.
    pub(crate) fn connections<'s>(&self, snapshot: &'s Snapshot) -> Vec<&'s ConnectionRow> {
        let shown =
            |row: &&ConnectionRow| row.owner != Owner::View || self.own == OwnConnection::Shown;
        let mut rows: Vec<_> = snapshot.connections.iter().filter(shown).collect();
        rows.sort_by(|one, other| self.sort.compare(one, other).then(age(one).cmp(&age(other))));
        rows
    }
}

impl Sort {
    /// The next one in the circle.
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::Messages => Self::Bytes,
            Self::Bytes => Self::Queue,
            Self::Queue => Self::Program,
            Self::Program => Self::Age,
            Self::Age => Self::Messages,
        }
    }

    /// What it is called.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Bytes => "bytes",
            Self::Queue => "queue",
            Self::Program => "program",
            Self::Age => "newest",
        }
    }

    fn compare(self, one: &ConnectionRow, other: &ConnectionRow) -> Ordering {
        let queued = |row: &ConnectionRow| row.stats.map(|ConnectionStats { queued, .. }| queued);
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
pub(crate) fn busiest(members: &[MemberRow]) -> Vec<&MemberRow> {
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
    /// The next one in the circle.
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::Connections => Self::Members,
            Self::Members => Self::Events,
            Self::Events => Self::Connections,
        }
    }
}

fn label(row: &ConnectionRow) -> Option<&str> {
    row.program.as_ref().map(|program| program.label.as_str())
}

/// Unique names count up: `:1.9` comes before `:1.10`, and the bus before all.
fn age(row: &ConnectionRow) -> (usize, &str) {
    (if row.owner == Owner::Bus { 0 } else { row.unique.len() }, &row.unique)
}
