//! The counters of the messages that a connection exchanges on its lanes, for the statistics of the
//! bus.

use std::io;
use std::os::fd::BorrowedFd;

use unix::shared::Writable;

/// The counters of one connection. The connection writes them, and the bus reads them.
#[derive(Debug)]
pub struct TrafficCounters {
    memory: Writable,
    sent: SharedCount,
    received: SharedCount,
}

#[derive(Clone, Copy, Debug, Default)]
struct SharedCount {
    messages: u64,
    bytes: u64,
}

impl TrafficCounters {
    /// Maps the counters of a descriptor that the bus has sent.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the descriptor is not one of the bus. Other errors if mappings or
    /// descriptors run out.
    pub fn map(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let memory = Writable::map(descriptor.try_clone_to_owned()?)?;
        if memory.len() < LEN_MIN {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the counters are incomplete"));
        }
        let (sent, received) = (SharedCount::default(), SharedCount::default());
        Ok(Self { memory, sent, received })
    }

    /// Counts a message of this length that was sent on a lane.
    #[inline]
    pub fn count_sent(&mut self, len: usize) {
        self.memory.write_words(SENT_AT, self.sent.add(len));
    }

    /// Counts a message of this length that was received on a lane.
    #[inline]
    pub fn count_received(&mut self, len: usize) {
        self.memory.write_words(RECEIVED_AT, self.received.add(len));
    }
}

impl SharedCount {
    /// Adds a message. Returns the words of the new amount.
    const fn add(&mut self, len: usize) -> [u64; 2] {
        self.messages += 1;
        self.bytes += len as u64;
        [self.messages, self.bytes]
    }
}

// `crates/broker/src/lanes.rs` describes the layout.
const SENT_AT: usize = 0;
const RECEIVED_AT: usize = 16;
const LEN_MIN: usize = RECEIVED_AT + 16;

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use unix::shared::{ReadOnly, create};

    use super::*;

    #[test]
    fn the_bus_reads_what_the_connection_counts() {
        let descriptor = create("test", 4096).unwrap();
        let reader = ReadOnly::map(descriptor.as_fd()).unwrap();
        let mut counters = TrafficCounters::map(descriptor.as_fd()).unwrap();
        [10, 20].into_iter().for_each(|len| counters.count_sent(len));
        counters.count_received(7);
        assert_eq!([0, 8, 16, 24].map(|at| reader.load(at)), [2, 30, 1, 7]);
    }
}
