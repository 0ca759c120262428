//! The protocol before the first message: on some addresses a nonce, then the handshake.

use serde::{Deserialize, Serialize};
use wire::sasl;

use crate::listen::{ListenerEntry, Nonce};

/// The state of the login of a connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PeerLogin {
    /// The nonce, until it was received.
    expected: Option<NonceCheck>,
    pub(crate) server: sasl::SaslServer,
}

impl PeerLogin {
    /// The state before the first byte.
    pub(crate) fn new(entry: ListenerEntry, server: sasl::SaslServer) -> Self {
        let expected = match entry {
            ListenerEntry::Open => None,
            ListenerEntry::Nonce(nonce) => {
                Some(NonceCheck { nonce, sent: [0; Nonce::LEN], len: 0 })
            }
        };
        Self { expected, server }
    }

    /// Returns true unless the login was restored from damaged data.
    pub(crate) fn is_consistent(&self) -> bool {
        self.expected.as_ref().is_none_or(|check| check.len < Nonce::LEN)
    }

    /// Removes the nonce, or a part of it, from the front of the received bytes, if it is still
    /// expected. The rest is for the [`server`](Self::server).
    pub(crate) fn take_nonce<'c>(
        &mut self,
        chunk: &'c mut [u8],
    ) -> Result<&'c mut [u8], WrongNonce> {
        let Some(check) = &mut self.expected else { return Ok(chunk) };
        let rest = check.take(chunk)?;
        if check.len == Nonce::LEN {
            self.expected = None;
        }
        Ok(rest)
    }
}

/// The error of a client that sent a wrong nonce.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WrongNonce;

/// A nonce that may arrive in several reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct NonceCheck {
    nonce: Nonce,
    sent: [u8; Nonce::LEN],
    /// Number of bytes received so far.
    len: usize,
}

impl NonceCheck {
    fn take<'c>(&mut self, chunk: &'c mut [u8]) -> Result<&'c mut [u8], WrongNonce> {
        let missing = &mut self.sent[self.len..];
        let (piece, rest) = chunk.split_at_mut(missing.len().min(chunk.len()));
        missing[..piece.len()].copy_from_slice(piece);
        self.len += piece.len();
        let is_wrong = self.len == Nonce::LEN && !self.nonce.is(&self.sent);
        if is_wrong { Err(WrongNonce) } else { Ok(rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use wire::guid::Guid;
    use wire::sasl::cookie::CookieContext;
    use wire::sasl::server::{FdSupport, PeerIdentity};
    use wire::sasl::{Mechanisms, SaslServer, ServerConfig};

    use crate::listen::NonceFile;

    #[test]
    fn a_nonce_may_arrive_in_several_reads() {
        let file = NonceFile::new_in(&std::env::temp_dir()).unwrap();
        let right = fs::read(&file.path).unwrap();
        let mut wrong = right.clone();
        wrong[7] ^= 1;
        let mut wrong_at_end = right.clone();
        wrong_at_end[15] ^= 1;
        let check = |secret: &[u8], piece: usize| {
            let mut login = PeerLogin::new(ListenerEntry::Nonce(file.nonce), server());
            let mut sent = [secret, b"\0AUTH"].concat();
            let mut passed = Vec::new();
            for chunk in sent.chunks_mut(piece) {
                passed.extend_from_slice(login.take_nonce(chunk)?);
            }
            Ok(passed)
        };
        for piece in [1, 5, 16, 17, 100] {
            assert_eq!(check(&right, piece), Ok(b"\0AUTH".to_vec()), "{piece}");
            assert_eq!(check(&wrong, piece), Err(WrongNonce), "{piece}");
        }
        assert_eq!(check(&wrong_at_end, 100), Err(WrongNonce), "only the last byte is wrong");
        let mut login = PeerLogin::new(ListenerEntry::Open, server());
        assert_eq!(login.take_nonce(&mut [0, 65]), Ok(&mut [0, 65][..]));
    }

    fn server() -> SaslServer {
        SaslServer::new(ServerConfig {
            guid: Guid::from_bytes([7; 16]),
            mechanisms: Mechanisms::ALL,
            peer: PeerIdentity::default(),
            fds: FdSupport::Unavailable,
            cookie_context: CookieContext::default(),
        })
    }
}
