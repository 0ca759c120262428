//! The list of events, the newest first.

use capture::text::columns::{Fit, fit};
use capture::text::units;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::shared::UpPage;
use crate::commands::up::model::{BusNote, NoteKind};
use crate::commands::up::view::{Panel, UpView};
use crate::screen::palette::ScreenPalette;
use crate::screen::table::draw_list;

pub(super) fn draw(page: &UpPage<'_>, view: &mut UpView, frame: &mut Frame<'_>, area: Rect) {
    let style = page.heading_style(view, Panel::Events);
    let heading = Line::styled(" EVENTS", style).style(style);
    let notes = &page.snapshot.notes;
    draw_list(frame, area, heading, notes.len(), view.scroll(Panel::Events), |place| {
        line(page.palette, &notes[place], usize::from(area.width))
    });
}

fn line(palette: ScreenPalette, note: &BusNote, width: usize) -> Line<'static> {
    let sign_style = sign_style(palette, note.kind);
    let text = match note.times {
        1 => note.text.clone(),
        times => format!("{} (\u{d7}{times})", note.text),
    };
    let text_style = match note.kind {
        NoteKind::Departure | NoteKind::Log | NoteKind::Problem => sign_style,
        NoteKind::Arrival | NoteKind::Name | NoteKind::Error => Style::new(),
    };
    let room = width.saturating_sub(SIGN_END + 1);
    Line::from_iter([
        Span::styled(format!(" {:>8} ", units::elapsed(note.at)), palette.pale()),
        Span::styled(format!("{} ", sign(note.kind)), sign_style),
        Span::styled(fit(&text, room, Fit::Start), text_style),
    ])
}

fn sign_style(palette: ScreenPalette, kind: NoteKind) -> Style {
    match kind {
        NoteKind::Arrival => palette.good(),
        NoteKind::Departure => palette.pale(),
        NoteKind::Name => palette.address(),
        NoteKind::Log => palette.warning(),
        NoteKind::Error | NoteKind::Problem => palette.alarm(),
    }
}

const fn sign(kind: NoteKind) -> char {
    match kind {
        NoteKind::Arrival => '+',
        NoteKind::Departure => '-',
        NoteKind::Name => '=',
        NoteKind::Error | NoteKind::Problem => '!',
        NoteKind::Log => '>',
    }
}

/// The column at which the text begins.
const SIGN_END: usize = 12;
