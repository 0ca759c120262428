//! Errors of saving and restoring a state.

use std::fmt;
use std::io;

use sys::inherited::InheritError;

/// The reason why the state of a bus cannot be saved or restored.
#[derive(Debug)]
pub enum StateError {
    /// A part cannot be encoded.
    Encode(rmp_serde::encode::Error),
    /// The state cannot be written to memory.
    Write(io::Error),
    /// A part cannot be decoded: it is damaged, or from another version of this program.
    Decode(rmp_serde::decode::Error),
    /// The bytes do not begin like a state.
    NoState,
    /// The state has a format that this program does not know.
    Format {
        /// The number of the format of the state.
        found: u8,
        /// The number of the format that this program reads.
        expected: u8,
    },
    /// The state ends before its last part.
    Truncated,
    /// The state has this number of bytes after its last part.
    BytesLeft(usize),
    /// A descriptor was not passed to this process.
    Inherit(InheritError),
    /// The state refers to a descriptor that it does not have, or twice to the same one.
    Descriptor(u32),
    /// The state has descriptors to which nothing refers.
    DescriptorsLeft(usize),
    /// Two parts of the state contradict each other. The text names what is wrong.
    Inconsistent(&'static str),
    /// A part of the process cannot be restored. The text names it.
    Restore(&'static str, io::Error),
}

/// The beginning of an error line of a program that cannot continue a bus.
pub(crate) const STATE_ERROR_PREFIX: &str = "Cannot continue the bus: ";

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(error) => write!(f, "the state cannot be encoded: {error}"),
            Self::Write(error) => write!(f, "the state cannot be written to memory: {error}"),
            Self::Decode(error) => write!(f, "the state cannot be decoded: {error}"),
            Self::NoState => f.write_str("this is not the state of a bus"),
            Self::Format { found, expected } => {
                write!(f, "the state has format {found}, but this program reads format {expected}")
            }
            Self::Truncated => f.write_str("the end of the state is missing"),
            Self::BytesLeft(1) => f.write_str("the state has 1 byte more than expected"),
            Self::BytesLeft(count) => write!(f, "the state has {count} bytes more than expected"),
            Self::Inherit(error) => error.fmt(f),
            Self::Descriptor(index) => {
                write!(f, "the state has no descriptor {index}, or refers to it twice")
            }
            Self::DescriptorsLeft(count) => {
                write!(f, "the state has {count} descriptors to which nothing refers")
            }
            Self::Inconsistent(problem) => write!(f, "the state contradicts itself: {problem}"),
            Self::Restore(part, error) => write!(f, "cannot restore {part}: {error}"),
        }
    }
}

impl std::error::Error for StateError {}
