//! A view of a report that is renewed at an interval.

use std::io;
use std::ops::ControlFlow;

use capture::text::Style as TextStyle;
use capture::text::visible::styled_lines;
use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::crossterm::terminal;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use crate::screen::TerminalInput;
use crate::screen::controls::{Action, Following, KeyOutcome, Overlay, ViewControls};
use crate::screen::keys::{self, KeyRow};
use crate::screen::palette::ScreenPalette;
use crate::screen::scroll::Scroll;
use crate::screen::table::draw_rows;
use crate::style;

/// The latest report and its scroll position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LivePage {
    /// The lines of the report with color escapes; empty before the first report.
    lines: Vec<String>,
    controls: ViewControls,
    scroll: Scroll,
    palette: ScreenPalette,
    /// A message in the footer, until a key is pressed.
    message: Option<String>,
}

impl Default for LivePage {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            controls: ViewControls::default(),
            scroll: Scroll::default(),
            palette: ScreenPalette::of_stdout(),
            message: None,
        }
    }
}

impl LivePage {
    /// The style of the next report; `None` while the view is paused.
    pub(super) fn report_style(&self) -> io::Result<Option<TextStyle>> {
        let (columns, _) = terminal::size()?;
        let style = TextStyle { width: usize::from(columns), ..style::of_stdout() };
        Ok((self.controls.following == Following::Live).then_some(style))
    }

    /// Replaces the report on the screen.
    pub(super) fn show(&mut self, report: &str) {
        self.lines = styled_lines(report).lines().map(str::to_owned).collect();
    }

    /// Shows a message until a key is pressed.
    pub(super) fn show_message(&mut self, message: String) {
        self.message = Some(message);
    }

    /// Performs the actions of input events. Breaks if the user quits.
    pub(super) fn press(&mut self, inputs: &[TerminalInput]) -> ControlFlow<()> {
        self.message = None;
        for input in inputs {
            let TerminalInput::Key(key) = input else { continue };
            match self.controls.press(&KEYS, *key, &mut self.scroll) {
                KeyOutcome::Quit => return ControlFlow::Break(()),
                KeyOutcome::Done => {}
                KeyOutcome::View(never) => match never {},
            }
        }
        ControlFlow::Continue(())
    }

    /// Draws the heading, the report and the footer.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, summary: &str) {
        let lines = [Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)];
        let [head, body, foot] = Layout::vertical(lines).areas(frame.area());
        frame.render_widget(self.heading(summary), head);
        if self.lines.is_empty() {
            frame.render_widget(Line::raw(" waiting for messages"), body);
        }
        let Self { lines, scroll, .. } = self;
        draw_rows(frame, body, lines.len(), scroll, |row| styled(&lines[row], self.palette));
        let foot_line = match &self.message {
            Some(message) => Line::styled(format!(" {message}"), self.palette.strong()),
            None => keys::footer(&KEYS, self.palette, foot.width, |action| {
                (*action == Action::Pause).then(|| self.controls.pause_word().to_owned())
            }),
        };
        frame.render_widget(foot_line, foot);
        if self.controls.overlay == Overlay::Help {
            keys::draw_help(frame, &KEYS, self.palette, std::iter::empty());
        }
    }

    fn heading<'l>(&self, summary: &'l str) -> Line<'l> {
        match self.controls.following {
            Following::Live => Line::raw(summary),
            Following::Paused => Line::from_iter([
                Span::styled(" PAUSED ", self.palette.paused()),
                Span::raw("  "),
                Span::raw(summary),
            ]),
        }
    }
}

/// Converts the escape sequences that [`TextStyle`] puts into a line to styles of the screen.
fn styled(line: &str, palette: ScreenPalette) -> Line<'_> {
    let mut parts = line.split("\x1b[");
    let first = parts.next().map(Span::raw);
    let rest = parts.filter_map(|part| {
        let (code, text) = part.split_once('m')?;
        let style = match code {
            "1" => palette.strong(),
            "2" => palette.pale(),
            "31" => Style::new().fg(Color::Red),
            "33" => palette.warning(),
            "36" => palette.address(),
            _ => Style::new(),
        };
        Some(Span::styled(text, style))
    });
    first.into_iter().chain(rest).collect()
}

/// The keys of the view.
const KEYS: [KeyRow<Action<std::convert::Infallible>>; 5] = [
    KeyRow {
        keys: &[(KeyCode::Char('q'), Action::Quit)],
        name: "q, Ctrl-C",
        help: "end, with a last report",
        hint: Some(("q", "end, with a last report")),
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

#[cfg(test)]
mod tests {
    use capture::text::Colors;
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::screen::drawn;

    fn page(report: &str) -> LivePage {
        let mut page =
            LivePage { palette: ScreenPalette::new(Colors::Wanted), ..LivePage::default() };
        page.show(report);
        page
    }

    fn draw(page: &mut LivePage) -> (Buffer, String) {
        drawn((64, 4), |frame| page.draw(frame, "7 messages in 3 s"))
    }

    /// Presses a key; returns true if it quits the view.
    fn press(page: &mut LivePage, code: KeyCode) -> bool {
        page.press(&[TerminalInput::Key(code.into())]).is_break()
    }

    #[test]
    fn keys_scroll_pause_and_quit() {
        let mut page = page("1\n2\n3\n4\n5");
        draw(&mut page);
        for (code, offset) in [
            (KeyCode::Char('j'), 1),
            (KeyCode::Down, 2),
            (KeyCode::PageDown, 3),
            (KeyCode::Char('j'), 3),
            (KeyCode::Char('k'), 2),
            (KeyCode::Home, 0),
            (KeyCode::Up, 0),
        ] {
            assert!(!press(&mut page, code));
            assert_eq!(page.scroll.show(5, 2), offset, "{code:?}");
        }
        press(&mut page, KeyCode::Char('p'));
        assert_eq!(page.controls.following, Following::Paused);
        press(&mut page, KeyCode::Char(' '));
        assert_eq!(page.controls.following, Following::Live);
        assert!(
            page.press(&[TerminalInput::Paste("q".into())]).is_continue(),
            "a pasted text is not a key"
        );
        assert!(press(&mut page, KeyCode::Char('q')));
    }

    #[test]
    fn pages_have_a_heading_a_report_and_a_footer() {
        let style = TextStyle { width: 60, colors: Colors::Wanted };
        let text = format!(
            "first\n{} is {}\n{} {}\n",
            style.strong("second"),
            style.alarm("bad"),
            style.warning("third"),
            style.accent("x")
        );
        let mut page = page(&text);
        draw(&mut page);
        press(&mut page, KeyCode::End);
        press(&mut page, KeyCode::Char('p'));
        let (buffer, text) = draw(&mut page);
        let rows: Vec<_> = text.lines().collect();
        assert_eq!(rows[..2], [" PAUSED   7 messages in 3 s", "second is bad"]);
        assert!(rows[3].contains("q  end, with a last report"), "{}", rows[3]);
        assert!(rows[3].contains("p  resume"), "{}", rows[3]);
        assert_eq!(buffer[(10, 1)].fg, Color::Red);
        assert_eq!(buffer[(0, 2)].fg, Color::Yellow);
        assert_eq!(buffer[(6, 2)].fg, Color::Cyan);
        assert_eq!(buffer[(0, 1)].modifier, page.palette.strong().add_modifier);
    }
}
