//! The messages that the reference implementation keeps for its own tests.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::fs;
use std::path::Path;

use diligence_wire::message::{FixedHeader, InvalidMessage, InvalidReason, Message};

#[test]
fn messages_that_the_reference_accepts_are_accepted() {
    for (name, bytes) in messages("valid-messages") {
        assert_eq!(check(&bytes), Ok(()), "{name}");
    }
}

#[test]
fn messages_that_the_reference_refuses_are_refused() {
    for (name, bytes) in messages("invalid-messages") {
        let error = check(&bytes).expect_err(&name);
        println!("{name}: {error}");
    }
}

/// Checks the first message in a file, as if the rest came behind it in a stream.
fn check(bytes: &[u8]) -> Result<(), InvalidMessage> {
    let start = bytes.first_chunk().ok_or(InvalidReason::Truncated.at(bytes.len()))?;
    let len = FixedHeader::parse(start)?.message_len();
    Message::parse(bytes.get(..len).unwrap_or(bytes))?.validate_body()
}

/// The raw messages in one of the folders, with their names.
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

/// Where Debian's package dbus-tests puts them.
const DATA: &str = "/usr/lib/dbus-1.0/installed-tests/dbus/data";
