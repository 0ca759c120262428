//! Saves and restores the queue of a connection.

use bus::PeerId;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{Charge, Contents, EntryKind, QueueEntry, Segment, WriteQueue, push_own};
use crate::saved_state::{FdCollector, RestoredFds, StateError};

/// The queue of a connection in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedQueue {
    /// The unwritten bytes of all entries.
    bytes: ByteBuf,
    entries: Vec<SavedEntry>,
    left: u64,
    dropped: u64,
}

/// A message in a saved queue.
#[derive(Debug, Serialize, Deserialize)]
struct SavedEntry {
    kind: EntryKind,
    left: usize,
    len: usize,
    from: Option<PeerId>,
    /// The index of the set of its descriptors, until they are sent.
    fds: Option<u32>,
    fd_count: u32,
    charge: Charge,
}

impl WriteQueue {
    /// Saves the queue, which must not use the staging area.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedQueue {
        let mut saved = SavedQueue {
            bytes: ByteBuf::with_capacity(self.len()),
            entries: Vec::new(),
            left: self.left,
            dropped: self.dropped,
        };
        let Some(contents) = &self.contents else { return saved };
        for segment in &contents.segments {
            saved.bytes.extend_from_slice(match segment {
                Segment::Own(chunk) => chunk.bytes(),
                Segment::Shared(slice) => slice.bytes(),
                Segment::Staged(_) => unreachable!("the staging area is empty between turns"),
            });
        }
        let save = |entry: &'f QueueEntry| SavedEntry {
            kind: entry.kind,
            left: entry.left,
            len: entry.len,
            from: entry.from,
            fds: entry.fds.as_ref().map(|set| fds.add_shared(set)),
            fd_count: entry.fd_count,
            charge: entry.charge,
        };
        saved.entries = contents.entries.iter().map(save).collect();
        saved
    }

    /// Restores a queue with its descriptors.
    pub(crate) fn restore(saved: SavedQueue, fds: &RestoredFds) -> Result<Self, StateError> {
        let SavedQueue { bytes, entries, left, dropped } = saved;
        if dropped > left || left.checked_add(bytes.len() as u64).is_none() {
            return Err(StateError::Inconsistent("the position of a queue is wrong"));
        }
        let mut queue = Self { contents: None, left, dropped };
        if entries.is_empty() && bytes.is_empty() {
            return Ok(queue);
        }
        let mut contents = Box::<Contents>::default();
        let mut rest = &bytes[..];
        for entry in entries {
            let (own, others) = rest.split_at_checked(entry.left).ok_or(WRONG_LENGTH)?;
            rest = others;
            contents.add(entry, own, fds)?;
        }
        match rest {
            [] => {
                queue.contents = Some(contents);
                Ok(queue)
            }
            _ => Err(WRONG_LENGTH),
        }
    }
}

impl Contents {
    fn add(
        &mut self,
        saved: SavedEntry,
        bytes: &[u8],
        fds: &RestoredFds,
    ) -> Result<(), StateError> {
        let SavedEntry { kind, left, len, from, fds: set, fd_count, charge } = saved;
        let is_whole = left == len;
        if left == 0 || left > len || !(is_whole || self.entries.is_empty()) {
            return Err(StateError::Inconsistent("the length of a queued message is wrong"));
        }
        let set = set.map(|index| fds.shared(index)).transpose()?;
        let has_all = set.as_ref().is_none_or(|set| set.len() as u32 == fd_count && is_whole);
        if !has_all {
            return Err(StateError::Inconsistent("a queued message lacks descriptors"));
        }
        push_own(&mut self.segments, &[bytes]);
        self.with_fds += usize::from(set.is_some());
        self.bytes += left;
        self.entries.push_back(QueueEntry { kind, left, len, from, fds: set, fd_count, charge });
        Ok(())
    }
}

const WRONG_LENGTH: StateError =
    StateError::Inconsistent("the length of a queue differs from the sum of its messages");
