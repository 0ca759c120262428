//! The page on a terminal.

use std::time::Duration;

use capture::text::Style as TextStyle;
use capture::text::units::{bytes, count, share};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Clear, Paragraph, Sparkline};

use crate::screen::parts::{self, reversed, strong};

use super::view::{Following, HELP, Overlay, View};
use super::window::Window;

/// All that is drawn.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) window: &'a Window,
    pub(super) view: &'a View,
    /// How long a step is.
    pub(super) interval: Duration,
}

impl Page<'_> {
    /// Draws everything.
    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let lines = [
            Constraint::Length(1),
            Constraint::Length(CURVE_LINES),
            Constraint::Length(1),
            Constraint::Min(0),
            Constraint::Length(1),
        ];
        let [head, curve, choice, table, foot] = Layout::vertical(lines).areas(frame.area());
        frame.render_widget(Line::raw(summary(self.window, self.view, self.interval)), head);
        self.draw_curve(frame, curve);
        frame.render_widget(self.choice(), choice);
        self.draw_table(frame, table);
        frame.render_widget(self.foot(), foot);
        if self.view.overlay == Overlay::Help {
            draw_help(frame);
        }
    }

    /// Messages of each step, the last one at the right.
    fn draw_curve(&self, frame: &mut Frame<'_>, area: Rect) {
        let steps = self.window.steps();
        let shown = steps.len().min(usize::from(area.width));
        let counts: Vec<u64> =
            steps.range(steps.len() - shown..).map(|step| step.messages).collect();
        let place = Rect { x: area.right() - shown as u16, width: shown as u16, ..area };
        frame.render_widget(Sparkline::default().data(&counts), place);
    }

    /// What the table shows.
    fn choice(&self) -> Line<'static> {
        let by = match self.view.by {
            super::Subject::Service => "service",
            super::Subject::Process => "process",
            super::Subject::Member => "member",
            super::Subject::Pair => "pair",
        };
        let mut spans = vec![Span::raw(format!(" by {by}, sorted by {}", self.view.sort))];
        if !self.view.query_text.is_empty() {
            spans.push(Span::raw(format!(", only {}", self.view.query_text)));
        }
        if self.view.following == Following::Paused {
            spans.push(Span::raw("  "));
            spans.push(Span::styled(" PAUSED ", reversed()));
        }
        Line::from(spans)
    }

    fn draw_table(&self, frame: &mut Frame<'_>, area: Rect) {
        let Some(table) = &self.view.table else {
            frame.render_widget(Line::raw(" waiting for messages"), area);
            return;
        };
        let style = TextStyle::plain(usize::from(area.width));
        let text = match area.width {
            ..NARROW => table.clone().without(&LEFT_OUT_NARROW).to_text(style),
            _ => table.to_text(style),
        };
        let mut lines = text.lines();
        let heading = format!("{:1$}", lines.next().unwrap_or_default(), usize::from(area.width));
        let heading = Line::styled(heading, reversed());
        let rows = lines.skip(self.view.offset).map(|line| Line::raw(line.to_owned()));
        let all: Text<'_> = std::iter::once(heading).chain(rows).collect();
        frame.render_widget(Paragraph::new(all), area);
    }

    fn foot(&self) -> Line<'_> {
        match (&self.view.overlay, &self.view.message) {
            (Overlay::Query { text, error }, _) => {
                let error = error.as_deref().map(|error| format!("   {error}"));
                Line::from(vec![
                    Span::styled(" query: ", strong()),
                    Span::raw(text.as_str()),
                    Span::styled(" ", reversed()),
                    Span::raw(error.unwrap_or_default()),
                ])
            }
            (_, Some(message)) => Line::styled(format!(" {message}"), strong()),
            _ => parts::keys(&KEYS),
        }
    }
}

/// How busy the bus is, and how well that is known: one line.
pub(super) fn summary(window: &Window, view: &View, interval: Duration) -> String {
    let last = window.steps().back().copied().unwrap_or_default();
    let seconds = interval.as_secs_f64();
    format!(
        " {} messages/s  {}/s  {}  {} CPU",
        count(last.messages as f64 / seconds),
        bytes(last.bytes as f64 / seconds),
        window.sight(),
        share(view.cost),
    )
}

fn draw_help(frame: &mut Frame<'_>) {
    let keys = HELP.into_iter().map(|(key, does)| {
        Line::from_iter([Span::styled(format!(" {key:11}"), strong()), Span::raw(does)])
    });
    let text: Text<'_> = keys.collect();
    let wanted = (text.width() as u16 + 3, text.height() as u16 + 2);
    let screen = frame.area();
    let (width, height) = (wanted.0.min(screen.width), wanted.1.min(screen.height));
    let x = screen.x + (screen.width - width) / 2;
    let area = Rect { x, y: screen.y + (screen.height - height) / 2, width, height };
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(" Help: any key goes back ");
    frame.render_widget(Paragraph::new(text).block(block), area);
}

const KEYS: [(&str, &str); 6] =
    [("q", "quit"), ("g", "group"), ("s", "sort"), ("f", "filter"), ("p", "pause"), ("?", "help")];

/// Lines of the curve.
const CURVE_LINES: u16 = 3;

/// Columns of a terminal with fewer of which names have room only where some numbers have none.
const NARROW: u16 = 100;

/// What is left out there.
const LEFT_OUT_NARROW: [&str; 3] = ["type", "bytes", "p99"];
