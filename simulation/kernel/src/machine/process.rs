//! Processes that the daemon has started.

use std::ffi::OsString;
use std::io;

use super::{File, Machine};
use crate::launch::Ending;

/// A process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its program, and the arguments of that.
    pub words: Vec<OsString>,
    /// How it has ended, if it has.
    pub end: Option<End>,
}

/// How a process has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With this status.
    Exited(i32),
    /// It was killed.
    Killed,
    /// There was no such program.
    NotExecuted,
}

impl Machine {
    pub(crate) fn start(&mut self, words: Vec<OsString>) -> u32 {
        let pid = FIRST_PID + self.processes.len() as u32;
        self.processes.insert(pid, Process { words, end: None });
        pid
    }

    /// The processes that run or have run, by number.
    pub fn processes(&self) -> impl Iterator<Item = (u32, &Process)> {
        self.processes.iter().map(|(pid, process)| (*pid, process))
    }

    /// Ends a process, if it has not ended before.
    pub fn end(&mut self, pid: u32, end: End) {
        if let Some(process) = self.processes.get_mut(&pid) {
            process.end.get_or_insert(end);
        }
        self.note_all(|file| file == File::Process(pid));
    }

    /// Ends all that run.
    pub fn end_all(&mut self) {
        let all: Vec<_> = self.processes.keys().copied().collect();
        all.into_iter().for_each(|pid| self.end(pid, End::Exited(0)));
    }

    pub(crate) fn has_ended(&self, pid: u32) -> bool {
        self.processes.get(&pid).is_some_and(|process| process.end.is_some())
    }

    pub(crate) fn ending(&self, pid: u32) -> Option<Ending> {
        Some(match self.processes.get(&pid)?.end? {
            End::Exited(status) => Ending::Exited(status),
            End::Killed => Ending::Signaled(9),
            End::NotExecuted => Ending::NotExecuted(io::ErrorKind::NotFound.into()),
        })
    }
}

const FIRST_PID: u32 = 10_000;
