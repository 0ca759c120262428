//! What keys mean.

use super::model::Snapshot;
use super::view::{Following, Overlay, OwnConnection, Scroll, View};

/// What a key asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    /// To end.
    Quit,
    /// Another order of the connections.
    Sort,
    /// To stop following, or to follow again.
    Pause,
    /// To show our own connection, or to hide it again.
    Own,
    /// To explain the keys, or to stop that.
    Help,
    /// To stop explaining.
    Back,
    /// To move another part of the page.
    Focus,
    /// To move a part of the page.
    Scroll(Scroll),
}

/// What keys ask for. Others mean nothing.
pub(crate) fn actions(keys: &[Vec<u8>]) -> Vec<Action> {
    keys.iter().filter_map(|key| action(key)).collect()
}

fn action(key: &[u8]) -> Option<Action> {
    Some(match key {
        b"q" | b"Q" | CONTROL_C => Action::Quit,
        b"s" | b"S" => Action::Sort,
        b"p" | b"P" | b" " => Action::Pause,
        b"i" | b"I" => Action::Own,
        b"h" | b"H" | b"?" => Action::Help,
        b"\t" => Action::Focus,
        b"k" | b"\x1b[A" | b"\x1bOA" => Action::Scroll(Scroll::Up(1)),
        b"j" | b"\x1b[B" | b"\x1bOB" => Action::Scroll(Scroll::Down(1)),
        b"\x1b[5~" => Action::Scroll(Scroll::Up(PAGE)),
        b"\x1b[6~" => Action::Scroll(Scroll::Down(PAGE)),
        b"\x1b[H" | b"\x1bOH" | b"\x1b[1~" => Action::Scroll(Scroll::Start),
        [ESCAPE] => Action::Back,
        _ => return None,
    })
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Go on.
    Stay,
    /// End.
    Quit,
}

/// Does what a key asks for. Any key that ends the help does nothing else.
pub(crate) fn apply(action: Action, view: &mut View, snapshot: &Snapshot) -> Next {
    if action == Action::Quit {
        return Next::Quit;
    }
    if view.overlay == Overlay::Help {
        view.overlay = Overlay::None;
        return Next::Stay;
    }
    match action {
        Action::Quit | Action::Back => {}
        Action::Sort => view.sort = view.sort.next(),
        Action::Pause => {
            view.flow = match view.flow {
                Following::Live => Following::Paused,
                Following::Paused => Following::Live,
            }
        }
        Action::Own => {
            view.own = match view.own {
                OwnConnection::Hidden => OwnConnection::Shown,
                OwnConnection::Shown => OwnConnection::Hidden,
            }
        }
        Action::Help => view.overlay = Overlay::Help,
        Action::Focus => view.focus = view.focus.next(),
        Action::Scroll(scroll) => view.scroll(scroll, view.lines(snapshot)),
    }
    Next::Stay
}

/// What the keys do, for people.
pub(crate) const HELP: [(&str, &str); 8] = [
    ("q, Ctrl-C", "end the bus and all that was started with it"),
    ("s", "sort by messages, bytes, queue, program or age"),
    ("p, space", "pause or resume the page; the bus goes on"),
    ("i", "show or hide Diligence's own connection"),
    ("Tab", "next pane: the one that the arrow keys move"),
    ("Up, Down", "scroll by a line"),
    ("PgUp, PgDn", "scroll by a page; Home goes to the top"),
    ("h, ?", "show or hide this help"),
];

const ESCAPE: u8 = 0x1b;
const CONTROL_C: &[u8] = b"\x03";

/// Lines of a page. How many a part of the page shows differs; this is less than most do.
const PAGE: usize = 8;

#[cfg(test)]
mod tests {
    use super::super::view::{Panel, Sort};
    use super::*;
    use crate::screen::keys;

    fn press(view: &mut View, key: &str) -> Next {
        let [action] = actions(&keys(key.as_bytes()))[..] else { panic!("{key:?} is one key") };
        apply(action, view, &Snapshot::default())
    }

    #[test]
    fn keys_mean_what_the_help_says() {
        let check = |bytes: &str, expected: &[Action]| {
            assert_eq!(actions(&keys(bytes.as_bytes())), expected, "{bytes:?}");
        };
        check("q", &[Action::Quit]);
        check("\x03", &[Action::Quit]);
        check("x\u{e9}", &[]);
        check("?\tp", &[Action::Help, Action::Focus, Action::Pause]);
        check("\x1b", &[Action::Back]);
        check(
            "\x1b[6~\x1b[A",
            &[Action::Scroll(Scroll::Down(PAGE)), Action::Scroll(Scroll::Up(1))],
        );
        check("\x1bOB\x1b[H", &[Action::Scroll(Scroll::Down(1)), Action::Scroll(Scroll::Start)]);
        // A key with Shift or Control, one that is not known, and one that did not come whole.
        check("\x1b[1;5A\x1b[15~s\x1b[1;", &[Action::Sort]);
    }

    #[test]
    fn keys_change_the_view_and_change_it_back() {
        let mut view = View::default();
        for key in ["p", "i", "h"] {
            assert_eq!(press(&mut view, key), Next::Stay);
            assert_ne!(view, View::default());
            assert_eq!(press(&mut view, key), Next::Stay);
            assert_eq!(view, View::default());
        }
        press(&mut view, "s");
        press(&mut view, "\t");
        assert_eq!((view.sort, view.focus), (Sort::Bytes, Panel::Members));
        assert_eq!(press(&mut view, "q"), Next::Quit);
    }

    #[test]
    fn the_key_that_ends_the_help_does_nothing_else() {
        let mut view = View { overlay: Overlay::Help, ..View::default() };
        press(&mut view, "s");
        assert_eq!(view, View::default());
        view.overlay = Overlay::Help;
        assert_eq!(press(&mut view, "q"), Next::Quit);
    }

    #[test]
    fn scrolling_stays_within_the_lines() {
        let mut view = View::default();
        for (scroll, lines, expected) in [
            (Scroll::Down(1), 0, 0),
            (Scroll::Down(1), 3, 1),
            (Scroll::Down(8), 3, 2),
            (Scroll::Up(1), 3, 1),
            (Scroll::Up(8), 3, 0),
            (Scroll::Down(2), 9, 2),
            (Scroll::Start, 9, 0),
        ] {
            view.scroll(scroll, lines);
            assert_eq!(view.offset(Panel::Connections), expected, "{scroll:?} of {lines}");
        }
    }
}
