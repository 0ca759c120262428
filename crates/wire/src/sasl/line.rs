//! The lines of the authentication protocol: one command each, terminated by `\r\n`.
//!
//! ```
//! use diligence_wire::sasl::line::{ClientLine, ServerLine};
//!
//! let line = ClientLine::parse(b"AUTH EXTERNAL 31303030")?;
//! assert_eq!(line, ClientLine::Auth { mechanism: "EXTERNAL", initial: Some("31303030") });
//! assert_eq!(ServerLine::Rejected("EXTERNAL ANONYMOUS").to_string(), "REJECTED EXTERNAL ANONYMOUS");
//! # Ok::<(), diligence_wire::sasl::line::LineError>(())
//! ```
//!
//! Data is not decoded from hexadecimal here, because the reaction to an error depends on the state
//! of the reader.

use alloc::vec::Vec;
use core::fmt::{self, Write as _};

/// Maximum length of a line in bytes, including its `\r\n`. A side that receives a longer one
/// disconnects, like dbus-daemon; the specification sets no limit.
pub const LINE_LEN_MAX: usize = 16 * 1024;

/// A line from a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientLine<'a> {
    /// `AUTH`: requests the list of mechanisms.
    ListMechanisms,
    /// `AUTH mechanism [initial]`: begins an exchange.
    Auth {
        /// The mechanism's name, which may be unknown.
        mechanism: &'a str,
        /// The initial response, in hexadecimal, which makes the first challenge unnecessary.
        initial: Option<&'a str>,
    },
    /// `DATA [response]`: continues an exchange; in hexadecimal.
    Data(&'a str),
    /// `CANCEL`: aborts an exchange.
    Cancel,
    /// `ERROR [explanation]`: the server's line was not understood.
    Error(&'a str),
    /// `NEGOTIATE_UNIX_FD`: requests the passing of file descriptors.
    NegotiateUnixFd,
    /// `BEGIN`: the next byte is the first byte of the messages.
    Begin,
    /// An unknown command, without its arguments.
    Unknown(&'a str),
}

impl<'a> ClientLine<'a> {
    /// Parses a line without its `\r\n`.
    ///
    /// Superfluous arguments are ignored.
    ///
    /// # Errors
    ///
    /// If the line contains NUL or is not ASCII.
    pub fn parse(line: &'a [u8]) -> Result<Self, LineError> {
        let (command, arguments) = split_word(ascii(line)?);
        Ok(match command {
            "AUTH" if arguments.is_empty() => Self::ListMechanisms,
            "AUTH" => Self::auth(arguments),
            "DATA" => Self::Data(arguments),
            "CANCEL" => Self::Cancel,
            "ERROR" => Self::Error(arguments),
            "NEGOTIATE_UNIX_FD" => Self::NegotiateUnixFd,
            "BEGIN" => Self::Begin,
            other => Self::Unknown(other),
        })
    }

    /// Appends the line and its `\r\n` to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_line(self, out);
    }

    fn auth(arguments: &'a str) -> Self {
        let (mechanism, initial) = split_word(arguments);
        Self::Auth { mechanism, initial: (!initial.is_empty()).then_some(initial) }
    }
}

impl fmt::Display for ClientLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ListMechanisms => f.write_str("AUTH"),
            Self::Auth { mechanism, initial } => {
                write!(f, "AUTH {mechanism}")?;
                write_argument(f, initial.unwrap_or_default())
            }
            Self::Data(data) => write_command(f, "DATA", data),
            Self::Cancel => f.write_str("CANCEL"),
            Self::Error(explanation) => write_command(f, "ERROR", explanation),
            Self::NegotiateUnixFd => f.write_str("NEGOTIATE_UNIX_FD"),
            Self::Begin => f.write_str("BEGIN"),
            Self::Unknown(command) => f.write_str(command),
        }
    }
}

/// A line from a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerLine<'a> {
    /// `REJECTED [mechanisms]`: the exchange failed; may list the available mechanisms.
    Rejected(&'a str),
    /// `OK guid`: the client is authenticated.
    Ok(&'a str),
    /// `DATA [challenge]`: continues an exchange; in hexadecimal.
    Data(&'a str),
    /// `ERROR [explanation]`: the client's command was not understood or not allowed, and is
    /// ignored.
    Error(&'a str),
    /// `AGREE_UNIX_FD`: file descriptors can be passed.
    AgreeUnixFd,
    /// An unknown command, without its arguments.
    Unknown(&'a str),
}

impl<'a> ServerLine<'a> {
    /// Parses a line without its `\r\n`.
    ///
    /// # Errors
    ///
    /// If the line contains NUL or is not ASCII.
    pub fn parse(line: &'a [u8]) -> Result<Self, LineError> {
        let (command, arguments) = split_word(ascii(line)?);
        Ok(match command {
            "REJECTED" => Self::Rejected(arguments),
            "OK" => Self::Ok(arguments),
            "DATA" => Self::Data(arguments),
            "ERROR" => Self::Error(arguments),
            "AGREE_UNIX_FD" => Self::AgreeUnixFd,
            other => Self::Unknown(other),
        })
    }

    /// Appends the line and its `\r\n` to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_line(self, out);
    }
}

impl fmt::Display for ServerLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rejected(mechanisms) => write_command(f, "REJECTED", mechanisms),
            Self::Ok(guid) => write_command(f, "OK", guid),
            Self::Data(data) => write_command(f, "DATA", data),
            Self::Error(explanation) => write_command(f, "ERROR", explanation),
            Self::AgreeUnixFd => f.write_str("AGREE_UNIX_FD"),
            Self::Unknown(command) => f.write_str(command),
        }
    }
}

/// The reason why bytes are not a line of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineError {
    /// A byte is NUL or not ASCII.
    NotAscii {
        /// Offset in bytes from the start of the line.
        at: usize,
    },
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAscii { at } => write!(f, "byte {at} of the line is NUL or not ASCII"),
        }
    }
}

impl core::error::Error for LineError {}

/// Splits a stream that arrives in chunks into lines.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LineBuffer {
    partial: Vec<u8>,
    /// Number of stream bytes consumed, including the bytes in `partial`.
    taken: u64,
}

/// A line without its `\r\n`, and its offset in the stream.
pub(super) struct SaslLine {
    pub(super) bytes: Vec<u8>,
    pub(super) at: u64,
}

/// The error that a line is longer than [`LINE_LEN_MAX`].
pub(super) struct LineTooLong {
    /// Offset of the line in the stream.
    pub(super) at: u64,
}

impl LineBuffer {
    /// Consumes the first byte of `input`, which does not belong to a line.
    pub(super) fn skip_byte(&mut self, input: &mut &[u8]) -> Option<u8> {
        let (&first, rest) = input.split_first()?;
        *input = rest;
        self.taken += 1;
        Some(first)
    }

    /// Consumes bytes from the front of `input` up to the end of a line.
    ///
    /// Returns `None` if the line is incomplete; its bytes are kept. A `\n` without `\r` does not
    /// end a line.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<SaslLine>, LineTooLong> {
        while !self.partial.ends_with(b"\r\n") {
            let Some(len) = self.next_piece(input) else { return Ok(None) };
            if self.partial.len() + len > LINE_LEN_MAX {
                return Err(LineTooLong { at: self.start() });
            }
            let (piece, rest) = input.split_at(len);
            self.partial.extend_from_slice(piece);
            self.taken += len as u64;
            *input = rest;
        }
        let at = self.start();
        let mut bytes = core::mem::take(&mut self.partial);
        bytes.truncate(bytes.len() - b"\r\n".len());
        Ok(Some(SaslLine { bytes, at }))
    }

    /// Number of bytes to consume next: up to the next `\n`, which may end a line.
    fn next_piece(&self, input: &[u8]) -> Option<usize> {
        match input.iter().position(|&byte| byte == b'\n') {
            Some(end) => Some(end + 1),
            None if input.is_empty() => None,
            None => Some(input.len()),
        }
    }

    fn start(&self) -> u64 {
        self.taken - self.partial.len() as u64
    }
}

fn ascii(line: &[u8]) -> Result<&str, LineError> {
    let wrong = line.iter().position(|byte| !byte.is_ascii() || *byte == 0);
    match (wrong, core::str::from_utf8(line)) {
        (None, Ok(text)) => Ok(text),
        (at, _) => Err(LineError::NotAscii { at: at.unwrap_or(0) }),
    }
}

/// Splits off the first word, and removes the blanks after it.
fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_at(text.find([' ', '\t']).unwrap_or(text.len()));
    (word, rest.trim_start_matches([' ', '\t']))
}

fn write_command(f: &mut fmt::Formatter<'_>, command: &str, argument: &str) -> fmt::Result {
    f.write_str(command)?;
    write_argument(f, argument)
}

fn write_argument(f: &mut fmt::Formatter<'_>, argument: &str) -> fmt::Result {
    if argument.is_empty() { Ok(()) } else { write!(f, " {argument}") }
}

fn write_line(line: &impl fmt::Display, out: &mut Vec<u8>) {
    struct HexSink<'a>(&'a mut Vec<u8>);

    impl fmt::Write for HexSink<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }

    // The sink accepts all bytes, and the `Display` implementations of the lines never fail.
    let written = write!(HexSink(out), "{line}\r\n");
    debug_assert!(written.is_ok());
}
