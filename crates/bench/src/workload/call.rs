//! The workload in which one process calls another.

use std::time::Duration;

use sys::process;

use super::{MIB, NS_PER_S, NS_PER_US, Requirements, Targets, Workload, WorkloadOutcome};
use crate::body_validation::BenchBodyValidation;
use crate::peer::{CallerPeer, CallerReport, EchoPeer, Payload, ReplyPayload, RunningPeer};
use crate::raw::ReadBuffer;
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// One process calls another: sequential calls (ping-pong), or several at once.
#[derive(Clone, Debug)]
pub(crate) struct CallWorkload {
    pub payload: Payload,
    /// The number of measured calls.
    pub count: u64,
    /// The number of calls that wait for replies at the same time.
    pub in_flight: u64,
    /// The number of bytes that the peers read at once.
    pub read_buffer: ReadBuffer,
    /// Whether both ends validate the bodies that they receive.
    pub body_validation: BenchBodyValidation,
    /// Whether the bus validates bodies; only this project's bus can skip it.
    pub bus_validation: BenchBodyValidation,
    /// The payload of the replies.
    pub answer: ReplyPayload,
}

impl CallWorkload {
    /// Sequential calls, each with an array of `size` bytes, which the reply carries back.
    pub(crate) const fn ping_pong(size: usize, count: u64) -> Self {
        Self {
            payload: Payload::Bytes(size),
            count,
            in_flight: 1,
            read_buffer: ReadBuffer::Ours,
            body_validation: BenchBodyValidation::Off,
            bus_validation: BenchBodyValidation::On,
            answer: ReplyPayload::Echo,
        }
    }

    /// Sequential calls, each with an array of `size` bytes. Replies are empty.
    pub(crate) fn one_way(size: usize, count: u64) -> Self {
        Self { answer: ReplyPayload::Empty, ..Self::ping_pong(size, count) }
    }
}

impl Workload for CallWorkload {
    fn requirements(&self) -> Requirements {
        let Self { read_buffer, bus_validation: body_validation, .. } = *self;
        let requirements = Requirements::of(match body_validation {
            BenchBodyValidation::On => Targets::Anything,
            BenchBodyValidation::Off => Targets::OurBus,
        });
        Requirements { read_buffer, body_validation, ..requirements }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        Ok(self.perform(stage)?.figures.into())
    }
}

/// The figures of both ends.
pub(super) struct CallMeasurement {
    pub(super) figures: Figures,
    pub(super) validated: u64,
}

/// The processes at both ends, which are connected.
pub(super) struct CallPair {
    pub(super) echo: RunningPeer<EchoPeer>,
    pub(super) caller: RunningPeer<CallerPeer>,
}

impl CallWorkload {
    /// Starts the processes at both ends.
    pub(super) fn start(&self, stage: &MeasurementStage<'_>) -> Result<CallPair, MeasureError> {
        self.start_with(stage, self.warm_up())
    }

    /// Starts the processes at both ends, with this number of warm-up calls.
    pub(super) fn start_with(
        &self,
        stage: &MeasurementStage<'_>,
        warm_up: u64,
    ) -> Result<CallPair, MeasureError> {
        let echo = stage.start(self.echo(stage, warm_up))?;
        let caller = stage.start(self.caller(stage, echo.name(), warm_up))?;
        Ok(CallPair { echo, caller })
    }

    /// The role of the process that replies, with this number of warm-up calls.
    pub(super) fn echo(&self, stage: &MeasurementStage<'_>, warm_up: u64) -> EchoPeer {
        EchoPeer {
            endpoint: stage.endpoint.clone(),
            well_known_name: None,
            calls: Some(self.count + warm_up),
            read_buffer: self.read_buffer,
            body_validation: self.body_validation,
            answer: self.answer,
        }
    }

    /// The role of the process that calls `destination`, with this number of warm-up calls.
    pub(super) fn caller(
        &self,
        stage: &MeasurementStage<'_>,
        destination: &str,
        warm_up: u64,
    ) -> CallerPeer {
        CallerPeer {
            endpoint: stage.endpoint.clone(),
            destination: destination.to_owned(),
            payload: self.payload.clone(),
            warm_up,
            count: self.count,
            turns: 1,
            in_flight: self.in_flight,
            read_buffer: self.read_buffer,
            body_validation: self.body_validation,
        }
    }

    /// Runs the calls, and returns the figures.
    pub(super) fn perform(
        &self,
        stage: &MeasurementStage<'_>,
    ) -> Result<CallMeasurement, MeasureError> {
        let count = self.count + self.warm_up();
        let CallPair { mut echo, mut caller } = self.start(stage)?;
        let before = stage.carrier_usage();
        let client = ClientTime::begin(caller.pid());
        caller.begin()?;
        let report = caller.finish()?;
        let mut figures = self.figures(&report);
        figures.extend(client.end(count).map(|time| (Metric::ClientCpuUs, time)));
        let bus_time = stage.carrier_time_since(before, count);
        figures.extend(bus_time.map(|time| (Metric::BusCpuUs, time)));
        echo.begin()?;
        let echoed = echo.finish()?;
        figures.insert(Metric::CallBytes, echoed.call_bytes as f64);
        figures.insert(Metric::ReplyBytes, report.reply_bytes as f64);
        Ok(CallMeasurement { figures, validated: echoed.validated + report.validated })
    }

    /// The number of warm-up calls, which are not measured.
    pub(super) const fn warm_up(&self) -> u64 {
        self.count / 10 + self.in_flight
    }

    /// Bytes of payload that both ends receive in a round trip.
    const fn payload_received(&self) -> usize {
        match self.answer {
            ReplyPayload::Empty => self.payload.len(),
            ReplyPayload::Echo => 2 * self.payload.len(),
        }
    }

    pub(super) fn figures(&self, report: &CallerReport) -> Figures {
        let per_second = self.count as f64 / (report.elapsed_ns as f64 / NS_PER_S);
        let mut figures = Figures::new();
        figures.insert(Metric::CallsPerS, per_second);
        figures.insert(Metric::MibPerS, per_second * self.payload_received() as f64 / MIB);
        if let Some(trips) = &report.round_trips {
            figures.insert(Metric::RoundTripUs, trips.p50_ns as f64 / NS_PER_US);
            figures.insert(Metric::RoundTripP90Us, trips.p90_ns as f64 / NS_PER_US);
            figures.insert(Metric::RoundTripP99Us, trips.p99_ns as f64 / NS_PER_US);
            figures.insert(Metric::RoundTripMaxUs, trips.max_ns as f64 / NS_PER_US);
        }
        figures
    }
}

/// Measures the processor time of a client.
pub(super) struct ClientTime {
    pid: u32,
    before: Option<Duration>,
}

impl ClientTime {
    pub(super) fn begin(pid: u32) -> Self {
        Self { pid, before: process::processor_time(pid) }
    }

    /// Returns the time per unit of work, in microseconds; `None` if the client has ended.
    pub(super) fn end(self, count: u64) -> Option<f64> {
        let used = process::processor_time(self.pid)?.saturating_sub(self.before?);
        Some(used.as_nanos() as f64 / NS_PER_US / count as f64)
    }
}
