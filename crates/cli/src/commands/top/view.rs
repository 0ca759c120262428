//! The settings of the view, and the keys that change them.

use std::ops::ControlFlow;
use std::time::Duration;

use capture::RecordedTime;
use capture::query::{Query, QueryError};
use capture::statistics::GroupKeyKind;
use capture::table::{ColumnUnit, DataTable, NoSuchColumn};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::table;
use crate::choices::Choice;
use crate::live::LiveTraffic;
use crate::screen::TerminalInput;
use crate::screen::controls::{Action, Following, KeyOutcome, ViewControls};
use crate::screen::keys::KeyRow;
use crate::screen::palette::ScreenPalette;
use crate::screen::scroll::Scroll;

/// The settings of the view, and its table.
#[derive(Debug)]
pub(super) struct TopView {
    pub(super) by: GroupKeyKind,
    pub(super) sort: String,
    pub(super) query: Query,
    pub(super) query_text: String,
    /// The time before now from which messages are in the table.
    span: Duration,
    pub(super) controls: ViewControls,
    pub(super) scroll: Scroll,
    pub(super) palette: ScreenPalette,
    /// The query editor, while it is open.
    pub(super) edit: Option<Edit>,
    /// The table on the screen; `None` before the first one.
    pub(super) table: Option<DataTable>,
    /// A message in the footer, until a key is pressed.
    pub(super) message: Option<String>,
    /// The CPU share of this program in the last step; 1.0 is one processor.
    pub(super) cost: f64,
}

/// A query that the user edits, and the error of the last attempt to apply it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Edit {
    pub(super) text: String,
    pub(super) error: Option<String>,
}

/// The actions that only this view has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TopCommand {
    Group,
    Sort,
    Filter,
}

impl TopView {
    pub(super) fn new(
        by: GroupKeyKind,
        sort: String,
        query: Query,
        query_text: String,
        span: Duration,
    ) -> Self {
        Self {
            by,
            sort,
            query,
            query_text,
            span,
            controls: ViewControls::default(),
            scroll: Scroll::default(),
            palette: ScreenPalette::of_stdout(),
            edit: None,
            table: None,
            message: None,
            cost: 0.0,
        }
    }

    /// Computes the table from the latest traffic. Fails if it does not have the sort column.
    pub(super) fn refresh(
        &mut self,
        traffic: &LiveTraffic,
        now: RecordedTime,
    ) -> Result<(), NoSuchColumn> {
        let mut table = table::recent(traffic, (now, self.span), self.by, &self.query);
        table.sort(&self.sort)?;
        self.table = Some(table);
        Ok(())
    }

    /// Shows a message until a key is pressed.
    pub(super) fn show_message(&mut self, message: String) {
        self.message = Some(message);
    }

    /// Performs the action of an input event. Breaks if the user quits.
    pub(super) fn press(&mut self, input: &TerminalInput) -> ControlFlow<()> {
        self.message = None;
        match (self.edit.take(), input) {
            (Some(edit), TerminalInput::Key(key)) => self.edit(edit, *key),
            (Some(mut edit), TerminalInput::Paste(text)) => {
                edit.push(text);
                self.edit = Some(edit);
            }
            (None, TerminalInput::Key(key)) => {
                match self.controls.press(&KEYS, *key, &mut self.scroll) {
                    KeyOutcome::Quit => return ControlFlow::Break(()),
                    KeyOutcome::Done => {}
                    KeyOutcome::View(command) => self.command(command),
                }
            }
            (edit, _) => self.edit = edit,
        }
        ControlFlow::Continue(())
    }

    fn command(&mut self, command: TopCommand) {
        match command {
            TopCommand::Filter => {
                self.edit = Some(Edit { text: self.query_text.clone(), error: None });
            }
            TopCommand::Sort => self.next_sort(),
            TopCommand::Group => {
                let place = SUBJECTS.iter().position(|(.., by)| *by == self.by).unwrap_or(0);
                self.by = SUBJECTS[(place + 1) % SUBJECTS.len()].2;
                self.sort_by_number();
                self.reset_position();
            }
        }
    }

    fn edit(&mut self, mut edit: Edit, key: KeyEvent) {
        match (key.code, key.modifiers) {
            (KeyCode::Enter, _) => {
                let parsed: Result<Query, QueryError> = edit.text.parse();
                match parsed {
                    Ok(query) => {
                        (self.query, self.query_text) = (query, edit.text);
                        self.reset_position();
                        return;
                    }
                    Err(error) => edit.error = Some(error.to_string()),
                }
            }
            (KeyCode::Esc, _) => return,
            (KeyCode::Backspace, _) => edit.backspace(),
            // Ctrl-U clears the line, as in a shell.
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => edit = Edit::default(),
            (KeyCode::Char(letter), KeyModifiers::NONE | KeyModifiers::SHIFT) => {
                edit.push(letter.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
        self.edit = Some(edit);
    }

    /// Scrolls to the start and resumes the view, because its table changes.
    fn reset_position(&mut self) {
        self.scroll = Scroll::default();
        self.controls.following = Following::Live;
    }

    /// Selects the default sort column if the current one contains texts, because these columns
    /// differ between the tables.
    fn sort_by_number(&mut self) {
        let columns = self.table.iter().flat_map(|table| table.columns());
        if columns
            .filter(|column| column.unit == ColumnUnit::Text)
            .any(|column| column.name == self.sort)
        {
            self.sort = DEFAULT_SORT.to_owned();
        }
    }

    /// Sorts by the next column of numbers.
    fn next_sort(&mut self) {
        let Some(table) = &mut self.table else { return };
        let numbers = table.columns().iter().filter(|column| column.unit != ColumnUnit::Text);
        let names: Vec<&'static str> = numbers.map(|column| column.name).collect();
        let place = names.iter().position(|name| *name == self.sort);
        let next = place.map_or(0, |place| (place + 1) % names.len().max(1));
        if let Some(name) = names.get(next) {
            self.sort = (*name).to_owned();
            // This cannot fail, because the table has the column.
            let _ = table.sort(name);
        }
    }
}

impl Edit {
    /// Inserts a typed or pasted text at the end, without control characters.
    fn push(&mut self, text: &str) {
        self.text.extend(text.chars().filter(|letter| !letter.is_control()));
        self.error = None;
    }

    fn backspace(&mut self) {
        self.text.pop();
        self.error = None;
    }
}

/// The default sort column, which every table has.
pub(super) const DEFAULT_SORT: &str = "messages";

/// The keys of the view.
pub(super) const KEYS: [KeyRow<Action<TopCommand>>; 8] = [
    KeyRow {
        keys: &[(KeyCode::Char('q'), Action::Quit)],
        name: "q, Ctrl-C",
        help: "end",
        hint: Some(("q", "quit")),
    },
    KeyRow {
        keys: &[
            (KeyCode::Char('g'), Action::View(TopCommand::Group)),
            (KeyCode::Tab, Action::View(TopCommand::Group)),
        ],
        name: "g, Tab",
        help: "rows for services, processes, members or pairs",
        hint: Some(("g", "group")),
    },
    KeyRow {
        keys: &[(KeyCode::Char('s'), Action::View(TopCommand::Sort))],
        name: "s",
        help: "sort by the next column",
        hint: Some(("s", "sort")),
    },
    KeyRow {
        keys: &[
            (KeyCode::Char('f'), Action::View(TopCommand::Filter)),
            (KeyCode::Char('/'), Action::View(TopCommand::Filter)),
        ],
        name: "f, /",
        help: "only messages that a query selects: member:Get* dur>50ms",
        hint: Some(("f", "filter")),
    },
    KeyRow {
        keys: Action::PAUSE_KEYS,
        name: "p, space",
        help: "pause or resume",
        hint: Some(("p", "pause")),
    },
    Action::LINE_ROW,
    Action::PAGE_ROW,
    Action::HELP_ROW,
];

/// The accepted values of `--by`.
pub(super) const SUBJECTS: [Choice<GroupKeyKind>; 4] = [
    ("service", "Connections that are called, or emit signals", GroupKeyKind::Service),
    ("process", "Processes that send messages", GroupKeyKind::Process),
    ("member", "Methods and signals", GroupKeyKind::Member),
    ("pair", "Each sender with each recipient", GroupKeyKind::Pair),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::controls::Overlay;

    fn view() -> TopView {
        let (query, span) = (Query::default(), Duration::from_secs(1));
        TopView::new(GroupKeyKind::Service, "messages".into(), query, String::new(), span)
    }

    /// Presses keys; returns true if the last one quits.
    fn press(view: &mut TopView, codes: &[KeyCode]) -> bool {
        let pressed = codes.iter().map(|code| view.press(&TerminalInput::Key((*code).into())));
        pressed.last().expect("a key").is_break()
    }

    fn letters(text: &str) -> Vec<KeyCode> {
        text.chars().map(KeyCode::Char).collect()
    }

    #[test]
    fn keys_pause_group_and_quit() {
        let mut view = view();
        assert!(!press(&mut view, &letters("p")));
        assert_eq!(view.controls.following, Following::Paused);
        press(&mut view, &letters("gg"));
        assert_eq!((view.by, view.controls.following), (GroupKeyKind::Member, Following::Live));
        press(&mut view, &[KeyCode::Char('g'), KeyCode::Tab]);
        assert_eq!(view.by, GroupKeyKind::Service);
        press(&mut view, &letters("?"));
        assert_eq!(view.controls.overlay, Overlay::Help);
        assert!(!press(&mut view, &letters("q")), "it closes the help");
        assert!(press(&mut view, &letters("q")));
    }

    #[test]
    fn tables_without_the_sort_column_use_the_default() {
        let mut view = view();
        let traffic = LiveTraffic::new(1, Duration::ZERO);
        view.sort = "service".into();
        view.refresh(&traffic, RecordedTime(0)).expect("services have one");
        press(&mut view, &letters("g"));
        view.refresh(&traffic, RecordedTime(0)).expect("every table has the default");
        assert_eq!(view.sort, DEFAULT_SORT);
    }

    #[test]
    fn queries_are_edited_and_checked() {
        let mut view = view();
        press(&mut view, &letters("/qx"));
        press(&mut view, &[KeyCode::Backspace, KeyCode::Enter]);
        assert_eq!((view.query_text.as_str(), &view.edit), ("q", &None));
        press(&mut view, &letters("f"));
        let clear = KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert!(view.press(&TerminalInput::Key(clear)).is_continue());
        press(&mut view, &letters("dur>"));
        press(&mut view, &[KeyCode::Enter]);
        let Some(Edit { text, error: Some(_) }) = &view.edit else {
            panic!("a mistake is shown: {:?}", view.edit)
        };
        assert_eq!(text, "dur>");
        press(&mut view, &[KeyCode::Esc]);
        assert_eq!((view.query_text.as_str(), &view.edit), ("q", &None));
    }

    #[test]
    fn pasted_text_is_inserted_into_the_query() {
        let mut view = view();
        let paste = TerminalInput::Paste("q\u{e9}\n".into());
        assert!(view.press(&paste).is_continue());
        assert_eq!((view.query_text.as_str(), &view.edit), ("", &None));
        press(&mut view, &letters("f"));
        assert!(view.press(&paste).is_continue());
        press(&mut view, &[KeyCode::Enter]);
        assert_eq!(view.query_text, "q\u{e9}");
    }
}
