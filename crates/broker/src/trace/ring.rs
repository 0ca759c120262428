//! One ring, and what is written there.

use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use bus::RingContents;
use trace::{Entry, RingWriter};

/// A ring that is written. Whoever reads is told when that ends.
#[derive(Debug)]
pub(crate) struct Ring {
    pub(super) writer: RingWriter,
    pub(super) wants: RingContents,
}

impl Ring {
    /// A ring of at least `len` bytes, and its descriptor.
    pub(crate) fn new(len: u64, kept: u32, wants: RingContents) -> io::Result<(Self, OwnedFd)> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let (writer, descriptor) = RingWriter::new(len, clock_offset(), kept)?;
        let unprovided = writer.unprovided();
        let thread = thread::Builder::new().name("trace-memory".to_owned());
        // Without the thread it costs time when the ring goes round for the first time.
        drop(thread.stack_size(STACK_LEN).spawn(|| unprovided.provide()));
        Ok((Self { writer, wants }, descriptor))
    }

    /// Bytes in it.
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

/// How many nanoseconds the time of day is ahead of the monotonic clock.
pub(super) fn clock_offset() -> i64 {
    let (day, monotonic) = (sys::clock::realtime(), sys::clock::monotonic());
    let nanos = day.as_nanos() as i128 - monotonic.as_nanos() as i128;
    i64::try_from(nanos).unwrap_or_default()
}

/// Bytes that a thread needs which only calls the kernel.
const STACK_LEN: usize = 64 * 1024;

// What the core counts is what a ring has.
const _: () = assert!(bus::RING_BYTES_MIN == trace::layout::RING_MIN as u64);
const _: () = assert!(bus::RING_BYTES_MAX == trace::layout::RING_MAX as u64);
