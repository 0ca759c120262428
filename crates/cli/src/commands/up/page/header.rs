//! The header: the address of the bus, and its traffic.

use capture::text::columns::cells;
use capture::text::units;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{RenderDirection, Sparkline};

use super::shared::{ROOM_FOR_LINKS, UpPage};
use crate::commands::up::hints::export_line;
use crate::commands::up::model::Snapshot;
use crate::commands::up::view::UpView;
use crate::screen::controls::Following;
use crate::screen::table::line_of;

pub(super) fn draw(page: &UpPage<'_>, view: &UpView, frame: &mut Frame<'_>, area: Rect) {
    let area = inner(area);
    frame.render_widget(summary(page, view, area.width), line_of(area, 0));
    frame.render_widget(address(page, area.width), line_of(area, 1));
    let mut lines = 2;
    if let Some(link) = page.link.filter(|_| frame.area().height >= ROOM_FOR_LINKS) {
        frame.render_widget(browser(page, link, area.width), line_of(area, lines));
        lines += 1;
    }
    let below = Rect { y: area.y.saturating_add(lines), ..area }.intersection(area);
    let below = Rect { height: area.height.saturating_sub(lines), ..below };
    draw_traffic(page, frame, below);
}

/// The area without a margin of one column on both sides.
fn inner(area: Rect) -> Rect {
    Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(2), ..area }
}

/// The first line, with as many facts as fit.
fn summary(page: &UpPage<'_>, view: &UpView, width: u16) -> Line<'static> {
    let mut room = usize::from(width);
    let mut line = Line::default();
    for (text, style) in facts(page, view.controls.following) {
        let gap = if line.spans.is_empty() { "" } else { "   " };
        let Some(left) = room.checked_sub(gap.len() + cells(&text)) else { break };
        room = left;
        line.push_span(gap);
        line.push_span(Span::styled(text, style));
    }
    line
}

fn facts(page: &UpPage<'_>, following: Following) -> Vec<(String, Style)> {
    let UpPage { snapshot, palette, .. } = page;
    let plain = Style::new();
    let title = match following {
        Following::Live => (format!("up {}", units::elapsed(snapshot.uptime)), palette.strong()),
        Following::Paused => {
            (format!(" paused at {} ", units::elapsed(snapshot.uptime)), palette.paused())
        }
    };
    let mut facts = vec![
        title,
        (units::counted(snapshot.connection_count(), "connection", "connections"), plain),
        (units::counted(snapshot.names, "name", "names"), plain),
    ];
    facts.extend(snapshot.rules.map(|rules| (units::counted(rules, "rule", "rules"), plain)));
    let queued = snapshot.queued();
    let in_queues = format!("{} queued", units::bytes(queued as f64));
    facts.push((in_queues, palette.queue(queued)));
    let lost = snapshot.lost;
    facts.push((format!("{} lost", units::grouped(lost)), palette.zero_expected(lost)));
    if snapshot.refused > 0 {
        let refused = format!("{} refused", units::grouped(snapshot.refused));
        facts.push((refused, palette.warning()));
    }
    facts
}

/// The shell command that selects the bus, or only the address if there is not enough room.
fn address(page: &UpPage<'_>, width: u16) -> Line<'static> {
    let export = export_line(page.address);
    let text = if cells(&export) <= usize::from(width) { export } else { page.address.to_owned() };
    Line::styled(text, page.palette.address())
}

/// The address of the page with a label, or only the address if there is not enough room.
fn browser(page: &UpPage<'_>, link: &str, width: u16) -> Line<'static> {
    let text = format!("in a browser: {link}");
    let text = if cells(&text) <= usize::from(width) { text } else { link.to_owned() };
    Line::styled(text, page.palette.address())
}

/// Draws the current rates, and the curve of the latest steps.
fn draw_traffic(page: &UpPage<'_>, frame: &mut Frame<'_>, area: Rect) {
    let UpPage { snapshot, palette, .. } = page;
    let texts = traffic_texts(snapshot, area.height);
    for (text, index) in texts.into_iter().zip(0..) {
        let style = if index == 0 { palette.strong() } else { Style::new() };
        frame.render_widget(Line::styled(text, style), line_of(area, index));
    }
    let left = area.width.min(TRAFFIC_WIDTH);
    let curve = Rect { x: area.x + left, width: area.width - left, ..area };
    let (heights, top) = heights(&snapshot.history, curve);
    let curve_line = Sparkline::default()
        .data(heights)
        .max(top)
        .direction(RenderDirection::RightToLeft)
        .style(palette.good());
    frame.render_widget(curve_line, curve);
}

/// Returns the visible part of the history, and the value of the full height. Steps with any
/// traffic are at least one eighth of a line high.
fn heights(history: &[u64], area: Rect) -> (Vec<u64>, u64) {
    let history = &history[..history.len().min(usize::from(area.width))];
    let top = history.iter().copied().max().unwrap_or(0).max(CURVE_TOP_MIN);
    let least = top.div_ceil(u64::from(area.height.max(1)) * EIGHTHS);
    (history.iter().map(|&number| if number == 0 { 0 } else { number.max(least) }).collect(), top)
}

fn traffic_texts(snapshot: &Snapshot, lines: u16) -> Vec<String> {
    let messages = format!("{} msg/s", units::count(snapshot.rate.messages));
    let bytes = format!("{}/s", units::bytes(snapshot.rate.bytes));
    if lines < 3 {
        return vec![format!("{messages}  {bytes}")];
    }
    let total = units::count(snapshot.total.messages as f64);
    let total = format!("{total} msg, {} in all", units::bytes(snapshot.total.bytes as f64));
    vec![messages, bytes, total]
}

/// The number of heights that one line can show.
const EIGHTHS: u64 = 8;

/// The width of the numbers at the left of the curve.
const TRAFFIC_WIDTH: u16 = 26;

/// The minimum rate in messages per second that fills the height of the curve.
const CURVE_TOP_MIN: u64 = 10;
