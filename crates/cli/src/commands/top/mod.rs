//! `diligence top`: the busiest peers of a bus, and slow calls.
//!
//! [`mod@table`] is computed from the last seconds, [`view`] selects its contents, [`page`] shows
//! it on a terminal; without a terminal, tables are printed one after the other.

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

/// Arguments of `diligence top`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Top {
    #[command(flatten)]
    bus: BusChoice,
    /// The subject of a row
    #[arg(long, value_parser = one_of(&view::SUBJECTS), default_value = "service")]
    by: GroupKeyKind,
    /// The column to sort by
    #[arg(long, value_name = "COLUMN", default_value = view::DEFAULT_SORT)]
    sort: String,
    /// Refresh interval; figures cover the last ten intervals
    #[arg(long, value_name = "TIME", value_parser = amount::time, default_value = "1s")]
    interval: Duration,
    /// Print one table after one interval, and exit
    #[arg(long)]
    once: bool,
    /// Exit after this time
    #[arg(long, value_name = "TIME", value_parser = amount::time, conflicts_with = "once")]
    duration: Option<Duration>,
    /// A query that selects messages: `member:Get* dur>50ms`
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
}

impl Top {
    /// Shows the busiest peers until the user or a limit ends the command.
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
        view.refresh(&traffic, events.watch().clock().now()).map_err(TopError::Sort)?;
        if output == LiveOutput::Screen {
            events.enter_screen()?;
        }
        events.end_after(self.duration);
        let rounds = if self.once { Rounds::One } else { Rounds::Many };
        let interval = self.interval;
        TopLoop { events, traffic, view, output, rounds, interval, used: used() }.run()
    }
}

/// The number of tables to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rounds {
    One,
    Many,
}

/// The loop that watches a bus and shows the tables.
#[derive(Debug)]
struct TopLoop {
    events: LiveLoop,
    traffic: LiveTraffic,
    view: TopView,
    output: LiveOutput,
    rounds: Rounds,
    interval: Duration,
    /// The processor time of this process at the end of the last step.
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
                    self.refresh()?;
                    self.draw()?;
                }
                LiveEvent::Notice(notice) => self.view.show_message(notice.to_string()),
                LiveEvent::Redraw => self.draw()?,
                LiveEvent::BusGone => return Err(LiveError::Gone.into()),
                LiveEvent::End => return Ok(()),
                LiveEvent::Records | LiveEvent::ChildEnded | LiveEvent::Readable => {}
            }
        }
    }

    /// Ends an interval: updates the rates, the CPU share and the table, and shows them.
    fn step(&mut self, now: Duration) -> Result<(), TopError> {
        self.traffic.step(now);
        let used = used();
        self.view.cost = used.saturating_sub(self.used).as_secs_f64() / self.interval.as_secs_f64();
        self.used = used;
        self.refresh()?;
        match self.output {
            LiveOutput::Screen => self.draw()?,
            LiveOutput::Lines => self.print()?,
        }
        Ok(())
    }

    /// Computes the table again, unless the view is paused.
    fn refresh(&mut self) -> Result<(), TopError> {
        if self.view.controls.following == Following::Paused {
            return Ok(());
        }
        let now = self.events.watch().clock().now();
        self.view.refresh(&self.traffic, now).map_err(TopError::Sort)
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

/// An error of `diligence top`.
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

/// The number of intervals that the figures cover.
const STEPS_IN_SPAN: u32 = 10;

const LONG_HELP: &str = "\
On a terminal this is a view that can be scrolled, sorted and filtered; ? shows its keys. For other \
outputs, tables are printed one after the other. CPU is the processor time that this command uses. \
Durations are times from calls to their replies, measured in the bus for a bus of Diligence, and in \
this command for others. Waiting calls have no reply yet. Messages of this command are omitted.";
