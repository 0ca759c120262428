//! What happened, the last thing first.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::table::{Fit, fit};
use super::{Page, line_of};
use crate::commands::up::model::{Note, NoteKind};
use crate::commands::up::units;
use crate::commands::up::view::Panel;

pub(super) fn draw(page: &Page<'_>, frame: &mut Frame<'_>, area: Rect) {
    let style = page.heading_style(Panel::Events);
    frame.render_widget(Line::styled(" EVENTS", style).style(style), line_of(area, 0));
    let notes = page.snapshot.notes.iter().collect();
    let notes = page.visible(Panel::Events, notes, area.height.saturating_sub(1));
    for (note, index) in notes.into_iter().zip(1..) {
        frame.render_widget(line(page, note, usize::from(area.width)), line_of(area, index));
    }
}

fn line(page: &Page<'_>, note: &Note, width: usize) -> Line<'static> {
    let sign_style = page.palette.note(note.kind);
    let text = match note.times {
        1 => note.text.clone(),
        times => format!("{} (\u{d7}{times})", note.text),
    };
    let text_style = match note.kind {
        NoteKind::Departure | NoteKind::Log | NoteKind::Trouble => sign_style,
        NoteKind::Arrival | NoteKind::Name | NoteKind::Error => Style::new(),
    };
    let room = width.saturating_sub(SIGN_END + 1);
    Line::from_iter([
        Span::styled(format!(" {:>8} ", units::elapsed(note.at)), page.palette.pale()),
        Span::styled(format!("{} ", sign(note.kind)), sign_style),
        Span::styled(fit(&text, room, Fit::Start), text_style),
    ])
}

const fn sign(kind: NoteKind) -> char {
    match kind {
        NoteKind::Arrival => '+',
        NoteKind::Departure => '-',
        NoteKind::Name => '=',
        NoteKind::Error | NoteKind::Trouble => '!',
        NoteKind::Log => '>',
    }
}

/// Columns before the text.
const SIGN_END: usize = 12;
