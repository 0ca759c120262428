//! The last output of a service.

use std::collections::VecDeque;
use std::fmt;

/// The last bytes of a continuous output.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    /// The last of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut tail = Self::default();
        tail.push(bytes);
        tail
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }

    /// Appends output, and drops the oldest bytes beyond the maximum.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(&bytes[bytes.len().saturating_sub(BYTES_MAX)..]);
        let surplus = self.bytes.len().saturating_sub(BYTES_MAX);
        self.bytes.drain(..surplus);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Writes the last lines, each in quotation marks. The first of them may be incomplete.
impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
        for (index, line) in last.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}\"{line}\"")?;
        }
        Ok(())
    }
}

/// The maximum number of bytes kept for each service.
const BYTES_MAX: usize = 1024;

/// The maximum number of lines that are shown.
const LINES_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        let check = |pieces: &[&str], expected: &str| {
            let mut tail = Tail::default();
            pieces.iter().for_each(|piece| tail.push(piece.as_bytes()));
            assert_eq!(tail.to_string(), expected, "{pieces:?}");
            assert!(tail.bytes.len() <= BYTES_MAX);
        };
        check(&[], "");
        check(&["one\n"], "\"one\"");
        check(&["on", "e\n\n", "two"], "\"one\", \"two\"");
        check(&["1\n2\n3\n4\n5\n6\n7\n"], "\"3\", \"4\", \"5\", \"6\", \"7\"");
        let long = "x".repeat(3000);
        check(&["before", &long], &format!("\"{}\"", "x".repeat(BYTES_MAX)));
        check(&[&long, "\nend\n"], &format!("\"{}\", \"end\"", "x".repeat(BYTES_MAX - 5)));
    }
}
