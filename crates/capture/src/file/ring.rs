//! The memory of a bus's trace, as the bus leaves it in a file.

use std::io::{self, Read};

use ::trace::{Image, Piece};

use crate::record::{Bus, BusId, Damage, Method, Record};
use crate::trace::{Assembler, Patience};

/// Reads the file of a flight recorder.
#[derive(Debug)]
pub(super) struct Ring {
    image: Image,
    assembler: Assembler,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Start,
    Records,
    End,
}

impl Ring {
    pub(super) fn read(source: impl Read) -> io::Result<Self> {
        let image = Image::read(source)?;
        let assembler = Assembler::new(BusId(0), image.clock(), Patience::default());
        Ok(Self { image, assembler, stage: Stage::Start })
    }

    pub(super) fn next(&mut self) -> Option<Record<'_>> {
        if self.stage == Stage::Start {
            self.stage = Stage::Records;
            return Some(Record::Bus(about(&self.image)));
        }
        while self.stage == Stage::Records && !self.assembler.is_ready() {
            match self.image.step() {
                Some(Piece::Record(record)) => self.assembler.push(record.at, &record.entry),
                Some(Piece::Missed(missed)) => self.assembler.missed(missed.messages.into()),
                Some(Piece::Damage(at)) => {
                    let what = "no record of a trace stands here".to_owned();
                    return Some(Record::Damage(Damage { at, what }));
                }
                None => {
                    self.assembler.finish();
                    self.stage = Stage::End;
                }
            }
        }
        self.assembler.next_record()
    }
}

fn about(image: &Image) -> Bus {
    let kept_max = Some(image.kept()).filter(|&kept| kept != u32::MAX);
    Bus { method: Method::Trace, kept_max, ..Bus::default() }
}

/// The first bytes of such a file.
pub(super) const MAGIC: [u8; 8] = ::trace::layout::MAGIC;
