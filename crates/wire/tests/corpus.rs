//! The messages from dbus-daemon's own tests.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::fs;
use std::path::Path;

use diligence_wire::message::{FixedHeader, InvalidMessage, InvalidReason, Message};

#[test]
fn messages_that_dbus_daemon_accepts_are_accepted() {
    for (name, bytes) in messages("valid-messages") {
        assert_eq!(check(&bytes), Ok(()), "{name}");
    }
}

#[test]
fn messages_that_dbus_daemon_rejects_are_rejected() {
    for (name, bytes) in messages("invalid-messages") {
        let error = check(&bytes).expect_err(&name);
        println!("{name}: {error}");
    }
}

/// Checks the first message in a file; other messages may follow it.
fn check(bytes: &[u8]) -> Result<(), InvalidMessage> {
    let start = bytes.first_chunk().ok_or(InvalidReason::Truncated.at(bytes.len()))?;
    let len = FixedHeader::parse(start)?.message_len();
    Message::parse(bytes.get(..len).unwrap_or(bytes))?.validate_body()
}

/// The raw messages in a folder, with their names.
fn messages(folder: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(Path::new(DATA).join(folder))
        .unwrap_or_else(|error| panic!("{DATA}/{folder}: {error}; install the package dbus-tests"));
    let paths = entries.map(|entry| entry.unwrap().path());
    let messages: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "message-raw"))
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    assert!(!messages.is_empty(), "no message in {folder}");
    messages
}

/// The folder in which Debian's package dbus-tests installs the messages.
const DATA: &str = "/usr/lib/dbus-1.0/installed-tests/dbus/data";
