//! Golden files: what a test is expected to make, as a text in the tree that people read and
//! review.
//!
//! A test makes a text and calls [`check`]. If the file holds something else, the test fails and
//! shows where the two part. Run with `DILIGENCE_BLESS=1`, the same test writes the file instead,
//! and the change is reviewed as any other.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Compares `actual` with the text of the file at `path`, and panics with a readable difference if
/// it is not the same. Writes the file instead if the environment has `DILIGENCE_BLESS=1`.
///
/// # Panics
///
/// If the two differ, if there is no file, or if the file cannot be written.
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

/// What to do with a text that a test has made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoldenMode {
    /// Compare it with the file.
    Compare,
    /// Write it to the file.
    Bless,
}

/// As [`check`], with the mode given and what is wrong returned.
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

/// Why a golden file and a text are not the same.
#[derive(Debug)]
pub enum Mismatch {
    /// They differ.
    Different {
        /// The file.
        path: PathBuf,
        /// The lines around the first difference: ` ` in both, `-` in the file, `+` in the text.
        difference: String,
    },
    /// The file cannot be read; it may not exist yet.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The file cannot be written.
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
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

/// Writes a file unless it holds the text already, so that its time stays.
fn bless(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// The lines in which two texts part first, with some that they have in common before and after.
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

/// How many items two sequences have in common at their start.
fn common<'a>(a: impl Iterator<Item = &'a &'a str>, b: impl Iterator<Item = &'a &'a str>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

/// Writes a part of some lines with their numbers and a mark. Leaves out the end of a long part.
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

/// Lines in common that are shown on either side of a difference.
const CONTEXT_LINES: usize = 3;

/// Lines of either text that are shown of a difference.
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
