//! The bytes and descriptors that wait to be written to one socket.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};

use sys::transfer::{self, TransferWait};

/// A queue for one socket.
///
/// Descriptors must leave with the first byte of their message, because some programs read exactly
/// one message and expect its descriptors with it. So a message with descriptors begins a chunk.
#[derive(Debug, Default)]
pub(crate) struct OutgoingBytes {
    chunks: VecDeque<OutgoingChunk>,
    /// The bytes of the first chunk that were written.
    written: usize,
    load: usize,
}

#[derive(Debug, Default)]
struct OutgoingChunk {
    bytes: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl OutgoingChunk {
    fn load(&self) -> usize {
        self.bytes.len() + self.descriptors.len() * DESCRIPTOR_LOAD
    }
}

impl OutgoingBytes {
    /// Appends a message, or other bytes.
    pub(crate) fn push(&mut self, bytes: &[u8], descriptors: Vec<OwnedFd>) {
        match self.chunks.back_mut() {
            Some(last) if descriptors.is_empty() && last.bytes.len() < CHUNK_LEN => {
                last.bytes.extend_from_slice(bytes);
                self.load += bytes.len();
            }
            _ => self.push_owned(bytes.to_vec(), descriptors),
        }
    }

    /// Appends a message without copying it.
    pub(crate) fn push_owned(&mut self, bytes: Vec<u8>, descriptors: Vec<OwnedFd>) {
        if !bytes.is_empty() {
            let chunk = OutgoingChunk { bytes, descriptors };
            self.load += chunk.load();
            self.chunks.push_back(chunk);
        }
    }

    /// Returns true if everything was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns true if nothing more should be read for this queue.
    pub(crate) const fn is_full(&self) -> bool {
        self.load >= LOAD_MAX
    }

    /// Writes as much as the socket takes.
    pub(crate) fn write_to(&mut self, socket: impl AsFd) -> io::Result<()> {
        while let Some(chunk) = self.chunks.front_mut() {
            let rest = [IoSlice::new(&chunk.bytes[self.written..])];
            let descriptors: Vec<_> = chunk.descriptors.iter().map(AsFd::as_fd).collect();
            match transfer::send(&socket, &rest, &descriptors, TransferWait::Never) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            self.load -= chunk.descriptors.len() * DESCRIPTOR_LOAD;
            chunk.descriptors.clear();
            if self.written == chunk.bytes.len() {
                self.load -= chunk.bytes.len();
                self.chunks.pop_front();
                self.written = 0;
            }
        }
        Ok(())
    }
}

/// The load at which a queue is full.
const LOAD_MAX: usize = 256 * 1024;

/// The load of a descriptor, so that the number of waiting descriptors is limited too.
const DESCRIPTOR_LOAD: usize = 1024;

/// A chunk of this length gets no more messages.
const CHUNK_LEN: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use sys::socket::socket_pair;

    use super::*;

    #[test]
    fn descriptors_leave_with_the_first_byte_of_their_message() {
        let (one, other) = socket_pair().unwrap();
        let null = || OwnedFd::from(File::open("/dev/null").unwrap());
        let mut queue = OutgoingBytes::default();
        queue.push(b"a", Vec::new());
        queue.push(b"b", Vec::new());
        queue.push(b"c", vec![null(), null()]);
        queue.push(b"d", Vec::new());
        assert!(!queue.is_empty());
        queue.write_to(&one).unwrap();
        assert!(queue.is_empty() && queue.load == 0);
        let mut descriptors = Vec::new();
        let mut buffer = [0; 1];
        let mut counts = Vec::new();
        for _ in 0..4 {
            let wait = TransferWait::Never;
            let received = transfer::receive(&other, &mut buffer, &mut descriptors, wait).unwrap();
            assert_eq!(received.bytes, 1);
            counts.push((buffer[0], descriptors.len()));
        }
        assert_eq!(counts, [(b'a', 0), (b'b', 0), (b'c', 2), (b'd', 2)]);
    }

    #[test]
    fn a_queue_is_full_by_bytes_or_by_descriptors() {
        let mut queue = OutgoingBytes::default();
        queue.push(&[0; LOAD_MAX - 1], Vec::new());
        assert!(!queue.is_full());
        queue.push(&[0], Vec::new());
        assert!(queue.is_full());
        let (one, other) = socket_pair().unwrap();
        let mut queue = OutgoingBytes::default();
        for _ in 0..LOAD_MAX / DESCRIPTOR_LOAD {
            assert!(!queue.is_full());
            queue.push(b"a", vec![one.try_clone().unwrap()]);
        }
        assert!(queue.is_full());
        drop(other);
        assert_eq!(queue.write_to(&one).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
