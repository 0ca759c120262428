//! The page on a terminal: a text that is made anew, in a frame.

use std::io;

use capture::text::Style as TextStyle;
use capture::text::visible::styled_lines;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Paragraph;

use super::kept::Kept;
use crate::screen::{Input, Screen, parts};
use crate::style;

/// The page, as long as it is shown.
#[derive(Debug)]
pub(super) struct Page {
    screen: Screen,
    scroll: Scroll,
}

/// The text, and which part of it is seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Scroll {
    /// With the colours of a terminal; nothing yet if it is empty.
    text: String,
    following: Following,
    /// Lines that are scrolled away.
    offset: usize,
    /// What was said last.
    message: Option<String>,
}

/// Whether the text follows what happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Following {
    #[default]
    Live,
    Paused,
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    Stay,
    Quit,
}

impl Page {
    /// Takes the terminal over.
    pub(super) fn enter() -> io::Result<Self> {
        Ok(Self { screen: Screen::enter()?, scroll: Scroll::default() })
    }

    /// How the text is to look, if it is to be made anew.
    pub(super) fn wants_text(&self) -> io::Result<Option<TextStyle>> {
        let (columns, _) = self.screen.size()?;
        let TextStyle { colours, .. } = style::of_stdout();
        let style = TextStyle { width: usize::from(columns), colours };
        Ok((self.scroll.following == Following::Live).then_some(style))
    }

    /// Shows this from now on.
    pub(super) fn show(&mut self, text: String) {
        self.scroll.text = styled_lines(&text).into_owned();
    }

    /// Has something shown until a key is pressed.
    pub(super) fn say(&mut self, message: String) {
        self.scroll.message = Some(message);
    }

    /// Does what pressed keys ask for.
    pub(super) fn take_keys(&mut self) -> io::Result<Next> {
        let Input::Keys(keys) = self.screen.input()? else { return Ok(Next::Quit) };
        let quits = keys.iter().any(|key| self.scroll.press(key) == Next::Quit);
        Ok(if quits { Next::Quit } else { Next::Stay })
    }

    /// Draws everything.
    pub(super) fn draw(&mut self, kept: &Kept) -> io::Result<()> {
        let Self { screen, scroll } = self;
        screen.draw(|frame| scroll.draw(frame, &kept.summary()))
    }
}

impl Scroll {
    fn press(&mut self, key: &[u8]) -> Next {
        self.message = None;
        let last = self.text.lines().count().saturating_sub(1);
        match key {
            b"q" | b"Q" | CONTROL_C => return Next::Quit,
            b"p" | b" " => {
                self.following = match self.following {
                    Following::Live => Following::Paused,
                    Following::Paused => Following::Live,
                }
            }
            b"k" | b"\x1b[A" | b"\x1bOA" => self.offset = self.offset.saturating_sub(1),
            b"j" | b"\x1b[B" | b"\x1bOB" => self.offset = last.min(self.offset + 1),
            b"\x1b[5~" => self.offset = self.offset.saturating_sub(PAGE),
            b"\x1b[6~" => self.offset = last.min(self.offset + PAGE),
            b"\x1b[H" | b"\x1bOH" | b"\x1b[1~" => self.offset = 0,
            _ => {}
        }
        Next::Stay
    }

    fn draw(&self, frame: &mut Frame<'_>, summary: &str) {
        let lines = [Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)];
        let [head, body, foot] = Layout::vertical(lines).areas(frame.area());
        self.draw_head(frame, head, summary);
        let text: Text<'_> = match self.text.is_empty() {
            true => Text::raw("\n waiting for messages"),
            false => self.text.lines().skip(self.offset).map(coloured).collect(),
        };
        frame.render_widget(Paragraph::new(text), body);
        match &self.message {
            Some(message) => {
                frame.render_widget(Line::styled(format!(" {message}"), parts::strong()), foot);
            }
            None => frame.render_widget(parts::keys(&KEYS), foot),
        }
    }

    fn draw_head(&self, frame: &mut Frame<'_>, area: Rect, summary: &str) {
        let text = Span::raw(summary);
        let paused = Span::styled(" PAUSED ", parts::reversed());
        let line = match self.following {
            Following::Live => Line::from(text),
            Following::Paused => Line::from_iter([paused, Span::raw("  "), text]),
        };
        frame.render_widget(line, area);
    }
}

/// A line with the colours that [`TextStyle`] gives to parts of it.
fn coloured(line: &str) -> Line<'_> {
    let mut parts = line.split("\x1b[");
    let first = parts.next().map(Span::raw);
    let rest = parts.filter_map(|part| {
        let (code, text) = part.split_once('m')?;
        let style = match code {
            "1" => parts::strong(),
            "2" => parts::pale(),
            "31" => Style::new().fg(Color::Red),
            _ => Style::new(),
        };
        Some(Span::styled(text, style))
    });
    first.into_iter().chain(rest).collect()
}

const KEYS: [(&str, &str); 4] =
    [("q", "end, with a last report"), ("p", "pause"), ("Up Down", "scroll"), ("Home", "top")];

const CONTROL_C: &[u8] = b"\x03";

/// Lines of a page.
const PAGE: usize = 10;

#[cfg(test)]
mod tests {
    use capture::text::Colours;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    #[test]
    fn keys_do_what_the_foot_says() {
        let mut scroll = Scroll { text: "1\n2\n3\n4".into(), ..Scroll::default() };
        for (key, offset) in [
            (&b"j"[..], 1),
            (b"\x1b[B", 2),
            (b"\x1b[6~", 3),
            (b"j", 3),
            (b"k", 2),
            (b"\x1b[H", 0),
            (b"k", 0),
        ] {
            assert_eq!((scroll.press(key), scroll.offset), (Next::Stay, offset), "{key:?}");
        }
        scroll.press(b"p");
        assert_eq!(scroll.following, Following::Paused);
        scroll.press(b" ");
        assert_eq!(scroll.following, Following::Live);
        assert_eq!(scroll.press(b"q"), Next::Quit);
        assert_eq!(scroll.press(CONTROL_C), Next::Quit);
    }

    #[test]
    fn the_page_has_a_head_a_text_and_keys() {
        let style = TextStyle { width: 60, colours: Colours::Wanted };
        let text = format!("first\n{} is {}\n", style.strong("second"), style.alarm("bad"));
        let scroll = Scroll { text, offset: 1, following: Following::Paused, message: None };
        let mut terminal = Terminal::new(TestBackend::new(64, 4)).expect("a terminal of memory");
        terminal.draw(|frame| scroll.draw(frame, "7 messages in 3 s")).expect("it can be drawn");
        let buffer = terminal.backend().buffer();
        let row = |y| (0..64).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        assert_eq!(row(0).trim_end(), " PAUSED   7 messages in 3 s");
        assert_eq!(row(1).trim_end(), "second is bad");
        assert!(row(3).contains("q  end, with a last report"), "{}", row(3));
        assert_eq!(buffer[(10, 1)].fg, Color::Red);
        assert_eq!(buffer[(0, 1)].modifier, parts::strong().add_modifier);
    }
}
