//! Commands that watch a running bus.
//!
//! - [`LiveTraffic`]: the latest messages of the bus and their number, from which all these
//!   commands make their output.
//! - [`LiveLoop`]: the event loop of these commands.
//! - [`LiveOptions`]: `--live`, which repeats the report of a command on recordings for a bus. A
//!   [`LivePage`] shows the report on a terminal; without a terminal it is printed repeatedly.

mod error;
mod event_loop;
mod page;
mod traffic;

use std::io;
use std::time::Duration;

use capture::Capture;
use capture::text::Style;
use clap::Args;
use sys::clock::monotonic;

pub(crate) use error::LiveError;
pub(crate) use event_loop::{LiveEvent, LiveLoop, LiveOutput};
use page::LivePage;
pub(crate) use traffic::{LiveTraffic, TrafficAmount, TrafficRate, before};

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::output::{print_message, write_text};
use crate::style;

/// Options for watching a bus instead of reading recordings.
#[derive(Debug, Args)]
#[command(mut_group("BusChoice", |group| group.requires("live")))]
pub(crate) struct LiveOptions {
    /// Watch a bus, and report on its latest messages repeatedly
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    bus: BusChoice,
    /// Refresh interval [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = amount::time, requires = "live")]
    interval: Option<Duration>,
    /// End after this time; without a terminal, print one report at the end, unless --interval is
    /// given
    #[arg(long, value_name = "TIME", value_parser = amount::time, requires = "live")]
    duration: Option<Duration>,
}

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LiveReportForm {
    /// Text for people; on a terminal, a view.
    Text,
    /// JSON for programs to read.
    Json,
}

/// A function that makes the report on a bus.
pub(crate) type MakeReport<'r> = &'r mut dyn FnMut(&Capture, Style) -> String;

impl LiveOptions {
    /// The name of the bus for headings.
    pub(crate) fn name(&self) -> String {
        self.bus.to_string()
    }

    /// Watches the bus until the user or a limit ends it. The caller makes the final report from
    /// the returned traffic.
    pub(crate) fn watch(
        &self,
        form: LiveReportForm,
        report: MakeReport<'_>,
    ) -> Result<LiveTraffic, LiveError> {
        let output = match form {
            LiveReportForm::Text => LiveOutput::of_terminal(),
            LiveReportForm::Json => LiveOutput::Lines,
        };
        let signals = output.block_signals()?;
        let mut traffic = LiveTraffic::new(MESSAGES_KEPT, monotonic());
        let mut events = LiveLoop::open(self.bus.place(), &[], signals, &mut |record| {
            traffic.push(record);
        })?;
        let display = match (output, self.interval, self.duration) {
            (LiveOutput::Screen, ..) => {
                events.enter_screen()?;
                ReportDisplay::Page(LivePage::default())
            }
            (LiveOutput::Lines, None, Some(_)) => ReportDisplay::Silent,
            (LiveOutput::Lines, ..) => ReportDisplay::Lines(form),
        };
        events.end_after(self.duration);
        let interval = self.interval.unwrap_or(INTERVAL);
        let next = monotonic() + interval;
        LiveReports { events, traffic, display, interval, next }.run(report)
    }
}

/// The destination of the reports.
#[derive(Debug)]
enum ReportDisplay {
    Page(LivePage),
    Lines(LiveReportForm),
    /// There is only one report, at the end.
    Silent,
}

/// The reports on a watched bus.
#[derive(Debug)]
struct LiveReports {
    events: LiveLoop,
    traffic: LiveTraffic,
    display: ReportDisplay,
    interval: Duration,
    /// The time of the next report, by the monotonic clock.
    next: Duration,
}

impl LiveReports {
    fn run(mut self, report: MakeReport<'_>) -> Result<LiveTraffic, LiveError> {
        self.draw()?;
        loop {
            let event = self.events.next(Some(self.next), &mut |record| {
                self.traffic.push(record);
            })?;
            match event {
                LiveEvent::Due => self.refresh(report)?,
                LiveEvent::Redraw => {
                    // The terminal was resized, so the next report is made now.
                    self.next = monotonic();
                    self.draw()?;
                }
                LiveEvent::Notice(notice) => match &mut self.display {
                    ReportDisplay::Page(page) => page.show_message(notice.to_string()),
                    ReportDisplay::Lines(_) | ReportDisplay::Silent => {
                        print_message("diligence", &notice);
                    }
                },
                LiveEvent::Inputs(inputs) => {
                    let ReportDisplay::Page(page) = &mut self.display else { continue };
                    if page.press(&inputs).is_break() {
                        return Ok(self.finish());
                    }
                    self.draw()?;
                }
                LiveEvent::BusGone => {
                    self.events.leave_screen();
                    self.traffic.set_bus_gone();
                    return Ok(self.traffic);
                }
                LiveEvent::End => return Ok(self.finish()),
                LiveEvent::Records | LiveEvent::ChildEnded | LiveEvent::Readable => {}
            }
        }
    }

    /// Makes a new report. If that takes long, reports are made less often, so that messages of the
    /// bus do not have to wait.
    fn refresh(&mut self, report: MakeReport<'_>) -> io::Result<()> {
        let start = monotonic();
        match &mut self.display {
            ReportDisplay::Page(page) => {
                if let Some(style) = page.report_style()? {
                    page.show(&report(self.traffic.capture(), style));
                }
                self.draw()?;
            }
            ReportDisplay::Lines(form) => {
                let text = report(self.traffic.capture(), style::of_stdout());
                print_block(*form, &self.traffic, &text)?;
            }
            ReportDisplay::Silent => {}
        }
        let end = monotonic();
        self.next = end + self.interval.max((end - start) * REST_PER_WORK);
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let ReportDisplay::Page(page) = &mut self.display else { return Ok(()) };
        let summary = self.traffic.summary();
        self.events.draw(|frame| page.draw(frame, &summary))
    }

    /// Reads the remaining messages, and restores the terminal.
    fn finish(self) -> LiveTraffic {
        let Self { mut events, mut traffic, .. } = self;
        events.leave_screen();
        events.finish(&mut |record| {
            traffic.push(record);
        });
        traffic
    }
}

fn print_block(form: LiveReportForm, traffic: &LiveTraffic, text: &str) -> io::Result<()> {
    match form {
        LiveReportForm::Text => write_text(&format!("{}\n\n{text}\n", traffic.summary())),
        LiveReportForm::Json => write_text(text),
    }
}

/// The default interval between reports.
const INTERVAL: Duration = Duration::from_secs(1);

/// After a report, the bus is read for at least this many times the duration of the report.
const REST_PER_WORK: u32 = 4;

/// The minimum number of messages in a report, if there were that many; the maximum is twice this
/// number.
const MESSAGES_KEPT: usize = 100_000;
