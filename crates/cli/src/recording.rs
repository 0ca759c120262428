//! Recordings on the command line.

use std::fmt;
use std::io;
use std::path::Path;

use capture::Capture;
use serde::Serialize;

/// The words that are files, which stand first, and the query that the rest is. A first word is a
/// file even if there is none, so that a mistake in its name is told as that.
pub(crate) fn files_and_query(words: &[String]) -> (&[String], String) {
    let rest = words.get(1..).unwrap_or_default();
    let more = rest.iter().take_while(|word| Path::new(word).exists()).count();
    let (files, query) = words.split_at(words.len().min(1 + more));
    (files, query.join(" "))
}

/// Reads a recording.
pub(crate) fn open(file: &str) -> Result<Capture, OpenError> {
    Capture::open(Path::new(file)).map_err(|error| OpenError { file: file.to_owned(), error })
}

/// A value as JSON for programs that people read too.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// A recording cannot be read.
#[derive(Debug)]
pub(crate) struct OpenError {
    file: String,
    error: io::Error,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.file, self.error)
    }
}

impl std::error::Error for OpenError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_first_and_the_rest_is_a_query() {
        let here = env!("CARGO_MANIFEST_DIR").to_owned();
        for (words, files, query) in [
            (vec!["nowhere.pcap"], 1, ""),
            (vec![&here, &here, "member:Get*", "dur>5ms"], 2, "member:Get* dur>5ms"),
            (vec!["nowhere.pcap", "x", &here], 1, &*format!("x {here}")),
        ] {
            let words: Vec<_> = words.into_iter().map(str::to_owned).collect();
            let found = files_and_query(&words);
            assert_eq!((found.0.len(), found.1.as_str()), (files, query));
        }
    }
}
