//! Serves metrics between messages.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use sys::poll::Interest;

use super::source::EventSource;
use super::station::Station;
use crate::fault::Fault;
use crate::metrics::{Metrics, MetricsPlace, Next};

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
    pub(super) fn start(&mut self, station: &mut Station) -> io::Result<()> {
        if self.metrics.is_some() {
            station.bus.count_members(station.time());
            self.watch(station, MetricsPlace::Listener, Interest::Read)?;
        }
        Ok(())
    }

    /// Moves the socket to the path of a new configuration. If that fails, the old socket remains.
    pub(super) fn move_to(&mut self, station: &mut Station, wanted: Option<&Path>) {
        if self.metrics.as_ref().map(Metrics::path) == wanted {
            return;
        }
        let moved = wanted.map(Metrics::listen).transpose().and_then(|metrics| {
            let before = std::mem::replace(&mut self.metrics, metrics);
            // Dropping the old sockets ends their watches.
            self.start(station).inspect_err(|_| self.metrics = before)
        });
        if let Err(error) = moved {
            let place = wanted.map(Path::to_owned);
            station.fault(Fault::Metrics { place, error });
        }
    }

    /// Serves the metrics socket or one of its clients.
    pub(super) fn serve(&mut self, station: &mut Station, place: MetricsPlace) {
        let Some(metrics) = &mut self.metrics else { return };
        let outcome = metrics.serve(place, &station.bus, station.now).and_then(|next| match next {
            Next::Same | Next::Closed => Ok(()),
            Next::Watch(place, interest) => self.watch(station, place, interest),
            Next::Change(interest) => self.change(station, place, interest),
        });
        if let Err(error) = outcome {
            station.fault(Fault::Metrics { place: None, error });
        }
        self.watch_time(station);
    }

    /// Closes clients that have timed out.
    pub(super) fn check(&mut self, station: &mut Station) {
        if let Some(metrics) = &mut self.metrics {
            metrics.give_up(station.now);
        }
        self.watch_time(station);
    }

    fn watch_time(&self, station: &mut Station) {
        if let Some(due) = self.metrics.as_ref().and_then(|metrics| metrics.due()) {
            station.alarm.no_later_than(due);
        }
    }

    fn watch(&self, station: &Station, place: MetricsPlace, interest: Interest) -> io::Result<()> {
        let Some(socket) = self.socket(place) else { return Ok(()) };
        station.poller.add(socket, EventSource::Metrics(place).token(), interest)
    }

    fn change(&self, station: &Station, place: MetricsPlace, interest: Interest) -> io::Result<()> {
        let Some(socket) = self.socket(place) else { return Ok(()) };
        station.poller.modify(socket, EventSource::Metrics(place).token(), interest)
    }

    fn socket(&self, place: MetricsPlace) -> Option<BorrowedFd<'_>> {
        self.metrics.as_ref()?.socket(place)
    }
}
