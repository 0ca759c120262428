//! The measuring process's side of a peer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::marker::PhantomData;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;

use super::WorkloadRole;
use crate::stop::{StopCondition, WaitError};

/// A running peer process. It ends when dropped.
#[derive(Debug)]
pub(crate) struct RunningPeer<R> {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    name: String,
    stop: StopCondition,
    role: PhantomData<R>,
}

/// A line that a peer writes.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PeerLine<T> {
    Ready(String),
    Report(T),
}

impl<R: WorkloadRole> RunningPeer<R> {
    /// Starts the peer: adds its role to a command of this program, and waits until the peer is
    /// ready. All waits for the peer end when `stop` requires it.
    pub(crate) fn start(
        mut command: Command,
        stop: StopCondition,
        role: R,
    ) -> Result<Self, PeerError> {
        let words = serde_json::to_string(&(R::NAME, role)).map_err(io::Error::from)?;
        command.args([COMMAND, &words]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().expect("the pipe was requested"));
        let name = String::new();
        let mut peer = Self { process, stdin, stdout, name, stop, role: PhantomData };
        match peer.read::<()>()? {
            PeerLine::Ready(name) => peer.name = name,
            PeerLine::Report(()) => return Err(PeerError::OutOfTurn),
        }
        Ok(peer)
    }

    /// Its unique name; empty if there is no bus.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn begin(&mut self) -> Result<(), PeerError> {
        let stdin = self.stdin.as_mut().expect("it is taken only when the peer is dropped");
        match stdin.write_all(b"\n") {
            Ok(()) => Ok(()),
            Err(error) => Err(self.last_words().unwrap_or(PeerError::Io(error))),
        }
    }

    pub(crate) fn finish(&mut self) -> Result<R::Report, PeerError> {
        match self.read()? {
            PeerLine::Report(report) => Ok(report),
            PeerLine::Ready(_) => Err(PeerError::OutOfTurn),
        }
    }

    fn read<T: for<'d> Deserialize<'d>>(&mut self) -> Result<PeerLine<T>, PeerError> {
        if self.stdout.buffer().is_empty() {
            self.stop.wait_for(self.stdout.get_ref())?;
        }
        let mut line = String::new();
        match self.stdout.read_line(&mut line)? {
            0 => Err(self.last_words().unwrap_or(PeerError::OutOfTurn)),
            _ => serde_json::from_str(&line).map_err(|_| PeerError::OutOfTurn),
        }
    }

    /// Returns the error that a peer wrote before it ended.
    fn last_words(&mut self) -> Option<PeerError> {
        let mut words = String::new();
        self.process.stderr.take()?.read_to_string(&mut words).ok()?;
        let words = words.trim();
        (!words.is_empty()).then(|| PeerError::Said(words.to_owned()))
    }
}

impl<R> Drop for RunningPeer<R> {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // Fails if the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The hidden command of this program that runs a peer; its only argument is the name of a role and
/// the role, as JSON.
pub const COMMAND: &str = "bench-peer";

#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    #[error("a peer of the workload failed: {0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Said(String),
    #[error("a peer of the workload ended without a report")]
    OutOfTurn,
    #[error(transparent)]
    Wait(#[from] WaitError),
}
