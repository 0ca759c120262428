//! Serving what is counted, between messages.

use std::io;

use sys::poll::Interest;

use super::{EventLoop, Source};
use crate::fault::Fault;
use crate::metrics::{Metrics, Next, Place};

impl EventLoop {
    /// Begins to watch the socket for what is counted, and to count what is told there.
    pub(super) fn start_metrics(&mut self) -> io::Result<()> {
        if self.metrics.is_some() {
            self.bus.count_members(self.time());
            self.watch_metrics(Place::Listener, Interest::Read)?;
        }
        Ok(())
    }

    /// Tells what is counted where a new configuration wants it. If that cannot be, it is told where
    /// it was.
    pub(super) fn move_metrics(&mut self) {
        let wanted = self.config.document.own.metrics_socket.as_deref();
        if self.metrics.as_ref().map(Metrics::path) == wanted {
            return;
        }
        let moved = wanted.map(Metrics::listen).transpose().and_then(|metrics| {
            let before = std::mem::replace(&mut self.metrics, metrics);
            // What is watched of the old one ends with it.
            self.start_metrics().inspect_err(|_| self.metrics = before)
        });
        if let Err(error) = moved {
            let place = self.config.document.own.metrics_socket.clone();
            self.fault(Fault::Metrics { place, error });
        }
    }

    /// Does what can be done for who wants to know.
    pub(super) fn serve_metrics(&mut self, place: Place) {
        let Some(metrics) = &mut self.metrics else { return };
        let outcome = metrics.serve(place, &self.bus, self.now).and_then(|next| match next {
            Next::Same | Next::Closed => Ok(()),
            Next::Watch(place, interest) => self.watch_metrics(place, interest),
            Next::Change(interest) => self.change_metrics(place, interest),
        });
        if let Err(error) = outcome {
            self.fault(Fault::Metrics { place: None, error });
        }
        self.watch_metrics_time();
    }

    /// Gives up who has taken too long.
    pub(super) fn check_metrics(&mut self) {
        if let Some(metrics) = &mut self.metrics {
            metrics.give_up(self.now);
        }
        self.watch_metrics_time();
    }

    fn watch_metrics_time(&mut self) {
        if let Some(due) = self.metrics.as_ref().and_then(|metrics| metrics.due()) {
            self.alarm.no_later_than(due);
        }
    }

    fn watch_metrics(&self, place: Place, interest: Interest) -> io::Result<()> {
        match self.metrics.as_ref().and_then(|metrics| metrics.socket(place)) {
            Some(socket) => self.poller.add(socket, Source::Metrics(place).token(), interest),
            None => Ok(()),
        }
    }

    fn change_metrics(&self, place: Place, interest: Interest) -> io::Result<()> {
        match self.metrics.as_ref().and_then(|metrics| metrics.socket(place)) {
            Some(socket) => self.poller.modify(socket, Source::Metrics(place).token(), interest),
            None => Ok(()),
        }
    }
}
