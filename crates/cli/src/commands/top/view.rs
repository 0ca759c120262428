//! What somebody wants to see, and the keys by which to say so.

use capture::Time;
use capture::query::Query;
use capture::table::{NoSuchColumn, Table, Unit};

use super::Subject;
use super::window::Window;

/// What somebody wants to see.
#[derive(Debug)]
pub(super) struct View {
    pub(super) by: Subject,
    pub(super) sort: String,
    pub(super) query: Query,
    pub(super) query_text: String,
    pub(super) following: Following,
    pub(super) overlay: Overlay,
    /// Rows that are scrolled away.
    pub(super) offset: usize,
    /// The table now.
    pub(super) table: Option<Table>,
    /// What was said last.
    pub(super) message: Option<String>,
    /// Processors that this program used in the last step.
    pub(super) cost: f64,
}

/// Whether the table follows what happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Following {
    Live,
    Paused,
}

/// What lies over the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Overlay {
    Nothing,
    Help,
    /// A query that is being written, and what is wrong with it.
    Query {
        text: String,
        error: Option<String>,
    },
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    Stay,
    Quit,
}

impl View {
    pub(super) const fn new(by: Subject, sort: String, query: Query, query_text: String) -> Self {
        Self {
            by,
            sort,
            query,
            query_text,
            following: Following::Live,
            overlay: Overlay::Nothing,
            offset: 0,
            table: None,
            message: None,
            cost: 0.0,
        }
    }

    /// Makes the table anew.
    pub(super) fn renew(&mut self, window: &Window, now: Time) -> Result<(), NoSuchColumn> {
        let mut table = window.table(self.by.by(), &self.query, now);
        table.sort(&self.sort)?;
        self.table = Some(table);
        Ok(())
    }

    /// Has something shown until a key is pressed.
    pub(super) fn say(&mut self, message: String) {
        self.message = Some(message);
    }

    /// Does what a key asks for.
    pub(super) fn press(&mut self, key: &[u8]) -> Next {
        if key == CONTROL_C {
            return Next::Quit;
        }
        self.message = None;
        match std::mem::replace(&mut self.overlay, Overlay::Nothing) {
            Overlay::Query { text, .. } => self.edit(text, key),
            Overlay::Help => {}
            Overlay::Nothing => return self.command(key),
        }
        Next::Stay
    }

    fn command(&mut self, key: &[u8]) -> Next {
        match key {
            b"q" | b"Q" => return Next::Quit,
            b"?" | b"h" => self.overlay = Overlay::Help,
            b"f" | b"/" => {
                self.overlay = Overlay::Query { text: self.query_text.clone(), error: None };
            }
            b"p" | b" " => {
                self.following = match self.following {
                    Following::Live => Following::Paused,
                    Following::Paused => Following::Live,
                }
            }
            b"s" => self.next_sort(),
            b"g" | b"\t" => {
                self.by = after(&SUBJECTS, self.by);
                self.sort_by_number();
                self.offset = 0;
                self.following = Following::Live;
            }
            b"k" | b"\x1b[A" | b"\x1bOA" => self.offset = self.offset.saturating_sub(1),
            b"j" | b"\x1b[B" | b"\x1bOB" => self.scroll_down(1),
            b"\x1b[5~" => self.offset = self.offset.saturating_sub(PAGE),
            b"\x1b[6~" => self.scroll_down(PAGE),
            b"\x1b[H" | b"\x1bOH" | b"\x1b[1~" => self.offset = 0,
            _ => {}
        }
        Next::Stay
    }

    fn edit(&mut self, mut text: String, key: &[u8]) {
        match key {
            b"\r" | b"\n" => match text.parse() {
                Ok(query) => {
                    (self.query, self.query_text, self.offset) = (query, text, 0);
                    self.following = Following::Live;
                    return;
                }
                Err(error) => {
                    let error: capture::query::QueryError = error;
                    let error = Some(error.to_string());
                    self.overlay = Overlay::Query { text, error };
                    return;
                }
            },
            b"\x1b" => return,
            b"\x7f" | b"\x08" => drop(text.pop()),
            // Control-U, as on a command line.
            b"\x15" => text.clear(),
            key => {
                let key = String::from_utf8_lossy(key);
                text.extend(key.chars().filter(|letter| !letter.is_control()));
            }
        }
        self.overlay = Overlay::Query { text, error: None };
    }

    /// Sorts by the next column of numbers.
    /// Columns of texts are not the same in every table.
    fn sort_by_number(&mut self) {
        let columns = self.table.iter().flat_map(|table| table.columns());
        if columns.filter(|column| column.unit == Unit::Text).any(|column| column.name == self.sort)
        {
            self.sort = DEFAULT_SORT.to_owned();
        }
    }

    fn next_sort(&mut self) {
        let Some(table) = &mut self.table else { return };
        let numbers = table.columns().iter().filter(|column| column.unit != Unit::Text);
        let names: Vec<&'static str> = numbers.map(|column| column.name).collect();
        let place = names.iter().position(|name| *name == self.sort);
        let next = place.map_or(0, |place| (place + 1) % names.len().max(1));
        if let Some(name) = names.get(next) {
            self.sort = (*name).to_owned();
            // The column is one of this table.
            let _ = table.sort(name);
        }
    }

    fn scroll_down(&mut self, rows: usize) {
        let rows_there = self.table.as_ref().map_or(0, |table| table.rows().len());
        self.offset = (self.offset + rows).min(rows_there.saturating_sub(1));
    }
}

fn after<T: Copy + PartialEq>(all: &[T], one: T) -> T {
    let place = all.iter().position(|each| *each == one).unwrap_or(0);
    all[(place + 1) % all.len()]
}

/// The column to sort by where nobody has said one: every table has it.
pub(super) const DEFAULT_SORT: &str = "messages";

/// What the keys do, for people.
pub(super) const HELP: [(&str, &str); 8] = [
    ("q, Ctrl-C", "end"),
    ("g, Tab", "rows for services, processes, members or pairs"),
    ("s", "sort by the next column"),
    ("f, /", "only messages that a query selects: member:Get* dur>50ms"),
    ("p, space", "pause or resume"),
    ("Up, Down", "scroll by a row"),
    ("PgUp, PgDn", "scroll by a page; Home goes to the top"),
    ("?, h", "this help"),
];

const SUBJECTS: [Subject; 4] = [Subject::Service, Subject::Process, Subject::Member, Subject::Pair];

const CONTROL_C: &[u8] = b"\x03";

/// Rows of a page.
const PAGE: usize = 10;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn view() -> View {
        View::new(Subject::Service, "messages".into(), Query::default(), String::new())
    }

    fn press(view: &mut View, keys: &[&str]) -> Next {
        keys.iter().map(|key| view.press(key.as_bytes())).last().expect("a key")
    }

    #[test]
    fn keys_do_what_the_help_says() {
        let mut view = view();
        assert_eq!(press(&mut view, &["p"]), Next::Stay);
        assert_eq!(view.following, Following::Paused);
        press(&mut view, &["g", "g"]);
        assert_eq!((view.by, view.following), (Subject::Member, Following::Live));
        press(&mut view, &["g", "\t"]);
        assert_eq!(view.by, Subject::Service);
        press(&mut view, &["?"]);
        assert_eq!(view.overlay, Overlay::Help);
        assert_eq!(press(&mut view, &["q"]), Next::Stay, "it ends the help");
        assert_eq!(press(&mut view, &["q"]), Next::Quit);
        assert_eq!(press(&mut view, &["f", "\x03"]), Next::Quit);
    }

    #[test]
    fn a_table_without_the_column_is_sorted_by_another() {
        let mut view = view();
        let window = Window::new(Duration::from_secs(1));
        view.sort = "service".into();
        view.renew(&window, Time(0)).expect("services have one");
        press(&mut view, &["g"]);
        view.renew(&window, Time(0)).expect("every table has the default");
        assert_eq!(view.sort, DEFAULT_SORT);
    }

    #[test]
    fn a_query_is_written_and_checked() {
        let mut view = view();
        press(&mut view, &["/", "q", "x", "\x7f", "\r"]);
        assert_eq!((view.query_text.as_str(), &view.overlay), ("q", &Overlay::Nothing));
        press(&mut view, &["f", "\x15", "d", "u", "r", ">", "\r"]);
        let Overlay::Query { text, error: Some(_) } = &view.overlay else {
            panic!("a mistake is shown: {:?}", view.overlay)
        };
        assert_eq!(text, "dur>");
        press(&mut view, &["\x1b"]);
        assert_eq!((view.query_text.as_str(), &view.overlay), ("q", &Overlay::Nothing));
    }
}
