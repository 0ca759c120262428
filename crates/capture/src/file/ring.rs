//! The memory of a bus's trace, as the bus leaves it in a file: the ring of the messages, and behind it
//! that of the participants, which older files do not have.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Read};
use std::time::Duration;

use ::trace::{Entry, Image, Participant, Piece};

use crate::record::{BusId, CaptureMethod, Damage, Fact, RecordedBus, RecordingRecord};
use crate::trace::{Assembler, AssemblerPatience, fact_of};

/// Reads the file of a flight recorder.
#[derive(Debug)]
pub(super) struct RingFile {
    image: Image,
    participants: RingParticipants,
    assembler: Assembler,
    stage: RingReadStage,
    cut: RingCut,
}

/// Whether the file is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RingCut {
    No,
    /// It ends at this byte, and nothing was reported so far.
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
        let assembler = Assembler::new(BusId(0), image.clock(), AssemblerPatience::default());
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
                // A cut at both ends of the ring is one.
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
            let what = "the file is cut here: descriptions of connections are missing".to_owned();
            return Some(RecordingRecord::Damage(Damage { at, what }));
        }
        self.assembler.next_record()
    }
}

/// A source whose bytes are counted.
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

/// What a file says about participants, in the order of time.
#[derive(Debug, Default)]
struct RingParticipants {
    facts: VecDeque<(Duration, Fact)>,
    /// Where in the file something stands that is no record.
    damage: VecDeque<u64>,
}

impl RingParticipants {
    /// Reads a ring that begins at this place in the file. Who is there for long was written several
    /// times; the first time counts, or the first with a program.
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

    /// Passes on what was so at this time, by the monotonic clock.
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
    RecordingRecord::Damage(Damage { at, what: "no record of a trace stands here".to_owned() })
}

/// The first bytes of such a file.
pub(super) const MAGIC: [u8; 8] = ::trace::layout::MAGIC;
