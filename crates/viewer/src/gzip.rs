//! A gzip encoder that uses all processors.
//!
//! The input is cut into blocks, which threads compress independently. Each block ends at a byte
//! boundary (`Z_SYNC_FLUSH`), so the concatenated blocks are one deflate stream, which every decoder
//! can read. Browsers do not read files of several gzip members.

use std::fmt;
use std::io::{self, Write};
use std::thread::Scope;

use capture::workers::OrderedWorkers;
use zlib_rs::crc32::{crc32, crc32_combine};
use zlib_rs::{Deflate, DeflateFlush};

/// Compresses everything that is written to it, and writes the result to `out` in order.
pub(crate) struct GzipWriter<W> {
    out: W,
    block: Vec<u8>,
    workers: OrderedWorkers<Vec<u8>, CompressedBlock, BlockCompressor>,
    /// The checksum and length of the uncompressed content so far.
    checksum: u32,
    len: u64,
}

type BlockCompressor = Box<dyn FnMut(Vec<u8>) -> CompressedBlock + Send>;

struct CompressedBlock {
    deflated: Vec<u8>,
    /// The checksum of the uncompressed block.
    checksum: u32,
    /// The length of the uncompressed block.
    len: u64,
}

impl<W: Write> GzipWriter<W> {
    /// Starts the threads, and writes the header of the file.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub(crate) fn new<'scope>(scope: &'scope Scope<'scope, '_>, mut out: W) -> io::Result<Self> {
        out.write_all(&HEADER)?;
        let workers = OrderedWorkers::start(scope, block_compressor);
        Ok(Self { out, block: Vec::with_capacity(BLOCK_LEN), workers, checksum: 0, len: 0 })
    }

    /// Writes the rest of the file, and returns `out`.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.compress_block()?;
        while let Some(block) = self.workers.next_result() {
            self.write_block(&block)?;
        }
        self.out.write_all(&EMPTY_LAST_BLOCK)?;
        self.out.write_all(&self.checksum.to_le_bytes())?;
        // The length modulo 2^32.
        self.out.write_all(&(self.len as u32).to_le_bytes())?;
        Ok(self.out)
    }

    /// Passes the current block to a thread.
    fn compress_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK_LEN));
        match self.workers.push(block) {
            Some(oldest) => self.write_block(&oldest),
            None => Ok(()),
        }
    }

    fn write_block(&mut self, block: &CompressedBlock) -> io::Result<()> {
        self.checksum = crc32_combine(self.checksum, block.checksum, block.len);
        self.len += block.len;
        self.out.write_all(&block.deflated)
    }
}

impl<W: fmt::Debug> fmt::Debug for GzipWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GzipWriter").field("out", &self.out).finish_non_exhaustive()
    }
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(BLOCK_LEN - self.block.len());
        self.block.extend_from_slice(&bytes[..len]);
        if self.block.len() == BLOCK_LEN {
            self.compress_block()?;
        }
        Ok(len)
    }

    /// Does nothing: the size of the blocks does not depend on how they are written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn block_compressor() -> BlockCompressor {
    let mut encoder = Deflate::new(LEVEL, false, WINDOW_BITS);
    Box::new(move |block: Vec<u8>| {
        let (checksum, len) = (crc32(0, &block), block.len() as u64);
        CompressedBlock { deflated: deflate(&mut encoder, &block), checksum, len }
    })
}

/// Compresses a block, without the blocks before it as a dictionary.
fn deflate(encoder: &mut Deflate, block: &[u8]) -> Vec<u8> {
    encoder.reset();
    let mut deflated = vec![0; block.len() / 2 + FLUSH_LEN];
    loop {
        let (read, written) = (encoder.total_in() as usize, encoder.total_out() as usize);
        if written == deflated.len() {
            deflated.resize(written + block.len() / 4 + FLUSH_LEN, 0);
        }
        let rest = &block[read..];
        encoder
            .compress(rest, &mut deflated[written..], DeflateFlush::SyncFlush)
            .expect("a compressor accepts all bytes");
        let has_read_all = encoder.total_in() as usize == block.len();
        let written = encoder.total_out() as usize;
        if has_read_all && written < deflated.len() {
            deflated.truncate(written);
            return deflated;
        }
    }
}

/// The number of bytes that are compressed independently. Smaller blocks compress worse.
const BLOCK_LEN: usize = 1 << 20;

/// The compression level, from 1 to 9. For recordings, 9 takes three times as long as 6 and saves a
/// fiftieth.
const LEVEL: i32 = 6;

/// The binary logarithm of the distance to which repetitions are found: the maximum.
const WINDOW_BITS: u8 = 15;

/// The space for the end of a flush, which must be written at once.
const FLUSH_LEN: usize = 64;

/// The gzip header (RFC 1952) without a name or time: deflate, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// A deflate block that is empty and the last of its stream.
const EMPTY_LAST_BLOCK: [u8; 2] = [3, 0];

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::thread;

    use flate2::read::GzDecoder;

    use super::*;

    fn compressed(bytes: &[u8], portion: usize) -> Vec<u8> {
        thread::scope(|scope| {
            let mut writer = GzipWriter::new(scope, Vec::new()).expect("memory");
            bytes.chunks(portion).for_each(|part| writer.write_all(part).expect("memory"));
            writer.finish().expect("memory")
        })
    }

    #[test]
    fn content_of_any_length_is_restored_from_a_single_member() {
        let text: Vec<u8> = (0_u32..700_000).flat_map(|number| number.to_be_bytes()).collect();
        for len in [0, 1, BLOCK_LEN - 1, BLOCK_LEN, BLOCK_LEN + 1, text.len()] {
            for portion in [1 << 22, 10_007] {
                let file = compressed(&text[..len], portion);
                let mut decoder = GzDecoder::new(file.as_slice());
                let mut restored = Vec::new();
                decoder.read_to_end(&mut restored).expect("valid gzip");
                assert!(restored == text[..len], "{len} bytes in portions of {portion}");
                assert_eq!(decoder.into_inner(), b"", "only one member");
            }
        }
    }

    #[test]
    fn incompressible_blocks_are_restored() {
        let mut seed = 1_u64;
        let noise: Vec<u8> = (0..3 * BLOCK_LEN / 2)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 56) as u8
            })
            .collect();
        let mut restored = Vec::new();
        let file = compressed(&noise, noise.len());
        GzDecoder::new(file.as_slice()).read_to_end(&mut restored).expect("valid gzip");
        assert!(restored == noise);
    }

    #[test]
    fn errors_of_the_output_end_the_compression() {
        #[derive(Debug)]
        struct FullDisk;
        impl Write for FullDisk {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        thread::scope(|scope| {
            let error = GzipWriter::new(scope, FullDisk).expect_err("nothing can be written");
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        });
    }
}
