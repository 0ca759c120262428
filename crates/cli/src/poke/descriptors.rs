//! Files and inherited descriptors that are passed as arguments.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use sys::inherited;

/// The descriptors that are sent with a message, in the order of their indexes.
#[derive(Debug, Default)]
pub(crate) struct PassedDescriptors(Vec<OwnedFd>);

impl PassedDescriptors {
    /// Opens the file that a word names, and returns the index of its descriptor: `@path` for
    /// reading, `@>path` for writing, `@-` for standard input, and `3` or `@3` for an inherited
    /// descriptor.
    pub(crate) fn open(&mut self, word: &str) -> Result<u32, String> {
        let opened = match word.strip_prefix('@') {
            Some("-") => io::stdin().as_fd().try_clone_to_owned(),
            Some(named) => match (named.strip_prefix('>'), named.parse()) {
                (Some(path), _) => File::create(path).map(OwnedFd::from),
                (None, Ok(number)) => return self.inherited(number),
                (None, Err(_)) => File::open(named).map(OwnedFd::from),
            },
            None => match word.parse() {
                Ok(number) => return self.inherited(number),
                Err(_) => return Err("expected @PATH to read a file, @>PATH to write one, or the number of a descriptor".to_owned()),
            },
        };
        Ok(self.keep(opened.map_err(|error| error.to_string())?))
    }

    /// Returns the descriptors in order.
    pub(crate) fn into_inner(self) -> Vec<OwnedFd> {
        self.0
    }

    fn inherited(&mut self, number: i32) -> Result<u32, String> {
        let standard = match number {
            0 => io::stdin().as_fd().try_clone_to_owned(),
            1 => io::stdout().as_fd().try_clone_to_owned(),
            2 => io::stderr().as_fd().try_clone_to_owned(),
            _ => {
                let taken = inherited::take(number).map_err(|error| error.to_string())?;
                return Ok(self.keep(taken));
            }
        };
        Ok(self.keep(standard.map_err(|error| error.to_string())?))
    }

    fn keep(&mut self, descriptor: OwnedFd) -> u32 {
        self.0.push(descriptor);
        // The index always fits: the kernel limits a message to 253 descriptors.
        u32::try_from(self.0.len() - 1).unwrap_or(u32::MAX)
    }
}
