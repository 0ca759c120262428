//! The visible part of a list.

/// The scroll position of a list that can have more rows than fit on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scroll {
    /// The number of rows above the visible part.
    offset: usize,
    /// The number of rows, and the number of rows that fit, when the list was last
    /// [shown](Self::show).
    rows: usize,
    room: usize,
}

/// The distance and direction of a scroll.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ScrollBy {
    LineUp,
    LineDown,
    PageUp,
    PageDown,
    Start,
    End,
}

impl Default for Scroll {
    fn default() -> Self {
        Self { offset: 0, rows: 0, room: 1 }
    }
}

impl Scroll {
    /// Sets the number of rows and the number of rows that fit, and returns the index of the first
    /// visible row. Scrolls back if there is room for more rows at the end.
    pub(crate) fn show(&mut self, rows: usize, room: usize) -> usize {
        (self.rows, self.room) = (rows, room.max(1));
        self.offset = self.offset.min(self.offset_max());
        self.offset
    }

    /// Scrolls within the rows of the list.
    pub(crate) fn scroll(&mut self, by: ScrollBy) {
        let page = self.room.saturating_sub(1).max(1);
        let wanted = match by {
            ScrollBy::LineUp => self.offset.saturating_sub(1),
            ScrollBy::LineDown => self.offset + 1,
            ScrollBy::PageUp => self.offset.saturating_sub(page),
            ScrollBy::PageDown => self.offset + page,
            ScrollBy::Start => 0,
            ScrollBy::End => self.rows,
        };
        self.offset = wanted.min(self.offset_max());
    }

    const fn offset_max(&self) -> usize {
        self.rows.saturating_sub(self.room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrolling_stays_within_the_rows() {
        let mut scroll = Scroll::default();
        for (by, rows, room, expected) in [
            (ScrollBy::LineDown, 0, 5, 0),
            (ScrollBy::LineDown, 3, 5, 0),
            (ScrollBy::LineDown, 9, 5, 1),
            (ScrollBy::PageDown, 9, 5, 4),
            (ScrollBy::LineUp, 9, 5, 3),
            (ScrollBy::PageUp, 9, 5, 0),
            (ScrollBy::End, 9, 5, 4),
            (ScrollBy::End, 9, 0, 8),
            (ScrollBy::Start, 9, 5, 0),
        ] {
            scroll.show(rows, room);
            scroll.scroll(by);
            assert_eq!(scroll.show(rows, room), expected, "{by:?} in {rows} rows, {room} shown");
        }
    }

    #[test]
    fn rows_come_back_when_there_is_room() {
        let mut scroll = Scroll::default();
        scroll.show(9, 3);
        scroll.scroll(ScrollBy::End);
        assert_eq!(scroll.show(9, 3), 6);
        assert_eq!(scroll.show(9, 5), 4);
        assert_eq!(scroll.show(2, 5), 0);
    }
}
