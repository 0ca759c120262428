//! Compressed files.
//!
//! Messages in a compressed file cannot be read again at their position, so its content is kept in
//! memory. A small file can unpack to any size; [`UnpackLimit`] bounds the content of one file. The
//! content of an uncompressed file stays on the disk, so large files should be decompressed with
//! another program.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::window::FileWindow;

/// A file, with its compression removed, if any.
pub(super) enum UnpackedFile<R: Read> {
    Plain(R),
    Gzip(Box<MultiGzDecoder<FileWindow<R>>>, UnpackLimit),
    Zstd(Zstd<FileWindow<R>>, UnpackLimit),
}

/// The presence of positions of messages in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum MessagePlaces {
    InFile,
    NotInFile,
}

/// Limits the size of the content of a compressed file.
#[derive(Debug, Default)]
pub(super) struct UnpackLimit {
    /// The number of content bytes so far.
    unpacked: u64,
}

impl UnpackLimit {
    /// Counts content that the first `packed` bytes of a file unpacked to.
    fn count(&mut self, unpacked: usize, packed: u64) -> io::Result<()> {
        self.unpacked += unpacked as u64;
        let excess = if self.unpacked > UNPACKED_MAX {
            UnpackExcess::Total
        } else if self.unpacked > UNPACKED_FREE.max(packed.saturating_mul(RATIO_MAX)) {
            UnpackExcess::Ratio
        } else {
            return Ok(());
        };
        // Any other kind of error would end the recording here, and show the content so far.
        Err(io::Error::new(io::ErrorKind::FileTooLarge, excess))
    }
}

/// The limit that a compressed file exceeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "it unpacks to more than {}, which would be kept in memory. If you trust it, unpack it with \
     `gzip -d` or `zstd -d` and open the result, whose content stays on the disk",
    match self {
        Self::Total => format!("{} MiB", UNPACKED_MAX >> 20),
        Self::Ratio => format!("{RATIO_MAX} times its size"),
    }
)]
enum UnpackExcess {
    Total,
    Ratio,
}

/// Adds decompression to a file whose window is at its start, and returns whether messages have a
/// position in the file.
pub(super) fn unpack<R: Read>(
    mut window: FileWindow<R>,
) -> io::Result<(FileWindow<UnpackedFile<R>>, MessagePlaces)> {
    Ok(match window.peek(MAGIC_LEN)? {
        [0x1F, 0x8B, ..] => {
            let source =
                UnpackedFile::Gzip(Box::new(MultiGzDecoder::new(window)), UnpackLimit::default());
            (FileWindow::new(source), MessagePlaces::NotInFile)
        }
        [0x28, 0xB5, 0x2F, 0xFD] => {
            let source = UnpackedFile::Zstd(Zstd::new(window), UnpackLimit::default());
            (FileWindow::new(source), MessagePlaces::NotInFile)
        }
        _ => (window.map(UnpackedFile::Plain), MessagePlaces::InFile),
    })
}

impl<R: Read> Read for UnpackedFile<R> {
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

impl<R: Read> fmt::Debug for UnpackedFile<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Gzip(..) => "Gzip",
            Self::Zstd(..) => "Zstd",
        })
    }
}

/// Concatenated Zstandard frames, as written by several threads or `cat`.
pub(super) enum Zstd<R: Read> {
    Between(BufReader<R>),
    Frame(Box<StreamingDecoder<BufReader<R>, FrameDecoder>>),
    /// Decoding failed or the input has ended.
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
                    let frame = frame.map_err(as_unexpected_end)?;
                    *self = Self::Frame(Box::new(frame));
                }
                Self::Frame(mut frame) => match frame.read(buffer).map_err(as_unexpected_end)? {
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
    /// The number of bytes of the file that were read so far.
    fn packed(&self) -> u64 {
        self.source().map_or(0, FileWindow::offset)
    }
}

/// Compares the checksum of a frame with the checksum of its content, which the decoder does not do
/// itself.
fn check_sum(decoder: &FrameDecoder) -> io::Result<()> {
    match (decoder.get_checksum_from_data(), decoder.get_calculated_checksum()) {
        (Some(stated), Some(found)) if stated != found => Err(invalid(WrongChecksum)),
        _ => Ok(()),
    }
}

/// The content of a frame does not match the checksum of the frame.
#[derive(Debug, thiserror::Error)]
#[error("the checksum of the preceding data is wrong")]
struct WrongChecksum;

/// Converts an error that is caused by the end of the file to an `UnexpectedEof` error. The decoder
/// wraps a premature end in an error of its own.
fn as_unexpected_end(error: io::Error) -> io::Error {
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

/// The number of bytes by which a compression is detected.
const MAGIC_LEN: usize = 4;

/// The maximum size of the content of a compressed file, in bytes. About twice as much memory is
/// needed, more if messages are tiny.
const UNPACKED_MAX: u64 = 1 << 30;

/// The size of the content that is allowed regardless of the size of the file, in bytes.
const UNPACKED_FREE: u64 = 32 << 20;

/// The maximum ratio of content to file size above that. Recordings of programs that repeat
/// themselves reach about 30.
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
