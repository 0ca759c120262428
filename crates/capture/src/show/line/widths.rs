//! How wide the columns of a line are.

use super::entry::MessageLineEntry;
use super::{DURATION_WIDTH, MessageLines, cut};
use crate::text::columns::{Fit, cells, fit};

/// The columns of lines of one width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Widths {
    cut: CellCut,
    /// Of a connection.
    peer: usize,
    /// Of interface and member, where a duration follows.
    member: usize,
    /// Of everything behind the connections.
    rest: usize,
    gap: &'static str,
}

/// Whether cells are cut to the width of their column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CellCut {
    ToWidth,
    /// They are as wide as they are; shorter ones are filled up.
    Nothing,
}

/// The cells of one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fitted {
    pub(super) left: String,
    pub(super) right: String,
    pub(super) member: String,
    /// Cells for the member and what follows.
    pub(super) rest: usize,
}

impl Widths {
    /// The columns of a line of `width` cells, of which the first `clock` are taken.
    pub(super) fn of_line(width: usize, clock: usize) -> Self {
        let gap = if width < WIDTH_FOR_GAPS { " " } else { "  " };
        if width == MessageLines::UNLIMITED {
            let (peer, member) = (PEER_WIDTH_MAX, MEMBER_WIDTH_MAX);
            return Self { cut: CellCut::Nothing, peer, member, rest: width, gap };
        }
        let room = width.saturating_sub(clock + " ".len());
        let peer =
            (room.saturating_sub(BEHIND_PEERS_MIN) / 3).clamp(PEER_WIDTH_MIN, PEER_WIDTH_MAX);
        let rest = room.saturating_sub(2 * peer + ARROW_WIDTH + gap.len());
        let shared = rest.saturating_sub(DURATION_WIDTH + 2 * gap.len());
        let member = (shared * 5 / 8).clamp(MEMBER_WIDTH_MIN, MEMBER_WIDTH_MAX);
        Self { cut: CellCut::ToWidth, peer, member, rest, gap }
    }

    pub(super) const fn gap(&self) -> &'static str {
        self.gap
    }

    /// Whether nothing is cut.
    pub(super) fn are_unlimited(&self) -> bool {
        self.cut == CellCut::Nothing
    }

    /// The cells of an entry. If a long member leaves no room for how the call ended, the connections of
    /// this line have less.
    pub(super) fn fit(&self, entry: &MessageLineEntry) -> Fitted {
        if self.cut == CellCut::Nothing {
            let wide = |text: &str, width| fit(text, cells(text).max(width), Fit::Start);
            return Fitted {
                left: wide(&entry.left, self.peer),
                right: wide(&entry.right, self.peer),
                member: wide(&entry.member, self.member),
                rest: self.rest,
            };
        }
        let member = cut::member(&entry.member, self.member);
        let member_width = cells(&member).max(self.member);
        let needed = match &entry.ending {
            Some(ending) => {
                let words = cells(&cut::name(&ending.words, ENDING_WIDTH_MIN));
                member_width + DURATION_WIDTH + 2 * self.gap.len() + words
            }
            None => cells(&member),
        };
        let mut missing = needed.saturating_sub(self.rest);
        let mut narrowed = |label: &str| {
            let taken = missing.min(self.peer - PEER_WIDTH_MIN);
            missing -= taken;
            let width = self.peer - taken;
            (taken, fit(&cut::connection(label, width), width, Fit::Start))
        };
        let (from_right, right) = narrowed(&entry.right);
        let (from_left, left) = narrowed(&entry.left);
        let member = fit(&member, member_width, Fit::Start);
        Fitted { left, right, member, rest: self.rest + from_right + from_left }
    }
}

/// Cells of an arrow with the spaces around it.
const ARROW_WIDTH: usize = 3;

/// Cells behind the connections that a line shall have before connections get more.
const BEHIND_PEERS_MIN: usize = 26;

/// A connection is not cut to less.
const PEER_WIDTH_MIN: usize = 8;

/// The name of most services has room in these.
const PEER_WIDTH_MAX: usize = 32;

/// Most members without their interface have room in these.
const MEMBER_WIDTH_MIN: usize = 12;

/// Most members with their interface have room in these.
const MEMBER_WIDTH_MAX: usize = 44;

/// So much of how a call ended is shown, even if connections are cut for it.
const ENDING_WIDTH_MIN: usize = 13;

/// Lines of so many cells have two of them between columns.
const WIDTH_FOR_GAPS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_grow_with_the_line() {
        // Clock, two connections, arrow, member, duration: what is left says how calls ended.
        for (width, peer, member) in [(60, 8, 12), (80, 13, 17), (120, 27, 23), (160, 32, 41)] {
            let found = Widths::of_line(width, 12);
            assert_eq!((found.peer, found.member), (peer, member), "{width}: {found:?}");
        }
    }
}
