//! What the keys do, over everything else.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::Page;
use super::table::{Fit, fit};
use crate::commands::up::keys::HELP;

pub(super) fn draw(page: &Page<'_>, frame: &mut Frame<'_>) {
    let keys = HELP.into_iter().map(|(key, does)| {
        Line::from_iter([
            Span::styled(format!(" {} ", fit(key, KEY_WIDTH, Fit::Start)), page.palette.strong()),
            Span::raw(does),
        ])
    });
    let example = example(page.example, frame.area().width.saturating_sub(3));
    let example = example.lines().map(|line| Line::styled(line, page.palette.address()));
    let text: Text<'_> = keys.chain(EXPLANATIONS.map(Line::raw)).chain(example).collect();
    let wanted = text.lines.iter().map(Line::width).max().unwrap_or(0);
    let area = centred(frame.area(), (wanted as u16 + 3, text.height() as u16 + 2));
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(" Help: any key goes back ");
    frame.render_widget(Paragraph::new(text).block(block), area);
}

/// The line to try; where there is no room for it, as two lines that a shell takes for one.
fn example(line: &str, width: u16) -> String {
    match line.split_once(" -m ") {
        Some((start, end)) if line.len() + 1 > usize::from(width) => {
            format!(" {start} \\\n     -m {end}")
        }
        _ => format!(" {line}"),
    }
}

fn centred(screen: Rect, (width, height): (u16, u16)) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let x = screen.x + (screen.width - width) / 2;
    Rect { x, y: screen.y + (screen.height - height) / 2, width, height }
}

const KEY_WIDTH: usize = 10;

const EXPLANATIONS: [&str; 8] = [
    "",
    " Rates are averages over 3 seconds. Of a method, BYTES/S and EACH count",
    " the call and its answer. QUEUED is what the bus holds for a connection",
    " that has not read it yet, LOST what it did not get because of that.",
    " Events: + came, - left, = a name has an owner, ! went wrong, > the log.",
    "",
    " To try, in a shell into which you have pasted the line at the top:",
    "",
];
