//! `--live`: what a command tells of recordings, told of a bus while it is used, again and again.
//!
//! [`Kept`] holds the last messages, [`Page`] shows them on a terminal; where there is none, blocks
//! of lines are printed. How it ends is told by the command itself, of what was kept.

mod error;
mod kept;
mod page;
mod sight;

use std::io::{self, IsTerminal as _, stdin, stdout};
use std::os::fd::AsFd as _;
use std::time::Duration;

use capture::Capture;
use capture::text::Style;
use clap::Args;
use recorder::{Drained, Watch};
use sys::clock::monotonic;
use sys::poll::{Events, Interest, Poller};
use sys::signals::{Signal, SignalSource};

pub(crate) use error::LiveError;
pub(crate) use kept::Kept;
use page::{Next, Page};
pub(crate) use sight::Sight;

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::output::{complain, write_text};
use crate::private_bus::asked_to_end;
use crate::style;

/// Which bus to watch instead of reading recordings, and for how long.
#[derive(Debug, Args)]
#[command(mut_group("BusChoice", |group| group.requires("live")))]
pub(crate) struct LiveOptions {
    /// Watch a bus, and report on its last messages again and again
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    bus: BusChoice,
    /// Refresh interval [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = amount::time, requires = "live")]
    interval: Option<Duration>,
    /// End after this time; without a terminal there is one report, at the end, unless --interval is given
    #[arg(long, value_name = "TIME", value_parser = amount::time, requires = "live")]
    duration: Option<Duration>,
}

/// How a command tells of a bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// For people; on a terminal, as a page.
    Text,
    /// For programs.
    Json,
}

/// Makes a text of what is there.
pub(crate) type Tell<'t> = &'t mut dyn FnMut(&Capture, Style) -> String;

impl LiveOptions {
    /// What the bus is called.
    pub(crate) fn name(&self) -> String {
        self.bus.to_string()
    }

    /// Watches the bus until somebody or something ends it. Of what was kept until then, the
    /// command tells a last time.
    pub(crate) fn watch(&self, form: Form, tell: Tell<'_>) -> Result<Kept, LiveError> {
        let signals = SignalSource::block(&[Signal::Interrupt, Signal::Terminate, Signal::HangUp])?;
        let mut kept = Kept::new();
        let watch = Watch::open(&[self.bus.place()], &[], &mut |record| kept.push(record))?;
        let is_page = form == Form::Text && stdin().is_terminal() && stdout().is_terminal();
        let (front, interval) = match (is_page, self.interval, self.duration) {
            (true, interval, _) => (Front::Page(Box::new(Page::enter()?)), interval),
            (false, None, Some(_)) => (Front::Silent, None),
            (false, interval, _) => (Front::Lines(form), interval),
        };
        let interval = interval.unwrap_or(INTERVAL);
        let now = monotonic();
        let (next, deadline) = (now + interval, self.duration.map(|time| now + time));
        Watching { watch, kept, front, interval, next, deadline }.run(&signals, tell)
    }
}

/// Where it is told.
#[derive(Debug)]
enum Front {
    Page(Box<Page>),
    Lines(Form),
    /// Only at the end.
    Silent,
}

/// A bus that is watched.
#[derive(Debug)]
struct Watching {
    watch: Watch,
    kept: Kept,
    front: Front,
    interval: Duration,
    /// When it is told next, and when it ends, by the monotonic clock.
    next: Duration,
    deadline: Option<Duration>,
}

/// What the poller reports on.
const SIGNALS: u64 = 0;
const BUS: u64 = 1;
const KEYS: u64 = 2;

impl Watching {
    fn run(mut self, signals: &SignalSource, tell: Tell<'_>) -> Result<Kept, LiveError> {
        let poller = self.poller(signals)?;
        let mut events = Events::with_capacity(4);
        self.draw()?;
        loop {
            let drained = self.watch.take(&mut |record| self.kept.push(record));
            self.say_notices();
            if self.watch.is_over() {
                return Ok(self.kept.without_bus());
            }
            let now = monotonic();
            if self.deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(self.finish());
            }
            if now >= self.next {
                self.tell(tell)?;
            }
            poller.wait(&mut events, Some(self.rest(drained)))?;
            let has_keys = events.iter().any(|event| event.token() == KEYS);
            if asked_to_end(signals)?.is_some() || has_keys && self.take_keys()? == Next::Quit {
                return Ok(self.finish());
            }
        }
    }

    fn poller(&self, signals: &SignalSource) -> io::Result<Poller> {
        let poller = Poller::new()?;
        poller.add(signals, SIGNALS, Interest::Read)?;
        poller.add(self.watch.as_fd(), BUS, Interest::Read)?;
        if let Front::Page(_) = self.front {
            poller.add(stdin(), KEYS, Interest::Read)?;
        }
        Ok(poller)
    }

    fn rest(&self, drained: Drained) -> Duration {
        if drained == Drained::More {
            return Duration::ZERO;
        }
        let soon = self.deadline.map_or(self.next, |deadline| deadline.min(self.next));
        let rest = soon.saturating_sub(monotonic());
        self.watch.patience().map_or(rest, |patience| patience.min(rest))
    }

    /// Tells it anew. What takes long is told less often, so that the bus is not left waiting.
    fn tell(&mut self, tell: Tell<'_>) -> io::Result<()> {
        let start = monotonic();
        match &mut self.front {
            Front::Page(page) => {
                if let Some(style) = page.wants_text()? {
                    page.show(tell(self.kept.capture(), style));
                }
                self.draw()?;
            }
            Front::Lines(form) => {
                let text = tell(self.kept.capture(), style::of_stdout());
                print_block(*form, &self.kept, &text)?;
            }
            Front::Silent => {}
        }
        let end = monotonic();
        self.next = end + self.interval.max((end - start) * REST_PER_WORK);
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        match &mut self.front {
            Front::Page(page) => page.draw(&self.kept),
            Front::Lines(_) | Front::Silent => Ok(()),
        }
    }

    fn take_keys(&mut self) -> io::Result<Next> {
        let Front::Page(page) = &mut self.front else { return Ok(Next::Stay) };
        let next = page.take_keys()?;
        self.draw()?;
        Ok(next)
    }

    fn say_notices(&mut self) {
        for notice in self.watch.notices() {
            match &mut self.front {
                Front::Page(page) => page.say(notice.to_string()),
                Front::Lines(_) | Front::Silent => complain(&format!("diligence: {notice}\n")),
            }
        }
    }

    /// Takes what is on its way. The terminal is as it was before.
    fn finish(self) -> Kept {
        let Self { mut watch, mut kept, front, .. } = self;
        drop(front);
        watch.finish(&mut |record| kept.push(record));
        kept
    }
}

fn print_block(form: Form, kept: &Kept, text: &str) -> io::Result<()> {
    match form {
        Form::Text => write_text(&format!("{}\n\n{text}\n", kept.summary())),
        Form::Json => write_text(text),
    }
}

/// How often it is told, unless somebody says otherwise.
const INTERVAL: Duration = Duration::from_secs(1);

/// Times as long as telling took that the bus is listened to before it is told again.
const REST_PER_WORK: u32 = 4;
