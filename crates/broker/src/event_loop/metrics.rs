//! Serves metrics between messages.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use sys::poll::Interest;

use super::loop_state::LoopState;
use super::source::EventSource;
use crate::fault::Fault;
use crate::metrics::{Metrics, MetricsPlace, Next, RestoredMetrics};

/// The metrics socket, if the configuration has one.
#[derive(Debug, Default)]
pub(super) struct MetricsService {
    metrics: Option<Metrics>,
}

impl MetricsService {
    pub(super) const fn new(metrics: Option<Metrics>) -> Self {
        Self { metrics }
    }

    /// Starts to watch the metrics socket, and to count members for it.
    pub(super) fn start(&mut self, state: &mut LoopState) -> io::Result<()> {
        if self.metrics.is_some() {
            state.bus.count_members(state.time());
            self.watch(state, MetricsPlace::Listener, Interest::Read)?;
        }
        Ok(())
    }

    /// The metrics socket, if there is one.
    pub(super) const fn metrics(&self) -> Option<&Metrics> {
        self.metrics.as_ref()
    }

    /// Continues a restored service. If that fails, the bus continues without it.
    pub(super) fn adopt(state: &mut LoopState, restored: Option<RestoredMetrics>) -> Self {
        let service = Self { metrics: restored.map(RestoredMetrics::adopt) };
        match service.watch_all(state) {
            Ok(()) => service,
            Err(error) => {
                let place = service.metrics.as_ref().map(|metrics| metrics.path().to_owned());
                state.fault(Fault::Metrics { place, error });
                Self::default()
            }
        }
    }

    fn watch_all(&self, state: &mut LoopState) -> io::Result<()> {
        let Some(metrics) = &self.metrics else { return Ok(()) };
        for (place, interest) in metrics.interests() {
            self.watch(state, place, interest)?;
        }
        Ok(())
    }

    /// Moves the socket to the path of a new configuration. If that fails, the old socket remains.
    pub(super) fn move_to(&mut self, state: &mut LoopState, wanted: Option<&Path>) {
        if self.metrics.as_ref().map(Metrics::path) == wanted {
            return;
        }
        let moved = wanted.map(Metrics::listen).transpose().and_then(|metrics| {
            let before = std::mem::replace(&mut self.metrics, metrics);
            // Dropping the old sockets ends their watches.
            self.start(state).inspect_err(|_| self.metrics = before)
        });
        if let Err(error) = moved {
            let place = wanted.map(Path::to_owned);
            state.fault(Fault::Metrics { place, error });
        }
    }

    /// Serves the metrics socket or one of its clients.
    pub(super) fn serve(&mut self, state: &mut LoopState, place: MetricsPlace) {
        let Some(metrics) = &mut self.metrics else { return };
        let outcome = metrics.serve(place, &state.bus, state.now).and_then(|next| match next {
            Next::Same | Next::Closed => Ok(()),
            Next::Watch(place, interest) => self.watch(state, place, interest),
            Next::Change(interest) => self.change(state, place, interest),
        });
        if let Err(error) = outcome {
            state.fault(Fault::Metrics { place: None, error });
        }
        self.watch_time(state);
    }

    /// Closes clients that have timed out.
    pub(super) fn check(&mut self, state: &mut LoopState) {
        if let Some(metrics) = &mut self.metrics {
            metrics.give_up(state.now);
        }
        self.watch_time(state);
    }

    fn watch_time(&self, state: &mut LoopState) {
        if let Some(due) = self.metrics.as_ref().and_then(|metrics| metrics.due()) {
            state.alarm.no_later_than(due);
        }
    }

    fn watch(&self, state: &LoopState, place: MetricsPlace, interest: Interest) -> io::Result<()> {
        let Some(socket) = self.socket(place) else { return Ok(()) };
        state.poller.add(socket, EventSource::Metrics(place).token(), interest)
    }

    fn change(&self, state: &LoopState, place: MetricsPlace, interest: Interest) -> io::Result<()> {
        let Some(socket) = self.socket(place) else { return Ok(()) };
        state.poller.modify(socket, EventSource::Metrics(place).token(), interest)
    }

    fn socket(&self, place: MetricsPlace) -> Option<BorrowedFd<'_>> {
        self.metrics.as_ref()?.socket(place)
    }
}
