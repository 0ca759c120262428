//! The last part of a recording, in memory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::rc::Rc;

/// The last writes, one chunk for each. Clones share the same chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks(Rc<RefCell<VecDeque<Vec<u8>>>>);

impl Chunks {
    /// The number of chunks.
    pub(super) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// The total number of bytes in all chunks.
    pub(super) fn bytes(&self) -> u64 {
        self.0.borrow().iter().map(|chunk| chunk.len() as u64).sum()
    }

    /// Removes the oldest chunk.
    pub(super) fn pop_front(&self) {
        self.0.borrow_mut().pop_front();
    }

    /// Removes the newest chunk.
    pub(super) fn pop_back(&self) {
        self.0.borrow_mut().pop_back();
    }

    /// Removes all chunks from memory.
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// Writes all chunks, the oldest first.
    pub(super) fn copy_to(&self, out: &mut impl Write) -> io::Result<()> {
        self.0.borrow().iter().try_for_each(|chunk| out.write_all(chunk))
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().push_back(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
