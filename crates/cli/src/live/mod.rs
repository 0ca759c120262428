//! Commands that watch a bus while it is used.
//!
//! - [`LiveTraffic`]: the last messages of the bus, and how many there were. All of these commands show it.
//! - [`LiveLoop`]: the loop of these commands, which waits for the bus, the terminal, signals and time.
//! - [`LiveOptions`]: `--live`, which repeats the report of a command on recordings for a bus. A [`LivePage`]
//!   shows the report on a terminal; without one it is printed again and again.

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
use crate::output::{complain, write_text};
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

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LiveReportForm {
    /// For people; on a terminal, as a view.
    Text,
    /// For programs.
    Json,
}

/// Makes the report on a bus.
pub(crate) type MakeReport<'r> = &'r mut dyn FnMut(&Capture, Style) -> String;

impl LiveOptions {
    /// The name of the bus.
    pub(crate) fn name(&self) -> String {
        self.bus.to_string()
    }

    /// Watches the bus until somebody or something ends it. The command reports on the returned traffic a
    /// last time.
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
        let front = match (output, self.interval, self.duration) {
            (LiveOutput::Screen, ..) => {
                events.enter_screen()?;
                ReportFront::Page(LivePage::default())
            }
            (LiveOutput::Lines, None, Some(_)) => ReportFront::Silent,
            (LiveOutput::Lines, ..) => ReportFront::Lines(form),
        };
        events.end_after(self.duration);
        let interval = self.interval.unwrap_or(INTERVAL);
        let next = monotonic() + interval;
        LiveReports { events, traffic, front, interval, next }.run(report)
    }
}

/// Where the reports go.
#[derive(Debug)]
enum ReportFront {
    Page(LivePage),
    Lines(LiveReportForm),
    /// There is only the one at the end.
    Silent,
}

/// The reports on a bus that is watched.
#[derive(Debug)]
struct LiveReports {
    events: LiveLoop,
    traffic: LiveTraffic,
    front: ReportFront,
    interval: Duration,
    /// When the next one is made, by the monotonic clock.
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
                LiveEvent::Due => self.renew(report)?,
                LiveEvent::Redraw => {
                    // The next report is as wide as the terminal is now.
                    self.next = monotonic();
                    self.draw()?;
                }
                LiveEvent::Notice(notice) => match &mut self.front {
                    ReportFront::Page(page) => page.say(notice.to_string()),
                    ReportFront::Lines(_) | ReportFront::Silent => {
                        complain(&format!("diligence: {notice}\n"))
                    }
                },
                LiveEvent::Inputs(inputs) => {
                    let ReportFront::Page(page) = &mut self.front else { continue };
                    if page.press(&inputs).is_break() {
                        return Ok(self.finish());
                    }
                    self.draw()?;
                }
                LiveEvent::BusGone => {
                    self.events.leave_screen();
                    self.traffic.lose_bus();
                    return Ok(self.traffic);
                }
                LiveEvent::End => return Ok(self.finish()),
                LiveEvent::Records | LiveEvent::ChildEnded | LiveEvent::Readable => {}
            }
        }
    }

    /// Makes a new report. If that takes long, it is made less often, so that the bus is not left
    /// waiting.
    fn renew(&mut self, report: MakeReport<'_>) -> io::Result<()> {
        let start = monotonic();
        match &mut self.front {
            ReportFront::Page(page) => {
                if let Some(style) = page.wanted_style()? {
                    page.show(&report(self.traffic.capture(), style));
                }
                self.draw()?;
            }
            ReportFront::Lines(form) => {
                let text = report(self.traffic.capture(), style::of_stdout());
                print_block(*form, &self.traffic, &text)?;
            }
            ReportFront::Silent => {}
        }
        let end = monotonic();
        self.next = end + self.interval.max((end - start) * REST_PER_WORK);
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let ReportFront::Page(page) = &mut self.front else { return Ok(()) };
        let summary = self.traffic.summary();
        self.events.draw(|frame| page.draw(frame, &summary))
    }

    /// Takes what is on its way. The terminal is as it was before.
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

/// How often a report is made, unless `--interval` says otherwise.
const INTERVAL: Duration = Duration::from_secs(1);

/// Between two reports, the bus is listened to for so many times as long as the last one took.
const REST_PER_WORK: u32 = 4;

/// Messages that a report is about, at least, once so many have come; at most it is twice as many.
const MESSAGES_KEPT: usize = 100_000;
