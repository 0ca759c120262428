//! Recordings on the command line.

use std::path::Path;

use capture::Capture;
pub(crate) use capture::model::OpenError;
use serde::Serialize;

/// The words that are files, which stand first, and the query that the rest is. A first word is a
/// file even if there is none, so that a mistake in its name is told as that.
pub(crate) fn files_and_query(words: &[String]) -> (&[String], String) {
    let rest = words.get(1..).unwrap_or_default();
    let more = rest.iter().take_while(|word| Path::new(word).exists()).count();
    let (files, query) = words.split_at(words.len().min(1 + more));
    (files, query.join(" "))
}

/// Reads recordings into one.
pub(crate) fn open(files: &[impl AsRef<Path>]) -> Result<Capture, OpenError> {
    Capture::open_all(files)
}

/// A value as JSON for programs that people read too.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

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
