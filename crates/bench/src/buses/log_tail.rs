//! The last output of a bus that died.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Returns the last [4 KiB](LAST_WORDS_LEN_MAX) of a text, starting at the beginning of a line if
/// possible.
pub(super) fn tail(text: &str) -> &str {
    let Some(cut) = text.len().checked_sub(LAST_WORDS_LEN_MAX).filter(|&cut| cut > 0) else {
        return text;
    };
    let cut = (cut..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(cut);
    let (before, rest) = text.split_at(cut);
    match rest.trim_end_matches('\n').find('\n') {
        Some(newline) if !before.ends_with('\n') => &rest[newline + 1..],
        _ => rest,
    }
}

/// Returns the tail of a file's content after byte `from`; empty if the file cannot be read.
pub(super) fn tail_of(file: &Path, from: u64) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(file)?;
        // Reads more than is kept, because the preceding byte may be a newline, and a character may
        // be cut.
        let enough = u64::try_from(LAST_WORDS_LEN_MAX).unwrap_or(u64::MAX).saturating_mul(2);
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(from.max(len.saturating_sub(enough))))?;
        let mut bytes = Vec::new();
        file.take(enough).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    tail(&String::from_utf8_lossy(&bytes)).to_owned()
}

/// Formats the output of a program as the end of a sentence; empty if there was no output.
pub(super) struct QuotedOutput<'a>(pub(super) &'a str);

impl fmt::Display for QuotedOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.trim().is_empty() {
            return Ok(());
        }
        f.write_str(", saying:")?;
        self.0.trim_end().lines().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// Bytes that are kept of the output of a bus.
const LAST_WORDS_LEN_MAX: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_tail_keeps_the_end_of_a_text() {
        let check = |text: String, expected: &str| assert_eq!(tail(&text), expected);
        let long = |len| "x".repeat(len);
        check(String::new(), "");
        check("a\nb".to_owned(), "a\nb");
        check(long(4096), &long(4096));
        check(long(4097), &long(4096));
        check(format!("{}\n", long(4097)), &format!("{}\n", long(4095)));
        check(format!("a\n{}\n", long(4095)), &format!("{}\n", long(4095)));
        check(format!("a\nb\n{}", long(4095)), &long(4095));
        check(format!("{}\nb\nc\n", long(4094)), "b\nc\n");
        check(format!("ä{}", long(4095)), &long(4095));
    }

    #[test]
    fn log_tail_reads_a_file_from_an_offset() {
        let path = std::env::temp_dir().join(format!("diligence-words-{}", std::process::id()));
        std::fs::write(&path, format!("{}\nend", "x".repeat(100_000))).unwrap();
        assert_eq!(tail_of(&path, 0), "end");
        assert_eq!(tail_of(&path, 100_002), "nd");
        assert_eq!(tail_of(&path, 200_000), "");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(tail_of(&path, 0), "");
    }
}
