//! Parsers for command-line values, and labels for cases.

use std::ops::RangeInclusive;
use std::time::Duration;

use sys::scheduling::{Nice, Slice};

use crate::number::grouped;
use crate::raw::ReadBuffer;

/// Parses a count of at least 1.
pub(super) fn count(word: &str) -> Result<u64, String> {
    number(word, 1..=COUNT_MAX, "expected a whole number")
}

/// Parses a count, which may be 0.
pub(super) fn count_or_none(word: &str) -> Result<u64, String> {
    number(word, 0..=COUNT_MAX, "expected a whole number")
}

/// Parses a size in bytes that fits in a D-Bus array.
pub(super) fn size(word: &str) -> Result<u64, String> {
    number(word, 0..=SIZE_MAX, "expected a number of bytes")
}

/// Parses the size of a read buffer.
pub(super) fn read_buffer(word: &str) -> Result<ReadBuffer, String> {
    if word == OURS {
        return Ok(ReadBuffer::Ours);
    }
    let bytes = number(word, 1..=SIZE_MAX, "expected `ours`, or a number of bytes")?;
    Ok(ReadBuffer::Bytes(bytes as usize))
}

/// Parses a nice value from -20 to 19.
pub(super) fn nice(word: &str) -> Result<Nice, String> {
    let nice = word.parse().ok().and_then(Nice::new);
    nice.ok_or_else(|| "expected a whole number from -20 to 19".to_owned())
}

/// Parses the length of a time slice, in milliseconds.
pub(super) fn slice(word: &str) -> Result<Slice, String> {
    let seconds = word.parse().ok().map(|milliseconds: f64| milliseconds / 1e3);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let slice = duration.and_then(Slice::new);
    slice.ok_or_else(|| "expected a number of milliseconds from 0.1 to 100".to_owned())
}

/// The name of a read buffer in cases and on the command line.
pub(super) fn read_buffer_word(size: ReadBuffer) -> String {
    match size {
        ReadBuffer::Ours => OURS.to_owned(),
        ReadBuffer::Bytes(bytes) => bytes.to_string(),
    }
}

/// Describes the reads with a buffer, given its name: `reads of 2048 B`, or `full reads` of
/// everything that has arrived.
pub(crate) fn read_buffer_label(word: &str) -> String {
    if word == OURS { "full reads".to_owned() } else { format!("reads of {word} B") }
}

/// Formats a size with its unit: `8 B`, `31.6 kB`, `10 MB`.
pub(crate) fn size_label(bytes: u64) -> String {
    let (value, unit) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (bytes as f64 / 1e3, "kB"),
        _ => (bytes as f64 / 1e6, "MB"),
    };
    let decimals = if value.fract() == 0.0 { 0 } else { 1 };
    format!("{value:.decimals$} {unit}")
}

/// Formats a size as KiB if it is a multiple of 1024, otherwise like [`size_label`]: `32 B`, `128
/// KiB`.
pub(super) fn binary_size_label(bytes: u64) -> String {
    if bytes >= 1024 && bytes.is_multiple_of(1024) {
        return format!("{} KiB", bytes / 1024);
    }
    size_label(bytes)
}

/// Formats a count with its noun: `1 signal`, `10 signals`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{} {many}", grouped(count as f64)),
    }
}

fn number(word: &str, range: RangeInclusive<u64>, what: &str) -> Result<u64, String> {
    let number = word.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("{what} from {} to {}", range.start(), range.end()))
}

/// The command-line name of the read buffer of this project.
const OURS: &str = "ours";

/// The largest accepted count, more than any measurement needs.
const COUNT_MAX: u64 = 100_000_000;

/// The largest payload in bytes: the maximum length of a D-Bus array.
const SIZE_MAX: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let check = |bytes, decimal: &str, binary: &str| {
            assert_eq!(size_label(bytes), decimal);
            assert_eq!(binary_size_label(bytes), binary);
        };
        check(8, "8 B", "8 B");
        check(1000, "1 kB", "1 kB");
        check(31_622, "31.6 kB", "31.6 kB");
        check(131_072, "131.1 kB", "128 KiB");
        check(10_000_000, "10 MB", "10 MB");
    }

    #[test]
    fn invalid_option_values_are_rejected_with_the_expected_form() {
        let check = |found: Result<String, String>, expected: &str| {
            assert_eq!(found.unwrap_or_else(|error| error), expected);
        };
        let text = |count: u64| count.to_string();
        check(count("10").map(text), "10");
        check(count("0").map(text), "expected a whole number from 1 to 100000000");
        check(count_or_none("0").map(text), "0");
        check(size("many").map(text), "expected a number of bytes from 0 to 67108864");
        check(size("67108865").map(text), "expected a number of bytes from 0 to 67108864");
        check(read_buffer("ours").map(read_buffer_word), "ours");
        check(read_buffer("2048").map(read_buffer_word), "2048");
        let expected = "expected `ours`, or a number of bytes from 1 to 67108864";
        check(read_buffer("0").map(read_buffer_word), expected);
        check(nice("-15").map(|nice| nice.get().to_string()), "-15");
        check(nice("20").map(|_| String::new()), "expected a whole number from -20 to 19");
        check(slice("0.1").map(|slice| format!("{:?}", slice.get())), "100µs");
        for wrong in ["0", "101", "-1", "NaN", "long"] {
            let expected = "expected a number of milliseconds from 0.1 to 100";
            check(slice(wrong).map(|_| String::new()), expected);
        }
    }
}
