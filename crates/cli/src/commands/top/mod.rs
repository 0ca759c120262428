//! `diligence top`: who talks most on a bus just now, and what is slow.
//!
//! [`window`] holds the last seconds, [`view`] what somebody wants to see of them, [`page`] draws
//! that on a terminal; where there is none, tables are printed one after the other.

mod page;
#[cfg(test)]
mod tests;
mod view;
mod window;

use std::fmt;
use std::io::{self, IsTerminal as _, stdin, stdout};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::time::Duration;

use capture::query::Query;
use capture::statistics::By;
use capture::table::NoSuchColumn;
use clap::{Args, ValueEnum};
use recorder::{Drained, Watch};
use sys::clock::{monotonic, used};
use sys::poll::{Events, Interest, Poller};
use sys::signals::{Signal, SignalSource};

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::live::LiveError;
use crate::output::{failed, write_text};
use crate::private_bus::asked_to_end;
use crate::screen::{Input, Screen};
use crate::style;
use page::Page;
use view::{Following, View};
use window::Window;

/// What to show of which bus.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Top {
    #[command(flatten)]
    bus: BusChoice,
    /// What a row is for
    #[arg(long, value_enum, default_value = "service")]
    by: Subject,
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

/// What a row of the table is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Subject {
    /// Connections that are called, or emit signals
    Service,
    /// Processes that send
    Process,
    /// Methods and signals
    Member,
    /// Each sender with each recipient
    Pair,
}

impl Subject {
    const fn by(self) -> By {
        match self {
            Self::Service => By::Service,
            Self::Process => By::Process,
            Self::Member => By::Member,
            Self::Pair => By::Pair,
        }
    }
}

/// Shows a bus until somebody wants no more.
pub(crate) fn run(top: Top) -> ExitCode {
    match top.show() {
        Ok(()) => ExitCode::SUCCESS,
        // A reader of plain lines that has seen enough and left is fine.
        Err(TopError::Live(error)) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => failed("top", &error, error.status()),
    }
}

impl Top {
    fn show(self) -> Result<(), TopError> {
        let text = self.query.join(" ");
        let query = Query::parse(&text).map_err(LiveError::from)?;
        let signals = SignalSource::block(&[Signal::Interrupt, Signal::Terminate, Signal::HangUp])?;
        let span = if self.once { self.interval } else { self.interval * STEPS_IN_SPAN };
        let mut window = Window::new(span);
        let place = self.bus.place();
        let watch = Watch::open(&[place], &[], &mut |record| window.push(record));
        let watch = watch.map_err(LiveError::from)?;
        let mut view = View::new(self.by, self.sort, query, text);
        // A column that is not there is told before the page is.
        view.renew(&window, watch.clock().now()).map_err(TopError::Sort)?;
        let is_page = !self.once && stdin().is_terminal() && stdout().is_terminal();
        let front = match is_page {
            true => Front::Page(Box::new(Screen::enter()?)),
            false => Front::Plain,
        };
        let rounds = if self.once { Rounds::One } else { Rounds::Many };
        let interval = self.interval;
        let deadline = self.duration.map(|time| monotonic() + time);
        Live { watch, window, view, front, rounds, interval, deadline, used: used() }.run(&signals)
    }
}

/// Where it is shown.
#[derive(Debug)]
enum Front {
    Page(Box<Screen>),
    Plain,
}

/// How many tables there will be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rounds {
    One,
    Many,
}

/// A bus, and who looks at it.
#[derive(Debug)]
struct Live {
    watch: Watch,
    window: Window,
    view: View,
    front: Front,
    rounds: Rounds,
    interval: Duration,
    /// When to end.
    deadline: Option<Duration>,
    /// What this process had used when the last step ended.
    used: Duration,
}

/// What the poller reports on.
const SIGNALS: u64 = 0;
const BUS: u64 = 1;
const KEYS: u64 = 2;

impl Live {
    fn run(mut self, signals: &SignalSource) -> Result<(), TopError> {
        let poller = Poller::new()?;
        poller.add(signals, SIGNALS, Interest::Read)?;
        poller.add(self.watch.as_fd(), BUS, Interest::Read)?;
        if let Front::Page(_) = self.front {
            poller.add(stdin(), KEYS, Interest::Read)?;
        }
        let mut events = Events::with_capacity(4);
        let mut next_step = monotonic() + self.interval;
        self.draw()?;
        loop {
            let drained = self.watch.take(&mut |record| self.window.push(record));
            for notice in self.watch.notices() {
                self.view.say(notice.to_string());
            }
            if self.watch.is_over() {
                return Err(LiveError::Gone.into());
            }
            let now = monotonic();
            if now >= next_step {
                next_step = now + self.interval;
                if self.step()? == Rounds::One {
                    return Ok(());
                }
            }
            if self.deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(());
            }
            let rest = match drained {
                Drained::More => Duration::ZERO,
                Drained::Empty => {
                    let next = self.deadline.map_or(next_step, |end| end.min(next_step));
                    let rest = next.saturating_sub(now);
                    self.watch.patience().map_or(rest, |patience| patience.min(rest))
                }
            };
            poller.wait(&mut events, Some(rest))?;
            if asked_to_end(signals)?.is_some() {
                return Ok(());
            }
            let has_keys = events.iter().any(|event| event.token() == KEYS);
            if has_keys && self.take_keys()? == view::Next::Quit {
                return Ok(());
            }
        }
    }

    /// Ends a step of the rates; says whether that was the only one.
    fn step(&mut self) -> Result<Rounds, TopError> {
        self.window.step();
        let used = used();
        let cost = used.saturating_sub(self.used).as_secs_f64() / self.interval.as_secs_f64();
        self.used = used;
        self.view.cost = cost;
        if self.view.following == Following::Live {
            let now = self.watch.clock().now();
            self.view.renew(&self.window, now).map_err(TopError::Sort)?;
        }
        match self.front {
            Front::Page(_) => self.draw()?,
            Front::Plain => self.print()?,
        }
        Ok(self.rounds)
    }

    fn take_keys(&mut self) -> Result<view::Next, TopError> {
        let Front::Page(screen) = &mut self.front else { return Ok(view::Next::Stay) };
        let Input::Keys(keys) = screen.input()? else { return Ok(view::Next::Quit) };
        for key in keys {
            if self.view.press(&key) == view::Next::Quit {
                return Ok(view::Next::Quit);
            }
        }
        let now = self.watch.clock().now();
        if self.view.following == Following::Live {
            self.view.renew(&self.window, now).map_err(TopError::Sort)?;
        }
        self.draw()?;
        Ok(view::Next::Stay)
    }

    fn draw(&mut self) -> io::Result<()> {
        let Front::Page(screen) = &mut self.front else { return Ok(()) };
        let page = Page { window: &self.window, view: &self.view, interval: self.interval };
        screen.draw(|frame| page.draw(frame))
    }

    fn print(&self) -> io::Result<()> {
        let mut text = page::summary(&self.window, &self.view, self.interval);
        text.push('\n');
        if let Some(table) = &self.view.table {
            text += &table.to_text(style::of_stdout());
        }
        text.push('\n');
        write_text(&text)
    }
}

/// Why there is nothing to see.
#[derive(Debug)]
enum TopError {
    /// There is no such column.
    Sort(NoSuchColumn),
    /// The bus is not watched.
    Live(LiveError),
}

impl TopError {
    fn status(&self) -> ExitCode {
        match self {
            Self::Sort(_) => ExitCode::from(2),
            Self::Live(error) => error.status(),
        }
    }
}

impl From<LiveError> for TopError {
    fn from(error: LiveError) -> Self {
        Self::Live(error)
    }
}

impl From<io::Error> for TopError {
    fn from(error: io::Error) -> Self {
        Self::Live(error.into())
    }
}

impl fmt::Display for TopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sort(error) => error.fmt(f),
            Self::Live(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TopError {}

/// Intervals that the numbers of a table are of.
const STEPS_IN_SPAN: u32 = 10;

const LONG_HELP: &str = "\
On a terminal this is a page; ? explains its keys. Anywhere else, tables are printed one after the \
other. CPU is what this program itself uses. Durations are those of calls with their answers, times at the bus on a bus of diligence and \
at this program on others; calls without an answer yet are waiting. What this program says \
and gets itself is left out.";
