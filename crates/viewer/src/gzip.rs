//! A gzip encoder that uses all processors.
//!
//! The input is cut into blocks, which threads compress independently. Each block ends at a byte
//! boundary (`Z_SYNC_FLUSH`), so the concatenated blocks are one deflate stream, which every decoder
//! can read. Browsers do not read files of several gzip members.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::num::NonZero;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

/// Compresses everything that is written to it, and writes the result to `out` in order.
#[derive(Debug)]
pub(crate) struct GzipWriter<W> {
    out: W,
    block: Vec<u8>,
    /// The blocks that are being compressed, in order.
    pending: VecDeque<Receiver<CompressedBlock>>,
    jobs: SyncSender<CompressionJob>,
    /// The maximum number of pending blocks.
    pending_max: usize,
    checksum: Crc,
}

/// A block to compress, and the channel for the result.
type CompressionJob = (Vec<u8>, SyncSender<CompressedBlock>);

#[derive(Debug)]
struct CompressedBlock {
    deflated: Vec<u8>,
    /// The checksum and length of the uncompressed block.
    checksum: Crc,
}

impl<W: Write> GzipWriter<W> {
    /// Starts the threads, and writes the header of the file.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started, or `out` cannot be written.
    pub(crate) fn new(mut out: W) -> io::Result<Self> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let (jobs, receiver) = mpsc::sync_channel(threads);
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..threads {
            let receiver = Arc::clone(&receiver);
            thread::Builder::new().name("gzip".into()).spawn(move || compress_jobs(&receiver))?;
        }
        out.write_all(&HEADER)?;
        Ok(Self {
            out,
            block: Vec::with_capacity(BLOCK_LEN),
            pending: VecDeque::new(),
            jobs,
            pending_max: threads * 2,
            checksum: Crc::new(),
        })
    }

    /// Writes the rest of the file, and returns `out`.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.send_block()?;
        while !self.pending.is_empty() {
            self.write_pending()?;
        }
        self.out.write_all(&EMPTY_LAST_BLOCK)?;
        self.out.write_all(&self.checksum.sum().to_le_bytes())?;
        self.out.write_all(&self.checksum.amount().to_le_bytes())?;
        Ok(self.out)
    }

    /// Passes the current block to a thread.
    fn send_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        if self.pending.len() == self.pending_max {
            self.write_pending()?;
        }
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK_LEN));
        let (sender, receiver) = mpsc::sync_channel(1);
        self.jobs.send((block, sender)).map_err(|_| io::Error::other(THREAD_ENDED))?;
        self.pending.push_back(receiver);
        Ok(())
    }

    /// Waits for the oldest pending block, and writes it.
    fn write_pending(&mut self) -> io::Result<()> {
        let Some(oldest) = self.pending.pop_front() else { return Ok(()) };
        let block = oldest.recv().map_err(|_| io::Error::other(THREAD_ENDED))?;
        self.checksum.combine(&block.checksum);
        self.out.write_all(&block.deflated)
    }
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(BLOCK_LEN - self.block.len());
        self.block.extend_from_slice(&bytes[..len]);
        if self.block.len() == BLOCK_LEN {
            self.send_block()?;
        }
        Ok(len)
    }

    /// Does nothing: the size of the blocks does not depend on how they are written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compresses blocks until the writer is dropped.
fn compress_jobs(jobs: &Mutex<Receiver<CompressionJob>>) {
    let mut encoder = Compress::new(Compression::new(LEVEL), false);
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((block, result)) = job else { return };
        let mut checksum = Crc::new();
        checksum.update(&block);
        let deflated = deflate(&mut encoder, &block);
        // The writer is gone if an error has ended the export.
        let _ = result.send(CompressedBlock { deflated, checksum });
    }
}

/// Compresses a block, without the blocks before it as a dictionary.
fn deflate(encoder: &mut Compress, block: &[u8]) -> Vec<u8> {
    encoder.reset();
    let mut deflated = Vec::with_capacity(block.len() / 2);
    loop {
        let rest = &block[encoder.total_in() as usize..];
        deflated.reserve(block.len() / 4 + FLUSH_LEN);
        let status = encoder
            .compress_vec(rest, &mut deflated, FlushCompress::Sync)
            .expect("a compressor accepts all bytes");
        debug_assert_ne!(status, Status::StreamEnd);
        let has_all = encoder.total_in() as usize == block.len();
        if has_all && deflated.len() < deflated.capacity() {
            return deflated;
        }
    }
}

/// The number of bytes that are compressed independently. Smaller blocks compress worse.
const BLOCK_LEN: usize = 1 << 20;

/// The compression level, from 1 to 9. For recordings, 9 takes three times as long as 6 and saves a
/// fiftieth.
const LEVEL: u32 = 6;

/// The space for the end of a flush, which must be written at once.
const FLUSH_LEN: usize = 64;

/// The gzip header (RFC 1952) without a name or time: deflate, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// A deflate block that is empty and the last of its stream.
const EMPTY_LAST_BLOCK: [u8; 2] = [3, 0];

const THREAD_ENDED: &str = "a compression thread has ended";

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn compressed(bytes: &[u8], portion: usize) -> Vec<u8> {
        let mut writer = GzipWriter::new(Vec::new()).expect("threads");
        bytes.chunks(portion).for_each(|part| writer.write_all(part).expect("memory"));
        writer.finish().expect("memory")
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
        let error = GzipWriter::new(FullDisk).expect_err("nothing can be written");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
