//! The widths of the columns of a line.

use super::entry::MessageLineEntry;
use super::{DURATION_WIDTH, MessageLines, cut};
use crate::text::columns::{Fit, cells, fit};

/// The widths, in cells, of the columns in lines of one width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Widths {
    cut: CellCut,
    /// The width of a connection.
    peer: usize,
    /// The width of interface and member, if a duration follows.
    member: usize,
    /// The width of everything after the connections.
    rest: usize,
    gap: &'static str,
}

/// The treatment of texts that are wider than their column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CellCut {
    ToWidth,
    /// Longer texts are not cut; shorter ones are padded.
    Nothing,
}

/// The texts of one line, fitted to their columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FittedColumns {
    pub(super) left: String,
    pub(super) right: String,
    pub(super) member: String,
    /// The number of cells for the member and everything after it.
    pub(super) rest: usize,
}

impl Widths {
    /// Computes the columns of a line of `width` cells, of which the clock takes `clock`.
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

    /// Returns true if no text is cut.
    pub(super) fn are_unlimited(&self) -> bool {
        self.cut == CellCut::Nothing
    }

    /// Fits the texts of an entry. If a long member leaves no room for the outcome of the call, the
    /// connections of this line are narrowed.
    pub(super) fn fit(&self, entry: &MessageLineEntry) -> FittedColumns {
        if self.cut == CellCut::Nothing {
            let wide = |text: &str, width| fit(text, cells(text).max(width), Fit::Start);
            return FittedColumns {
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
        FittedColumns { left, right, member, rest: self.rest + from_right + from_left }
    }
}

/// The width of an arrow with the spaces around it, in cells.
const ARROW_WIDTH: usize = 3;

/// The minimum number of cells after the connections before connections are widened.
const BEHIND_PEERS_MIN: usize = 26;

/// The minimum width of a connection, in cells.
const PEER_WIDTH_MIN: usize = 8;

/// The maximum width of a connection, in cells. The names of most services fit.
const PEER_WIDTH_MAX: usize = 32;

/// The minimum width of a member, in cells. Most members without their interface fit.
const MEMBER_WIDTH_MIN: usize = 12;

/// The maximum width of a member, in cells. Most members with their interface fit.
const MEMBER_WIDTH_MAX: usize = 44;

/// The minimum width of the outcome of a call, in cells. Connections are narrowed for it.
const ENDING_WIDTH_MIN: usize = 13;

/// The width of lines, in cells, from which columns are two cells apart.
const WIDTH_FOR_GAPS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_grow_with_the_line() {
        // Clock, two connections, arrow, member and duration: the rest is left for the outcome.
        for (width, peer, member) in [(60, 8, 12), (80, 13, 17), (120, 27, 23), (160, 32, 41)] {
            let found = Widths::of_line(width, 12);
            assert_eq!((found.peer, found.member), (peer, member), "{width}: {found:?}");
        }
    }
}
