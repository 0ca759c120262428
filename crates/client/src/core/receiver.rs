//! Bytes and descriptors that have arrived, until they are messages.

use std::collections::VecDeque;

use wire::framer::{Frame, Framer, FramerLimits, SCRATCH_LEN_MIN, Space};
use wire::message::{InvalidMessage, Message};

use super::incoming::{BufferPool, PooledBytes};

/// The part of a [`Core`](super::Core) that a reader needs while it waits for bytes. It can be
/// [taken](super::Core::take_receiver) out, so that other threads use the core meanwhile.
pub struct Receiver<D> {
    framer: Framer,
    scratch: Vec<u8>,
    /// Received descriptors that are not assigned to a message yet.
    arrived: VecDeque<D>,
}

impl<D> Receiver<D> {
    pub(super) fn new(limits: FramerLimits) -> Self {
        Self {
            framer: Framer::new(limits),
            scratch: vec![0; SCRATCH_LEN],
            arrived: VecDeque::new(),
        }
    }

    /// The buffer for the next received bytes. It is never empty.
    pub fn space(&mut self) -> Space<'_> {
        self.framer.park(&self.scratch);
        self.framer.space(&mut self.scratch)
    }

    /// Records that `count` bytes were read into [`space`](Self::space), and the descriptors that
    /// arrived with them.
    pub fn handle_received(&mut self, count: usize, descriptors: impl IntoIterator<Item = D>) {
        self.framer.received(count);
        let before = self.arrived.len();
        self.arrived.extend(descriptors);
        // The kernel passes at most 253 at once, so the cast is lossless.
        self.framer.received_fds((self.arrived.len() - before) as u32);
    }

    /// Records bytes that were read behind the end of the handshake.
    pub(super) fn handle_bytes(&mut self, bytes: &[u8]) {
        self.framer.park(&self.scratch);
        self.framer.keep(bytes);
        self.framer.unpark(&mut self.scratch);
    }

    /// Cuts the next complete message from the received bytes.
    pub(super) fn next(
        &mut self,
        pool: &BufferPool,
    ) -> Result<Option<PooledBytes>, InvalidMessage> {
        Ok(match self.framer.next(&self.scratch)? {
            None => None,
            Some(Frame::Scratch(bytes)) => Some(pool.copy_of(bytes)),
            Some(Frame::Owned(bytes)) => Some(pool.own(bytes)),
        })
    }

    /// Takes the descriptors of a message.
    pub(super) fn take_descriptors(
        &mut self,
        message: &Message<'_>,
    ) -> Result<Vec<D>, InvalidMessage> {
        let count = self.framer.claim_fds(message)? as usize;
        Ok(self.arrived.drain(..count).collect())
    }
}

/// Maximum number of bytes in one read: a burst of small messages, or a part of a large one.
const SCRATCH_LEN: usize = 2 * SCRATCH_LEN_MIN;
