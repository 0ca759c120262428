//! Writes that the machine does not take, although the peer is there.

use std::io;
use std::time::Duration;

use super::{SimulatedMachine, SocketId};

/// A write that failed because the machine was short of something.
#[derive(Clone, Debug)]
pub struct FailedWrite {
    /// The connection that was written to.
    pub socket: SocketId,
    /// How many bytes the daemon had written to this connection before.
    pub position: u64,
    /// What the daemon tried to write.
    pub bytes: Vec<u8>,
}

/// What the machine is short of.
#[derive(Debug, Default)]
pub(super) struct Shortages {
    /// The limit of open files of the daemon, if it has one.
    open_files: Option<u64>,
    /// Until when the machine has no memory for connections that may fail.
    no_memory_until: Duration,
    /// Writes that failed and that the world has not asked for yet.
    failed: Vec<FailedWrite>,
    /// Writes that failed since the daemon waited last.
    failed_in_turn: usize,
}

impl SimulatedMachine {
    /// How many descriptors the daemon may have open.
    pub(crate) fn open_files(&self) -> u64 {
        self.shortages.open_files.unwrap_or(u64::MAX)
    }

    /// Sets the limit of open files, which a daemon reads when it starts.
    pub fn limit_open_files(&mut self, max: u64) {
        self.shortages.open_files = Some(max);
    }

    /// From now on, one in so many writes to a connection fails.
    pub fn fail_writes(&mut self, id: SocketId, once_in: usize) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.fails_once_in = Some(once_in);
        }
    }

    /// From now on, no write fails.
    pub fn end_shortages(&mut self) {
        self.shortages.no_memory_until = Duration::ZERO;
        self.sockets.values_mut().for_each(|socket| socket.fails_once_in = None);
    }

    /// For so long, every write to a connection that may fail does.
    pub fn run_out_of_memory(&mut self, time: Duration) {
        self.shortages.no_memory_until = self.now + time;
    }

    /// The writes that failed since this was called last.
    pub fn take_failed_writes(&mut self) -> Vec<FailedWrite> {
        std::mem::take(&mut self.shortages.failed)
    }

    pub(super) const fn begin_turn(&mut self) {
        self.shortages.failed_in_turn = 0;
    }

    /// The error of the next write to a connection, if it fails.
    pub(super) fn next_shortage(&mut self, id: SocketId, descriptors: usize) -> Option<io::Error> {
        let once_in = self.sockets.get(&id)?.fails_once_in?;
        let code = if self.now < self.shortages.no_memory_until {
            ENOMEM
        } else if !self.chance.once_in(once_in) {
            return None;
        } else if descriptors > 0 && self.chance.once_in(2) {
            ETOOMANYREFS
        } else {
            [ENOBUFS, ENOMEM, EMSGSIZE][self.chance.below(3)]
        };
        Some(io::Error::from_raw_os_error(code))
    }

    /// A write has failed.
    pub(super) fn note_failed(&mut self, write: FailedWrite) {
        self.shortages.failed_in_turn += 1;
        assert!(
            self.shortages.failed_in_turn < FAILURES_MAX,
            "the daemon writes again and again while the machine takes nothing"
        );
        if let Some(socket) = self.sockets.get_mut(&write.socket) {
            socket.failed.push(write.clone());
        }
        self.shortages.failed.push(write);
    }
}

// As in the kernel's include/uapi/asm-generic/errno.h.
const ENOMEM: i32 = 12;
const EMSGSIZE: i32 = 90;
const ENOBUFS: i32 = 105;
const ETOOMANYREFS: i32 = 109;

/// More writes than a daemon has to do between two waits.
const FAILURES_MAX: usize = 50_000;
