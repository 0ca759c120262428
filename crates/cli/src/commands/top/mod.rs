//! `diligence top`: who talks most on a bus just now, and what is slow.
//!
//! [`mod@table`] is made from the last seconds, [`view`] says which one, [`page`] draws it on a terminal;
//! without a terminal, tables are printed one after the other.

mod page;
mod table;
#[cfg(test)]
mod tests;
mod view;

use std::io;
use std::time::Duration;

use capture::query::Query;
use capture::statistics::GroupKeyKind;
use capture::table::NoSuchColumn;
use clap::Args;
use sys::clock::{monotonic, used};

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::choices::one_of;
use crate::exit::ExitError;
use crate::live::{LiveError, LiveEvent, LiveLoop, LiveOutput, LiveTraffic};
use crate::output::write_text;
use crate::screen::controls::Following;
use crate::style;
use view::TopView;

/// What to show of which bus.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Top {
    #[command(flatten)]
    bus: BusChoice,
    /// What a row is for
    #[arg(long, value_parser = one_of(&view::SUBJECTS), default_value = "service")]
    by: GroupKeyKind,
    /// The column to sort by
    #[arg(long, value_name = "COLUMN", default_value = view::DEFAULT_SORT)]
    sort: String,
    /// Refresh interval; figures cover the last ten intervals
    #[arg(long, value_name = "TIME", value_parser = amount::time, default_value = "1s")]
    interval: Duration,
    /// Print one table, after one interval, and end
    #[arg(long)]
    once: bool,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = amount::time, conflicts_with = "once")]
    duration: Option<Duration>,
    /// Which messages count: `member:Get* dur>50ms`
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
}

impl Top {
    /// Shows a bus until somebody ends it.
    pub(crate) fn run(self) -> Result<(), TopError> {
        let text = self.query.join(" ");
        let query = Query::parse(&text).map_err(LiveError::from)?;
        let output = if self.once { LiveOutput::Lines } else { LiveOutput::of_terminal() };
        let signals = output.block_signals()?;
        let mut traffic = LiveTraffic::new(table::MESSAGES_KEPT, monotonic());
        let events = LiveLoop::open(self.bus.place(), &[], signals, &mut |record| {
            traffic.push(record);
        });
        let mut events = events.map_err(LiveError::from)?;
        let span = if self.once { self.interval } else { self.interval * STEPS_IN_SPAN };
        let mut view = TopView::new(self.by, self.sort, query, text, span);
        // A column that does not exist is reported before the view is on the screen.
        view.renew(&traffic, events.watch().clock().now()).map_err(TopError::Sort)?;
        if output == LiveOutput::Screen {
            events.enter_screen()?;
        }
        events.end_after(self.duration);
        let rounds = if self.once { Rounds::One } else { Rounds::Many };
        let interval = self.interval;
        TopLoop { events, traffic, view, output, rounds, interval, used: used() }.run()
    }
}

/// How many tables there will be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rounds {
    One,
    Many,
}

/// A bus that is watched, and what of it is shown.
#[derive(Debug)]
struct TopLoop {
    events: LiveLoop,
    traffic: LiveTraffic,
    view: TopView,
    output: LiveOutput,
    rounds: Rounds,
    interval: Duration,
    /// The processor time that this process had used when the last step ended.
    used: Duration,
}

impl TopLoop {
    fn run(mut self) -> Result<(), TopError> {
        let mut next_step = monotonic() + self.interval;
        self.draw()?;
        loop {
            let event = self.events.next(Some(next_step), &mut |record| {
                self.traffic.push(record);
            })?;
            match event {
                LiveEvent::Due => {
                    let now = monotonic();
                    next_step = now + self.interval;
                    self.step(now)?;
                    if self.rounds == Rounds::One {
                        return Ok(());
                    }
                }
                LiveEvent::Inputs(inputs) => {
                    if inputs.iter().any(|input| self.view.press(input).is_break()) {
                        return Ok(());
                    }
                    self.renew()?;
                    self.draw()?;
                }
                LiveEvent::Notice(notice) => self.view.say(notice.to_string()),
                LiveEvent::Redraw => self.draw()?,
                LiveEvent::BusGone => return Err(LiveError::Gone.into()),
                LiveEvent::End => return Ok(()),
                LiveEvent::Records | LiveEvent::ChildEnded | LiveEvent::Readable => {}
            }
        }
    }

    /// Ends a step of the rates.
    fn step(&mut self, now: Duration) -> Result<(), TopError> {
        self.traffic.step(now);
        let used = used();
        self.view.cost = used.saturating_sub(self.used).as_secs_f64() / self.interval.as_secs_f64();
        self.used = used;
        self.renew()?;
        match self.output {
            LiveOutput::Screen => self.draw()?,
            LiveOutput::Lines => self.print()?,
        }
        Ok(())
    }

    /// Makes the table again, unless it is to stay as it is.
    fn renew(&mut self) -> Result<(), TopError> {
        if self.view.controls.following == Following::Paused {
            return Ok(());
        }
        let now = self.events.watch().clock().now();
        self.view.renew(&self.traffic, now).map_err(TopError::Sort)
    }

    fn draw(&mut self) -> io::Result<()> {
        let Self { events, traffic, view, .. } = self;
        events.draw(|frame| page::draw(frame, traffic, view))
    }

    fn print(&self) -> io::Result<()> {
        let mut text = page::summary(&self.traffic, &self.view);
        text.push('\n');
        if let Some(table) = &self.view.table {
            text += &table.to_text(style::of_stdout());
        }
        text.push('\n');
        write_text(&text)
    }
}

/// Why there is nothing to see.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TopError {
    #[error(transparent)]
    Sort(NoSuchColumn),
    #[error(transparent)]
    Live(#[from] LiveError),
}

impl ExitError for TopError {
    fn status(&self) -> u8 {
        match self {
            Self::Sort(_) => 2,
            Self::Live(error) => error.status(),
        }
    }

    fn is_quiet(&self) -> bool {
        matches!(self, Self::Live(error) if error.is_quiet())
    }
}

impl From<io::Error> for TopError {
    fn from(error: io::Error) -> Self {
        Self::Live(error.into())
    }
}

/// Intervals that the numbers of a table are of.
const STEPS_IN_SPAN: u32 = 10;

const LONG_HELP: &str = "\
On a terminal this is a view that can be scrolled, sorted and filtered; ? explains its keys. Anywhere else, tables are printed one after the \
other. CPU is what this program itself uses. Durations are those of calls with their answers, times at the bus on a bus of diligence and \
at this program on others; calls without an answer yet are waiting. What this program says \
and gets itself is left out.";
