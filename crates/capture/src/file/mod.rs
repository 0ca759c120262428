//! The formats of recordings.
//!
//! [`PcapngWriter`] writes pcapng with what we add to it, as `docs/capture-format.md` describes it, and
//! [`PcapWriter`] classic pcap.
//! [`RecordingReader`] reads that, and what others write: pcap, pcapng, what `dbus-monitor` prints in each
//! of its modes, and what the flight recorder of our bus leaves; all of them compressed or not.

mod binary;
mod number;
mod packed;
mod pcap;
mod pcapng;
mod printed;
mod profile;
mod rebuilt;
mod ring;
mod text;
mod window;

use std::io::{self, Read};

pub use pcap::PcapWriter;
pub use pcapng::{PcapngWriter, WrittenCounts};

use crate::record::RecordingRecord;
use binary::Binary;
use packed::{MessagePlaces, Unpacked};
use pcap::Pcap;
use pcapng::Pcapng;
use printed::{PrintedForm, PrintedText};
use ring::RingFile;
use window::FileWindow;

/// Reads a recording, whichever format it has.
#[derive(Debug)]
pub struct RecordingReader<R: Read> {
    format: FormatReader<Unpacked<R>>,
    places: MessagePlaces,
}

#[derive(Debug)]
enum FormatReader<R> {
    Pcap(Pcap<R>),
    Pcapng(Pcapng<R>),
    Binary(Binary<R>),
    Printed(PrintedText<R>),
    Ring(Box<RingFile>),
}

impl<R: Read> RecordingReader<R> {
    /// Finds out which format a file has, by its first bytes; `None` if by them it is no recording.
    ///
    /// # Errors
    ///
    /// If it cannot be read; of kind `InvalidData` if it cannot be decompressed.
    pub fn new(source: R) -> io::Result<Option<Self>> {
        let (window, places) = packed::unpack(FileWindow::new(source))?;
        Ok(FormatReader::of(window)?.map(|format| Self { format, places }))
    }

    /// The next thing that the recording says; `None` at its end.
    pub fn next_record(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        let mut record = match &mut self.format {
            FormatReader::Pcap(format) => format.next(),
            FormatReader::Pcapng(format) => format.next(),
            FormatReader::Binary(format) => format.next(),
            FormatReader::Printed(format) => format.next(),
            FormatReader::Ring(format) => Ok(format.next()),
        }?;
        if let (MessagePlaces::Nowhere, Some(RecordingRecord::Message(raw))) =
            (self.places, &mut record)
        {
            raw.place = None;
        }
        Ok(record)
    }
}

impl<R: Read> FormatReader<R> {
    fn of(mut window: FileWindow<R>) -> io::Result<Option<Self>> {
        let start = window.peek(START_LEN)?;
        let is_pcap = start.first_chunk().is_some_and(|magic| pcap::magic(magic).is_some());
        Ok(Some(if is_pcap {
            Self::Pcap(Pcap::new(window))
        } else if pcapng::is_start(start) {
            Self::Pcapng(Pcapng::new(window))
        } else if start.starts_with(&ring::MAGIC) {
            Self::Ring(Box::new(RingFile::read(window.read_on())?))
        } else if binary::is_start(start) {
            Self::Binary(Binary::new(window))
        } else if profile::is_start(start) {
            Self::Printed(PrintedText::new(window, PrintedForm::Profile))
        } else if text::is_start(start) {
            Self::Printed(PrintedText::new(window, PrintedForm::Messages))
        } else {
            window.check()?;
            return Ok(None);
        }))
    }
}

/// Bytes by which a format is known. A text may begin with something that is no message.
const START_LEN: usize = 1 << 12;
