//! Participants: connections with their programs and names, including closed ones.
//!
//! Participants are written to a separate ring, so that messages do not overwrite them and they do
//! not overwrite messages. Before the ring wraps around, all present connections are written again.
//! So the ring contains all present connections, and as many of the most recently closed ones as
//! fit.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Duration;

use bus::{Bus, TracedOwner};
use trace::record::Party;
use trace::{Entry, Follower, RingWriter, Step, layout};

use super::lookup::{ProcessOwner, ProcessRecord};
use super::programs::Programs;
use super::ring::clock_offset;

/// Writes participants to their ring.
#[derive(Debug)]
pub(crate) struct Participants {
    pub(super) ring: RingWriter,
    descriptor: OwnedFd,
    /// The position in the ring at which all present connections had been written.
    pub(super) listed_at: u64,
    pub(super) present: BTreeMap<u64, Present>,
    bus: Present,
}

/// A present connection, or the bus itself.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) owner: ProcessOwner,
    /// Shared by all connections of a process.
    pub(super) process: Rc<ProcessRecord>,
}

impl Participants {
    /// Creates an empty ring for a flight recorder whose ring of messages has `recorder_len` bytes.
    pub(super) fn new(recorder_len: u64) -> io::Result<Self> {
        let len = usize::try_from(recorder_len / SHARE).unwrap_or(LEN_MAX).clamp(LEN_MIN, LEN_MAX);
        let (ring, descriptor) = RingWriter::new(len, clock_offset(), 0)?;
        Ok(Self { ring, descriptor, listed_at: 0, present: BTreeMap::new(), bus: Present::own()? })
    }

    /// Continues a ring in which all present connections had been written at this position, and
    /// its descriptor for readers.
    pub(super) fn restored(
        (ring, descriptor): (RingWriter, OwnedFd),
        listed_at: u64,
    ) -> io::Result<Self> {
        let bus = Present::own()?;
        let mut restored = Self { ring, descriptor, listed_at, present: BTreeMap::new(), bus };
        // The process of the bus may be another one.
        restored.write_bus(sys::clock::monotonic());
        Ok(restored)
    }

    fn write_bus(&mut self, at: Duration) {
        self.ring.write(at, self.bus.process.entry(Party::Bus, self.bus.owner));
    }

    /// The descriptor by which other processes can read the ring.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Writes a connection and its process.
    pub(super) fn joined(&mut self, at: Duration, owner: ProcessOwner, process: Rc<ProcessRecord>) {
        let present = Present { owner, process };
        self.ring.write(at, present.entry());
        self.present.insert(owner.peer, present);
    }

    /// Writes the process of a connection that may have left.
    pub(super) fn identified(
        &mut self,
        at: Duration,
        owner: ProcessOwner,
        process: Rc<ProcessRecord>,
    ) {
        let late = Present { owner, process };
        self.ring.write(at, late.entry());
        if let Some(present) = self.present.get_mut(&owner.peer) {
            *present = late;
        }
    }

    /// Notes that a connection has closed.
    pub(super) fn left(&mut self, at: Duration, peer: u64, why: &str, programs: &mut Programs) {
        let Some(Present { owner, process }) = self.present.remove(&peer) else { return };
        self.ring.write(at, Entry::Left { peer, why });
        programs.left(owner.pid, process);
    }

    /// Notes that a well-known name has another owner.
    pub(crate) fn owner_changed(&mut self, at: Duration, owner: &TracedOwner) {
        let TracedOwner { ref name, old, new } = *owner;
        self.ring.write(at, Entry::OwnerChanged { name, old, new });
    }

    /// Whether so much was written that all present connections have to be written again.
    pub(crate) const fn is_due(&self) -> bool {
        let len = self.ring.len() as u64;
        self.ring.written() - self.listed_at >= len / 8 * 3
    }

    /// Writes all present connections, and replaces the ring with a larger one if they fill too much of it.
    pub(crate) fn list(&mut self, bus: &Bus) -> io::Result<Changed> {
        let mut changed = Changed::Nothing;
        loop {
            let written = self.list_once(bus);
            let len_needed = (written as usize).saturating_mul(4).min(LEN_MAX);
            if self.ring.len() >= len_needed {
                return Ok(changed);
            }
            self.grow(len_needed)?;
            changed = Changed::Memory;
        }
    }

    /// Writes all present connections once. Returns the number of written bytes.
    fn list_once(&mut self, bus: &Bus) -> u64 {
        let start = self.ring.written();
        let room = self.ring.len() as u64 / 2;
        let now = sys::clock::monotonic();
        self.write_bus(now);
        for (peer, number) in bus.participants() {
            if self.ring.written() - start > room {
                break;
            }
            if let Some(present) = self.present.get(&number) {
                self.ring.write(now, present.entry());
            }
            for name in bus.owned_names(peer) {
                self.ring.write(now, Entry::Owned { name, peer: number });
            }
        }
        self.listed_at = self.ring.written();
        self.listed_at - start
    }

    /// Replaces the ring with a larger one that has the same content. It must be registered for
    /// crashes again.
    fn grow(&mut self, len: usize) -> io::Result<()> {
        let (mut ring, descriptor) = RingWriter::new(len, clock_offset(), 0)?;
        let mut old = Follower::new(self.descriptor())?;
        loop {
            match old.step() {
                Step::Record(record) => ring.write(record.at, record.entry),
                Step::Missed(_) => {}
                Step::Nothing | Step::Stopped => break,
            }
        }
        // The old memory is freed, and must not be copied at a crash.
        sys::crash::forget();
        self.listed_at = ring.written();
        (self.ring, self.descriptor) = (ring, descriptor);
        Ok(())
    }

    /// A copy of the ring in the format of a file.
    pub(super) fn copy(&self) -> io::Result<Vec<u8>> {
        let used = self.ring.written().min(self.ring.len() as u64) as usize;
        let mut bytes = vec![0; layout::at::RING + used];
        let memory = File::from(self.descriptor.try_clone()?);
        memory.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}

impl Present {
    /// The participant that stands for the bus itself.
    fn own() -> io::Result<Self> {
        let (pid, uid) = (std::process::id(), sys::credentials::own_credentials()?.uid);
        let process = Rc::new(ProcessRecord::read(pid).unwrap_or_default());
        Ok(Self { owner: ProcessOwner { peer: 0, pid, uid }, process })
    }

    fn entry(&self) -> Entry<'_> {
        self.process.entry(Party::Peer(self.owner.peer), self.owner)
    }
}

/// Whether participants are in other memory than before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Changed {
    Nothing,
    Memory,
}

/// How many times smaller the ring is than the ring of messages. A connection leaves at least this many
/// times more bytes of messages than of descriptions, so every sender in the messages is described.
const SHARE: u64 = 4;

/// The size of the smallest ring in bytes.
const LEN_MIN: usize = 256 * 1024;

/// The size of the largest ring in bytes.
const LEN_MAX: usize = 16 << 20;
