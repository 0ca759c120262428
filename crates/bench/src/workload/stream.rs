//! The workload in which one process sends at full rate.

use super::{MIB, NS_PER_S, NS_PER_US, Requirements, Targets, Workload, WorkloadOutcome};
use crate::peer::{
    Emitter, EmitterReport, ListenerPeer, ListenerReport, RunningPeer, SignalContent, Stamps,
    VOLUMES_RULE,
};
use crate::raw::sample_rule;
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// One process sends signals at full rate, to one recipient or to all subscribers.
#[derive(Clone, Debug)]
pub(crate) struct StreamWorkload {
    /// The content of each signal. Time stamps, which measure the time from emission to receipt,
    /// cost a clock reading at both ends.
    pub content: SignalContent,
    pub count: u64,
    pub to: StreamRecipients,
}

/// The recipients of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamRecipients {
    /// One process, the unicast destination.
    Addressed,
    /// This many processes, each with a match rule.
    Subscribed(u64),
}

impl Workload for StreamWorkload {
    fn requirements(&self) -> Requirements {
        Requirements::of(Targets::Carriers)
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let count = match self.to {
            StreamRecipients::Addressed => 1,
            StreamRecipients::Subscribed(count) => count,
        };
        let listeners: Result<Vec<_>, _> =
            (0..count).map(|_| stage.start(self.listener(stage))).collect();
        let mut listeners = listeners?;
        let destination = match (self.to, listeners.first()) {
            (StreamRecipients::Addressed, Some(first)) => first.name().to_owned(),
            _ => String::new(),
        };
        let mut emitter = stage.start(Emitter::of_stream(
            &stage.endpoint,
            destination,
            self.content,
            self.count,
        ))?;
        let before = stage.carrier_usage();
        emitter.begin()?;
        let emitted = emitter.finish()?;
        let reports: Result<Vec<_>, _> = listeners.iter_mut().map(RunningPeer::finish).collect();
        let mut figures = self.figures(&emitted, &reports?)?;
        let bus_time = stage.carrier_time_since(before, self.count);
        figures.extend(bus_time.map(|time| (Metric::BusCpuUs, time)));
        let peak = stage.carrier_usage().map(|usage| usage.peak_resident_bytes as f64 / MIB);
        figures.extend(peak.map(|peak| (Metric::BusPeakMib, peak)));
        Ok(figures.into())
    }
}

impl StreamWorkload {
    /// Unicast signals to one process, without measuring their delay.
    pub(crate) const fn addressed(size: usize, count: u64) -> Self {
        let content = SignalContent::Bytes { size, stamps: Stamps::Off };
        Self { content, count, to: StreamRecipients::Addressed }
    }

    fn listener(&self, stage: &MeasurementStage<'_>) -> ListenerPeer {
        let (rule, stamps) = match self.content {
            SignalContent::Bytes { stamps, .. } => (sample_rule(), stamps),
            SignalContent::Volumes(_) => (VOLUMES_RULE.to_owned(), Stamps::Off),
        };
        let rules = match self.to {
            StreamRecipients::Addressed => Vec::new(),
            StreamRecipients::Subscribed(_) => vec![rule],
        };
        ListenerPeer::of_stream(&stage.endpoint, rules, self.count, stamps)
    }

    /// The bytes of a message that count: the payload or, if there is none, all bytes.
    fn bytes_each(&self, emitted: &EmitterReport) -> f64 {
        match self.content {
            SignalContent::Bytes { size, .. } => size as f64,
            SignalContent::Volumes(_) => emitted.bytes as f64 / emitted.sent.max(1) as f64,
        }
    }

    fn figures(
        &self,
        emitted: &EmitterReport,
        reports: &[ListenerReport],
    ) -> Result<Figures, MeasureError> {
        let begun = emitted.begun_ns.first().copied().unwrap_or_default();
        let last = reports.iter().map(|report| report.last_ns).max().unwrap_or_default();
        let received = reports.iter().map(|report| report.received).min().unwrap_or_default();
        if received == 0 {
            return Err(MeasureError::Lost { sent: emitted.sent, received });
        }
        let seconds = last.saturating_sub(begun) as f64 / NS_PER_S;
        let per_second = received as f64 / seconds;
        let mut figures = Figures::from([
            (Metric::MessagesPerS, per_second),
            (Metric::MibPerS, per_second * self.bytes_each(emitted) / MIB),
            (Metric::ReceivedPercent, received as f64 / self.count as f64 * 100.0),
            (Metric::SendTimeouts, emitted.timeouts as f64),
            (Metric::TotalMs, seconds * 1e3),
        ]);
        let delays = reports.iter().filter_map(|report| report.delays);
        if let Some(worst) = delays.max_by(|one, other| one.mean_ns.total_cmp(&other.mean_ns)) {
            figures.insert(Metric::DelayMeanUs, worst.mean_ns / NS_PER_US);
            figures.insert(Metric::DelayP99Us, worst.p99_ns as f64 / NS_PER_US);
        }
        Ok(figures)
    }
}
