//! The event loop of `up`: bus, log, terminal and timer.

use std::io;
use std::time::Duration;

use capture::record::RecordingRecord;
use recorder::BusPlace;
use sys::clock;
use sys::signals::SignalSource;

use super::error::UpError;
use super::hints::Hints;
use super::logs::{LogStream, Logs};
use super::model::{NoteKind, STEP, Snapshot, UpModel};
use super::page::{self, UpPage};
use super::plain::{self, PlainLines};
use super::view::UpView;
use crate::commands::demo::DemoPrograms;
use crate::live::{LiveError, LiveEvent, LiveLoop, LiveOutput};
use crate::output::write_text;
use crate::private_bus::{PrivateBus, describe_end};
use crate::screen::TerminalInput;
use crate::screen::controls::Following;
use crate::screen::palette::ScreenPalette;

/// A running bus and everything that is shown about it.
#[derive(Debug)]
pub(super) struct UpLoop {
    // Fields are dropped in this order: the terminal is restored first, and the bus ends after the
    // programs.
    events: LiveLoop,
    demo: DemoPrograms,
    bus: PrivateBus,
    logs: Logs,
    model: UpModel,
    hints: Hints,
}

/// The form in which the bus is shown.
#[derive(Debug)]
enum UpDisplay {
    /// A view that takes over the terminal.
    Screen(Box<ScreenDisplay>),
    /// Lines of text on standard output.
    Lines(LinesDisplay),
}

/// The state of the view.
#[derive(Debug)]
struct ScreenDisplay {
    view: UpView,
    palette: ScreenPalette,
    snapshot: Snapshot,
    /// The address of the page at the last update.
    link: Option<String>,
}

/// The state of the line output.
#[derive(Debug)]
struct LinesDisplay {
    plain: PlainLines,
    /// The address of the page that was printed last.
    link: Option<String>,
}

impl UpLoop {
    /// Connects to a bus that was started, and starts to watch it.
    pub(super) fn new(
        bus: PrivateBus,
        logs: Logs,
        signals: SignalSource,
        hints: Hints,
    ) -> Result<Self, UpError> {
        let now = clock::monotonic();
        let mut model = UpModel::new(now);
        let place = BusPlace::Address(bus.address().to_owned());
        let mut records = |record: RecordingRecord<'_>| model.push(record, now);
        let events = LiveLoop::open(place, &[], signals, &mut records).map_err(LiveError::from)?;
        events.watch_descriptor(logs.pipe())?;
        Ok(Self { events, demo: DemoPrograms::default(), bus, logs, model, hints })
    }

    /// Adds programs that were started with the bus, and that end with it.
    pub(super) fn with_demo(self, demo: DemoPrograms) -> Self {
        Self { demo, ..self }
    }

    /// Shows the bus until the user ends the command or the bus ends.
    pub(super) fn run(mut self, output: LiveOutput) -> Result<(), UpError> {
        let mut display = self.display(output)?;
        self.draw(&mut display)?;
        let mut next_step = clock::monotonic() + STEP;
        loop {
            let model = &mut self.model;
            let mut records = |record: RecordingRecord<'_>| model.push(record, clock::monotonic());
            match self.events.next(Some(next_step), &mut records)? {
                LiveEvent::Due => {
                    let now = clock::monotonic();
                    next_step = now + STEP;
                    self.step(now, &mut display)?;
                }
                LiveEvent::Inputs(inputs) => {
                    let UpDisplay::Screen(screen) = &mut display else { continue };
                    let keys = inputs.iter().filter_map(|input| match input {
                        TerminalInput::Key(key) => Some(*key),
                        _ => None,
                    });
                    for key in keys {
                        if screen.view.press(key).is_break() {
                            return Ok(());
                        }
                    }
                    self.draw(&mut display)?;
                }
                LiveEvent::Redraw => self.draw(&mut display)?,
                LiveEvent::Notice(notice) => {
                    let now = clock::monotonic();
                    self.model.note(now, NoteKind::Problem, notice.to_string());
                }
                LiveEvent::ChildEnded => self.handle_ended_children()?,
                LiveEvent::Readable => self.take_logs()?,
                LiveEvent::BusGone => return Err(LiveError::Gone.into()),
                LiveEvent::End => return Ok(()),
                LiveEvent::Records => {}
            }
        }
    }

    fn display(&mut self, output: LiveOutput) -> io::Result<UpDisplay> {
        Ok(match output {
            LiveOutput::Screen => {
                self.events.enter_screen()?;
                UpDisplay::Screen(Box::new(ScreenDisplay {
                    view: UpView::default(),
                    palette: ScreenPalette::of_stdout(),
                    snapshot: self.snapshot(clock::monotonic()),
                    link: self.hints.link(),
                }))
            }
            LiveOutput::Lines => UpDisplay::Lines(LinesDisplay {
                plain: PlainLines::default(),
                link: self.hints.printed_link.clone(),
            }),
        })
    }

    fn snapshot(&mut self, now: Duration) -> Snapshot {
        self.model.snapshot(now, self.events.watch().clock().now())
    }

    /// Ends a step: updates the rates, shows them, and requests the next statistics from the bus.
    fn step(&mut self, now: Duration, display: &mut UpDisplay) -> Result<(), UpError> {
        self.model.step(now);
        let watch = self.events.watch();
        if let Some(statistics) = watch.statistics() {
            self.model.set_statistics(statistics);
        }
        watch.ask_statistics();
        match display {
            UpDisplay::Screen(screen) => {
                screen.link = self.hints.link();
                if screen.view.controls.following == Following::Live {
                    screen.snapshot = self.snapshot(now);
                }
                self.draw(display)?;
            }
            UpDisplay::Lines(lines) => {
                let time = clock::realtime();
                let mut text = lines.plain.lines(time, &self.snapshot(now), self.model.notes());
                let link = self.hints.link();
                if link != lines.link {
                    text.extend(link.as_deref().map(|link| plain::line(time, "page", link)));
                    lines.link = link;
                }
                write_text(&text)?;
            }
        }
        Ok(())
    }

    fn draw(&mut self, display: &mut UpDisplay) -> io::Result<()> {
        let UpDisplay::Screen(screen) = display else { return Ok(()) };
        let page = UpPage {
            snapshot: &screen.snapshot,
            address: &self.hints.address,
            link: screen.link.as_deref(),
            example: self.hints.example,
            palette: screen.palette,
        };
        self.events.draw(|frame| page::draw(&page, frame, &mut screen.view))
    }

    fn take_logs(&mut self) -> Result<(), UpError> {
        let now = clock::monotonic();
        let own: Vec<String> =
            self.model.own().iter().map(|own| format!("Connection {own} ")).collect();
        let model = &mut self.model;
        let note = |line: &str| {
            let own_line = own.iter().find_map(|own| line.strip_prefix(own.as_str()));
            match own_line.map(without_credentials) {
                // It is expected that the connections of this program monitor the bus.
                Some(line) if line == "became a monitor." || line.ends_with(" trace.") => {}
                Some(line) => model.note(now, NoteKind::Problem, format!("this page {line}")),
                None => model.note(now, NoteKind::Log, line.to_owned()),
            }
        };
        if self.logs.read(note)? == LogStream::Ended {
            self.events.forget_descriptor(self.logs.pipe())?;
        }
        Ok(())
    }

    /// Handles the end of a child process: the bus or a program of the demonstration.
    fn handle_ended_children(&mut self) -> Result<(), UpError> {
        if let Some(status) = self.bus.ended() {
            return Err(UpError::BusEnded { status, log: self.logs.rest() });
        }
        for (part, status) in self.demo.take_ended() {
            let text = format!("{part} has ended with {}", describe_end(status));
            self.model.note(clock::monotonic(), NoteKind::Problem, text);
        }
        Ok(())
    }
}

/// The part of a log line about a connection after the credentials in parentheses.
fn without_credentials(line: &str) -> &str {
    line.split_once(") ").map_or(line, |(_, rest)| rest)
}
