//! The lines of the authentication protocol: one command each, ended by `\r\n`.
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
//! Data stays hexadecimal here: what a mistake in it means depends on who reads it and when.

use alloc::vec::Vec;
use core::fmt::{self, Write as _};

/// Bytes in a line with its `\r\n`. Whoever gets a longer one disconnects, as the reference
/// implementation does; the specification sets no limit.
pub const LINE_LEN_MAX: usize = 16 * 1024;

/// What a client says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientLine<'a> {
    /// `AUTH`: asks which mechanisms there are.
    ListMechanisms,
    /// `AUTH mechanism [initial]`: begins an exchange.
    Auth {
        /// The mechanism's name, which may be unknown here.
        mechanism: &'a str,
        /// The first answer, in hexadecimal, to a challenge that need not be sent.
        initial: Option<&'a str>,
    },
    /// `DATA [response]`: goes on with an exchange; in hexadecimal.
    Data(&'a str),
    /// `CANCEL`: gives an exchange up.
    Cancel,
    /// `ERROR [explanation]`: did not understand the server.
    Error(&'a str),
    /// `NEGOTIATE_UNIX_FD`: asks to pass file descriptors.
    NegotiateUnixFd,
    /// `BEGIN`: the next byte is the first of the messages.
    Begin,
    /// A command that is not known here.
    Unknown(&'a str),
}

impl<'a> ClientLine<'a> {
    /// Reads a line without its `\r\n`.
    ///
    /// Arguments that a command does not have are ignored.
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

    /// Appends the line, with its `\r\n`.
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

/// What a server says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerLine<'a> {
    /// `REJECTED [mechanisms]`: the exchange failed; perhaps the names to choose from.
    Rejected(&'a str),
    /// `OK guid`: the client is authenticated.
    Ok(&'a str),
    /// `DATA [challenge]`: goes on with an exchange; in hexadecimal.
    Data(&'a str),
    /// `ERROR [explanation]`: the client's command was not understood or not allowed, and is
    /// forgotten.
    Error(&'a str),
    /// `AGREE_UNIX_FD`: file descriptors may be passed.
    AgreeUnixFd,
    /// A command that is not known here.
    Unknown(&'a str),
}

impl<'a> ServerLine<'a> {
    /// Reads a line without its `\r\n`.
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

    /// Appends the line, with its `\r\n`.
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

/// Why bytes are no line of either side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineError {
    /// A byte that is not ASCII, or NUL.
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

/// Cuts a stream that arrives in chunks into lines.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    partial: Vec<u8>,
    /// Bytes of the stream that were taken, those in `partial` among them.
    taken: u64,
}

/// One line without its `\r\n`, and where it begins in the stream.
pub(super) struct SaslLine {
    pub(super) bytes: Vec<u8>,
    pub(super) at: u64,
}

/// A line is longer than [`LINE_LEN_MAX`].
pub(super) struct LineTooLong {
    /// Where it begins in the stream.
    pub(super) at: u64,
}

impl LineBuffer {
    /// Takes the first byte of `input`, which belongs to no line.
    pub(super) fn skip_byte(&mut self, input: &mut &[u8]) -> Option<u8> {
        let (&first, rest) = input.split_first()?;
        *input = rest;
        self.taken += 1;
        Some(first)
    }

    /// Takes bytes from the front of `input` up to the end of a line, and no more.
    ///
    /// `None` if the line has no end yet; its bytes are kept. A `\n` alone ends no line.
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

    /// How much of `input` to take next: up to where a line may end.
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

/// Splits off the first word; what follows begins after the blanks.
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

    // The sink takes everything, and the lines' own `Display` never fails.
    let written = write!(HexSink(out), "{line}\r\n");
    debug_assert!(written.is_ok());
}
