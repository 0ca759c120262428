//! The saved state of a bus, which another program in the same process restores.
//!
//! ```text
//!   header    "diligence-state", a zero byte, and the number of the format
//!   numbers   of the descriptors that the state refers to by index      MessagePack
//!   process   settings of the start                                     MessagePack
//!   rules     the match rules of all connections                        MessagePack
//!   bus       the rest of the bus                                       MessagePack
//!   loop      the sockets of connections and everything else            MessagePack
//! ```
//!
//! The length of each part precedes it: eight bytes in little-endian order.
//!
//! Structures are saved as arrays of their fields. A later version may append fields with defaults
//! to a structure. It can then read states of earlier versions, but earlier versions cannot read its
//! states. Every other change needs another number of the format.
//!
//! `crates/broker/tests/states` has states of earlier programs, which this program must be able to
//! continue. CONTRIBUTING.md says when to add states, and how.
//!
//! The library rmp-serde encodes MessagePack, which many other programs can read.

mod error;
mod fds;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{Seek, SeekFrom, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use error::STATE_ERROR_PREFIX;
pub use error::StateError;
pub(crate) use fds::{FdCollector, FdIndex, FdOwner, RestoredFds, SavedFdSet};

/// Encodes the parts of a state, one after the other, directly to their destination.
#[derive(Debug)]
pub(crate) struct StateWriter<W> {
    destination: W,
}

impl<W: Write + Seek> StateWriter<W> {
    /// Creates a writer of parts without a header.
    pub(crate) const fn new(destination: W) -> Self {
        Self { destination }
    }

    /// Creates a writer that has written the header.
    pub(crate) fn with_header(mut destination: W) -> Result<Self, StateError> {
        destination.write_all(&[MAGIC, &[FORMAT]].concat()).map_err(StateError::Write)?;
        Ok(Self { destination })
    }

    /// Encodes a part and appends it.
    pub(crate) fn write(&mut self, part: &impl Serialize) -> Result<(), StateError> {
        let start = self.seek(SeekFrom::Current(0))?;
        self.write_length(0)?;
        rmp_serde::encode::write(&mut self.destination, part).map_err(StateError::Encode)?;
        let end = self.seek(SeekFrom::Current(0))?;
        self.seek(SeekFrom::Start(start))?;
        self.write_length(end - start - LENGTH as u64)?;
        self.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    /// Appends parts that another writer has encoded.
    pub(crate) fn append(&mut self, parts: &[u8]) -> Result<(), StateError> {
        self.destination.write_all(parts).map_err(StateError::Write)
    }

    fn write_length(&mut self, length: u64) -> Result<(), StateError> {
        self.destination.write_all(&length.to_le_bytes()).map_err(StateError::Write)
    }

    fn seek(&mut self, position: SeekFrom) -> Result<u64, StateError> {
        self.destination.seek(position).map_err(StateError::Write)
    }

    /// Returns the destination with everything that was written.
    pub(crate) fn finish(mut self) -> Result<W, StateError> {
        self.destination.flush().map_err(StateError::Write)?;
        Ok(self.destination)
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
        let rest = state.strip_prefix(MAGIC).ok_or(StateError::NoState)?;
        match rest.split_first() {
            Some((&FORMAT, rest)) => Ok(Self { rest }),
            Some((found, _)) => Err(StateError::Format { found: *found, expected: FORMAT }),
            None => Err(StateError::NoState),
        }
    }

    /// Reads the next part.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<T, StateError> {
        self.next_part()?.decode()
    }

    /// Returns the next part, to decode it later or on another thread.
    pub(crate) fn next_part(&mut self) -> Result<EncodedPart<'s>, StateError> {
        let (len, rest) = self.rest.split_first_chunk().ok_or(StateError::Truncated)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let (part, rest) = rest.split_at_checked(len).ok_or(StateError::Truncated)?;
        self.rest = rest;
        Ok(EncodedPart(part))
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

/// A part of a state that is not decoded yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedPart<'s>(&'s [u8]);

impl EncodedPart<'_> {
    /// Decodes the part as a value of this type.
    pub(crate) fn decode<T: DeserializeOwned>(self) -> Result<T, StateError> {
        rmp_serde::from_slice(self.0).map_err(StateError::Decode)
    }
}

/// The environment variable with the number of the descriptor that has the state.
pub(crate) const STATE_VARIABLE: &str = "DILIGENCE_STATE";

/// The environment variable with the numbers of the descriptors of the program that has passed the
/// state, and of the state, separated by a comma.
pub(crate) const PREVIOUS_VARIABLE: &str = "DILIGENCE_PREVIOUS";

/// The environment variable with the reason why another program could not continue the bus.
pub(crate) const FAILURE_VARIABLE: &str = "DILIGENCE_FAILURE";

/// Whether a variable is about a state, so that it concerns no other program.
pub(crate) fn is_state_variable(name: &OsStr) -> bool {
    [STATE_VARIABLE, PREVIOUS_VARIABLE, FAILURE_VARIABLE].iter().any(|variable| name == *variable)
}

/// The environment of this process without the variables about a state.
pub(crate) fn environment_without_state() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os().filter(|(name, _)| !is_state_variable(name))
}

/// The number of bytes of the length of a part.
const LENGTH: usize = size_of::<u64>();

/// The beginning of every state, which the number of the format follows.
const MAGIC: &[u8] = b"diligence-state\0";

/// The number of the format that this program writes and reads.
pub(crate) const FORMAT: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn state() -> Vec<u8> {
        let mut writer = StateWriter::with_header(Cursor::new(Vec::new())).unwrap();
        writer.write(&7_u32).unwrap();
        writer.write(&["a", "b"]).unwrap();
        writer.finish().unwrap().into_inner()
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
        assert_eq!(error(MAGIC), Err("this is not the state of a bus".to_owned()));
        let mut later = state.clone();
        later[16] = 2;
        let text = "the state has format 2, but this program reads format 1";
        assert_eq!(error(&later), Err(text.to_owned()));
        let text = "the state has 1 byte more than expected";
        assert_eq!(error(&[&state[..], b"x"].concat()), Err(text.to_owned()));
        assert!(error(&state[..state.len() - 1]).is_err());
    }
}
