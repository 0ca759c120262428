//! The loop of `up`: what comes from the bus, its log, the terminal and signals, and when to show
//! it.

use std::io::{self, stdin};
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

use sys::clock;
use sys::poll::{Events, Interest, Poller};
use sys::signals::{Signal, SignalSource};

use super::error::UpError;
use super::front::Front;
use super::keys::Next;
use super::logs::{Logs, Stream};
use super::model::{Model, NoteKind, Program};
use super::watcher::{Drained, Watcher};
use crate::commands::demo::Cast;
use crate::private_bus::{PrivateBus, describe_end};

/// A bus with its view.
#[derive(Debug)]
pub(super) struct Live {
    // In the order in which they are to end.
    cast: Cast,
    bus: PrivateBus,
    logs: Logs,
    signals: SignalSource,
    poller: Poller,
    watcher: Watcher,
    model: Model,
}

/// What the poller reports on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
enum Source {
    Signals,
    Logs,
    Monitor,
    Asker,
    Keys,
}

/// What it has reported on: a bit for each source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ready(u64);

impl Ready {
    fn new(events: &Events) -> Self {
        Self(events.iter().fold(0, |bits, event| bits | 1 << event.token()))
    }

    const fn has(self, source: Source) -> bool {
        self.0 & 1 << source as u64 != 0
    }
}

impl Live {
    /// Connects to a bus that was started.
    pub(super) fn new(bus: PrivateBus, logs: Logs, signals: SignalSource) -> Result<Self, UpError> {
        let now = clock::monotonic();
        let pid = bus.pid();
        let command_line = sys::process::command_line(pid);
        let program = Program::new(pid, Some("diligence-bus"), command_line.as_deref());
        let mut model = Model::new(now, program);
        let watcher = Watcher::open(bus.address(), &mut model, now)?;
        let poller = Poller::new()?;
        poller.add(&signals, Source::Signals as u64, Interest::Read)?;
        poller.add(logs.pipe(), Source::Logs as u64, Interest::Read)?;
        let live = Self { bus, cast: Cast::default(), logs, signals, poller, watcher, model };
        live.watch_connections()?;
        Ok(live)
    }

    /// Has programs that were started with the bus, to be ended with it.
    pub(super) fn with_cast(self, cast: Cast) -> Self {
        Self { cast, ..self }
    }

    /// Shows the bus until somebody ends it, or it ends.
    pub(super) fn run(mut self, mut front: Front) -> Result<(), UpError> {
        if let Front::Page(_) = front {
            self.poller.add(stdin(), Source::Keys as u64, Interest::Read)?;
        }
        let mut events = Events::with_capacity(8);
        // Some may have come with the answers that were waited for.
        let mut drained = Drained::More;
        let mut next_step = clock::monotonic() + STEP;
        loop {
            let now = clock::monotonic();
            let timeout = match drained {
                Drained::Empty => front.deadline(next_step).saturating_sub(now),
                Drained::More => Duration::ZERO,
            };
            self.poller.wait(&mut events, Some(timeout))?;
            let ready = Ready::new(&events);
            drained = self.take_traffic(ready, drained)?;
            if self.take_rest(ready)? == Next::Quit {
                return Ok(());
            }
            if ready.has(Source::Keys) && front.take_keys()? == Next::Quit {
                return Ok(());
            }
            let now = clock::monotonic();
            if now >= next_step {
                next_step = now + STEP;
                self.step(now)?;
                front.show(&self.model, now)?;
            }
            front.refresh(now)?;
        }
    }

    /// Ends a step of the rates, and asks for the numbers of the next one.
    fn step(&mut self, now: Duration) -> Result<(), UpError> {
        self.model.step(now);
        match self.watcher.ask_stats() {
            Ok(()) => Ok(()),
            Err(_) => self.connection_ended(),
        }
    }

    fn take_traffic(&mut self, ready: Ready, before: Drained) -> Result<Drained, UpError> {
        let now = clock::monotonic();
        if ready.has(Source::Asker) && self.watcher.take_answers(&mut self.model, now).is_err() {
            self.connection_ended()?;
            return Ok(Drained::More);
        }
        if before == Drained::Empty && !ready.has(Source::Monitor) {
            return Ok(Drained::Empty);
        }
        match self.watcher.take_messages(&mut self.model, now) {
            Ok(drained) => Ok(drained),
            Err(_) => self.connection_ended().map(|()| Drained::More),
        }
    }

    fn take_rest(&mut self, ready: Ready) -> Result<Next, UpError> {
        if ready.has(Source::Logs) {
            self.take_logs()?;
        }
        if ready.has(Source::Signals) {
            return self.take_signals();
        }
        Ok(Next::Stay)
    }

    fn take_logs(&mut self) -> Result<(), UpError> {
        let now = clock::monotonic();
        let model = &mut self.model;
        let own = format!("Connection {} ", self.watcher.monitor().unique_name());
        let note = |line: &str| match line.strip_prefix(&own).map(without_credentials) {
            // That we watch is no news.
            Some("became a monitor.") => {}
            Some(line) => model.note(now, NoteKind::Trouble, format!("this page {line}")),
            None => model.note(now, NoteKind::Log, line.to_owned()),
        };
        if self.logs.read(note)? == Stream::Ended {
            self.poller.remove(self.logs.pipe())?;
        }
        Ok(())
    }

    fn take_signals(&mut self) -> Result<Next, UpError> {
        while let Some(signal) = self.signals.take()? {
            match signal {
                Signal::Interrupt | Signal::Terminate | Signal::HangUp => return Ok(Next::Quit),
                Signal::Child => self.look_for_ended()?,
                Signal::User1 | Signal::User2 | Signal::FileSize => {}
            }
        }
        Ok(Next::Stay)
    }

    /// Some process has ended.
    fn look_for_ended(&mut self) -> Result<(), UpError> {
        if let Some(status) = self.bus.ended() {
            return Err(self.bus_ended(status));
        }
        for (part, status) in self.cast.take_ended() {
            let text = format!("{part} has ended with {}", describe_end(status));
            self.model.note(clock::monotonic(), NoteKind::Trouble, text);
        }
        Ok(())
    }

    /// A connection has ended: because the bus has, or because it does not want us any more. Then
    /// the programs that use it are worth more than our view of them.
    fn connection_ended(&mut self) -> Result<(), UpError> {
        if let Some(status) = self.wait_for_bus() {
            return Err(self.bus_ended(status));
        }
        let now = clock::monotonic();
        let text = String::from("the bus has closed a connection of this page; it was opened anew");
        self.model.note(now, NoteKind::Trouble, text);
        self.watcher = Watcher::open(self.bus.address(), &mut self.model, now)?;
        self.watch_connections()?;
        Ok(())
    }

    /// A bus that is ending has closed its connections a little before.
    fn wait_for_bus(&mut self) -> Option<ExitStatus> {
        let deadline = clock::monotonic() + BUS_ENDS_WITHIN;
        while clock::monotonic() < deadline {
            if let Some(status) = self.bus.ended() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }

    fn bus_ended(&mut self, status: ExitStatus) -> UpError {
        // All that it has said is in the pipe; programs of ours may still hold the other end.
        let mut events = Events::with_capacity(8);
        let has_more = |poller: &Poller, events: &mut Events| {
            poller.wait(events, Some(Duration::ZERO)).is_ok()
                && Ready::new(events).has(Source::Logs)
        };
        while has_more(&self.poller, &mut events) && self.take_logs().is_ok() {}
        UpError::BusEnded { status, log: self.logs.last().map(str::to_owned).collect() }
    }

    fn watch_connections(&self) -> io::Result<()> {
        self.poller.add(self.watcher.monitor(), Source::Monitor as u64, Interest::Read)?;
        self.poller.add(self.watcher.asker(), Source::Asker as u64, Interest::Read)
    }
}

/// What a line says of a connection, behind what it says about its process in parentheses.
fn without_credentials(line: &str) -> &str {
    line.split_once(") ").map_or(line, |(_, rest)| rest)
}

/// How long a step of the rates is.
const STEP: Duration = Duration::from_secs(1);

/// How long after its connections a bus ends, if it does.
const BUS_ENDS_WITHIN: Duration = Duration::from_secs(1);
