//! Services that the bus starts as its own processes, and their output. Messages that wait for a service are
//! in `bus::activation`.

use std::io::{self, Write};

use bus::{ForeignError, StartFailure, StartId};
use sys::poll::{Interest, has_room};

use super::source::EventSource;
use super::station::Station;
use crate::activation::{Catalog, ChildKey, Launcher, Spoken};
use crate::fault::Fault;
use crate::os_error::OsError;

/// Starts services as processes, and passes on what they write.
#[derive(Debug)]
pub(super) struct ServiceStarter {
    launcher: Launcher,
    pub(super) catalog: Catalog,
    /// The processes whose output waits for our own standard error.
    paused_outputs: Vec<ChildKey>,
}

impl ServiceStarter {
    pub(super) const fn new(launcher: Launcher, catalog: Catalog) -> Self {
        Self { launcher, catalog, paused_outputs: Vec::new() }
    }

    /// Starts a service. It is not waited for, not even until its program is executed.
    pub(super) fn launch(
        &mut self,
        station: &mut Station,
        start: StartId,
        name: &str,
    ) -> Result<(), StartFailure> {
        let changes = station.bus.activation_environment();
        let (program, origin) = self.launcher.program(name, &self.catalog, changes)?;
        let failed = |error| StartFailure::Fork(ForeignError::new(OsError::from(error)));
        let (process, output) = program.start(self.launcher.setup()).map_err(failed)?;
        let key = station.children.add(start, origin, process, output);
        Self::watch_child(station, key).map_err(|error| {
            station.children.discard(key);
            failed(error)
        })
    }

    fn watch_child(station: &Station, key: ChildKey) -> io::Result<()> {
        if let Some(process) = station.children.process(key) {
            station.poller.add(process, EventSource::Child(key).token(), Interest::Read)?;
        }
        if let Some(output) = station.children.output(key) {
            station.poller.add(output, EventSource::Output(key).token(), Interest::Read)?;
        }
        Ok(())
    }

    /// The process of a service has ended. Returns the failure of its start, if that has failed. The
    /// child must be [forgotten](Children::forget_if_gone) when the failure is logged.
    pub(super) fn child_ended(
        &mut self,
        station: &mut Station,
        key: ChildKey,
    ) -> Option<(StartId, StartFailure)> {
        let (start, failure) = station.children.reap(key)?;
        // What it wrote last may tell why.
        for _ in 0..LAST_READS_MAX {
            if self.take_output(station, key) != Spoken::Bytes(OUTPUT_LEN) {
                break;
            }
        }
        failure.map(|failure| (start, failure))
    }

    /// A service has written something to its standard error, or closed it.
    pub(super) fn child_spoke(&mut self, station: &mut Station, key: ChildKey) {
        self.take_output(station, key);
        station.children.forget_if_gone(key);
    }

    /// Passes on what a service wrote, once. If our own standard error takes nothing now, it waits
    /// in the pipe, and the service with it, but not the bus.
    fn take_output(&mut self, station: &mut Station, key: ChildKey) -> Spoken {
        let stderr = io::stderr();
        if !has_room(&stderr).unwrap_or(true) {
            self.pause_output(station, key);
            return Spoken::Nothing;
        }
        let mut buffer = [0; OUTPUT_LEN];
        let spoken = station.children.read(key, &mut buffer);
        if let Spoken::Bytes(count) = spoken {
            // There is nobody left to tell.
            let _ = stderr.lock().write_all(&buffer[..count]);
        }
        spoken
    }

    fn pause_output(&mut self, station: &mut Station, key: ChildKey) {
        let Some(output) = station.children.output(key) else { return };
        if station.poller.remove(output).is_err() {
            return;
        }
        if self.paused_outputs.is_empty() {
            let watched =
                station.poller.add(io::stderr(), EventSource::Stderr.token(), Interest::Write);
            if let Err(error) = watched {
                station.fault(Fault::ServiceOutput(error));
            }
        }
        self.paused_outputs.push(key);
    }

    /// Our own standard error takes more.
    pub(super) fn resume_outputs(&mut self, station: &mut Station) {
        let _ = station.poller.remove(io::stderr());
        for key in std::mem::take(&mut self.paused_outputs) {
            if let Some(output) = station.children.output(key) {
                let _ =
                    station.poller.add(output, EventSource::Output(key).token(), Interest::Read);
            }
        }
    }
}

/// What is read of a pipe at once, and surely fits into another one that has room (`PIPE_BUF`).
const OUTPUT_LEN: usize = 4096;

/// How often a pipe is read when its process has ended: all that a pipe holds.
const LAST_READS_MAX: usize = 16;
