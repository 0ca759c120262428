//! Compressed files.
//!
//! Messages of a compressed file cannot be found in it again, so their content is kept in memory. A small
//! file can unpack to any size; [`UnpackLimit`] bounds what one file can take. The content of a file that is not
//! compressed stays on the disk, so unpacking a large one with another program helps.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::window::FileWindow;

/// A file, without the compression that it may have.
pub(super) enum Unpacked<R: Read> {
    Plain(R),
    Gzip(Box<MultiGzDecoder<FileWindow<R>>>, UnpackLimit),
    Zstd(Zstd<FileWindow<R>>, UnpackLimit),
}

/// Whether messages stand in the file as they are.
#[derive(Clone, Copy, Debug)]
pub(super) enum MessagePlaces {
    InFile,
    Nowhere,
}

/// How much a compressed file may become.
#[derive(Debug, Default)]
pub(super) struct UnpackLimit {
    /// Bytes of content so far.
    unpacked: u64,
}

impl UnpackLimit {
    /// Counts content that came out of the first `packed` bytes of a file.
    fn count(&mut self, unpacked: usize, packed: u64) -> io::Result<()> {
        self.unpacked += unpacked as u64;
        let excess = if self.unpacked > UNPACKED_MAX {
            Excess::Total
        } else if self.unpacked > UNPACKED_FREE.max(packed.saturating_mul(RATIO_MAX)) {
            Excess::Ratio
        } else {
            return Ok(());
        };
        // An error of the content would end the recording here, and what came before would be shown.
        Err(io::Error::new(io::ErrorKind::FileTooLarge, excess))
    }
}

/// Which limit a compressed file exceeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "it unpacks to more than {}, which would be kept in memory. If you trust it, unpack it with \
     `gzip -d` or `zstd -d` and open the result, whose content stays on the disk",
    match self {
        Self::Total => format!("{} MiB", UNPACKED_MAX >> 20),
        Self::Ratio => format!("{RATIO_MAX} times its size"),
    }
)]
enum Excess {
    Total,
    Ratio,
}

/// The file behind `window`, which is at its start, and whether messages can be found in it again.
pub(super) fn unpack<R: Read>(
    mut window: FileWindow<R>,
) -> io::Result<(FileWindow<Unpacked<R>>, MessagePlaces)> {
    Ok(match window.peek(MAGIC_LEN)? {
        [0x1F, 0x8B, ..] => {
            let source =
                Unpacked::Gzip(Box::new(MultiGzDecoder::new(window)), UnpackLimit::default());
            (FileWindow::new(source), MessagePlaces::Nowhere)
        }
        [0x28, 0xB5, 0x2F, 0xFD] => {
            let source = Unpacked::Zstd(Zstd::new(window), UnpackLimit::default());
            (FileWindow::new(source), MessagePlaces::Nowhere)
        }
        _ => (window.map(Unpacked::Plain), MessagePlaces::InFile),
    })
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(source) => source.read(buffer),
            Self::Gzip(decoder, limit) => {
                let count = decoder.read(buffer)?;
                limit.count(count, decoder.get_ref().offset())?;
                Ok(count)
            }
            Self::Zstd(frames, limit) => {
                let count = frames.read(buffer)?;
                limit.count(count, frames.packed())?;
                Ok(count)
            }
        }
    }
}

impl<R: Read> fmt::Debug for Unpacked<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Gzip(..) => "Gzip",
            Self::Zstd(..) => "Zstd",
        })
    }
}

/// Zstandard frames, one behind the other, as several threads or `cat` make them.
pub(super) enum Zstd<R: Read> {
    Between(BufReader<R>),
    Frame(Box<StreamingDecoder<BufReader<R>, FrameDecoder>>),
    /// Nothing can be read any more.
    Over,
}

impl<R: Read> Zstd<R> {
    fn new(source: R) -> Self {
        Self::Between(BufReader::new(source))
    }

    fn source(&self) -> Option<&R> {
        match self {
            Self::Between(source) => Some(source.get_ref()),
            Self::Frame(frame) => Some(frame.get_ref().get_ref()),
            Self::Over => None,
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::Over) {
                Self::Over => return Ok(0),
                Self::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let frame = StreamingDecoder::new(source).map_err(invalid);
                    let frame = frame.map_err(told_as_end)?;
                    *self = Self::Frame(Box::new(frame));
                }
                Self::Frame(mut frame) => match frame.read(buffer).map_err(told_as_end)? {
                    0 => {
                        check_sum(&frame.decoder)?;
                        *self = Self::Between(frame.into_inner());
                    }
                    count => {
                        *self = Self::Frame(frame);
                        return Ok(count);
                    }
                },
            }
        }
    }
}

impl<R: Read> Zstd<FileWindow<R>> {
    /// Bytes of the file that were taken so far.
    fn packed(&self) -> u64 {
        self.source().map_or(0, FileWindow::offset)
    }
}

/// Compares the checksum of a frame with that of what came out of it, which the decoder leaves to us.
fn check_sum(decoder: &FrameDecoder) -> io::Result<()> {
    match (decoder.get_checksum_from_data(), decoder.get_calculated_checksum()) {
        (Some(told), Some(found)) if told != found => Err(invalid(WrongChecksum)),
        _ => Ok(()),
    }
}

/// The content of a frame does not have the checksum that the frame states.
#[derive(Debug, thiserror::Error)]
#[error("something before has another checksum than it had")]
struct WrongChecksum;

/// The error with the kind of that behind it, if it is that nothing more is there: the decoder tells
/// a file that ends too early as one of its own errors.
fn told_as_end(error: io::Error) -> io::Error {
    let mut cause = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    while let Some(behind) = cause {
        if behind.downcast_ref().is_some_and(is_end) {
            return io::Error::new(io::ErrorKind::UnexpectedEof, error);
        }
        cause = behind.source();
    }
    error
}

fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
}

fn invalid(error: impl Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Bytes by which a compression is known.
const MAGIC_LEN: usize = 4;

/// Bytes that a compressed file may unpack to. About twice as many are needed in memory, more if messages are
/// tiny.
const UNPACKED_MAX: u64 = 1 << 30;

/// Bytes that it may unpack to however small it is.
const UNPACKED_FREE: u64 = 32 << 20;

/// Beyond that, bytes for each of its own. Recordings of programs that repeat themselves come to about 30.
const RATIO_MAX: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_limited_in_total_and_for_each_byte_of_the_file() {
        for (unpacked, packed, expected) in [
            (UNPACKED_FREE, 1, true),
            (UNPACKED_FREE + 1, 1, false),
            (UNPACKED_FREE + 1, UNPACKED_FREE, true),
            (100 << 20, 1 << 20, true),
            ((100 << 20) + 1, 1 << 20, false),
            (UNPACKED_MAX, UNPACKED_MAX, true),
            (UNPACKED_MAX + 1, UNPACKED_MAX, false),
        ] {
            let mut limit = UnpackLimit { unpacked: unpacked - 1 };
            assert_eq!(limit.count(1, packed).is_ok(), expected, "{unpacked} of {packed}");
        }
    }
}
