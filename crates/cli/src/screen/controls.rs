//! The controls that all views share: quit, pause, help and scroll.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::keys::{self, KeyRow};
use super::scroll::{Scroll, ScrollBy};

/// The action that a key requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action<V> {
    Quit,
    /// Stops following the bus, or follows it again.
    Pause,
    Help,
    Scroll(ScrollBy),
    /// An action that is specific to the view.
    View(V),
}

/// The state of the shared controls of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ViewControls {
    pub(crate) following: Following,
    pub(crate) overlay: Overlay,
}

/// The two modes of a view: live or paused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Following {
    #[default]
    Live,
    /// The view shows the state at the time it was paused.
    Paused,
}

/// The content that covers a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Overlay {
    #[default]
    Nothing,
    Help,
}

/// The result of a key press.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyOutcome<V> {
    Done,
    Quit,
    /// The view has to perform this action.
    View(V),
}

impl ViewControls {
    /// Performs the action of a key. `scroll` is the list that the arrow keys scroll. The key that
    /// closes the help has no other effect.
    pub(crate) fn press<V: Copy>(
        &mut self,
        rows: &[KeyRow<Action<V>>],
        key: KeyEvent,
        scroll: &mut Scroll,
    ) -> KeyOutcome<V> {
        if self.overlay == Overlay::Help {
            self.overlay = Overlay::Nothing;
            return KeyOutcome::Done;
        }
        match keys::action(rows, key) {
            Some(Action::Quit) => return KeyOutcome::Quit,
            Some(Action::View(action)) => return KeyOutcome::View(action),
            Some(Action::Pause) => self.following = self.following.toggled(),
            Some(Action::Help) => self.overlay = Overlay::Help,
            Some(Action::Scroll(by)) => scroll.scroll(by),
            None => {}
        }
        KeyOutcome::Done
    }

    /// The label of the pause key in the footer.
    pub(crate) const fn pause_word(self) -> &'static str {
        match self.following {
            Following::Live => "pause",
            Following::Paused => "resume",
        }
    }
}

impl Following {
    const fn toggled(self) -> Self {
        match self {
            Self::Live => Self::Paused,
            Self::Paused => Self::Live,
        }
    }
}

/// Key rows that are the same in every view.
impl<V: Copy + 'static> Action<V> {
    /// Scrolls by a line.
    pub(crate) const LINE_ROW: KeyRow<Self> = KeyRow {
        keys: &[
            (KeyCode::Up, Self::Scroll(ScrollBy::LineUp)),
            (KeyCode::Char('k'), Self::Scroll(ScrollBy::LineUp)),
            (KeyCode::Down, Self::Scroll(ScrollBy::LineDown)),
            (KeyCode::Char('j'), Self::Scroll(ScrollBy::LineDown)),
        ],
        name: "Up, Down",
        help: "scroll by a line",
        hint: Some(("\u{2191}\u{2193}", "scroll")),
    };
    /// Scrolls by a page, or to an end.
    pub(crate) const PAGE_ROW: KeyRow<Self> = KeyRow {
        keys: &[
            (KeyCode::PageUp, Self::Scroll(ScrollBy::PageUp)),
            (KeyCode::PageDown, Self::Scroll(ScrollBy::PageDown)),
            (KeyCode::Home, Self::Scroll(ScrollBy::Start)),
            (KeyCode::End, Self::Scroll(ScrollBy::End)),
        ],
        name: "PgUp, PgDn",
        help: "scroll by a page; Home and End go to the ends",
        hint: None,
    };
    /// Shows the help, or hides it.
    pub(crate) const HELP_ROW: KeyRow<Self> = KeyRow {
        keys: &[(KeyCode::Char('h'), Self::Help), (KeyCode::Char('?'), Self::Help)],
        name: "h, ?",
        help: "show or hide this help",
        hint: Some(("h", "help")),
    };
    pub(crate) const PAUSE_KEYS: &'static [(KeyCode, Self)] =
        &[(KeyCode::Char('p'), Self::Pause), (KeyCode::Char(' '), Self::Pause)];
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [KeyRow<Action<u8>>; 4] = [
        KeyRow { keys: &[(KeyCode::Char('q'), Action::Quit)], name: "q", help: "quit", hint: None },
        KeyRow { keys: Action::PAUSE_KEYS, name: "p", help: "pause", hint: None },
        Action::HELP_ROW,
        KeyRow { keys: &[(KeyCode::Tab, Action::View(7))], name: "Tab", help: "pane", hint: None },
    ];

    fn press(controls: &mut ViewControls, code: KeyCode) -> KeyOutcome<u8> {
        controls.press(&ROWS, code.into(), &mut Scroll::default())
    }

    #[test]
    fn pause_and_help_keys_toggle() {
        let mut controls = ViewControls::default();
        for code in [KeyCode::Char('p'), KeyCode::Char(' '), KeyCode::Char('h'), KeyCode::Char('?')]
        {
            assert_eq!(press(&mut controls, code), KeyOutcome::Done);
            assert_ne!(controls, ViewControls::default());
            assert_eq!(press(&mut controls, code), KeyOutcome::Done);
            assert_eq!(controls, ViewControls::default());
        }
        assert_eq!(press(&mut controls, KeyCode::Tab), KeyOutcome::View(7));
        assert_eq!(press(&mut controls, KeyCode::Char('q')), KeyOutcome::Quit);
        assert_eq!(press(&mut controls, KeyCode::Esc), KeyOutcome::Done);
    }

    #[test]
    fn the_key_that_closes_the_help_has_no_other_effect() {
        for code in [KeyCode::Char('q'), KeyCode::Char('p'), KeyCode::Tab, KeyCode::Esc] {
            let mut controls = ViewControls { overlay: Overlay::Help, ..ViewControls::default() };
            assert_eq!(press(&mut controls, code), KeyOutcome::Done, "{code:?}");
            assert_eq!(controls, ViewControls::default(), "{code:?}");
        }
    }
}
