//! One ring buffer of a trace, and the entries written to it.

use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use bus::RingContents;
use trace::{Entry, RingWriter};

/// A ring buffer that the bus writes. On drop, it is marked as ended for its readers.
#[derive(Debug)]
pub(crate) struct Ring {
    pub(super) writer: RingWriter,
    pub(super) wants: RingContents,
}

impl Ring {
    /// Creates a ring of `len` bytes, within the limits of [`RingWriter::new`], and returns it with
    /// its descriptor.
    pub(crate) fn new(len: u64, kept: u32, wants: RingContents) -> io::Result<(Self, OwnedFd)> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let (writer, descriptor) = RingWriter::new(len, clock_offset(), kept)?;
        let unprovided = writer.unprovided();
        let thread = thread::Builder::new().name("trace-memory".to_owned());
        // Without the thread, the first pass through the ring is slower because of page faults.
        drop(thread.stack_size(STACK_LEN).spawn(|| unprovided.provide()));
        Ok((Self { writer, wants }, descriptor))
    }

    /// The length of the ring in bytes.
    pub(crate) const fn len(&self) -> u64 {
        self.writer.len() as u64
    }

    pub(crate) fn write(&mut self, at: Duration, entry: Entry<'_>) {
        self.writer.write(at, entry);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.writer.stop();
    }
}

/// The difference between the time of day and the monotonic clock, in nanoseconds.
pub(super) fn clock_offset() -> i64 {
    let (day, monotonic) = (sys::clock::realtime(), sys::clock::monotonic());
    let nanos = day.as_nanos() as i128 - monotonic.as_nanos() as i128;
    i64::try_from(nanos).unwrap_or_default()
}

/// The stack size of a thread that only makes system calls, in bytes.
const STACK_LEN: usize = 64 * 1024;

// The core accounts for the same minimum size that a ring has.
const _: () = assert!(bus::RING_BYTES_MIN == trace::layout::RING_MIN as u64);
const _: () = assert!(bus::RING_BYTES_MAX == trace::layout::RING_MAX as u64);
