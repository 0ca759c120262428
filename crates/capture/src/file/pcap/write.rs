//! Writes classic pcap files.

use std::io::{self, Write};

use super::MAGIC_NANOS;
use crate::file::number::{LINK_TYPE_DBUS, SNAP_LEN_ALL};
use crate::record::RawMessage;

/// Writes messages as classic pcap, without any other information: times are in nanoseconds, and
/// the messages of all buses form one sequence.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the header of a file. `kept_max` is the maximum number of bytes kept of each message;
    /// `None` if messages are whole.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails.
    pub fn new(mut out: W, kept_max: Option<u32>) -> io::Result<Self> {
        let [major, minor]: [u16; 2] = [2, 4];
        let versions = u32::from(major) | u32::from(minor) << 16;
        // Times are in UTC, and their accuracy is unspecified.
        let (zone, accuracy) = (0, 0);
        let kept_max = kept_max.unwrap_or(SNAP_LEN_ALL);
        write_words(&mut out, &[MAGIC_NANOS, versions, zone, accuracy, kept_max, LINK_TYPE_DBUS])?;
        Ok(Self { out })
    }

    /// Writes a message.
    ///
    /// # Errors
    ///
    /// If writing to the file fails. `InvalidData` if the format cannot represent the time, which
    /// must be between 1970 and 2106.
    pub fn write(&mut self, raw: &RawMessage<'_>) -> io::Result<()> {
        let (seconds, nanos) = (raw.at.0.div_euclid(SECOND), raw.at.0.rem_euclid(SECOND));
        let seconds = u32::try_from(seconds).map_err(|_| no_such_time())?;
        let kept = u32::try_from(raw.bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        write_words(&mut self.out, &[seconds, nanos as u32, kept, raw.len.max(kept)])?;
        self.out.write_all(raw.bytes)
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    ///
    /// If writing to the output fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn write_words(out: &mut impl Write, words: &[u32]) -> io::Result<()> {
    words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
}

fn no_such_time() -> io::Error {
    let words =
        "a message has a time before 1970 or after 2106, which pcap cannot store; use pcapng";
    io::Error::new(io::ErrorKind::InvalidData, words)
}

/// The number of nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;
