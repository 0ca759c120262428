//! Shortens names and texts that are too wide for their column.

use std::borrow::Cow;

use crate::text::columns::{Fit, cells, fit, last_word, program_with_unique};

/// Cuts the end of a text that is too wide.
pub(super) fn end(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    fit(text, width, Fit::Start).trim_end().to_owned()
}

/// Removes the first words of a name that is too wide. Its last word is cut only if it is itself
/// too wide.
pub(super) fn name(text: &str, width: usize) -> Cow<'_, str> {
    match words(text, width) {
        Some(cut) => cut,
        None => end(last_word(text).unwrap_or(text), width).into(),
    }
}

/// Removes the first words of a member that is too wide. Its last word is never cut.
pub(super) fn member(text: &str, width: usize) -> Cow<'_, str> {
    words(text, width).unwrap_or_else(|| last_word(text).unwrap_or(text).into())
}

/// Shortens the label of a connection: a name, or a program with a unique name, which is never cut.
pub(super) fn connection(label: &str, width: usize) -> Cow<'_, str> {
    if cells(label) <= width {
        return label.into();
    }
    match (program_with_unique(label, width), label.rsplit_once(" (:")) {
        (Some(cut), _) => cut.into(),
        (None, Some((_, number))) => {
            end(&format!(":{}", number.trim_end_matches(')')), width).into()
        }
        (None, None) => name(label, width),
    }
}

/// The name with as many of its last words as fit.
fn words(text: &str, width: usize) -> Option<Cow<'_, str>> {
    if cells(text) <= width {
        return Some(text.into());
    }
    let last = last_word(text)?;
    let starts = text.char_indices().filter(|(_, c)| matches!(c, '.' | '/'));
    let mut tails = starts.map(|(at, _)| &text[at + 1..]);
    let fits = |tail: &&str| cells(tail) + ELLIPSIS_WIDTH <= width;
    match tails.find(|tail| !tail.is_empty() && fits(tail)) {
        Some(tail) => Some(format!("{ELLIPSIS}{tail}").into()),
        None => (cells(last) <= width).then_some(last.into()),
    }
}

const ELLIPSIS: char = '\u{2026}';

const ELLIPSIS_WIDTH: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_between_words() {
        for (text, width, expected) in [
            ("org.example.Slow", 16, "org.example.Slow"),
            ("org.example.Slow", 15, "\u{2026}example.Slow"),
            ("org.example.Slow", 6, "\u{2026}Slow"),
            ("org.example.Slow", 4, "Slow"),
            ("org.example.Slow", 3, "Sl\u{2026}"),
            ("two words", 5, "two \u{2026}"),
        ] {
            assert_eq!(name(text, width), expected, "{text} in {width}");
        }
        assert_eq!(member("org.example.Slow1.WaitForAll", 5), "WaitForAll");
        assert_eq!(member("org.example.Slow1.Wait", 12), "\u{2026}Slow1.Wait");
    }

    #[test]
    fn unique_names_stay_whole() {
        for (label, width, expected) in [
            ("gdbus (:1.62)", 13, "gdbus (:1.62)"),
            ("gdbus-monitor (:1.62)", 13, "gdbu\u{2026} (:1.62)"),
            ("gdbus (:1.62)", 10, ":1.62"),
            ("org.freedesktop.NetworkManager", 15, "\u{2026}NetworkManager"),
            ("org.freedesktop.NetworkManager", 14, "NetworkManager"),
            ("org.freedesktop.NetworkManager", 13, "NetworkManag\u{2026}"),
        ] {
            assert_eq!(connection(label, width), expected, "{label} in {width}");
        }
    }

    #[test]
    fn texts_lose_their_ends() {
        assert_eq!(end("('one', 2)", 6), "('one\u{2026}");
        assert_eq!(end("\u{7535}\u{6c60}\u{7535}", 4), "\u{7535}\u{2026}");
        assert_eq!(end("anything", 0), "");
    }
}
