//! The file formats of recordings.
//!
//! [`PcapngWriter`] writes pcapng with the additions that `docs/capture-format.md` describes, and
//! [`PcapWriter`] classic pcap. [`RecordingReader`] reads both, pcap and pcapng files of other
//! programs, the output of `dbus-monitor` in each of its modes, and the files of the bus's flight
//! recorder. All may be compressed with gzip or Zstandard.

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
use packed::{MessagePlaces, UnpackedFile};
use pcap::Pcap;
use pcapng::Pcapng;
use printed::{PrintedForm, PrintedText};
use ring::RingFile;
use window::FileWindow;

/// Reads a recording in any supported format.
#[derive(Debug)]
pub struct RecordingReader<R: Read> {
    format: FormatReader<UnpackedFile<R>>,
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
    /// Detects the format of a file by its first bytes; `None` if the file is not a recording.
    ///
    /// # Errors
    ///
    /// If the file cannot be read. `InvalidData` if it cannot be decompressed.
    pub fn new(source: R) -> io::Result<Option<Self>> {
        let (window, places) = packed::unpack(FileWindow::new(source))?;
        Ok(FormatReader::of(window)?.map(|format| Self { format, places }))
    }

    /// Returns the next record; `None` at the end of the recording.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or if it is compressed and unpacks to too much data. Invalid
    /// content is returned as [`Damage`](crate::record::Damage).
    pub fn next_record(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        let mut record = match &mut self.format {
            FormatReader::Pcap(format) => format.next(),
            FormatReader::Pcapng(format) => format.next(),
            FormatReader::Binary(format) => format.next(),
            FormatReader::Printed(format) => format.next(),
            FormatReader::Ring(format) => Ok(format.next()),
        }?;
        if let (MessagePlaces::NotInFile, Some(RecordingRecord::Message(raw))) =
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
            Self::Ring(Box::new(RingFile::read(window.into_reader())?))
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

/// The number of bytes by which a format is detected. A text may begin with lines that are not
/// messages.
const START_LEN: usize = 1 << 12;
