//! Who may ask.
//!
//! What goes over a bus is for who may listen to it. The page is for who started the program: its
//! address has a word in it that cannot be guessed, and only pages from this same address may ask. A
//! page of somebody else's in the same browser knows neither; one that makes its name point here is
//! known by the name it asks for.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::SocketAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// The word in the address.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// One that nobody can guess.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Whether this is the word. How long it takes to say so does not tell how much of it is right.
    pub(crate) fn is(&self, word: &str) -> bool {
        let different = self.0.bytes().zip(word.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        self.0.len() == word.len() && different == 0
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Logs are read by others.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Whether a request was made to `address`, and by nobody but the page from there.
pub(crate) fn check(headers: &HeaderMap, address: SocketAddr) -> Result<(), StatusCode> {
    let is_ours = |name: &str| names(address).iter().any(|ours| ours == name);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_ours) {
        return Err(StatusCode::MISDIRECTED_REQUEST);
    }
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
    if origin.is_some_and(is_ours) { Ok(()) } else { Err(StatusCode::FORBIDDEN) }
}

/// What browsers call the address.
fn names(address: SocketAddr) -> [String; 2] {
    [address.to_string(), format!("localhost:{}", address.port())]
}

/// What is said with each answer: the page runs its own code alone, talks to nobody else, is in no
/// frame, and its address goes to nobody.
pub(crate) const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        axum::http::header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
             img-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (axum::http::header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (axum::http::header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (axum::http::header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// 128 bits.
const TOKEN_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_page_itself_may_ask() {
        let address = "127.0.0.1:8080".parse().unwrap();
        for (host, origin, expected) in [
            (Some("127.0.0.1:8080"), None, Ok(())),
            (Some("localhost:8080"), Some("http://localhost:8080"), Ok(())),
            (Some("127.0.0.1:8080"), Some("http://127.0.0.1:8080"), Ok(())),
            (None, None, Err(StatusCode::MISDIRECTED_REQUEST)),
            (Some("127.0.0.1:81"), None, Err(StatusCode::MISDIRECTED_REQUEST)),
            (Some("evil.example:8080"), None, Err(StatusCode::MISDIRECTED_REQUEST)),
            (Some("127.0.0.1:8080"), Some("http://evil.example"), Err(StatusCode::FORBIDDEN)),
            (Some("127.0.0.1:8080"), Some("https://127.0.0.1:8080"), Err(StatusCode::FORBIDDEN)),
            (Some("127.0.0.1:8080"), Some("null"), Err(StatusCode::FORBIDDEN)),
        ] {
            let fields = [(HOST, host), (ORIGIN, origin)].into_iter();
            let present = fields.filter_map(|(name, value)| Some((name, value?)));
            let headers: HeaderMap =
                present.map(|(name, value)| (name, HeaderValue::from_static(value))).collect();
            assert_eq!(check(&headers, address), expected, "{host:?} {origin:?}");
        }
    }

    #[test]
    fn a_token_is_the_whole_word() {
        let token = Token::random().unwrap();
        assert!(token.is(token.as_str()));
        assert_ne!(token, Token::random().unwrap());
        for wrong in ["", &token.as_str()[1..], &format!("{}0", token.as_str())] {
            assert!(!token.is(wrong));
        }
    }
}
