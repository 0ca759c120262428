//! Writes that the kernel rejects for lack of a resource, although the peer is connected.

use std::io;
use std::time::Duration;

use super::{SimulatedMachine, SocketId};

/// A write that failed because the machine lacked a resource.
#[derive(Clone, Debug)]
pub struct FailedWrite {
    /// The connection that the daemon wrote to.
    pub socket: SocketId,
    /// How many bytes the daemon had written to this connection before.
    pub position: u64,
    /// The bytes that the daemon tried to write.
    pub bytes: Vec<u8>,
}

/// The resources that the machine lacks, and the writes that failed for it.
#[derive(Debug, Default)]
pub(super) struct Shortages {
    /// The limit of open files of the daemon, if it has one.
    open_files: Option<u64>,
    /// The time until which writes to all connections with failures enabled fail with `ENOMEM`.
    no_memory_until: Duration,
    /// Failed writes that the world has not taken yet.
    failed: Vec<FailedWrite>,
    /// The number of failed writes since the daemon last waited.
    failed_in_turn: usize,
}

impl SimulatedMachine {
    /// Returns how many descriptors the daemon may have open.
    pub(crate) fn open_files(&self) -> u64 {
        self.shortages.open_files.unwrap_or(u64::MAX)
    }

    /// Sets the limit of open files, which the daemon reads when it starts.
    pub fn limit_open_files(&mut self, max: u64) {
        self.shortages.open_files = Some(max);
    }

    /// Enables failures for a connection: from now on, 1 in `once_in` writes to it fails.
    pub fn fail_writes(&mut self, id: SocketId, once_in: usize) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.fails_once_in = Some(once_in);
        }
    }

    /// Disables all failures of writes.
    pub fn end_shortages(&mut self) {
        self.shortages.no_memory_until = Duration::ZERO;
        self.sockets.values_mut().for_each(|socket| socket.fails_once_in = None);
    }

    /// Lets every write to a connection with failures enabled fail for `time`.
    pub fn run_out_of_memory(&mut self, time: Duration) {
        self.shortages.no_memory_until = self.now + time;
    }

    /// Returns the writes that failed since the previous call.
    pub fn take_failed_writes(&mut self) -> Vec<FailedWrite> {
        std::mem::take(&mut self.shortages.failed)
    }

    pub(super) const fn begin_turn(&mut self) {
        self.shortages.failed_in_turn = 0;
    }

    /// Returns the error of the next write to a connection, or `None` if it succeeds. `descriptors`
    /// is how many the write carries.
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

    /// Records a failed write.
    ///
    /// # Panics
    ///
    /// Panics if the daemon retries in a loop without waiting.
    pub(super) fn record_failed(&mut self, write: FailedWrite) {
        self.shortages.failed_in_turn += 1;
        assert!(
            self.shortages.failed_in_turn < FAILURES_MAX,
            "the daemon retries in a loop while the kernel rejects its writes"
        );
        if let Some(socket) = self.sockets.get_mut(&write.socket) {
            socket.failed.push(write.clone());
        }
        self.shortages.failed.push(write);
    }
}

// The codes of include/uapi/asm-generic/errno.h in the kernel.
const ENOMEM: i32 = 12;
const EMSGSIZE: i32 = 90;
const ENOBUFS: i32 = 105;
const ETOOMANYREFS: i32 = 109;

/// A number of failed writes between two waits that only a busy loop can reach.
const FAILURES_MAX: usize = 50_000;
