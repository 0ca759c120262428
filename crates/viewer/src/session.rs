//! Authentication of the browser of the user who started the program.
//!
//! An address of the page contains a code that works once. Opening the address gives the browser a
//! cookie, which every other request needs. A code in a command line, in the history of a browser
//! or on a terminal is therefore worthless after its use, and the permanent secret is never part of
//! an address.
//!
//! There are two kinds of codes. One is in the printed address; after its use, the program prints a
//! new address. The other is in the file for a browser that the program starts
//! ([`browser`](crate::browser)).

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};

/// A secret of 128 random bits.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// Creates a new random token.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        sys::random::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Compares the token with a word. The duration of the comparison depends only on the length of
    /// the word, to prevent timing attacks.
    pub(crate) fn is(&self, word: &str) -> bool {
        let different = self.0.bytes().zip(word.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        self.0.len() == word.len() && different == 0
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Leaves out the secret, because other users may read logs.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// The codes that are still valid, and the cookie for which they are exchanged.
#[derive(Debug)]
pub(crate) struct PageSession {
    address: SocketAddr,
    cookie: Token,
    codes: Mutex<Codes>,
}

#[derive(Debug)]
struct Codes {
    printed: Token,
    /// The code in the file for the browser, until it is used.
    file: Option<Token>,
}

/// The address that contained a code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CodeSource {
    /// The printed address, which `next` replaces.
    Printed { next: String },
    /// The address in the file for the browser.
    File,
}

impl PageSession {
    pub(crate) fn new(address: SocketAddr) -> io::Result<Self> {
        let codes = Codes { printed: Token::random()?, file: None };
        Ok(Self { address, cookie: Token::random()?, codes: Mutex::new(codes) })
    }

    /// The address to print for the user.
    pub(crate) fn printed_address(&self) -> String {
        self.address_of(&self.codes().printed)
    }

    /// Creates the address for the browser that the program starts. An earlier one becomes invalid.
    pub(crate) fn file_address(&self) -> io::Result<String> {
        let code = Token::random()?;
        let address = self.address_of(&code);
        self.codes().file = Some(code);
        Ok(address)
    }

    fn address_of(&self, code: &Token) -> String {
        format!("http://{}/{OPEN}/{}", self.address, code.as_str())
    }

    /// Uses up a code. Returns `None` if the code is wrong or has already been used.
    ///
    /// # Errors
    ///
    /// If random numbers for the next code are not available.
    pub(crate) fn redeem(&self, code: &str) -> io::Result<Option<CodeSource>> {
        let mut codes = self.codes();
        if codes.file.as_ref().is_some_and(|file| file.is(code)) {
            codes.file = None;
            return Ok(Some(CodeSource::File));
        }
        if !codes.printed.is(code) {
            return Ok(None);
        }
        codes.printed = Token::random()?;
        Ok(Some(CodeSource::Printed { next: self.address_of(&codes.printed) }))
    }

    /// The header that gives the cookie to a browser. Scripts cannot read the cookie, and requests
    /// from other sites do not include it.
    pub(crate) fn set_cookie(&self) -> HeaderValue {
        let text = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie_name(),
            self.cookie.as_str()
        );
        HeaderValue::try_from(text).expect("it is ASCII without line breaks")
    }

    /// True if a request has the cookie.
    pub(crate) fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let fields = headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
        fields
            .flat_map(|field| field.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(key, value)| key == name && self.cookie.is(value))
    }

    /// The name contains the port, because browsers share cookies between the ports of a host.
    fn cookie_name(&self) -> String {
        format!("diligence-{}", self.address.port())
    }

    fn codes(&self) -> MutexGuard<'_, Codes> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first segment of the path of an address with a code.
pub(crate) const OPEN: &str = "open";

const TOKEN_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> PageSession {
        PageSession::new("127.0.0.1:8080".parse().unwrap()).unwrap()
    }

    fn code(address: &str) -> &str {
        address.strip_prefix("http://127.0.0.1:8080/open/").unwrap()
    }

    #[test]
    fn tokens_match_only_the_complete_word() {
        let token = Token::random().unwrap();
        assert!(token.is(token.as_str()));
        assert_ne!(token, Token::random().unwrap());
        for wrong in ["", &token.as_str()[1..], &format!("{}0", token.as_str())] {
            assert!(!token.is(wrong));
        }
    }

    #[test]
    fn printed_codes_work_once_and_are_replaced() {
        let session = session();
        let first = session.printed_address();
        assert_eq!(first, session.printed_address());
        let Some(CodeSource::Printed { next }) = session.redeem(code(&first)).unwrap() else {
            panic!("the code is not accepted")
        };
        assert_eq!(session.redeem(code(&first)).unwrap(), None);
        assert_eq!(session.printed_address(), next);
        assert_ne!(first, next);
        assert!(session.redeem(code(&next)).unwrap().is_some());
    }

    #[test]
    fn file_codes_work_once_and_keep_the_printed_code_valid() {
        let session = session();
        let printed = session.printed_address();
        let old = session.file_address().unwrap();
        let file = session.file_address().unwrap();
        assert_eq!(session.redeem(code(&old)).unwrap(), None);
        assert_eq!(session.redeem(code(&file)).unwrap(), Some(CodeSource::File));
        assert_eq!(session.redeem(code(&file)).unwrap(), None);
        assert_eq!(session.printed_address(), printed);
        assert!(session.redeem(code(&printed)).unwrap().is_some());
    }

    #[test]
    fn only_the_cookie_of_this_port_is_accepted() {
        let session = session();
        let set = session.set_cookie();
        let (pair, attributes) = set.to_str().unwrap().split_once("; ").unwrap();
        assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
        let (name, value) = pair.split_once('=').unwrap();
        let accepts = |fields: &[&str]| {
            let fields = fields.iter().map(|field| (COOKIE, HeaderValue::from_str(field).unwrap()));
            session.has_cookie(&fields.collect())
        };
        assert_eq!(name, "diligence-8080");
        for (fields, expected) in [
            (vec![pair], true),
            (vec!["a=b", pair], true),
            (vec![&*format!("a=b; {pair}; c=d")], true),
            (vec![&*format!("{name}=wrong; {pair}")], true),
            (vec![], false),
            (vec![&*format!("{name}=")], false),
            (vec![&*format!("diligence-8081={value}")], false),
            (vec![value], false),
            (vec![&*format!("{pair}0")], false),
        ] {
            assert_eq!(accepts(&fields), expected, "{fields:?}");
        }
    }
}
