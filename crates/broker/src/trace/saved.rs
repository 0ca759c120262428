//! Saves and restores traces. Their readers do not notice that another program writes on.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use bus::{PeerId, RingContents};
use serde::{Deserialize, Serialize};
use trace::{RingState, RingWriter};

use super::lookup::{ProcessOwner, ProcessRecord};
use super::participants::{Participants, Present};
use super::programs::Programs;
use super::{Active, Clock, Copies, RecorderRing, Ring, Rings, Traces};
use crate::connection::ReadTimes;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// The traces in a saved state.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SavedRings {
    since: u64,
    of_peers: Vec<(PeerId, SavedRing)>,
    recorder: Option<SavedRecorder>,
}

/// A ring in a saved state.
#[derive(Debug, Serialize, Deserialize)]
struct SavedRing {
    memory: FdIndex,
    all_messages: bool,
    programs: bool,
    kept: u64,
    position: u64,
    records: u32,
    messages: u32,
    segment_end: u64,
}

/// The flight recorder in a saved state.
#[derive(Debug, Serialize, Deserialize)]
struct SavedRecorder {
    ring: SavedRing,
    wanted_len: u64,
    participants: SavedRing,
    listed_at: u64,
    processes: Vec<SavedProcessRecord>,
    /// The number, the process id, the user id and the index of the process of each connection.
    present: Vec<(u64, u32, u32, u32)>,
}

/// The known facts about a process in a saved state.
#[derive(Debug, Serialize, Deserialize)]
struct SavedProcessRecord {
    since_boot: Option<Duration>,
    started: Option<i64>,
    program: String,
}

/// Traces whose memory is not mapped yet.
#[derive(Debug, Default)]
pub(crate) struct RestoredRings {
    since: u64,
    of_peers: Vec<(PeerId, RestoredRing)>,
    recorder: Option<RestoredRecorder>,
}

/// The descriptor and the state of a ring.
#[derive(Debug)]
struct RestoredRing {
    memory: OwnedFd,
    contents: RingContents,
    state: RingState,
}

#[derive(Debug)]
struct RestoredRecorder {
    ring: RestoredRing,
    wanted_len: u64,
    participants: RestoredRing,
    listed_at: u64,
    present: Vec<(ProcessOwner, Rc<ProcessRecord>)>,
}

impl Traces {
    /// Saves all traces. Programs that are being looked up are not saved.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedRings {
        let Some(active) = &self.active else { return SavedRings::default() };
        let Rings { of_peers, recorder } = &active.rings;
        let ring = |(peer, ring): &'f (PeerId, Ring)| (*peer, ring.save(fds));
        let of_peers = of_peers.iter().map(ring).collect();
        let recorder = recorder.as_ref().map(|recorder| recorder.save(fds));
        SavedRings { since: active.since, of_peers, recorder }
    }

    /// Continues restored traces. Returns the first error; the traces that it concerns have ended.
    pub(crate) fn adopt(restored: RestoredRings) -> (Self, Option<io::Error>) {
        let RestoredRings { since, of_peers, recorder } = restored;
        let mut rings = Rings::default();
        let mut programs = Programs::default();
        let mut failed = None;
        for (peer, ring) in of_peers {
            match ring.adopt() {
                Ok((ring, _)) => rings.of_peers.push((peer, ring)),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match recorder.map(|recorder| recorder.adopt(&mut programs)).transpose() {
            Ok(recorder) => rings.recorder = recorder,
            Err(error) => failed = failed.or(Some(error)),
        }
        let active = (!rings.is_empty()).then(|| {
            let (clock, copies) = (Clock::new(), Copies::default());
            let (reading, routing_since) = (ReadTimes::default(), None);
            Box::new(Active { rings, since, clock, copies, programs, reading, routing_since })
        });
        (Self { active }, failed)
    }
}

impl RestoredRings {
    /// Takes the descriptors of all traces.
    pub(crate) fn new(saved: SavedRings, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let ring = |(peer, ring)| Ok((peer, RestoredRing::new(ring, fds)?));
        let of_peers = saved.of_peers.into_iter().map(ring).collect::<Result<_, StateError>>()?;
        let recorder = saved.recorder.map(|recorder| RestoredRecorder::new(recorder, fds));
        Ok(Self { since: saved.since, of_peers, recorder: recorder.transpose()? })
    }
}

impl Ring {
    fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedRing {
        let Self { writer, wants } = self;
        SavedRing::of(writer, *wants, fds)
    }
}

impl SavedRing {
    fn of<'f>(writer: &'f RingWriter, wants: RingContents, fds: &mut FdCollector<'f>) -> Self {
        let RingState { kept, position, records, messages, segment_end } = writer.state();
        Self {
            memory: fds.add_borrowed(writer.descriptor()),
            all_messages: wants.all_messages,
            programs: wants.programs,
            kept,
            position,
            records,
            messages,
            segment_end,
        }
    }
}

impl RestoredRing {
    fn new(saved: SavedRing, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let SavedRing { kept, position, records, messages, segment_end, .. } = saved;
        let state = RingState { kept, position, records, messages, segment_end };
        let SavedRing { all_messages, programs, .. } = saved;
        let contents = RingContents { all_messages, programs };
        Ok(Self { memory: fds.take(saved.memory)?, contents, state })
    }

    fn adopt(self) -> io::Result<(Ring, OwnedFd)> {
        let (writer, reader) = RingWriter::restore(self.memory, self.state)?;
        Ok((Ring { writer, wants: self.contents }, reader))
    }
}

impl RecorderRing {
    fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedRecorder {
        let Self { ring, wanted_len, participants, .. } = self;
        let Participants { ring: ring_of_participants, listed_at, present, .. } = participants;
        let mut indices = HashMap::new();
        let mut processes = Vec::new();
        let mut index = |process: &Rc<ProcessRecord>| {
            *indices.entry(Rc::as_ptr(process)).or_insert_with(|| {
                let ProcessRecord { since_boot, started, ref program } = **process;
                let program = program.clone();
                processes.push(SavedProcessRecord { since_boot, started, program });
                processes.len() as u32 - 1
            })
        };
        let present = present.values().map(|Present { owner, process }| {
            let ProcessOwner { peer, pid, uid } = *owner;
            (peer, pid, uid, index(process))
        });
        let present = present.collect();
        let no_contents = RingContents { all_messages: false, programs: false };
        SavedRecorder {
            ring: ring.save(fds),
            wanted_len: *wanted_len,
            participants: SavedRing::of(ring_of_participants, no_contents, fds),
            listed_at: *listed_at,
            processes,
            present,
        }
    }
}

impl RestoredRecorder {
    fn new(saved: SavedRecorder, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let process = |SavedProcessRecord { since_boot, started, program }| {
            Rc::new(ProcessRecord { since_boot, started, program })
        };
        let processes: Vec<_> = saved.processes.into_iter().map(process).collect();
        let present = saved.present.into_iter().map(|(peer, pid, uid, index)| {
            let process = processes.get(index as usize).map(Rc::clone);
            let process = process.ok_or(StateError::Inconsistent("a process is missing"))?;
            Ok((ProcessOwner { peer, pid, uid }, process))
        });
        Ok(Self {
            present: present.collect::<Result<_, StateError>>()?,
            ring: RestoredRing::new(saved.ring, fds)?,
            wanted_len: saved.wanted_len,
            participants: RestoredRing::new(saved.participants, fds)?,
            listed_at: saved.listed_at,
        })
    }

    fn adopt(self, programs: &mut Programs) -> io::Result<RecorderRing> {
        let (ring, descriptor) = self.ring.adopt()?;
        let RestoredRing { memory, state, .. } = self.participants;
        let restored = RingWriter::restore(memory, state)?;
        let mut participants = Participants::restored(restored, self.listed_at)?;
        for (owner, process) in self.present {
            programs.share(owner.pid, &process);
            participants.present.insert(owner.peer, Present { owner, process });
        }
        Ok(RecorderRing { ring, descriptor, wanted_len: self.wanted_len, participants })
    }
}
