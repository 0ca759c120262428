//! The saved state of a bus, which another program in the same process restores.
//!
//! ```text
//!   header    "diligence-state", a zero byte, and the number of the format
//!   numbers   of the descriptors that the state refers to by index      MessagePack
//!   process   settings of the start                                     MessagePack
//!   loop      the bus, its connections and everything else              MessagePack
//! ```
//!
//! The length of each part precedes it: eight bytes in little-endian order.
//!
//! Structures are saved as arrays of their fields. A later version may append fields with defaults
//! to a structure. It can then read states of earlier versions, but earlier versions cannot read its
//! states. Every other change needs another number of the format.
//!
//! The library rmp-serde encodes MessagePack, which many other programs can read.

mod error;
mod fds;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::StateError;
pub(crate) use fds::{FdCollector, FdIndex, FdOwner, RestoredFds, SavedFdSet};

/// Encodes the parts of a state, one after the other.
#[derive(Debug, Default)]
pub(crate) struct StateWriter {
    bytes: Vec<u8>,
}

impl StateWriter {
    /// Creates a writer that has written the header.
    pub(crate) fn with_header() -> Self {
        Self { bytes: HEADER.to_vec() }
    }

    /// Encodes a part and appends it.
    pub(crate) fn write(&mut self, part: &impl Serialize) -> Result<(), StateError> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; LENGTH]);
        rmp_serde::encode::write(&mut self.bytes, part).map_err(StateError::Encode)?;
        let len = self.bytes.len() - start - LENGTH;
        self.bytes[start..start + LENGTH].copy_from_slice(&(len as u64).to_le_bytes());
        Ok(())
    }

    /// Appends parts that are already encoded.
    pub(crate) fn append(&mut self, parts: &[u8]) {
        self.bytes.extend_from_slice(parts);
    }

    /// Returns everything that was written.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Decodes the parts of a state, in the order in which they were written.
#[derive(Debug)]
pub(crate) struct StateReader<'s> {
    rest: &'s [u8],
}

impl<'s> StateReader<'s> {
    /// Creates a reader of parts without a header.
    pub(crate) const fn new(parts: &'s [u8]) -> Self {
        Self { rest: parts }
    }

    /// Creates a reader of a state with a header, which it checks.
    pub(crate) fn after_header(state: &'s [u8]) -> Result<Self, StateError> {
        let (magic, format) = HEADER.split_at(HEADER.len() - 1);
        let rest = state.strip_prefix(magic).ok_or(StateError::NoState)?;
        match rest.split_first() {
            Some((found, rest)) if *found == format[0] => Ok(Self { rest }),
            Some((found, _)) => Err(StateError::Format { found: *found, expected: format[0] }),
            None => Err(StateError::NoState),
        }
    }

    /// Reads the next part.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<T, StateError> {
        let (len, rest) = self.rest.split_first_chunk().ok_or(StateError::Truncated)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let (part, rest) = rest.split_at_checked(len).ok_or(StateError::Truncated)?;
        self.rest = rest;
        rmp_serde::from_slice(part).map_err(StateError::Decode)
    }

    /// The parts that were not read.
    pub(crate) const fn rest(&self) -> &'s [u8] {
        self.rest
    }

    /// Checks that all parts were read.
    pub(crate) const fn finish(self) -> Result<(), StateError> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(StateError::BytesLeft(left)),
        }
    }
}

/// The environment variable with the number of the descriptor that has the state.
pub(crate) const STATE_VARIABLE: &str = "DILIGENCE_STATE";

/// The number of bytes of the length of a part.
const LENGTH: usize = size_of::<u64>();

/// The beginning of every state. Its last byte is the number of the format.
const HEADER: &[u8] = b"diligence-state\0\x01";

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> Vec<u8> {
        let mut writer = StateWriter::with_header();
        writer.write(&7_u32).unwrap();
        writer.write(&["a", "b"]).unwrap();
        writer.finish()
    }

    #[test]
    fn parts_are_read_in_the_order_in_which_they_were_written() {
        let state = state();
        let mut reader = StateReader::after_header(&state).unwrap();
        assert_eq!(reader.read::<u32>().unwrap(), 7);
        let rest = reader.rest();
        assert_eq!(reader.read::<Vec<String>>().unwrap(), ["a", "b"]);
        reader.finish().unwrap();
        let mut reader = StateReader::new(rest);
        assert_eq!(reader.read::<Vec<String>>().unwrap(), ["a", "b"]);
    }

    #[test]
    fn states_that_are_no_states_are_rejected_with_the_reason() {
        let error = |state: &[u8]| {
            let read = StateReader::after_header(state).and_then(|mut reader| {
                reader.read::<u32>()?;
                reader.read::<Vec<String>>()?;
                reader.finish()
            });
            read.map_err(|error| error.to_string())
        };
        let state = state();
        assert_eq!(error(&state), Ok(()));
        assert_eq!(error(b"diligence-bus"), Err("this is not the state of a bus".to_owned()));
        assert_eq!(error(&HEADER[..16]), Err("this is not the state of a bus".to_owned()));
        let mut later = state.clone();
        later[16] = 2;
        let text = "the state has format 2, but this program reads format 1";
        assert_eq!(error(&later), Err(text.to_owned()));
        let text = "the state has 1 byte more than expected";
        assert_eq!(error(&[&state[..], b"x"].concat()), Err(text.to_owned()));
        assert!(error(&state[..state.len() - 1]).is_err());
    }
}
