//! The workload in which one process emits bursts of signals to several recipients.

use std::io;
use std::ops::Range;
use std::time::Duration;

use sys::process::{self, Usage};
use sys::switches::{Followed, SwitchTrace};

use super::counters::{CopyCounters, model};
use super::system_calls::SystemCalls;
use super::{NS_PER_US, Requirements, Targets, Workload, WorkloadOutcome};
use crate::peer::{
    Emitter, EmitterReport, ListenerPeer, ListenerReport, RunningPeer, SignalContent, Stamps,
    TIMEOUT_MS,
};
use crate::raw::{Endpoint, sample_rule};
use crate::result::{Figures, Metric, ProcessTrack};
use crate::stage::{MeasureError, MeasurementStage};

/// One process emits bursts of signals to several others. All have received a burst before the next
/// one begins.
#[derive(Clone, Debug)]
pub(crate) struct Burst {
    pub signals: u64,
    pub recipients: u64,
    pub size: usize,
    pub bursts: u64,
    /// Whether instruments inspect the workload, too.
    pub inspection: Inspection,
}

/// Whether instruments that would disturb a measurement inspect the workload, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inspection {
    /// System calls of the bus are counted, and context switches recorded.
    Done,
    LeftOut,
}

impl Burst {
    /// Creates bursts of 8-byte signals without inspection.
    pub(crate) const fn new(signals: u64, recipients: u64, bursts: u64) -> Self {
        Self { signals, recipients, size: 8, bursts, inspection: Inspection::LeftOut }
    }
}

impl Workload for Burst {
    fn requirements(&self) -> Requirements {
        Requirements::of(Targets::Carriers)
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let mut schedule = self.schedule();
        for _ in 0..ATTEMPTS_MAX {
            let performance = self.perform(stage, schedule)?;
            if !performance.overlaps() {
                return Ok(performance.figures().into());
            }
            schedule = schedule.slower(performance.first_ns());
        }
        Err(MeasureError::Unable("the bus does not keep up with bursts of signals".to_owned()))
    }

    fn inspect(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let mut outcome = WorkloadOutcome::default();
        if self.inspection == Inspection::Done {
            outcome.extend(self.copies(stage)?.into());
            outcome.extend(self.system_calls(stage)?);
            outcome.extend(self.timeline(stage)?);
        }
        Ok(outcome)
    }
}

/// The processes of the workload.
struct Processes {
    emitter: RunningPeer<Emitter>,
    listeners: Vec<RunningPeer<ListenerPeer>>,
}

impl Processes {
    fn recipients(&self) -> Vec<u32> {
        self.listeners.iter().map(RunningPeer::pid).collect()
    }

    fn perform(&mut self) -> Result<BurstReports, MeasureError> {
        self.emitter.begin()?;
        let emitted = self.emitter.finish()?;
        let received_by: Result<_, _> =
            self.listeners.iter_mut().map(RunningPeer::finish).collect();
        Ok(BurstReports { emitted, received_by: received_by? })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Schedule {
    bursts: u64,
    pause_us: u64,
}

impl Schedule {
    /// Extends the pauses so that a burst of this duration completes in them, and reduces the
    /// number of bursts to limit the total time.
    fn slower(self, burst_ns: u64) -> Self {
        let pause_us = (burst_ns * PAUSE_OF_BURST / 1000).max(self.pause_us * PAUSE_OF_BURST);
        let pause_us = pause_us.min(PAUSE_US_MAX);
        let bursts = (DURATION_US_MAX / pause_us).clamp(BURSTS_MIN, BURSTS_MIN.max(self.bursts));
        Self { bursts, pause_us }
    }
}

/// The reports of the processes.
struct BurstReports {
    emitted: EmitterReport,
    received_by: Vec<ListenerReport>,
}

impl BurstReports {
    /// Returns the interval from the start of each burst until its last recipient has received it
    /// completely.
    fn spans(&self) -> Result<Vec<Range<u64>>, MeasureError> {
        let span = |(index, begun): (usize, &u64)| {
            let complete =
                self.received_by.iter().map(|report| report.complete_ns.get(index).copied());
            let last = complete.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
            Some(*begun..last)
        };
        let spans: Option<_> = self.emitted.begun_ns.iter().enumerate().map(span).collect();
        spans.ok_or_else(|| {
            let received = self.received_by.iter().map(|report| report.received).min();
            MeasureError::Lost { sent: self.emitted.sent, received: received.unwrap_or_default() }
        })
    }
}

/// The figures of some bursts.
struct MeasuredBursts {
    reports: BurstReports,
    /// The intervals of the bursts after the warm-up.
    spans: Vec<Range<u64>>,
    before: ContextSwitches,
    after: ContextSwitches,
}

impl MeasuredBursts {
    /// True if more than a few bursts began while recipients still waited for the previous one.
    fn overlaps(&self) -> bool {
        let late = self.spans.windows(2).filter(|pair| pair[1].start < pair[0].end).count();
        late * OVERLAPS_SHARE > self.spans.len()
    }

    /// The duration of the first burst, which hardly overlaps with an earlier one.
    fn first_ns(&self) -> u64 {
        self.spans.first().map_or(0, |span| span.end - span.start)
    }

    fn figures(&self) -> Figures {
        let mut times: Vec<u64> = self.spans.iter().map(|span| span.end - span.start).collect();
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let BurstReports { emitted, received_by } = &self.reports;
        let bursts = emitted.begun_ns.len().max(1) as f64;
        let receives: u64 = received_by.iter().map(|report| report.traffic.receives).sum();
        let each = |after: u64, before: u64| (after - before) as f64 / bursts;
        let (before, after) = (&self.before, &self.after);
        let mut figures = Figures::from([
            (Metric::BurstUs, median as f64 / NS_PER_US),
            (Metric::SenderSends, emitted.traffic.sends as f64 / bursts),
            (Metric::RecipientReceives, receives as f64 / bursts),
            (Metric::SenderSwitches, each(after.sender, before.sender)),
            (Metric::RecipientSwitches, each(after.recipients, before.recipients)),
        ]);
        if let (Some(after), Some(before)) = (after.bus, before.bus) {
            let time = after.processor_time.saturating_sub(before.processor_time).as_nanos();
            figures.insert(Metric::BusCpuUs, time as f64 / NS_PER_US / bursts);
            figures.insert(Metric::BusSwitches, each(switches_of(after), switches_of(before)));
        }
        figures
    }
}

impl Burst {
    /// The schedule for a bus at normal speed.
    fn schedule(&self) -> Schedule {
        let pause_us = PAUSE_US.max(self.signals * self.recipients * PAUSE_FOR_EACH_US);
        Schedule { bursts: self.bursts, pause_us }
    }

    /// The schedule for a bus that instruments slow down.
    fn slow_schedule(&self) -> Schedule {
        let pause_us = self.schedule().pause_us * PAUSE_OF_BURST;
        Schedule { bursts: INSPECTED_BURSTS, pause_us }
    }

    fn perform(
        &self,
        stage: &MeasurementStage<'_>,
        schedule: Schedule,
    ) -> Result<MeasuredBursts, MeasureError> {
        let mut processes = self.processes(stage, schedule)?;
        let pids = processes.recipients();
        let before = ContextSwitches::now(stage, processes.emitter.pid(), &pids);
        let reports = processes.perform()?;
        let after = ContextSwitches::now(stage, processes.emitter.pid(), &pids);
        let spans = reports.spans()?.split_off(WARM_UP_BURSTS);
        Ok(MeasuredBursts { reports, spans, before, after })
    }

    fn processes(
        &self,
        stage: &MeasurementStage<'_>,
        schedule: Schedule,
    ) -> Result<Processes, MeasureError> {
        let Schedule { bursts, pause_us } = schedule;
        let bursts = bursts + WARM_UP_BURSTS as u64;
        let listener = || ListenerPeer {
            endpoint: stage.endpoint.clone(),
            rules: vec![sample_rule()],
            bursts,
            per_burst: self.signals,
            stamps: Stamps::Off,
            timeout_ms: TIMEOUT_MS,
        };
        let listeners: Result<_, _> =
            (0..self.recipients).map(|_| stage.start(listener())).collect();
        let listeners = listeners?;
        let emitter = stage.start(Emitter {
            endpoint: stage.endpoint.clone(),
            destination: String::new(),
            content: SignalContent::Bytes { size: self.size, stamps: Stamps::Off },
            bursts,
            per_burst: self.signals,
            pause_us,
        })?;
        Ok(Processes { emitter, listeners })
    }

    /// Returns the copies and validations of a signal: counted if the bus counts them, otherwise
    /// from the model.
    fn copies(&self, stage: &MeasurementStage<'_>) -> Result<Figures, MeasureError> {
        if !matches!(stage.endpoint, Endpoint::Bus(_)) {
            return Ok(Figures::new());
        }
        let mut processes = self.processes(stage, self.slow_schedule())?;
        let Some(counters) = CopyCounters::begin(stage)? else { return Ok(model(self.recipients)) };
        processes.perform()?;
        Ok(counters.end().map(|totals| totals.figures(0)).unwrap_or_default())
    }

    /// Counts the system calls of the carrier.
    fn system_calls(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let Some(pid) = stage.carrier else { return Ok(WorkloadOutcome::default()) };
        for _ in 0..ATTEMPTS_MAX {
            let mut processes = self.processes(stage, self.slow_schedule())?;
            let calls = match SystemCalls::begin(stage, pid)? {
                Ok(calls) => calls,
                Err(reason) => return Ok(note(SYSTEM_CALLS, &reason)),
            };
            processes.perform()?;
            let counts = calls.end(stage)?;
            // Every recipient receives data in every burst, unless strace started too late.
            let bursts = INSPECTED_BURSTS + WARM_UP_BURSTS as u64;
            if counts.sends >= bursts * self.recipients {
                let each = |count: u64| count as f64 / bursts as f64;
                let sends = (Metric::BusSends, each(counts.sends));
                let receives = (Metric::BusReceives, each(counts.receives));
                return Ok(Figures::from([sends, receives]).into());
            }
        }
        Ok(note(SYSTEM_CALLS, "strace has missed some every time"))
    }

    /// Records when each process runs during the last of some bursts.
    fn timeline(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        if self.recipients > TRACED_RECIPIENTS_MAX {
            return Ok(WorkloadOutcome::default());
        }
        let mut processes = self.processes(stage, self.slow_schedule())?;
        let bus = stage.carrier.map(|pid| ("bus".to_owned(), pid));
        let recipients = processes.recipients().into_iter().enumerate();
        let recipients = recipients.map(|(index, pid)| (format!("recipient {}", index + 1), pid));
        let names = [("sender".to_owned(), processes.emitter.pid())].into_iter().chain(bus);
        let mut traces = match SwitchTraces::start(names.chain(recipients)) {
            Ok(traces) => traces,
            Err(error) => return Ok(note("when which process ran", &error.to_string())),
        };
        let spans = processes.perform()?.spans()?;
        let timeline = spans.last().map(|last| traces.tracks(last)).transpose()?;
        Ok(WorkloadOutcome { timeline, ..WorkloadOutcome::default() })
    }
}

/// The number of context switches of processes so far.
#[derive(Clone, Copy)]
struct ContextSwitches {
    bus: Option<Usage>,
    sender: u64,
    recipients: u64,
}

impl ContextSwitches {
    fn now(stage: &MeasurementStage<'_>, sender: u32, recipients: &[u32]) -> Self {
        let of = |pid: u32| process::usage(pid).map_or(0, switches_of);
        Self {
            bus: stage.carrier_usage(),
            sender: of(sender),
            recipients: recipients.iter().map(|&pid| of(pid)).sum(),
        }
    }
}

fn switches_of(usage: Usage) -> u64 {
    usage.voluntary_switches + usage.involuntary_switches
}

/// Recordings of the context switches of several processes, by role.
struct SwitchTraces(Vec<(String, SwitchTrace)>);

impl SwitchTraces {
    fn start(processes: impl IntoIterator<Item = (String, u32)>) -> io::Result<Self> {
        let processes = processes.into_iter();
        let start = |(name, pid)| Ok((name, SwitchTrace::start(pid, Followed::All, SWITCHES_MAX)?));
        processes.map(start).collect::<io::Result<_>>().map(Self)
    }

    /// Returns the intervals recorded within a time window.
    fn tracks(&mut self, window: &Range<u64>) -> io::Result<Vec<ProcessTrack>> {
        let mut tracks = Vec::with_capacity(self.0.len());
        for (name, trace) in &mut self.0 {
            let running = trace.take()?.running;
            let spans = running.iter().filter_map(|span| clip(span, window)).collect();
            tracks.push(ProcessTrack { name: name.clone(), spans });
        }
        Ok(tracks)
    }
}

/// Returns the part of a span within a window, relative to the start of the window.
fn clip(span: &Range<Duration>, window: &Range<u64>) -> Option<(u64, u64)> {
    let from = (span.start.as_nanos() as u64).max(window.start);
    let to = (span.end.as_nanos() as u64).min(window.end);
    (from < to).then(|| (from - window.start, to - window.start))
}

/// Returns an outcome with a note about a missing result.
fn note(what: &str, reason: &str) -> WorkloadOutcome {
    WorkloadOutcome { notes: vec![format!("{what}: {reason}")], ..WorkloadOutcome::default() }
}

/// The pause between bursts in microseconds, after which all recipients wait again.
const PAUSE_US: u64 = 1000;

/// The longest pause. Recipients wait longer for signals that may be lost.
const PAUSE_US_MAX: u64 = TIMEOUT_MS * 1000 / 2;

/// The factor between a long burst and the pause.
const PAUSE_OF_BURST: u64 = 4;

/// The name of strace's result, in a note.
const SYSTEM_CALLS: &str = "the system calls of the bus";

/// The number of attempts with longer pauses, or with strace.
const ATTEMPTS_MAX: u32 = 4;

/// One in this many bursts may start too early, because other work delayed a recipient.
const OVERLAPS_SHARE: usize = 20;

/// With long pauses, there are fewer bursts than requested, to stay within this total time.
const DURATION_US_MAX: u64 = 8_000_000;

const BURSTS_MIN: u64 = 10;

/// The shortest pause in microseconds per signal and recipient.
const PAUSE_FOR_EACH_US: u64 = 20;

/// The number of bursts before the measurement, in which recipients touch their memory for the
/// first time.
const WARM_UP_BURSTS: usize = 2;

/// The number of bursts under inspection.
const INSPECTED_BURSTS: u64 = 20;

/// A plot with more recipients would not be readable.
const TRACED_RECIPIENTS_MAX: u64 = 16;

/// The number of context switches that the recording of a process has room for.
const SWITCHES_MAX: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_burst_schedules_take_no_longer() {
        let schedule = Schedule { bursts: 300, pause_us: 1000 };
        let check = |burst_us: u64, bursts, pause_us| {
            assert_eq!(
                schedule.slower(burst_us * 1000),
                Schedule { bursts, pause_us },
                "{burst_us}"
            );
        };
        check(10, 300, 4000);
        check(4000, 300, 16_000);
        check(40_000, 50, 160_000);
        check(4_000_000, 10, 1_500_000);
    }

    #[test]
    fn spans_are_cut_to_the_window() {
        let check = |from, to, expected| {
            let span = Duration::from_nanos(from)..Duration::from_nanos(to);
            assert_eq!(clip(&span, &(100..200)), expected, "{from} {to}");
        };
        check(50, 100, None);
        check(50, 101, Some((0, 1)));
        check(120, 130, Some((20, 30)));
        check(190, 250, Some((90, 100)));
        check(200, 250, None);
    }
}
