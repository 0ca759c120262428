//! Reads from sockets into buffers with messages for the event loop.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{Bus, PeerId};
use wire::framer::{self, SCRATCH_LEN_MIN};

use super::Switchboard;
use super::flow::{is_unread, kernel_user};
use crate::connection::{End, Parked, Phase, ReadBacklog};
use crate::event_loop::loop_state::LoopState;
use crate::event_loop::work::{Buffers, TurnRecipients};

/// The kind and size of the data that one read returned.
pub(crate) enum ReadOutcome {
    Nothing,
    /// Handshake data of this many bytes.
    Lines(usize),
    /// This many bytes of messages, which are in the framer and the scratch buffer.
    Messages(usize),
}

impl Switchboard {
    /// Takes a scratch buffer that is not lent to a queue.
    pub(crate) fn take_scratch(&mut self) -> Rc<Vec<u8>> {
        self.buffers.take_free_scratch().unwrap_or_else(|| {
            // All buffers are lent. Usually it is enough to write the queues, while the bytes are
            // still in the processor's cache.
            self.flush();
            self.buffers.take_free_scratch().unwrap_or_else(|| self.more_scratch())
        })
    }

    /// Adds a scratch buffer. If there are many, one is reclaimed from queues that are not read.
    fn more_scratch(&mut self) -> Rc<Vec<u8>> {
        if self.buffers.scratch.len() >= SCRATCH_BUFFERS_MAX {
            for &peer in &self.work.timed {
                if let Some(connection) = self.state.table.get_mut(peer) {
                    connection.queue.return_lent();
                }
            }
        }
        let free = self.buffers.take_free_scratch();
        free.unwrap_or_else(|| Rc::new(vec![0; SCRATCH_LEN]))
    }

    /// Reads once from a connection into a scratch buffer.
    pub(crate) fn read(
        &mut self,
        peer: PeerId,
        buffer: &mut Rc<Vec<u8>>,
    ) -> Result<ReadOutcome, End> {
        let scratch = Rc::get_mut(buffer).expect("no part of it is lent");
        let Self { state, buffers, desk, fd_quotas, .. } = self;
        let LoopState { table, bus, now, .. } = state;
        let Some(connection) = table.get_mut(peer) else { return Ok(ReadOutcome::Nothing) };
        if connection.end.is_some() || connection.has_backlog() || is_unread(connection, bus, *now)
        {
            return Ok(ReadOutcome::Nothing);
        }
        let Some(received) = connection.read(scratch, &mut buffers.fds)? else {
            return Ok(ReadOutcome::Nothing);
        };
        let bytes = received.bytes;
        let Phase::Messages(stream) = &mut connection.phase else {
            return Ok(ReadOutcome::Lines(bytes));
        };
        if let Some(active) = desk.traces.active() {
            stream.read = active.read(*now);
        }
        let user = kernel_user_of(bus, peer, &buffers.fds);
        stream.received(received, &mut buffers.fds, user, fd_quotas);
        Ok(ReadOutcome::Messages(bytes))
    }

    /// Whether the backlog of a connection is routed now. If the connection is held, so is its
    /// backlog.
    pub(crate) fn takes_backlog(&mut self, peer: PeerId) -> bool {
        let LoopState { table, bus, now, .. } = &mut self.state;
        let Some(connection) = table.get_mut(peer) else { return false };
        let is_held = connection.end.is_none() && is_unread(connection, bus, *now);
        if let (true, Phase::Messages(stream)) = (is_held, &mut connection.phase) {
            stream.backlog = ReadBacklog::Held;
        }
        !is_held
    }

    /// Copies messages that were read in an earlier turn back into the scratch buffer.
    pub(crate) fn unpark(&mut self, peer: PeerId, scratch: &mut Rc<Vec<u8>>) {
        let Some(connection) = self.state.table.get_mut(peer) else { return };
        let Phase::Messages(stream) = &mut connection.phase else { return };
        stream.backlog = ReadBacklog::Empty;
        if let Some(active) = self.desk.traces.active() {
            active.resume(stream.read);
        }
        stream.framer.unpark(Rc::get_mut(scratch).expect("no part of it is lent"));
    }

    /// Releases the scratch buffer for the next connection, and notes remaining work.
    pub(crate) fn finish_reading(
        &mut self,
        peer: PeerId,
        scratch: &[u8],
        routed: usize,
        received: Option<usize>,
    ) {
        let Self { state, work, buffers, .. } = self;
        let LoopState { table, now, .. } = state;
        let Some(connection) = table.get_mut(peer) else { return };
        let Phase::Messages(stream) = &mut connection.phase else { return };
        let Parked { has_more, fds_begin_to_wait, moved } = stream.park(scratch, *now);
        buffers.copied += moved;
        if has_more {
            stream.backlog = ReadBacklog::Queued;
            work.backlog.push_back(peer);
            connection.budget.note_flood(routed);
        } else if let Some(received) = received {
            connection.budget.note_all_routed(received);
        }
        if work.recipients != TurnRecipients::Nothing {
            connection.sent.is_broadcasting = work.recipients == TurnRecipients::Broadcast;
        }
        if work.recipients == TurnRecipients::Ready {
            connection.sent.ready_at = *now;
            if connection.sent.is_over(&connection.limits) {
                self.update_interest(peer);
            }
        }
        if fds_begin_to_wait {
            self.watch_time(peer);
        }
    }
}

/// The limits on received messages.
pub(crate) fn framer_limits(bus: &Bus) -> framer::FramerLimits {
    let limits = &bus.configuration().limits;
    // Forwarded messages get a SENDER field, and must still be valid with it.
    let message_len_max = usize::try_from(limits.max_message_size)
        .unwrap_or(usize::MAX)
        .min(wire::limits::FORWARDED_LEN_MAX);
    let message_fds_max = u32::try_from(limits.max_message_unix_fds).unwrap_or(u32::MAX);
    framer::FramerLimits { message_len_max, message_fds_max }
}

/// The user that the kernel reported, if descriptors have to be counted against it.
pub(crate) fn kernel_user_of(bus: &Bus, peer: PeerId, fds: &[OwnedFd]) -> Option<u32> {
    if fds.is_empty() { None } else { kernel_user(bus, peer) }
}

impl Buffers {
    fn take_free_scratch(&mut self) -> Option<Rc<Vec<u8>>> {
        let free = self.scratch.iter().position(|scratch| Rc::strong_count(scratch) == 1)?;
        Some(self.scratch.swap_remove(free))
    }
}

/// The maximum number of scratch buffers that may be lent.
const SCRATCH_BUFFERS_MAX: usize = 4;

/// The size of a scratch buffer in bytes.
const SCRATCH_LEN: usize = 256 * 1024;
const _: () = assert!(SCRATCH_LEN >= SCRATCH_LEN_MIN);
