//! Compressed files.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

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
    Frame(Box<StreamingDecoder<BufReader<R>, ruzstd::decoding::FrameDecoder>>),
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
                    let frame = StreamingDecoder::new(source).map_err(invalid)?;
                    *self = Self::Frame(Box::new(frame));
                }
                Self::Frame(mut frame) => match frame.read(buffer)? {
                    0 => *self = Self::Between(frame.into_inner()),
                    count => {
                        *self = Self::Frame(frame);
                        return Ok(count);
                    }
                },
            }
        }
    }
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Bytes by which a compression is known.
const MAGIC_LEN: usize = 4;
