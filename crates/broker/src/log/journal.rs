//! The native protocol of the systemd journal, which accepts fields in addition to the text ([native
//! protocol](https://systemd.io/JOURNAL_NATIVE_PROTOCOL/)).
//!
//! A datagram holds fields. A field whose value has no line break is `NAME=value` and a line break.
//! Any other field is the name, a line break, the length as a 64-bit little-endian number, the
//! value, and a line break. An entry that does not fit in a datagram is written to a sealed memory
//! file, and the datagram carries its descriptor.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use sys::datagram::{self, Sent};

use super::{Field, Severity};

/// The datagram socket of the journal.
#[derive(Debug)]
pub(super) struct Journal {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Journal {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self { socket: UnixDatagram::unbound()?, path: path.to_owned() })
    }

    /// Sends an entry without waiting. The path is looked up each time, so that a restarted journal
    /// is found.
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

/// A journal entry in its serialized form.
#[derive(Debug, Default)]
pub(super) struct JournalEntry {
    bytes: Vec<u8>,
}

impl JournalEntry {
    /// Appends one field in the native format.
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

    /// Appends the syslog priority and facility.
    pub(super) fn push_severity(&mut self, severity: Severity) {
        self.push("PRIORITY", &severity.level().to_string());
        self.push("SYSLOG_FACILITY", &(severity.facility() >> 3).to_string());
    }

    /// Appends all fields of a record.
    pub(super) fn extend<'f>(&mut self, fields: impl IntoIterator<Item = &'f Field>) {
        fields.into_iter().for_each(|Field { name, value }| self.push(name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_fields_with_line_breaks_have_a_length_prefix() {
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
    fn journal_severity_has_priority_and_facility() {
        let mut entry = JournalEntry::default();
        entry.push_severity(Severity::Security);
        assert_eq!(entry.bytes, b"PRIORITY=5\nSYSLOG_FACILITY=4\n");
    }
}
