//! Compressed files.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::Places;
use super::window::Window;

/// A file, without the compression that it may have.
pub(super) enum Unpacked<R: Read> {
    Plain(R),
    Gzip(Box<MultiGzDecoder<Window<R>>>),
    Zstd(Zstd<Window<R>>),
}

/// The file behind `window`, which is at its start, and whether messages can be found in it again.
pub(super) fn unpack<R: Read>(mut window: Window<R>) -> io::Result<(Window<Unpacked<R>>, Places)> {
    Ok(match window.peek(MAGIC_LEN)? {
        [0x1F, 0x8B, ..] => {
            let source = Unpacked::Gzip(Box::new(MultiGzDecoder::new(window)));
            (Window::new(source), Places::Nowhere)
        }
        [0x28, 0xB5, 0x2F, 0xFD] => {
            (Window::new(Unpacked::Zstd(Zstd::new(window))), Places::Nowhere)
        }
        _ => (window.map(Unpacked::Plain), Places::InFile),
    })
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(source) => source.read(buffer),
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(frames) => frames.read(buffer),
        }
    }
}

impl<R: Read> fmt::Debug for Unpacked<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Gzip(_) => "Gzip",
            Self::Zstd(_) => "Zstd",
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

/// Compares the checksum of a frame with that of what came out of it, which the decoder leaves to us.
fn check_sum(decoder: &FrameDecoder) -> io::Result<()> {
    match (decoder.get_checksum_from_data(), decoder.get_calculated_checksum()) {
        (Some(told), Some(found)) if told != found => Err(invalid(WrongChecksum)),
        _ => Ok(()),
    }
}

/// What came out of a frame is not what went into it.
#[derive(Debug)]
struct WrongChecksum;

impl fmt::Display for WrongChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("something before has another checksum than it had")
    }
}

impl Error for WrongChecksum {}

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
