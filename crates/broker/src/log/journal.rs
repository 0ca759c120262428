//! The journal of systemd, which takes facts beside lines
//! ([native protocol](https://systemd.io/JOURNAL_NATIVE_PROTOCOL/)).
//!
//! A datagram holds fields. One without a line break is `NAME=value` and a line break; any other is
//! the name, a line break, the length as 64 bits in little endian, the value, and a line break. What
//! does not fit in a datagram goes into memory that nobody can change, and the datagram carries the
//! descriptor of that.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use sys::datagram::{self, Sent};

use super::{Field, Severity};

/// The journal, as a socket that takes datagrams.
#[derive(Debug)]
pub(super) struct Journal {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Journal {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self { socket: UnixDatagram::unbound()?, path: path.to_owned() })
    }

    /// Sends an entry. It never waits, and a journal that was started again is found.
    pub(super) fn send(&self, entry: &JournalEntry) -> io::Result<()> {
        match datagram::send_to(&self.socket, &self.path, &entry.bytes)? {
            Sent::Whole => Ok(()),
            Sent::TooLong => {
                let memory = sys::memory::sealed("journal-entry", &entry.bytes)?;
                datagram::pass_descriptor(&self.socket, &self.path, memory.as_fd())
            }
        }
    }
}

/// An entry as it travels.
#[derive(Debug, Default)]
pub(super) struct JournalEntry {
    bytes: Vec<u8>,
}

impl JournalEntry {
    /// Adds a field.
    pub(super) fn push(&mut self, name: &str, value: &str) {
        self.bytes.extend_from_slice(name.as_bytes());
        if value.contains('\n') {
            self.bytes.push(b'\n');
            self.bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        } else {
            self.bytes.push(b'=');
        }
        self.bytes.extend_from_slice(value.as_bytes());
        self.bytes.push(b'\n');
    }

    /// Adds how much it matters, and to whom.
    pub(super) fn push_severity(&mut self, severity: Severity) {
        self.push("PRIORITY", &severity.level().to_string());
        self.push("SYSLOG_FACILITY", &(severity.facility() >> 3).to_string());
    }

    /// Adds facts.
    pub(super) fn extend<'f>(&mut self, fields: impl IntoIterator<Item = &'f Field>) {
        fields.into_iter().for_each(|Field { name, value }| self.push(name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_a_line_or_has_its_length_before_it() {
        let check = |value: &str, expected: &[u8]| {
            let mut entry = JournalEntry::default();
            entry.push("NAME", value);
            assert_eq!(entry.bytes, expected, "{value:?}");
        };
        check("plain", b"NAME=plain\n");
        check("", b"NAME=\n");
        check("a=b", b"NAME=a=b\n");
        check("two\nlines", b"NAME\n\x09\0\0\0\0\0\0\0two\nlines\n");
    }

    #[test]
    fn the_facility_is_a_number_of_its_own() {
        let mut entry = JournalEntry::default();
        entry.push_severity(Severity::Security);
        assert_eq!(entry.bytes, b"PRIORITY=5\nSYSLOG_FACILITY=4\n");
    }
}
