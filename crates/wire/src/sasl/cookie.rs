//! The mechanism `DBUS_COOKIE_SHA1`: the keyring file, the challenge and the proof
//! ("DBUS_COOKIE_SHA1").
//!
//! A server keeps cookies in `~/.dbus-keyrings/<context>`, a file that only the user can read, and
//! asks a client to prove that it knows one of them. This module parses and writes the content of
//! the file. The program that uses the state machines reads, locks and replaces the file.
//!
//! ```
//! use diligence_wire::sasl::cookie::{CookieChallenge, CookieContext, Keyring, Proof, Refresh};
//!
//! // The server: load, refresh, save if changed.
//! let mut keyring = Keyring::parse(b"7 1000 00ff\n");
//! assert_eq!(keyring.refresh(2000, || [1; 28]), Refresh::Changed);
//! let cookie = keyring.newest(2000).expect("refresh ensures that there is one");
//! let challenge = CookieChallenge::new(CookieContext::default(), cookie.id, [2; 16]);
//!
//! // The client: read the challenge, find the cookie, answer.
//! let received = CookieChallenge::parse(challenge.to_string().as_bytes())?;
//! let secret = &keyring.find(received.cookie_id).expect("same file").secret;
//! let proof = Proof::of(&received, [3; 16], secret);
//!
//! // The server again.
//! let proof = Proof::parse(proof.to_string().as_bytes())?;
//! assert!(proof.holds(&challenge, secret));
//! # Ok::<(), diligence_wire::sasl::cookie::CookieError>(())
//! ```

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use sha1::{Digest as _, Sha1};

use crate::hex;

/// Age in seconds above which a cookie is not used for new logins.
pub const USE_SECONDS_MAX: u64 = 5 * 60;

/// Age in seconds above which a cookie is deleted. The difference to [`USE_SECONDS_MAX`] is the
/// time that a client has to complete a login.
pub const KEEP_SECONDS_MAX: u64 = 7 * 60;

/// A cookie whose time is further in the future than this, in seconds, comes from a wrong clock and
/// is deleted.
pub const FUTURE_SECONDS_MAX: u64 = 5 * 60;

/// Maximum number of lines read from one file; later lines are ignored.
pub const KEYRING_LINES_MAX: usize = 256;

/// Number of random bytes for a new cookie: four for its ID, the others for the secret.
pub const NEW_COOKIE_LEN: usize = 4 + 24;

/// Number of random bytes in the text of either side.
pub const CHALLENGE_LEN: usize = 16;

/// The name of a set of cookies, which is the name of its file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CookieContext(String);

impl CookieContext {
    /// Checks the name. Slashes, backslashes, dots, blanks, NUL and characters outside ASCII are
    /// rejected, so that a server cannot direct a client to another file.
    ///
    /// # Errors
    ///
    /// If the name is empty or contains a forbidden character.
    pub fn new(name: &str) -> Result<Self, CookieError> {
        match name.find(|c: char| !c.is_ascii() || CONTEXT_FORBIDDEN.contains(&c)) {
            Some(at) => Err(CookieError::ContextByte { at }),
            None if name.is_empty() => Err(CookieError::ContextEmpty),
            None => Ok(Self(name.into())),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for CookieContext {
    /// `org_freedesktop_general`, the default of the specification.
    fn default() -> Self {
        Self("org_freedesktop_general".into())
    }
}

impl fmt::Display for CookieContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A cookie in a keyring file.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cookie {
    /// The ID, which is unique in the file.
    pub id: u32,
    /// The creation time, in seconds since 1970.
    pub created_unix: u64,
    /// The secret, in hexadecimal.
    pub secret: String,
}

impl Cookie {
    /// True if the cookie is not deleted at `now_unix`.
    fn is_kept(&self, now_unix: u64) -> bool {
        let too_new = self.created_unix > now_unix.saturating_add(FUTURE_SECONDS_MAX);
        !too_new && now_unix.saturating_sub(self.created_unix) <= KEEP_SECONDS_MAX
    }

    /// True if a login that begins at `now_unix` can use the cookie.
    fn is_usable(&self, now_unix: u64) -> bool {
        self.is_kept(now_unix) && now_unix.saturating_sub(self.created_unix) <= USE_SECONDS_MAX
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let (id, created_unix) = (number(fields.next()?)?, number(fields.next()?)?);
        let secret = fields.next()?;
        let well_formed = fields.next().is_none() && !secret.is_empty();
        let secret = secret.to_string();
        (well_formed && hex::decode(&secret).is_ok()).then_some(Self { id, created_unix, secret })
    }
}

/// Formats the cookie without its secret.
impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Cookie");
        fields.field("id", &self.id).field("created_unix", &self.created_unix);
        fields.finish_non_exhaustive()
    }
}

/// The cookies in a keyring file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Keyring {
    cookies: Vec<Cookie>,
}

impl Keyring {
    /// Parses a file: each line has an ID, a time and a secret.
    ///
    /// Malformed lines and lines with a duplicate ID are skipped, because one damaged line must not
    /// lock the user out. The next [`refresh`](Self::refresh) removes them.
    pub fn parse(file: &[u8]) -> Self {
        let mut keyring = Self::default();
        for line in file.split(|&byte| byte == b'\n').take(KEYRING_LINES_MAX) {
            let cookie = core::str::from_utf8(line).ok().and_then(Cookie::parse);
            keyring.cookies.extend(cookie.filter(|cookie| keyring.find(cookie.id).is_none()));
        }
        keyring
    }

    /// The cookies, in the order of the file.
    pub fn cookies(&self) -> &[Cookie] {
        &self.cookies
    }

    /// The cookie with this ID.
    pub fn find(&self, id: u32) -> Option<&Cookie> {
        self.cookies.iter().find(|cookie| cookie.id == id)
    }

    /// The newest cookie that a login beginning at `now_unix` can use.
    pub fn newest(&self, now_unix: u64) -> Option<&Cookie> {
        let usable = self.cookies.iter().filter(|cookie| cookie.is_usable(now_unix));
        usable.max_by_key(|cookie| cookie.created_unix)
    }

    /// Removes expired cookies and cookies from the future, and adds a cookie if none is usable for
    /// a new login.
    ///
    /// Only a server calls this. It must hold the lock of the file, and save the file if the result
    /// is [`Refresh::Changed`].
    pub fn refresh(
        &mut self,
        now_unix: u64,
        random: impl FnOnce() -> [u8; NEW_COOKIE_LEN],
    ) -> Refresh {
        let before = self.cookies.len();
        self.cookies.retain(|cookie| cookie.is_kept(now_unix));
        if self.newest(now_unix).is_none() {
            self.add(now_unix, random());
            return Refresh::Changed;
        }
        if self.cookies.len() == before { Refresh::Unchanged } else { Refresh::Changed }
    }

    fn add(&mut self, now_unix: u64, random: [u8; NEW_COOKIE_LEN]) {
        let (number, secret) = random.split_at(4);
        let number = number.iter().fold(0, |number, &byte| number << 8 | u32::from(byte));
        let mut id = number & COOKIE_ID_MAX;
        while self.find(id).is_some() {
            id = (id + 1) & COOKIE_ID_MAX;
        }
        self.cookies.push(Cookie { id, created_unix: now_unix, secret: hex::encode(secret) });
    }
}

/// Writes the content of the file.
impl fmt::Display for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cookies.iter().try_for_each(|cookie| {
            writeln!(f, "{} {} {}", cookie.id, cookie.created_unix, cookie.secret)
        })
    }
}

/// The result of [`Keyring::refresh`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Refresh {
    /// The file need not be saved.
    Unchanged,
    /// The file must be saved before a client gets a challenge about one of its cookies.
    Changed,
}

/// A challenge of a server: to prove knowledge of a cookie.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CookieChallenge {
    /// The context, which is the name of the file.
    pub context: CookieContext,
    /// The ID of the cookie in the file.
    pub cookie_id: u32,
    /// A text to include in the proof, so that a proof cannot be reused.
    pub text: String,
}

impl CookieChallenge {
    /// Creates a challenge about a cookie; the text is `random` in hexadecimal.
    pub fn new(context: CookieContext, cookie_id: u32, random: [u8; CHALLENGE_LEN]) -> Self {
        Self { context, cookie_id, text: hex::encode(&random) }
    }

    /// Parses the decoded data of a server's line.
    ///
    /// # Errors
    ///
    /// If a field is missing or invalid.
    pub fn parse(data: &[u8]) -> Result<Self, CookieError> {
        let text = core::str::from_utf8(data).map_err(|_| CookieError::NotText)?;
        let mut fields = text.splitn(3, ' ');
        let context = CookieContext::new(fields.next().unwrap_or_default())?;
        let cookie_id = fields.next().and_then(number).ok_or(CookieError::CookieId)?;
        let text = fields.next().filter(|text| !text.is_empty());
        let text = text.ok_or(CookieError::MissingField)?.into();
        Ok(Self { context, cookie_id, text })
    }
}

/// Writes the data of the server's line, before hexadecimal encoding.
impl fmt::Display for CookieChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.context, self.cookie_id, self.text)
    }
}

/// The response of a client: a text, and a hash of both texts and the secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    text: String,
    digest: String,
}

impl Proof {
    /// Creates the response to `challenge`; the client's text is `random` in hexadecimal.
    pub fn of(challenge: &CookieChallenge, random: [u8; CHALLENGE_LEN], secret: &str) -> Self {
        let text = hex::encode(&random);
        let digest = digest(&challenge.text, &text, secret);
        Self { text, digest }
    }

    /// Parses the decoded data of a client's line.
    ///
    /// # Errors
    ///
    /// If a field is missing, or the data is not UTF-8.
    pub fn parse(data: &[u8]) -> Result<Self, CookieError> {
        let text = core::str::from_utf8(data).map_err(|_| CookieError::NotText)?;
        match text.split_once(' ') {
            Some((text, digest)) if !text.is_empty() && !digest.is_empty() => {
                Ok(Self { text: text.into(), digest: digest.into() })
            }
            _ => Err(CookieError::MissingField),
        }
    }

    /// True if the proof was made with `secret` for this challenge.
    pub fn holds(&self, challenge: &CookieChallenge, secret: &str) -> bool {
        let expected = digest(&challenge.text, &self.text, secret);
        constant_time_eq(expected.as_bytes(), self.digest.as_bytes())
    }
}

/// Writes the data of the client's line, before hexadecimal encoding.
impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.text, self.digest)
    }
}

/// The reason why a challenge, a proof or a context name is malformed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CookieError {
    /// The data is not UTF-8.
    NotText,
    /// The name of the context is empty.
    ContextEmpty,
    /// The name of the context contains a forbidden character.
    ContextByte {
        /// Offset in bytes from the start of the name.
        at: usize,
    },
    /// The ID of the cookie is missing or not a number.
    CookieId,
    /// The challenge's text, the proof's text or its hash is missing.
    MissingField,
}

impl fmt::Display for CookieError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText => f.write_str("the data is not UTF-8"),
            Self::ContextEmpty => f.write_str("the name of the cookie context is empty"),
            Self::ContextByte { at } => {
                write!(f, "byte {at} is not allowed in the name of a cookie context")
            }
            Self::CookieId => f.write_str("the id of the cookie is missing or not a number"),
            Self::MissingField => f.write_str("a field is missing after the last space"),
        }
    }
}

impl core::error::Error for CookieError {}

fn digest(server: &str, client: &str, secret: &str) -> String {
    let parts = [server, ":", client, ":", secret];
    let hash = parts.iter().fold(Sha1::new(), |hash, part| hash.chain_update(part));
    hex::encode(&hash.finalize())
}

/// Compares without early exit, so that the duration does not depend on the content.
fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0, |bits, (l, r)| bits | (l ^ r));
    left.len() == right.len() && differences == 0
}

/// Parses a number that consists of digits only.
fn number<N: core::str::FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// ASCII characters that the name of a context must not contain.
const CONTEXT_FORBIDDEN: [char; 8] = ['/', '\\', ' ', '\n', '\r', '\t', '.', '\0'];

/// dbus-daemon reads IDs as signed numbers, so new IDs must be in their positive range.
const COOKIE_ID_MAX: u32 = i32::MAX as u32;

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "1 1000 0a\n2 1100 0b\n3 1300 0c\n";

    #[test]
    fn keyring_files_round_trip() {
        assert_eq!(Keyring::parse(FILE.as_bytes()).to_string(), FILE);
        assert_eq!(Keyring::parse(FILE.trim_end().as_bytes()).to_string(), FILE);
    }

    #[test]
    fn malformed_keyring_lines_are_skipped() {
        let malformed =
            "\n1 2\n-1 5 00\n+1 5 00\n1 x 00\n1 5 0\n1 5 00 \n1  5 00\n1 5 zz\n1 5 \n\u{e9}";
        assert_eq!(Keyring::parse(malformed.as_bytes()), Keyring::default());
        let twice = Keyring::parse(b"1 5 00\n1 6 01\n\xff\n2 7 02");
        assert_eq!(twice.to_string(), "1 5 00\n2 7 02\n");
        let many: String =
            (0..2 * KEYRING_LINES_MAX).map(|id| alloc::format!("{id} 1 00\n")).collect();
        assert_eq!(Keyring::parse(many.as_bytes()).cookies().len(), KEYRING_LINES_MAX);
    }

    #[test]
    fn cookies_expire_by_age() {
        let keyring = Keyring::parse(FILE.as_bytes());
        // Columns: the time, the cookie for a new login, and the cookies left after a refresh.
        for (now, newest, left) in [
            (699, None, &[][..]),
            (700, Some(1), &[1]),
            (1000, Some(3), &[1, 2, 3]),
            (1420, Some(3), &[1, 2, 3]),
            (1421, Some(3), &[2, 3]),
            (1600, Some(3), &[3]),
            (1601, None, &[3]),
            (1720, None, &[3]),
            (1721, None, &[]),
        ] {
            assert_eq!(keyring.newest(now).map(|cookie| cookie.id), newest, "newest at {now}");
            let mut refreshed = keyring.clone();
            let change = refreshed.refresh(now, || [9; NEW_COOKIE_LEN]);
            let mut expected = left.to_vec();
            expected.extend(newest.is_none().then_some(0x0909_0909));
            let found: Vec<u32> = refreshed.cookies().iter().map(|cookie| cookie.id).collect();
            assert_eq!(found, expected, "left at {now}");
            assert_eq!(change == Refresh::Unchanged, refreshed == keyring, "change at {now}");
            assert!(refreshed.newest(now).is_some());
        }
    }

    #[test]
    fn new_cookies_get_an_unused_id() {
        let mut keyring = Keyring::parse(b"2147483647 1 00\n0 1 00\n");
        let change = keyring.refresh(400, || [0xff; NEW_COOKIE_LEN]);
        assert_eq!((change, keyring.cookies()[2].id), (Refresh::Changed, 1));
        assert_eq!(keyring.cookies()[2].secret, "ff".repeat(24));
    }

    #[test]
    fn cookie_proofs_match_other_implementations() {
        let challenge = CookieChallenge::parse(b"ctx 5 server").expect("well-formed");
        let proof =
            Proof::parse(b"client a22c764e817d4ee11c0a8215668dc5964d17e6d5").expect("well-formed");
        assert!(proof.holds(&challenge, "secret"));
        assert!(!proof.holds(&challenge, "Secret"));
        let upper =
            Proof::parse(b"client A22C764E817D4EE11C0A8215668DC5964D17E6D5").expect("well-formed");
        assert!(!upper.holds(&challenge, "secret"));
    }

    #[test]
    fn malformed_challenges_and_proofs_report_reasons() {
        for (data, expected) in [
            ("", CookieError::ContextEmpty),
            ("a/b 1 x", CookieError::ContextByte { at: 1 }),
            ("..  1 x", CookieError::ContextByte { at: 0 }),
            ("ctx", CookieError::CookieId),
            ("ctx -1 x", CookieError::CookieId),
            ("ctx 4294967296 x", CookieError::CookieId),
            ("ctx 1", CookieError::MissingField),
            ("ctx 1 ", CookieError::MissingField),
        ] {
            assert_eq!(CookieChallenge::parse(data.as_bytes()), Err(expected), "{data:?}");
        }
        for data in ["", "x", " x", "x "] {
            assert_eq!(Proof::parse(data.as_bytes()), Err(CookieError::MissingField), "{data:?}");
        }
        assert_eq!(Proof::parse(b"\xff x"), Err(CookieError::NotText));
    }
}
