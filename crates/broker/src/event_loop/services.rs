//! Starts services as child processes of the bus, and forwards their output. Messages that wait for
//! a service are in `bus::activation`.

use std::io::{self, Write};

use bus::{ForeignError, StartFailure, StartId};
use sys::poll::{Interest, has_room};

use super::loop_state::LoopState;
use super::source::EventSource;
use crate::activation::{Catalog, ChildKey, Launcher, OutputRead};
use crate::fault::Fault;
use crate::os_error::OsError;

/// Starts services as child processes, and forwards their output.
#[derive(Debug)]
pub(super) struct ServiceStarter {
    launcher: Launcher,
    pub(super) catalog: Catalog,
    /// The processes whose output waits until the bus's standard error is writable.
    paused_outputs: Vec<ChildKey>,
}

impl ServiceStarter {
    pub(super) const fn new(launcher: Launcher, catalog: Catalog) -> Self {
        Self { launcher, catalog, paused_outputs: Vec::new() }
    }

    /// Starts a service without waiting, not even until its program is executed.
    pub(super) fn launch(
        &mut self,
        state: &mut LoopState,
        start: StartId,
        name: &str,
    ) -> Result<(), StartFailure> {
        let changes = state.bus.activation_environment();
        let (program, origin) = self.launcher.program(name, &self.catalog, changes)?;
        let failed = |error| StartFailure::Fork(ForeignError::new(OsError::from(error)));
        let (process, output) = program.start(self.launcher.setup()).map_err(failed)?;
        let key = state.children.add(start, origin, process, output);
        Self::watch_child(state, key).map_err(|error| {
            state.children.discard(key);
            failed(error)
        })
    }

    /// Watches all restored children.
    pub(super) fn watch_all(state: &LoopState) -> io::Result<()> {
        state.children.keys().try_for_each(|key| Self::watch_child(state, key))
    }

    fn watch_child(state: &LoopState, key: ChildKey) -> io::Result<()> {
        if let Some(process) = state.children.process(key) {
            state.poller.add(process, EventSource::Child(key).token(), Interest::Read)?;
        }
        if let Some(output) = state.children.output(key) {
            state.poller.add(output, EventSource::Output(key).token(), Interest::Read)?;
        }
        Ok(())
    }

    /// Handles the end of a service process. Returns the failure of its activation, if it failed.
    /// The child must be forgotten (`Children::forget_if_gone`) when the failure is logged.
    pub(super) fn child_ended(
        &mut self,
        state: &mut LoopState,
        key: ChildKey,
    ) -> Option<(StartId, StartFailure)> {
        let (start, failure) = state.children.reap(key)?;
        // Its last output may contain the reason.
        for _ in 0..LAST_READS_MAX {
            if self.take_output(state, key) != OutputRead::Bytes(OUTPUT_LEN) {
                break;
            }
        }
        failure.map(|failure| (start, failure))
    }

    /// Handles output of a service on its standard error, or the end of this output.
    pub(super) fn child_spoke(&mut self, state: &mut LoopState, key: ChildKey) {
        self.take_output(state, key);
        state.children.forget_if_gone(key);
    }

    /// Forwards the output of a service, once. If the bus's standard error is not writable, the
    /// output waits in the pipe and may block the service, but not the bus.
    fn take_output(&mut self, state: &mut LoopState, key: ChildKey) -> OutputRead {
        let stderr = io::stderr();
        if !has_room(&stderr).unwrap_or(true) {
            self.pause_output(state, key);
            return OutputRead::Nothing;
        }
        let mut buffer = [0; OUTPUT_LEN];
        let spoken = state.children.read(key, &mut buffer);
        if let OutputRead::Bytes(count) = spoken {
            // The error cannot be reported anywhere else.
            let _ = stderr.lock().write_all(&buffer[..count]);
        }
        spoken
    }

    fn pause_output(&mut self, state: &mut LoopState, key: ChildKey) {
        let Some(output) = state.children.output(key) else { return };
        if state.poller.remove(output).is_err() {
            return;
        }
        if self.paused_outputs.is_empty() {
            let watched =
                state.poller.add(io::stderr(), EventSource::Stderr.token(), Interest::Write);
            if let Err(error) = watched {
                state.fault(Fault::ServiceOutput(error));
            }
        }
        self.paused_outputs.push(key);
    }

    /// Continues to forward output when the bus's standard error is writable again.
    pub(super) fn resume_outputs(&mut self, state: &mut LoopState) {
        let _ = state.poller.remove(io::stderr());
        for key in std::mem::take(&mut self.paused_outputs) {
            if let Some(output) = state.children.output(key) {
                let _ = state.poller.add(output, EventSource::Output(key).token(), Interest::Read);
            }
        }
    }
}

/// Bytes that are read from a pipe at once. Another pipe with any free space accepts them
/// (`PIPE_BUF`).
const OUTPUT_LEN: usize = 4096;

/// How often a pipe is read after its process has ended: enough for everything in the pipe.
const LAST_READS_MAX: usize = 16;
