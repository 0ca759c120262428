//! The storage of the bytes of messages.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A position in the [`Store`]: a file, and an offset in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StoredPlace(u64);

/// The bytes of all messages. Messages in an uncompressed file stay in it; all others are stored
/// here.
#[derive(Debug, Default)]
pub(super) struct Store {
    files: Vec<OpenFile>,
    current: StoredFile,
    kept: Vec<u8>,
}

/// A file that is open for reading.
#[derive(Debug)]
struct OpenFile {
    /// A number that no other file of the process has.
    id: u64,
    file: Box<dyn ReadAt>,
}

/// A file that can be read at any offset.
pub(super) trait ReadAt: fmt::Debug + Send + Sync {
    /// Reads some bytes from `offset` on, and returns their number; 0 at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// A file that is in memory.
impl ReadAt for Arc<Vec<u8>> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.get(start..));
        let rest = rest.unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

/// A buffer for the bytes of messages. If messages are read in the order of the file, it holds the
/// bytes of many, so that few system calls are made.
#[derive(Debug, Default)]
pub struct MessageBuffer {
    /// A part of a file.
    window: Vec<u8>,
    /// The id of the file; 0 if the window is empty.
    file: u64,
    /// The offset of the window in the file.
    start: u64,
}

impl MessageBuffer {
    /// The end offset of the window.
    const fn end(&self) -> u64 {
        self.start + self.window.len() as u64
    }

    /// Reads bytes of a file into the window, unless they are there already.
    fn read(&mut self, open: &OpenFile, offset: u64, len: usize) -> io::Result<&[u8]> {
        let is_of_file = self.file == open.id;
        let is_inside = is_of_file && self.start <= offset && offset + len as u64 <= self.end();
        if !is_inside {
            let continues =
                is_of_file && (self.start..=self.end() + READ_AHEAD as u64).contains(&offset);
            let wanted = if continues { len.max(READ_AHEAD) } else { len };
            // The window is invalid until the bytes are there.
            self.file = 0;
            self.window.resize(wanted, 0);
            let mut has = 0;
            while has < len {
                match open.file.read_at(&mut self.window[has..], offset + has as u64) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(count) => has += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            self.window.truncate(has);
            (self.file, self.start) = (open.id, offset);
        }
        Ok(&self.window[(offset - self.start) as usize..][..len])
    }
}

/// The number of files that the process has opened.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// The number of bytes that are read at once in the order of the file.
const READ_AHEAD: usize = 64 << 10;

/// The number of a file, from 1; 0 for bytes that are stored here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct StoredFile(u64);

/// The number of bits of a position that hold the offset. All files are shorter.
const OFFSET_BITS: u32 = 48;

impl StoredPlace {
    const fn new(part: StoredFile, offset: u64) -> Self {
        Self(part.0 << OFFSET_BITS | offset)
    }

    const fn part(self) -> StoredFile {
        StoredFile(self.0 >> OFFSET_BITS)
    }

    const fn offset(self) -> u64 {
        self.0 & ((1 << OFFSET_BITS) - 1)
    }
}

impl Store {
    /// Adds a file to the store.
    pub(super) fn open(&mut self, file: impl ReadAt + 'static) -> StoredFile {
        let id = OPENED.fetch_add(1, Ordering::Relaxed) + 1;
        self.files.push(OpenFile { id, file: Box::new(file) });
        StoredFile(self.files.len() as u64)
    }

    /// Selects the file of the following positions.
    pub(super) const fn select(&mut self, part: StoredFile) {
        self.current = part;
    }

    /// The position at `offset` in the selected file.
    pub(super) const fn in_file(&self, offset: u64) -> StoredPlace {
        StoredPlace::new(self.current, offset)
    }

    /// Stores a copy of the bytes.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> StoredPlace {
        let offset = self.kept.len() as u64;
        self.kept.extend_from_slice(bytes);
        StoredPlace::new(StoredFile::default(), offset)
    }

    /// Returns `len` bytes at a position. Bytes of a file are read into `buffer`.
    pub(super) fn read<'b>(
        &'b self,
        place: StoredPlace,
        len: usize,
        buffer: &'b mut MessageBuffer,
    ) -> io::Result<&'b [u8]> {
        match place.part().0.checked_sub(1) {
            None => {
                let start = place.offset() as usize;
                Ok(&self.kept[start..start + len])
            }
            Some(file) => buffer.read(&self.files[file as usize], place.offset(), len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(bytes: Vec<u8>) -> Store {
        let mut store = Store::default();
        let part = store.open(Arc::new(bytes));
        store.select(part);
        store
    }

    #[test]
    fn any_order_of_reading_returns_the_bytes_at_the_position() {
        let bytes: Vec<u8> = (0..3 * READ_AHEAD).map(|at| (at / 3) as u8).collect();
        let store = store(bytes.clone());
        let mut buffer = MessageBuffer::default();
        let last = bytes.len() - 7;
        for (offset, len) in
            [(0, 5), (5, 10), (90, 2 * READ_AHEAD), (20, 1), (last, 7), (last + 3, 4), (0, 0)]
        {
            let found = store.read(store.in_file(offset as u64), len, &mut buffer).expect("memory");
            assert_eq!(found, &bytes[offset..offset + len], "{offset}");
        }
        let error = store.read(store.in_file(last as u64), 8, &mut buffer).expect_err("the end");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let again = store.read(store.in_file(0), 3, &mut buffer).expect("memory");
        assert_eq!(again, &bytes[..3], "an error invalidates the window");
    }

    #[test]
    fn a_buffer_does_not_return_bytes_of_another_recording() {
        let [one, other] = [store(vec![1; 100]), store(vec![2; 100])];
        let mut buffer = MessageBuffer::default();
        for store in [&one, &other, &one] {
            let expected = if std::ptr::eq(store, &other) { [2; 4] } else { [1; 4] };
            let found = store.read(store.in_file(10), 4, &mut buffer).expect("memory");
            assert_eq!(found, expected);
        }
    }
}
