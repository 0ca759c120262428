//! The drawing of the view on a terminal.

use capture::text::Style as TextStyle;
use capture::text::units::{bytes, count, share};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{RenderDirection, Sparkline};

use super::view::{KEYS, SUBJECTS, TopView};
use crate::live::LiveTraffic;
use crate::screen::controls::{Action, Following, Overlay};
use crate::screen::keys;
use crate::screen::table::draw_list;

/// Draws the summary, the curve, the table and the footer.
pub(super) fn draw(frame: &mut Frame<'_>, traffic: &LiveTraffic, view: &mut TopView) {
    let lines = [
        Constraint::Length(1),
        Constraint::Length(CURVE_LINES),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ];
    let [head, curve, choice, table, foot] = Layout::vertical(lines).areas(frame.area());
    frame.render_widget(Line::raw(summary(traffic, view)), head);
    draw_curve(frame, traffic, curve);
    frame.render_widget(self::choice(view), choice);
    draw_table(frame, view, table);
    frame.render_widget(footer(view, foot.width), foot);
    if view.controls.overlay == Overlay::Help {
        keys::draw_help(frame, &KEYS, view.palette, std::iter::empty());
    }
}

/// Draws the messages per second of each step, with the newest step at the right.
fn draw_curve(frame: &mut Frame<'_>, traffic: &LiveTraffic, area: Rect) {
    let rates = traffic.history().take(usize::from(area.width));
    let curve = Sparkline::default().data(rates).direction(RenderDirection::RightToLeft);
    frame.render_widget(curve, area);
}

/// Describes the grouping, the sort column and the query of the table.
fn choice(view: &TopView) -> Line<'static> {
    let by = SUBJECTS.iter().find(|(.., by)| *by == view.by).map_or("", |(word, ..)| *word);
    let mut spans = vec![Span::raw(format!(" by {by}, sorted by {}", view.sort))];
    if !view.query_text.is_empty() {
        spans.push(Span::raw(format!(", only {}", view.query_text)));
    }
    if view.controls.following == Following::Paused {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(" PAUSED ", view.palette.paused()));
    }
    Line::from(spans)
}

fn draw_table(frame: &mut Frame<'_>, view: &mut TopView, area: Rect) {
    let Some(table) = &view.table else {
        frame.render_widget(Line::raw(" waiting for messages"), area);
        return;
    };
    let style = TextStyle::plain(usize::from(area.width));
    let text = match area.width {
        ..NARROW => table.clone().without(&LEFT_OUT_NARROW).to_text(style),
        _ => table.to_text(style),
    };
    let mut lines = text.lines();
    let style = view.palette.heading();
    let heading = Line::styled(lines.next().unwrap_or_default(), style).style(style);
    let rows: Vec<_> = lines.collect();
    draw_list(frame, area, heading, rows.len(), &mut view.scroll, |row| Line::raw(rows[row]));
}

fn footer(view: &TopView, width: u16) -> Line<'_> {
    let palette = view.palette;
    match (&view.edit, &view.message) {
        (Some(edit), _) => {
            let error = edit.error.as_deref().map(|error| format!("   {error}"));
            Line::from(vec![
                Span::styled(" query: ", palette.strong()),
                Span::raw(edit.text.as_str()),
                Span::styled(" ", palette.cursor()),
                Span::raw(error.unwrap_or_default()),
            ])
        }
        (None, Some(message)) => Line::styled(format!(" {message}"), palette.strong()),
        (None, None) => keys::footer(&KEYS, palette, width, |action| {
            (*action == Action::Pause).then(|| view.controls.pause_word().to_owned())
        }),
    }
}

/// One line with the current rates, the quality of the capture and the CPU share of this program.
pub(super) fn summary(traffic: &LiveTraffic, view: &TopView) -> String {
    let rate = traffic.rate(1);
    format!(
        " {} messages/s  {}/s  {}  {} CPU",
        count(rate.messages),
        bytes(rate.bytes),
        traffic.quality(),
        share(view.cost),
    )
}

/// The height of the curve in lines.
const CURVE_LINES: u16 = 3;

/// Below this width in cells, some columns are omitted, so that there is room for names.
const NARROW: u16 = 100;

/// The columns that are omitted on narrow terminals.
const LEFT_OUT_NARROW: [&str; 3] = ["type", "bytes", "p99"];
