//! A workload on a bus with an observer, compared with the same workload without one.

mod observer;
mod program;
mod recording;

use std::thread;
use std::time::Duration;

use sys::process;

pub(crate) use observer::ObserverKind;

use super::system_calls::SystemCalls;
use super::turns::medians;
use super::{CallWorkload, NS_PER_US, Requirements, StreamWorkload, Workload, WorkloadOutcome};
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// A workload on a bus with an observer.
///
/// It is measured alternately without and with the observer, each time with new processes. The
/// result is the median over the turns: a single turn says little, because it depends strongly on
/// the state of the machine and on the memory layout of a process. Each time, the workload runs
/// once before the measurement, because the first messages cost more.
#[derive(Clone, Debug)]
pub(crate) struct ObservedWorkload<W> {
    pub observer: ObserverKind,
    /// The number of turns, at least one.
    pub turns: u64,
    pub workload: W,
}

/// A workload with a known number of messages.
pub(crate) trait CountedWorkload: Workload + Clone {
    /// The number of units of work, including the warm-up.
    fn units(&self) -> u64;

    fn messages_each(&self) -> u64;

    /// Returns the same workload with another number of units, which the warm-up may exceed.
    fn of_units(&self, units: u64) -> Self;
}

impl CountedWorkload for CallWorkload {
    fn units(&self) -> u64 {
        self.count + self.warm_up()
    }

    fn messages_each(&self) -> u64 {
        2
    }

    fn of_units(&self, units: u64) -> Self {
        Self { count: units, ..self.clone() }
    }
}

impl CountedWorkload for StreamWorkload {
    fn units(&self) -> u64 {
        self.count
    }

    fn messages_each(&self) -> u64 {
        1
    }

    fn of_units(&self, units: u64) -> Self {
        Self { count: units, ..self.clone() }
    }
}

impl<W: CountedWorkload> Workload for ObservedWorkload<W> {
    fn requirements(&self) -> Requirements {
        Requirements { targets: self.observer.targets(), ..self.workload.requirements() }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        if self.observer == ObserverKind::Nobody {
            return Ok(self.perform(stage, None)?.into());
        }
        let turns =
            (0..self.turns.max(1)).map(|_| self.turn(stage)).collect::<Result<Vec<_>, _>>()?;
        let mut figures = medians(&turns);
        if let Some(lost) = figures.get_mut(&Metric::LostMessages) {
            *lost = turns.iter().filter_map(|turn| turn.get(&Metric::LostMessages)).sum();
        }
        Ok(figures.into())
    }

    fn inspect(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let Some(bus) = stage.carrier else { return Ok(WorkloadOutcome::default()) };
        let observer = self.observer.begin(stage)?;
        let outcome = SystemCalls::of_a_unit(&self.workload, stage, bus)?;
        observer.end(stage)?;
        Ok(outcome)
    }
}

impl<W: CountedWorkload> ObservedWorkload<W> {
    /// Runs the workload without and then with the observer.
    fn turn(&self, stage: &MeasurementStage<'_>) -> Result<Figures, MeasureError> {
        self.perform(stage, None)?;
        let unwatched = self.perform(stage, None)?;
        let observer = self.observer.begin(stage)?;
        self.perform(stage, observer.pid())?;
        let mut figures = self.perform(stage, observer.pid())?;
        let recorded = observer.end(stage)?;
        figures.extend(self.price(&unwatched, &figures));
        figures.extend(recorded.map(|totals| (Metric::LostMessages, totals.lost as f64)));
        Ok(figures)
    }

    /// Runs the workload once, and waits until the observer has caught up.
    fn perform(
        &self,
        stage: &MeasurementStage<'_>,
        observer: Option<u32>,
    ) -> Result<Figures, MeasureError> {
        let used = |pid: Option<u32>| pid.and_then(process::processor_time);
        let before = (wake_ups(stage), used(observer));
        let mut figures = self.workload.measure(stage)?.figures;
        figures.retain(|metric, _| KEPT.contains(metric));
        let units = self.workload.units() as f64;
        if let (Some(before), Some(after)) = (before.0, wake_ups(stage)) {
            figures.insert(Metric::BusWakeUps, (after - before) as f64 / units);
        }
        if let Some(observer) = observer {
            settle(observer, stage);
        }
        if let (Some(before), Some(after)) = (before.1, used(observer)) {
            let each = (after - before).as_nanos() as f64 / NS_PER_US / self.messages(units);
            figures.insert(Metric::WatcherCpuUs, each);
            let share = rate(&figures).map(|rate| self.messages(rate) * each / US_PER_S * 100.0);
            figures.extend(share.map(|share| (Metric::WatcherPercent, share)));
        }
        Ok(figures)
    }

    fn messages(&self, units: f64) -> f64 {
        units * self.workload.messages_each() as f64
    }

    fn price(&self, unwatched: &Figures, observed: &Figures) -> Figures {
        let mut price = Figures::new();
        if let (Some(before), Some(now)) = (rate(unwatched), rate(observed)) {
            price.insert(Metric::AddedPercent, (before / now - 1.0) * 100.0);
        }
        let bus_us = |figures: &Figures| figures.get(&Metric::BusCpuUs).copied();
        if let (Some(before), Some(now)) = (bus_us(unwatched), bus_us(observed)) {
            price.insert(Metric::AddedBusNs, (now - before) * NS_PER_US / self.messages(1.0));
        }
        price
    }
}

/// A stream that `diligence record` records.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub stream: StreamWorkload,
}

impl Workload for Recorded {
    fn requirements(&self) -> Requirements {
        Requirements { targets: ObserverKind::Recorder.targets(), ..self.stream.requirements() }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let workload = self.stream.clone();
        let observed = ObservedWorkload { observer: ObserverKind::Recorder, turns: 1, workload };
        let observer = observed.observer.begin(stage)?;
        let mut figures = observed.perform(stage, observer.pid())?;
        let received = observer.end(stage)?.map_or(0, |totals| totals.received - totals.lost);
        let lost = self.stream.count.saturating_sub(received);
        figures.insert(Metric::LostMessages, lost as f64);
        Ok(figures.into())
    }
}

/// Returns the units of work per second.
fn rate(figures: &Figures) -> Option<f64> {
    [Metric::CallsPerS, Metric::MessagesPerS].iter().find_map(|rate| figures.get(rate)).copied()
}

/// Returns how often the carrier went to sleep, and so was woken.
fn wake_ups(stage: &MeasurementStage<'_>) -> Option<u64> {
    stage.carrier_usage().map(|usage| usage.voluntary_switches)
}

/// Waits until a process is nearly idle.
fn settle(pid: u32, stage: &MeasurementStage<'_>) {
    while !stage.stop.left().is_zero() {
        let before = process::processor_time(pid);
        thread::sleep(SETTLING_TIME);
        let used = process::processor_time(pid).zip(before).map(|(now, before)| now - before);
        if used.is_none_or(|used| used < SETTLING_TIME / 10) {
            return;
        }
    }
}

/// The figures of a workload that depend on observation.
const KEPT: [Metric; 5] = [
    Metric::RoundTripUs,
    Metric::CallsPerS,
    Metric::MessagesPerS,
    Metric::MibPerS,
    Metric::BusCpuUs,
];

const US_PER_S: f64 = 1e6;

/// The interval in which a process that has caught up uses less than a tenth of a processor.
const SETTLING_TIME: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observation_cost_is_the_added_time() {
        let workload = CallWorkload::ping_pong(8, 1000);
        let observed = ObservedWorkload { observer: ObserverKind::Stamps, turns: 1, workload };
        let figures =
            |calls, bus| Figures::from([(Metric::CallsPerS, calls), (Metric::BusCpuUs, bus)]);
        let price = observed.price(&figures(21_000.0, 15.0), &figures(20_000.0, 15.5));
        let rounded: Vec<_> = price.iter().map(|(it, value)| (*it, value.round())).collect();
        assert_eq!(rounded, [(Metric::AddedPercent, 5.0), (Metric::AddedBusNs, 250.0)]);
        assert!(observed.price(&Figures::new(), &figures(1.0, 1.0)).is_empty());
    }
}
