//! Reads the file of the bus's flight recorder: a ring of messages, followed by a ring of
//! participants, which older files lack.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Read};
use std::time::Duration;

use ::trace::{Entry, Image, Participant, Piece};

use crate::record::{BusId, CaptureMethod, Damage, Fact, RecordedBus, RecordingRecord};
use crate::trace::{Assembler, AssemblerLimits, fact_of};

/// Reads a file of the flight recorder.
#[derive(Debug)]
pub(super) struct RingFile {
    image: Image,
    participants: RingParticipants,
    assembler: Assembler,
    stage: RingReadStage,
    cut: RingCut,
}

/// The completeness of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RingCut {
    No,
    /// The file ends at this byte, which was not reported so far.
    At(u64),
    Reported,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RingReadStage {
    Start,
    Records,
    End,
}

impl RingFile {
    pub(super) fn read(mut source: impl Read) -> io::Result<Self> {
        let mut source = CountedReader { source: &mut source, count: 0 };
        let image = Image::read(&mut source)?;
        let mut is_cut = image.is_short();
        let participants = match Image::read(&mut source) {
            Ok(ring) => {
                is_cut |= ring.is_cut();
                RingParticipants::read(ring, image.file_len())
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => RingParticipants::default(),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                is_cut = true;
                RingParticipants::default()
            }
            Err(error) => return Err(error),
        };
        let cut = if is_cut { RingCut::At(source.count) } else { RingCut::No };
        let assembler = Assembler::new(BusId(0), image.clock(), AssemblerLimits::default());
        Ok(Self { image, participants, assembler, stage: RingReadStage::Start, cut })
    }

    pub(super) fn next(&mut self) -> Option<RecordingRecord<'_>> {
        if self.stage == RingReadStage::Start {
            self.stage = RingReadStage::Records;
            return Some(RecordingRecord::Bus(about(&self.image)));
        }
        if let Some(at) = self.participants.damage.pop_front() {
            return Some(damage(at));
        }
        while self.stage == RingReadStage::Records && !self.assembler.is_ready() {
            match self.image.step() {
                Some(Piece::Record(record)) => {
                    self.participants.add_until(record.at, &mut self.assembler);
                    self.assembler.push(record.at, &record.entry);
                }
                Some(Piece::Missed(missed)) => self.assembler.missed(missed.messages.into()),
                // The ring may be cut at both ends, which counts as a single gap.
                Some(Piece::Cut(None)) if self.cut == RingCut::Reported => {}
                Some(Piece::Cut(missed)) => {
                    self.cut = RingCut::Reported;
                    self.assembler.cut(missed.map(|missed| missed.messages.into()));
                }
                Some(Piece::Damage(at)) => return Some(damage(at)),
                None => {
                    self.participants.add_until(Duration::MAX, &mut self.assembler);
                    self.assembler.finish();
                    self.stage = RingReadStage::End;
                }
            }
        }
        if self.stage == RingReadStage::End
            && let RingCut::At(at) = self.cut
        {
            self.cut = RingCut::Reported;
            let what =
                "the file is truncated here: descriptions of connections are missing".to_owned();
            return Some(RecordingRecord::Damage(Damage { at, what }));
        }
        self.assembler.next_record()
    }
}

/// A reader that counts the bytes read.
struct CountedReader<R> {
    source: R,
    count: u64,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.count += count as u64;
        Ok(count)
    }
}

/// The facts about participants in the file, in order of time.
#[derive(Debug, Default)]
struct RingParticipants {
    facts: VecDeque<(Duration, Fact)>,
    /// The offsets in the file of invalid records.
    damage: VecDeque<u64>,
}

impl RingParticipants {
    /// Reads the ring at this offset in the file. Connections that last long were written several
    /// times; the first record of each counts, or the first one with a program.
    fn read(mut ring: Image, place: u64) -> Self {
        let clock = ring.clock();
        let (mut known, mut described) = (HashSet::new(), HashSet::new());
        let mut owners = HashMap::<String, Option<u64>>::new();
        let mut read = Self::default();
        while let Some(piece) = ring.step() {
            let record = match piece {
                Piece::Record(record) => record,
                Piece::Missed(_) | Piece::Cut(_) => continue,
                Piece::Damage(at) => {
                    read.damage.push_back(place + at);
                    continue;
                }
            };
            let is_news = match record.entry {
                Entry::Participant(Participant { who, program: "", .. }) => known.insert(who),
                Entry::Participant(Participant { who, .. }) => described.insert(who),
                Entry::Owned { name, peer } => {
                    owners.insert(name.to_owned(), Some(peer)) != Some(Some(peer))
                }
                Entry::OwnerChanged { name, new, .. } => {
                    owners.insert(name.to_owned(), new) != Some(new)
                }
                _ => true,
            };
            if let Some(fact) = fact_of(&record.entry, record.at, clock).filter(|_| is_news) {
                read.facts.push_back((record.at, fact));
            }
        }
        read
    }

    /// Adds the facts up to this time of the monotonic clock.
    fn add_until(&mut self, time: Duration, assembler: &mut Assembler) {
        while self.facts.front().is_some_and(|(at, _)| *at <= time)
            && let Some((at, fact)) = self.facts.pop_front()
        {
            assembler.fact(at, fact);
        }
    }
}

fn about(image: &Image) -> RecordedBus {
    let kept_max = Some(image.kept()).filter(|&kept| kept != u32::MAX);
    RecordedBus { method: CaptureMethod::Trace, kept_max, ..RecordedBus::default() }
}

fn damage(at: u64) -> RecordingRecord<'static> {
    RecordingRecord::Damage(Damage { at, what: "not a valid trace record".to_owned() })
}

/// The first bytes of a file of the flight recorder.
pub(super) const MAGIC: [u8; 8] = ::trace::layout::MAGIC;
