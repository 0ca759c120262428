//! The loop of `up`: what happens on the bus, in its log and at the terminal, and when it is shown.

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
use crate::commands::demo::Cast;
use crate::live::{LiveError, LiveEvent, LiveLoop, LiveOutput};
use crate::output::write_text;
use crate::private_bus::{PrivateBus, describe_end};
use crate::screen::TerminalInput;
use crate::screen::controls::Following;
use crate::screen::palette::ScreenPalette;

/// A bus with its view.
#[derive(Debug)]
pub(super) struct UpLoop {
    // In the order in which they are to end: the terminal is given back first.
    events: LiveLoop,
    cast: Cast,
    bus: PrivateBus,
    logs: Logs,
    model: UpModel,
    hints: Hints,
}

/// Where the bus is shown.
#[derive(Debug)]
enum UpFront {
    /// A view on a terminal.
    Screen(Box<ScreenFront>),
    /// Lines on standard output.
    Lines(LinesFront),
}

/// The view, and what it shows.
#[derive(Debug)]
struct ScreenFront {
    view: UpView,
    palette: ScreenPalette,
    snapshot: Snapshot,
    /// The address of the page when it was last asked for.
    link: Option<String>,
}

/// What lines have said.
#[derive(Debug)]
struct LinesFront {
    plain: PlainLines,
    /// The address of the page that was printed last.
    link: Option<String>,
}

impl UpLoop {
    /// Watches a bus that was started.
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
        Ok(Self { events, cast: Cast::default(), bus, logs, model, hints })
    }

    /// Has programs that were started with the bus, to be ended with it.
    pub(super) fn with_cast(self, cast: Cast) -> Self {
        Self { cast, ..self }
    }

    /// Shows the bus until somebody ends it, or it ends.
    pub(super) fn run(mut self, output: LiveOutput) -> Result<(), UpError> {
        let mut front = self.front(output)?;
        self.draw(&mut front)?;
        let mut next_step = clock::monotonic() + STEP;
        loop {
            let model = &mut self.model;
            let mut records = |record: RecordingRecord<'_>| model.push(record, clock::monotonic());
            match self.events.next(Some(next_step), &mut records)? {
                LiveEvent::Due => {
                    let now = clock::monotonic();
                    next_step = now + STEP;
                    self.step(now, &mut front)?;
                }
                LiveEvent::Inputs(inputs) => {
                    let UpFront::Screen(screen) = &mut front else { continue };
                    let keys = inputs.iter().filter_map(|input| match input {
                        TerminalInput::Key(key) => Some(*key),
                        _ => None,
                    });
                    for key in keys {
                        if screen.view.press(key).is_break() {
                            return Ok(());
                        }
                    }
                    self.draw(&mut front)?;
                }
                LiveEvent::Redraw => self.draw(&mut front)?,
                LiveEvent::Notice(notice) => {
                    let now = clock::monotonic();
                    self.model.note(now, NoteKind::Trouble, notice.to_string());
                }
                LiveEvent::ChildEnded => self.look_for_ended()?,
                LiveEvent::Readable => self.take_logs()?,
                LiveEvent::BusGone => return Err(LiveError::Gone.into()),
                LiveEvent::End => return Ok(()),
                LiveEvent::Records => {}
            }
        }
    }

    fn front(&mut self, output: LiveOutput) -> io::Result<UpFront> {
        Ok(match output {
            LiveOutput::Screen => {
                self.events.enter_screen()?;
                UpFront::Screen(Box::new(ScreenFront {
                    view: UpView::default(),
                    palette: ScreenPalette::of_stdout(),
                    snapshot: self.snapshot(clock::monotonic()),
                    link: self.hints.link(),
                }))
            }
            LiveOutput::Lines => UpFront::Lines(LinesFront {
                plain: PlainLines::default(),
                link: self.hints.printed_link.clone(),
            }),
        })
    }

    fn snapshot(&mut self, now: Duration) -> Snapshot {
        self.model.snapshot(now, self.events.watch().clock().now())
    }

    /// Ends a step of the rates, shows it, and asks for the numbers of the next one.
    fn step(&mut self, now: Duration, front: &mut UpFront) -> Result<(), UpError> {
        self.model.step(now);
        let watch = self.events.watch();
        if let Some(statistics) = watch.statistics() {
            self.model.set_statistics(statistics);
        }
        watch.ask_statistics();
        match front {
            UpFront::Screen(screen) => {
                screen.link = self.hints.link();
                if screen.view.controls.following == Following::Live {
                    screen.snapshot = self.snapshot(now);
                }
                self.draw(front)?;
            }
            UpFront::Lines(lines) => {
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

    fn draw(&mut self, front: &mut UpFront) -> io::Result<()> {
        let UpFront::Screen(screen) = front else { return Ok(()) };
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
            let of_us = own.iter().find_map(|own| line.strip_prefix(own.as_str()));
            match of_us.map(without_credentials) {
                // That we watch is no news.
                Some(line) if line == "became a monitor." || line.ends_with(" trace.") => {}
                Some(line) => model.note(now, NoteKind::Trouble, format!("this page {line}")),
                None => model.note(now, NoteKind::Log, line.to_owned()),
            }
        };
        if self.logs.read(note)? == LogStream::Ended {
            self.events.forget_descriptor(self.logs.pipe())?;
        }
        Ok(())
    }

    /// Some process has ended.
    fn look_for_ended(&mut self) -> Result<(), UpError> {
        if let Some(status) = self.bus.ended() {
            return Err(UpError::BusEnded { status, log: self.logs.rest() });
        }
        for (part, status) in self.cast.take_ended() {
            let text = format!("{part} has ended with {}", describe_end(status));
            self.model.note(clock::monotonic(), NoteKind::Trouble, text);
        }
        Ok(())
    }
}

/// What a line says of a connection, behind what it says about its process in parentheses.
fn without_credentials(line: &str) -> &str {
    line.split_once(") ").map_or(line, |(_, rest)| rest)
}
