//! The key table of a view, from which its actions, its help and its footer are made.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Clear, Paragraph};

use capture::text::columns::cells;

use super::palette::ScreenPalette;

/// Related keys, which are one line of the help.
#[derive(Debug)]
pub(crate) struct KeyRow<A: 'static> {
    /// The keys and their actions. Letters have the same action with and without Shift.
    pub(crate) keys: &'static [(KeyCode, A)],
    /// The names of the keys: `p, space`.
    pub(crate) name: &'static str,
    /// The description of the actions: `pause or resume`.
    pub(crate) help: &'static str,
    /// The key and the short label in the footer, if the row is shown there.
    pub(crate) hint: Option<(&'static str, &'static str)>,
}

/// Returns the action of a key.
pub(crate) fn action<A: Copy>(rows: &[KeyRow<A>], key: KeyEvent) -> Option<A> {
    let code = match key.code {
        KeyCode::Char(letter) if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => {
            KeyCode::Char(letter.to_ascii_lowercase())
        }
        code if key.modifiers.is_empty() => code,
        _ => return None,
    };
    let mut keys = rows.iter().flat_map(|row| row.keys);
    keys.find(|(known, _)| *known == code).map(|(_, action)| *action)
}

/// Returns the footer: as many keys and labels as fit into the width. The last key, which opens the
/// help, is always included. `word` can replace the label of an action.
pub(crate) fn footer<A>(
    rows: &[KeyRow<A>],
    palette: ScreenPalette,
    width: u16,
    word: impl Fn(&A) -> Option<String>,
) -> Line<'static> {
    let hints = rows.iter().filter_map(|row| {
        let (key, usual) = row.hint?;
        let does = row.keys.first().and_then(|(_, action)| word(action));
        Some((format!(" {key} "), format!(" {}", does.unwrap_or_else(|| usual.to_owned()))))
    });
    let mut hints: Vec<_> = hints.collect();
    let len = |hints: &[(String, String)]| -> usize {
        hints.iter().map(|(key, does)| 1 + cells(key) + cells(does)).sum()
    };
    while len(&hints) > usize::from(width) && hints.len() > 1 {
        hints.remove(hints.len() - 2);
    }
    let spans = hints.into_iter().flat_map(|(key, does)| {
        [Span::raw(" "), Span::styled(key, palette.key()), Span::raw(does)]
    });
    spans.collect()
}

/// Draws the help over the view: the keys, then additional lines.
pub(crate) fn draw_help<'l, A>(
    frame: &mut Frame<'_>,
    rows: &[KeyRow<A>],
    palette: ScreenPalette,
    more: impl Iterator<Item = Line<'l>>,
) {
    let name_width = rows.iter().map(|row| cells(row.name)).max().unwrap_or(0);
    let keys = rows.iter().map(|row| {
        let name = Span::styled(format!(" {:name_width$} ", row.name), palette.strong());
        Line::from_iter([name, Span::raw(row.help)])
    });
    let text: Text<'_> = keys.chain(more).collect();
    let area = centered(frame.area(), (text.width() as u16 + 3, text.height() as u16 + 2));
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(" Help: any key goes back ");
    frame.render_widget(Paragraph::new(text).block(block), area);
}

fn centered(screen: Rect, (width, height): (u16, u16)) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let x = screen.x + (screen.width - width) / 2;
    Rect { x, y: screen.y + (screen.height - height) / 2, width, height }
}

#[cfg(test)]
mod tests {
    use capture::text::Colors;

    use super::*;

    const ROWS: [KeyRow<u8>; 3] = [
        KeyRow {
            keys: &[(KeyCode::Char('q'), 1)],
            name: "q",
            help: "quit",
            hint: Some(("q", "quit")),
        },
        KeyRow {
            keys: &[(KeyCode::Up, 2), (KeyCode::Down, 3)],
            name: "Up, Down",
            help: "scroll",
            hint: Some(("\u{2191}\u{2193}", "scroll")),
        },
        KeyRow {
            keys: &[(KeyCode::Char('?'), 4)],
            name: "?",
            help: "help",
            hint: Some(("?", "help")),
        },
    ];

    #[test]
    fn keys_outside_of_the_table_have_no_action() {
        for (code, modifiers, expected) in [
            (KeyCode::Char('q'), KeyModifiers::NONE, Some(1)),
            (KeyCode::Char('Q'), KeyModifiers::SHIFT, Some(1)),
            (KeyCode::Char('?'), KeyModifiers::SHIFT, Some(4)),
            (KeyCode::Char('q'), KeyModifiers::CONTROL, None),
            (KeyCode::Char('q'), KeyModifiers::ALT, None),
            (KeyCode::Char('\u{e9}'), KeyModifiers::NONE, None),
            (KeyCode::Down, KeyModifiers::NONE, Some(3)),
            (KeyCode::Up, KeyModifiers::SHIFT, None),
            (KeyCode::F(5), KeyModifiers::NONE, None),
        ] {
            assert_eq!(action(&ROWS, KeyEvent::new(code, modifiers)), expected, "{code:?}");
        }
    }

    #[test]
    fn the_footer_keeps_the_key_that_explains_the_others() {
        let palette = ScreenPalette::new(Colors::Unwanted);
        let text = |width| {
            let line = footer(&ROWS, palette, width, |action| (*action == 2).then(|| "up".into()));
            line.to_string()
        };
        assert_eq!(text(80), "  q  quit  \u{2191}\u{2193}  up  ?  help");
        assert_eq!(text(20), "  q  quit  ?  help");
        assert_eq!(text(10), "  ?  help");
    }
}
