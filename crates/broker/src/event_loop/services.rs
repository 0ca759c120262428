//! Services that are started as processes, and messages that wait for them.

use std::io::{self, Write};

use bus::{ForeignError, HeldFds, Input, StartFailure, StartId};
use sys::poll::{Interest, has_room};

use super::deliver::Origin;
use super::{EventLoop, Source};
use crate::activation::{ChildKey, Spoken};
use crate::fault::Fault;
use crate::os_error::OsError;

impl EventLoop {
    /// Starts a service. It is not waited for, not even until its program is executed.
    pub(super) fn start_service(&mut self, start: StartId, name: &str) {
        if let Err(failure) = self.launch(start, name) {
            self.answer(Input::StartFailed { start, failure }, None);
        }
    }

    fn launch(&mut self, start: StartId, name: &str) -> Result<(), StartFailure> {
        let changes = self.bus.activation_environment();
        let (program, origin) = self.launcher.program(name, &self.catalog, changes)?;
        let failed = |error| StartFailure::Fork(ForeignError::new(OsError::from(error)));
        let (process, output) = program.start(self.launcher.setup()).map_err(failed)?;
        let key = self.children.add(start, origin, process, output);
        self.watch_child(key).map_err(|error| {
            self.children.discard(key);
            failed(error)
        })
    }

    fn watch_child(&self, key: ChildKey) -> io::Result<()> {
        if let Some(process) = self.children.process(key) {
            self.poller.add(process, Source::Child(key).token(), Interest::Read)?;
        }
        if let Some(output) = self.children.output(key) {
            self.poller.add(output, Source::Output(key).token(), Interest::Read)?;
        }
        Ok(())
    }

    /// Kills what was started, since its time is over.
    pub(super) fn abandon(&mut self, start: StartId) {
        if let Err(error) = self.children.kill(start) {
            self.fault(Fault::StrayService(error));
        }
    }

    /// The process of a service has ended.
    pub(super) fn child_ended(&mut self, key: ChildKey) {
        let Some((start, failure)) = self.children.reap(key) else { return };
        // What it wrote last may tell why.
        for _ in 0..LAST_READS_MAX {
            if self.take_output(key) != Spoken::Bytes(OUTPUT_LEN) {
                break;
            }
        }
        if let Some(failure) = failure {
            self.handle(Input::StartFailed { start, failure });
        }
        self.children.forget_if_gone(key);
    }

    /// A service has written something to its standard error, or closed it.
    pub(super) fn child_spoke(&mut self, key: ChildKey) {
        self.take_output(key);
        self.children.forget_if_gone(key);
    }

    /// Passes on what a service wrote, once. If our own standard error takes nothing now, it waits
    /// in the pipe, and the service with it, but not the bus.
    fn take_output(&mut self, key: ChildKey) -> Spoken {
        let stderr = io::stderr();
        if !has_room(&stderr).unwrap_or(true) {
            self.pause_output(key);
            return Spoken::Nothing;
        }
        let mut buffer = [0; OUTPUT_LEN];
        let spoken = self.children.read(key, &mut buffer);
        if let Spoken::Bytes(count) = spoken {
            // There is nobody left to tell.
            let _ = stderr.lock().write_all(&buffer[..count]);
        }
        spoken
    }

    fn pause_output(&mut self, key: ChildKey) {
        let Some(output) = self.children.output(key) else { return };
        if self.poller.remove(output).is_err() {
            return;
        }
        if self.paused_outputs.is_empty() {
            let watched = self.poller.add(io::stderr(), Source::Stderr.token(), Interest::Write);
            if let Err(error) = watched {
                self.fault(Fault::ServiceOutput(error));
            }
        }
        self.paused_outputs.push(key);
    }

    /// Our own standard error takes more.
    pub(super) fn resume_outputs(&mut self) {
        let _ = self.poller.remove(io::stderr());
        for key in std::mem::take(&mut self.paused_outputs) {
            if let Some(output) = self.children.output(key) {
                let _ = self.poller.add(output, Source::Output(key).token(), Interest::Read);
            }
        }
    }

    /// Keeps the descriptors of a message that waits.
    pub(super) fn hold_fds(&mut self, held: HeldFds, origin: &Origin<'_>) {
        if let Origin::Peer { fds: Some(fds), .. } = origin {
            self.held_fds.insert(held, fds.clone());
        }
    }

    /// Closes them, if they are in no queue.
    pub(super) fn release_fds(&mut self, held: HeldFds) {
        self.held_fds.remove(&held);
    }
}

/// What is read of a pipe at once, and surely fits into another one that has room (`PIPE_BUF`).
const OUTPUT_LEN: usize = 4096;

/// How often a pipe is read when its process has ended: all that a pipe holds.
const LAST_READS_MAX: usize = 16;
