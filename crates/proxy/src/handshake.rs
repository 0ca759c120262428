//! The handshake, which the proxy forwards, and after which the messages begin.
//!
//! Program and bus must agree with the proxy about the place at which the messages begin, or a
//! program could send messages that are not filtered. So only complete lines with a strict form are
//! forwarded to the bus, and the number of replies is counted.

use std::fmt;

/// The state of a handshake that passes the proxy.
#[derive(Debug, Default)]
pub(crate) struct HandshakeRelay {
    /// The incomplete last line of the client.
    line: Vec<u8>,
    /// The lines to which the bus replies.
    requests: u64,
    /// The complete lines from the bus.
    replies: u64,
    /// True if the last byte from the bus was a carriage return.
    has_carriage_return: bool,
    /// True if the bus is in the middle of a line.
    is_in_reply: bool,
    client: ClientHandshakePart,
}

/// What the client has sent of its part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum ClientHandshakePart {
    /// The client has sent nothing.
    #[default]
    Connected,
    /// The client has sent the byte before the first line.
    Begun,
    /// The client has sent the line BEGIN.
    Ended,
}

/// The reason why a handshake cannot continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HandshakeFault {
    /// The first byte of the client is not NUL.
    FirstByte,
    /// A line of the client is not printable ASCII that begins with a capital letter.
    Line,
    /// A line of the client is longer than [`LINE_LEN_MAX`].
    LineLength,
    /// The bus sends more lines than the client.
    UnexpectedReply,
}

impl fmt::Display for HandshakeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstByte => "the first byte of the client is not NUL",
            Self::Line => "a line of the handshake is not valid",
            Self::LineLength => "a line of the handshake is too long",
            Self::UnexpectedReply => "the bus sent a line that the client did not request",
        })
    }
}

impl HandshakeRelay {
    /// Returns true if the messages of both sides begin with their next bytes.
    pub(crate) const fn is_complete(&self) -> bool {
        matches!(self.client, ClientHandshakePart::Ended) && self.requests == self.replies
    }

    /// Returns true if the client has ended its part, and the bus has not.
    pub(crate) const fn waits_for_bus(&self) -> bool {
        matches!(self.client, ClientHandshakePart::Ended) && self.requests != self.replies
    }

    /// Returns true if the client has sent the first byte, which stands for its credentials.
    pub(crate) const fn has_begun(&self) -> bool {
        !matches!(self.client, ClientHandshakePart::Connected)
    }

    /// Takes bytes of the client, and appends the lines for the bus to `forward`, without the first
    /// byte. Returns how many bytes belong to the handshake.
    pub(crate) fn client_bytes(
        &mut self,
        bytes: &[u8],
        forward: &mut Vec<u8>,
    ) -> Result<usize, HandshakeFault> {
        let mut at = 0;
        if self.client == ClientHandshakePart::Connected
            && let Some(first) = bytes.first()
        {
            if *first != 0 {
                return Err(HandshakeFault::FirstByte);
            }
            self.client = ClientHandshakePart::Begun;
            at = 1;
        }
        while at < bytes.len() && self.client != ClientHandshakePart::Ended {
            self.line.push(bytes[at]);
            at += 1;
            if let Some(line) = self.line.strip_suffix(b"\r\n") {
                check_line(line)?;
                if is_begin(line) {
                    self.client = ClientHandshakePart::Ended;
                } else {
                    self.requests += 1;
                }
                forward.append(&mut self.line);
            } else if self.line.len() >= LINE_LEN_MAX {
                return Err(HandshakeFault::LineLength);
            }
        }
        Ok(at)
    }

    /// Takes bytes of the bus. Returns how many of them belong to the handshake.
    pub(crate) fn bus_bytes(&mut self, bytes: &[u8]) -> Result<usize, HandshakeFault> {
        for (at, byte) in bytes.iter().enumerate() {
            if self.is_complete() {
                return Ok(at);
            }
            if !self.is_in_reply && self.replies == self.requests {
                return Err(HandshakeFault::UnexpectedReply);
            }
            self.is_in_reply = true;
            if self.has_carriage_return && *byte == b'\n' {
                self.replies += 1;
                self.is_in_reply = false;
            }
            self.has_carriage_return = *byte == b'\r';
        }
        Ok(bytes.len())
    }
}

fn check_line(line: &[u8]) -> Result<(), HandshakeFault> {
    let is_valid = line.first().is_some_and(u8::is_ascii_uppercase)
        && line.iter().all(|byte| matches!(byte, b' '..=b'~' | 0x7f));
    if is_valid { Ok(()) } else { Err(HandshakeFault::Line) }
}

/// Buses accept nothing, or white space and any text, after the word.
fn is_begin(line: &[u8]) -> bool {
    line.strip_prefix(b"BEGIN").is_some_and(|rest| matches!(rest, [] | [b' ' | b'\t', ..]))
}

/// The maximum length of a line, with which dbus-daemon gives up too.
const LINE_LEN_MAX: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_is_forwarded_in_any_pieces() {
        let client = b"\0AUTH EXTERNAL 30\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\nmessages";
        let bus = b"OK 0123\r\nAGREE_UNIX_FD\r\nmessages";
        for size in 1..client.len() {
            let mut relay = HandshakeRelay::default();
            let (mut lines, mut taken) = (Vec::new(), 0);
            for piece in client.chunks(size) {
                taken += relay.client_bytes(piece, &mut lines).unwrap();
            }
            assert!(relay.has_begun() && !relay.is_complete());
            assert_eq!(lines, client[1..client.len() - 8]);
            assert_eq!(taken, client.len() - 8);
            let replies = bus.chunks(size).map(|piece| relay.bus_bytes(piece).unwrap());
            assert_eq!(replies.sum::<usize>(), bus.len() - 8);
            assert!(relay.is_complete());
        }
    }

    #[test]
    fn the_handshake_ends_with_the_last_line_of_either_side() {
        let mut relay = HandshakeRelay::default();
        let mut lines = Vec::new();
        assert_eq!(relay.client_bytes(b"\0AUTH EXTERNAL\r\n", &mut lines), Ok(16));
        assert_eq!(relay.bus_bytes(b"DATA\r\n"), Ok(6));
        assert_eq!(relay.client_bytes(b"BEGIN now\r\nl", &mut lines), Ok(11));
        assert!(relay.is_complete());
        assert_eq!(relay.bus_bytes(b"l"), Ok(0));
    }

    #[test]
    fn other_lines_are_not_forwarded() {
        let long = [b"\0A".as_slice(), &[b'A'; LINE_LEN_MAX]].concat();
        for (bytes, fault) in [
            (&b"AUTH\r\n"[..], HandshakeFault::FirstByte),
            (b"\0\r\n", HandshakeFault::Line),
            (b"\0auth\r\n", HandshakeFault::Line),
            (b"\0 BEGIN\r\n", HandshakeFault::Line),
            (b"\0AUTH\nBEGIN\r\n", HandshakeFault::Line),
            (b"\0AUTH\tX\r\n", HandshakeFault::Line),
            (b"\0AUTH\0\r\n", HandshakeFault::Line),
            (b"\0AUTH\xc3\xa4\r\n", HandshakeFault::Line),
            (&long, HandshakeFault::LineLength),
        ] {
            let mut relay = HandshakeRelay::default();
            let mut lines = Vec::new();
            assert_eq!(relay.client_bytes(bytes, &mut lines), Err(fault), "{bytes:?}");
            assert!(lines.is_empty());
        }
        let mut relay = HandshakeRelay::default();
        assert_eq!(relay.client_bytes(b"\0BEGINNING\r\n", &mut Vec::new()), Ok(12));
        assert_eq!(relay.bus_bytes(b"ERROR\r\nOK"), Err(HandshakeFault::UnexpectedReply));
    }
}
