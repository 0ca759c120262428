//! Processes that the daemon has started.

use std::ffi::OsString;
use std::io;

use super::{SimulatedFile, SimulatedMachine};
use crate::launch::ChildEnding;

/// A process that the daemon has started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulatedProcess {
    /// The path of the program, followed by its arguments.
    pub words: Vec<OsString>,
    /// The way the process has ended, or `None` while it runs.
    pub end: Option<ProcessEnd>,
}

/// The way a simulated process has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessEnd {
    /// The process exited with this status.
    Exited(i32),
    /// The process was killed.
    Killed,
    /// The program does not exist.
    NotExecuted,
}

impl SimulatedMachine {
    pub(crate) fn start(&mut self, words: Vec<OsString>) -> u32 {
        let pid = FIRST_PID + self.processes.len() as u32;
        self.processes.insert(pid, SimulatedProcess { words, end: None });
        pid
    }

    /// Returns all processes that run or have run, ordered by process ID.
    pub fn processes(&self) -> impl Iterator<Item = (u32, &SimulatedProcess)> {
        self.processes.iter().map(|(pid, process)| (*pid, process))
    }

    /// Ends a process, unless it has ended before.
    pub fn end(&mut self, pid: u32, end: ProcessEnd) {
        if let Some(process) = self.processes.get_mut(&pid) {
            process.end.get_or_insert(end);
        }
        self.mark_candidates(|file| file == SimulatedFile::Process(pid));
    }

    /// Ends all running processes with status 0.
    pub fn end_all(&mut self) {
        let all: Vec<_> = self.processes.keys().copied().collect();
        all.into_iter().for_each(|pid| self.end(pid, ProcessEnd::Exited(0)));
    }

    pub(crate) fn has_ended(&self, pid: u32) -> bool {
        self.processes.get(&pid).is_some_and(|process| process.end.is_some())
    }

    pub(crate) fn ending(&self, pid: u32) -> Option<ChildEnding> {
        Some(match self.processes.get(&pid)?.end? {
            ProcessEnd::Exited(status) => ChildEnding::Exited(status),
            ProcessEnd::Killed => ChildEnding::Signaled(9),
            ProcessEnd::NotExecuted => ChildEnding::NotExecuted(io::ErrorKind::NotFound.into()),
        })
    }
}

const FIRST_PID: u32 = 10_000;
