//! Unguessable bytes and file names.

use std::io;
pub use unix::random::fill;

/// Random letters and digits for the name of a file, which need not be a secret.
pub(crate) fn letters() -> io::Result<String> {
    let mut bytes = [0; LETTERS_LEN];
    fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect())
}

/// How many characters [`letters`] returns.
pub(crate) const LETTERS_LEN: usize = 6;

const LETTERS: &[u8; 32] = b"abcdefghijkmnopqrstuvwxyz2345678";
