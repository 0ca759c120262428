//! The counters that the bus shares with the ends of lanes.

use std::io;
use std::os::fd::BorrowedFd;

use unix::shared::ReadOnly;

/// The counters of one connection.
///
/// The bus stores `queued` of each recipient before `routed` of the sender. So a connection that
/// sees its own message routed also sees that it is queued for others.
#[derive(Debug)]
pub struct Progress(ReadOnly);

impl Progress {
    /// Maps the counters of a descriptor that the bus has sent.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the descriptor is not one of the bus. Other errors if mappings run out.
    pub fn map(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let memory = ReadOnly::map(descriptor)?;
        if memory.len() < LEN_MIN {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the counters are incomplete"));
        }
        Ok(Self(memory))
    }

    /// Messages of the connection that the bus has routed.
    #[inline]
    pub fn routed(&self) -> u64 {
        self.0.load_acquire(ROUTED_AT)
    }

    /// How often the names of the connection have changed.
    #[inline]
    pub fn name_changes(&self) -> u64 {
        self.0.load_acquire(NAME_CHANGES_AT)
    }

    /// Messages that the bus has queued for the connection, including those that it has received.
    #[inline]
    pub fn queued(&self) -> u64 {
        self.0.load_acquire(QUEUED_AT)
    }
}

// `crates/broker/src/lanes.rs` describes the layout.
const ROUTED_AT: usize = 0;
const NAME_CHANGES_AT: usize = 8;
const QUEUED_AT: usize = 64;
const LEN_MIN: usize = QUEUED_AT + 8;
