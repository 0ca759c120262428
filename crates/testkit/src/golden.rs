//! Golden files: the expected output of a test, as a text file in the tree that people read and
//! review.
//!
//! A test produces a text and calls [`check`]. If the file differs, the test fails and shows the
//! first difference. With `DILIGENCE_BLESS=1`, the same test writes the file instead, and the
//! change is reviewed like any other.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Compares `actual` with the file at `path`, and panics with a readable difference if they differ.
/// Writes the file instead if the environment has `DILIGENCE_BLESS=1`.
///
/// # Panics
///
/// Panics if they differ, if the file is missing, or if the file cannot be written.
#[track_caller]
pub fn check(path: impl AsRef<Path>, actual: &str) {
    let mode = match env::var_os("DILIGENCE_BLESS") {
        Some(value) if value == "1" => GoldenMode::Bless,
        _ => GoldenMode::Compare,
    };
    if let Err(error) = settle(path.as_ref(), actual, mode) {
        panic!("{error}");
    }
}

/// The action for the output of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoldenMode {
    /// Compare the output with the file.
    Compare,
    /// Write the output to the file.
    Bless,
}

/// Like [`check`], with an explicit mode, and with the problem as the result.
///
/// ```
/// use testkit::golden::{Mismatch, GoldenMode, settle};
///
/// let path = std::env::temp_dir().join(format!("golden-{}", std::process::id()));
/// assert!(matches!(settle(&path, "a\n", GoldenMode::Compare), Err(Mismatch::Unreadable { .. })));
/// settle(&path, "a\nb\n", GoldenMode::Bless)?;
/// settle(&path, "a\nb\n", GoldenMode::Compare)?;
/// let Err(Mismatch::Different { difference, .. }) = settle(&path, "a\nc\n", GoldenMode::Compare) else {
///     panic!("they differ");
/// };
/// assert_eq!(difference, "      1   a\n      2 - b\n      2 + c\n");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn settle(path: &Path, actual: &str, mode: GoldenMode) -> Result<(), Mismatch> {
    match mode {
        GoldenMode::Bless => bless(path, actual)
            .map_err(|error| Mismatch::Unwritable { path: path.to_owned(), error }),
        GoldenMode::Compare => {
            let expected = fs::read_to_string(path)
                .map_err(|error| Mismatch::Unreadable { path: path.to_owned(), error })?;
            if expected == actual {
                return Ok(());
            }
            let difference = difference(&expected, actual);
            Err(Mismatch::Different { path: path.to_owned(), difference })
        }
    }
}

/// A golden file does not match the output of a test.
#[derive(Debug)]
pub enum Mismatch {
    /// The file and the text differ.
    Different {
        /// The path of the golden file.
        path: PathBuf,
        /// The lines around the first difference: ` ` in both, `-` in the file, `+` in the text.
        difference: String,
    },
    /// The file cannot be read; it may not exist yet.
    Unreadable {
        /// The path of the golden file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file cannot be written.
    Unwritable {
        /// The path of the golden file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Different { path, difference } => write!(
                f,
                "{} (-) and what the test made (+) differ; if the new text is right, \
                 run the test with DILIGENCE_BLESS=1\n{difference}",
                path.display()
            ),
            Self::Unreadable { path, error } => write!(
                f,
                "{}: {error}; run the test with DILIGENCE_BLESS=1 to make it",
                path.display()
            ),
            Self::Unwritable { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Mismatch {}

/// Writes a file unless it has this text already, so that its modification time does not change.
fn bless(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// Returns the lines around the first difference of two texts, with some common lines before and
/// after.
fn difference(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (lines(expected), lines(actual));
    let before = common(old.iter(), new.iter());
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = common(old_rest.iter().rev(), new_rest.iter().rev());
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let mut text = String::new();
    show(&mut text, ' ', &old, before.saturating_sub(CONTEXT_LINES)..before);
    show(&mut text, '-', &old, before..old_end);
    show(&mut text, '+', &new, before..new_end);
    show(&mut text, ' ', &new, new_end..new.len().min(new_end + CONTEXT_LINES));
    text
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the length of the common prefix of two sequences.
fn common<'a>(a: impl Iterator<Item = &'a &'a str>, b: impl Iterator<Item = &'a &'a str>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

/// Writes some lines with their numbers and a mark; truncates many lines.
fn show(text: &mut String, mark: char, lines: &[&str], part: Range<usize>) {
    let start = part.start;
    for (index, line) in lines[part.clone()].iter().enumerate() {
        if index == SHOWN_LINES_MAX {
            let _ = writeln!(text, "        {mark} ... {} more lines", part.len() - index);
            return;
        }
        let end = if line.ends_with('\n') { "" } else { " (no newline here)\n" };
        let _ = write!(text, "{:7} {mark} {line}{end}", start + index + 1);
    }
}

/// The number of common lines that are shown before and after a difference.
const CONTEXT_LINES: usize = 3;

/// The number of lines of each text that are shown of a difference.
const SHOWN_LINES_MAX: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_both_sides_and_what_is_around() {
        let cases = [
            ("a\nb\n", "a\nb\nc\n", "      1   a\n      2   b\n      3 + c\n"),
            ("a\nb\n", "b\n", "      1 - a\n      1   b\n"),
            ("a", "a\n", "      1 - a (no newline here)\n      1 + a\n"),
            ("", "a\n", "      1 + a\n"),
            (
                "1\n2\n3\n4\n5\n",
                "1\n2\n3\n4\n6\n",
                "      2   2\n      3   3\n      4   4\n      5 - 5\n      5 + 6\n",
            ),
            ("a\na\n", "a\n", "      1   a\n      2 - a\n"),
        ];
        for (expected, actual, shown) in cases {
            assert_eq!(difference(expected, actual), shown, "{expected:?} {actual:?}");
        }
    }

    #[test]
    fn a_long_difference_is_cut() {
        let long: String = (0..100).map(|number| format!("{number}\n")).collect();
        let shown = difference("", &long);
        assert!(shown.ends_with("        + ... 40 more lines\n"), "{shown}");
    }
}
