//! The event loop of all live commands: records of a bus, terminal input, signals and timers.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, stdin, stdout};
use std::os::fd::AsFd;
use std::time::Duration;

use capture::record::RecordingRecord;
use ratatui::Frame;
use recorder::{BusListenError, BusPlace, BusWatch, Notice, SourceState};
use sys::clock::monotonic;
use sys::poll::{Events, Interest, Poller};
use sys::signals::{ProcessSignal, SignalSource};

use crate::screen::{Screen, TerminalInput};

/// A watched bus, and the other event sources of a live command.
#[derive(Debug)]
pub(crate) struct LiveLoop {
    watch: BusWatch,
    signals: SignalSource,
    poller: Poller,
    ready: Events,
    screen: Option<Screen>,
    /// The monotonic time at which the command ends.
    deadline: Option<Duration>,
    drained: SourceState,
    pending: VecDeque<LiveEvent>,
}

/// The next event of the loop.
#[derive(Debug)]
pub(crate) enum LiveEvent {
    /// Records were read from the bus.
    Records,
    /// The requested time has come.
    Due,
    /// There is input from the terminal.
    Inputs(Vec<TerminalInput>),
    /// Everything must be drawn again: the terminal was resized, or the process was suspended.
    Redraw,
    /// A condition of the bus that should be reported at once.
    Notice(Notice),
    /// A child process has ended.
    ChildEnded,
    /// A descriptor of the command is readable.
    Readable,
    /// The bus disconnected and could not be reached again.
    BusGone,
    /// The command has to end, because of a signal, Ctrl-C, the time limit, or a closed terminal.
    End,
}

/// The kind of output of a live command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LiveOutput {
    /// A view that takes over the terminal.
    Screen,
    /// Lines of text on standard output.
    Lines,
}

impl LiveOutput {
    /// Selects a view if both standard input and standard output are terminals, and lines
    /// otherwise.
    pub(crate) fn of_terminal() -> Self {
        match stdin().is_terminal() && stdout().is_terminal() {
            true => Self::Screen,
            false => Self::Lines,
        }
    }

    /// Blocks the signals that a live command reads. Call it before any thread starts, because
    /// threads inherit the mask.
    pub(crate) fn block_signals(self) -> io::Result<SignalSource> {
        let signals: &[ProcessSignal] = match self {
            Self::Screen => &SIGNALS,
            // Without a view there is no terminal state to restore, so the kernel may stop the
            // process.
            Self::Lines => &SIGNALS[..SIGNALS.len() - SIGNALS_OF_SCREEN],
        };
        SignalSource::block(signals)
    }
}

/// Tokens of the poller.
const OF_SIGNALS: u64 = 0;
const OF_BUS: u64 = 1;
const OF_KEYBOARD: u64 = 2;
const OF_COMMAND: u64 = 3;

impl LiveLoop {
    /// Connects to a bus and starts to watch it. The state of the bus at the start is passed to
    /// `records`.
    pub(crate) fn open(
        place: BusPlace,
        filters: &[String],
        signals: SignalSource,
        records: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<Self, (BusPlace, BusListenError)> {
        let watch = BusWatch::open(std::slice::from_ref(&place), filters, records)?;
        let poller = || -> io::Result<Poller> {
            let poller = Poller::new()?;
            poller.add(&signals, OF_SIGNALS, Interest::Read)?;
            poller.add(watch.as_fd(), OF_BUS, Interest::Read)?;
            Ok(poller)
        };
        let poller = poller().map_err(|error| (place, error.into()))?;
        Ok(Self {
            watch,
            signals,
            poller,
            ready: Events::with_capacity(8),
            screen: None,
            deadline: None,
            drained: SourceState::More,
            pending: VecDeque::new(),
        })
    }

    /// Sets the time after which [`LiveEvent::End`] is returned.
    pub(crate) fn end_after(&mut self, time: Option<Duration>) {
        self.deadline = time.map(|time| monotonic() + time);
    }

    /// Takes over the terminal for a view.
    pub(crate) fn enter_screen(&mut self) -> io::Result<()> {
        let mut screen = Screen::enter()?;
        self.poller.add(screen.keyboard(), OF_KEYBOARD, Interest::Read)?;
        self.screen = Some(screen);
        Ok(())
    }

    /// Restores the terminal, if a view has it.
    pub(crate) fn leave_screen(&mut self) {
        if let Some(mut screen) = self.screen.take() {
            // If this fails, the keyboard was not registered.
            let _ = self.poller.remove(screen.keyboard());
        }
    }

    /// Draws a view, if the command took over the terminal.
    pub(crate) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.screen.as_mut().map_or(Ok(()), |screen| screen.draw(view))
    }

    /// Makes the loop return [`LiveEvent::Readable`] while this descriptor is readable.
    pub(crate) fn watch_descriptor(&self, descriptor: impl AsFd) -> io::Result<()> {
        self.poller.add(descriptor, OF_COMMAND, Interest::Read)
    }

    /// Stops watching a descriptor.
    pub(crate) fn forget_descriptor(&self, descriptor: impl AsFd) -> io::Result<()> {
        self.poller.remove(descriptor)
    }

    /// The watched bus of the loop.
    pub(crate) const fn watch(&mut self) -> &mut BusWatch {
        &mut self.watch
    }

    /// Waits for the next event. Records are passed to `records`. At the monotonic time `due`,
    /// returns [`LiveEvent::Due`].
    pub(crate) fn next(
        &mut self,
        due: Option<Duration>,
        records: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> io::Result<LiveEvent> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Ok(event);
            }
            let now = monotonic();
            if self.deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(LiveEvent::End);
            }
            if due.is_some_and(|due| due <= now) {
                return Ok(LiveEvent::Due);
            }
            self.wait(due, now)?;
            self.take_records(records);
            self.take_other_events()?;
        }
    }

    /// Reads the messages that are still in transit when the command ends.
    pub(crate) fn finish(&mut self, records: &mut dyn FnMut(RecordingRecord<'_>)) {
        self.watch.finish(records);
    }

    fn wait(&mut self, due: Option<Duration>, now: Duration) -> io::Result<()> {
        let timeout = match self.drained {
            SourceState::More => Some(Duration::ZERO),
            SourceState::Empty => {
                let until = [due, self.deadline].into_iter().flatten().min();
                let rest = until.map(|until| until.saturating_sub(now));
                recorder::watch::shorter(rest, self.watch.wait_limit())
            }
        };
        self.poller.wait(&mut self.ready, timeout)
    }

    fn take_records(&mut self, records: &mut dyn FnMut(RecordingRecord<'_>)) {
        let mut taken = false;
        self.drained = self.watch.take(&mut |record| {
            taken = true;
            records(record);
        });
        if taken {
            self.pending.push_back(LiveEvent::Records);
        }
        self.pending.extend(self.watch.notices().into_iter().map(LiveEvent::Notice));
        if self.watch.is_over() {
            self.pending.push_back(LiveEvent::BusGone);
        }
    }

    fn take_other_events(&mut self) -> io::Result<()> {
        let tokens: Vec<u64> = self.ready.iter().map(|event| event.token()).collect();
        if tokens.contains(&OF_COMMAND) {
            self.pending.push_back(LiveEvent::Readable);
        }
        if tokens.contains(&OF_SIGNALS) {
            self.take_signals()?;
        }
        if tokens.contains(&OF_KEYBOARD) {
            self.take_inputs()?;
        }
        Ok(())
    }

    fn take_signals(&mut self) -> io::Result<()> {
        while let Some(signal) = self.signals.take()? {
            match signal {
                ProcessSignal::Interrupt | ProcessSignal::Terminate | ProcessSignal::HangUp => {
                    self.pending.push_back(LiveEvent::End);
                }
                ProcessSignal::Child => self.pending.push_back(LiveEvent::ChildEnded),
                ProcessSignal::Resized => self.pending.push_back(LiveEvent::Redraw),
                ProcessSignal::Suspend => self.suspend()?,
                ProcessSignal::User1
                | ProcessSignal::User2
                | ProcessSignal::FileSize
                | ProcessSignal::Reexecute => {}
            }
        }
        Ok(())
    }

    fn take_inputs(&mut self) -> io::Result<()> {
        let Some(screen) = &mut self.screen else { return Ok(()) };
        let mut inputs = screen.keyboard().take()?;
        if inputs
            .iter()
            .any(|input| matches!(input, TerminalInput::Interrupt | TerminalInput::Gone))
        {
            self.pending.push_back(LiveEvent::End);
            return Ok(());
        }
        let taken = inputs.len();
        inputs.retain(|input| *input != TerminalInput::Suspend);
        let has_suspend = inputs.len() < taken;
        self.pending.push_back(LiveEvent::Inputs(inputs));
        if has_suspend { self.suspend() } else { Ok(()) }
    }

    fn suspend(&mut self) -> io::Result<()> {
        if let Some(screen) = &mut self.screen {
            screen.suspend()?;
            self.pending.push_back(LiveEvent::Redraw);
        }
        Ok(())
    }
}

/// The signals that a live command reads. The signals that only a view needs come last.
const SIGNALS: [ProcessSignal; 6] = [
    ProcessSignal::Interrupt,
    ProcessSignal::Terminate,
    ProcessSignal::HangUp,
    ProcessSignal::Child,
    ProcessSignal::Resized,
    ProcessSignal::Suspend,
];

/// The number of signals that only a view needs.
const SIGNALS_OF_SCREEN: usize = 2;
