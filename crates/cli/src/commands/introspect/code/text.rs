//! Texts of a service as comments: they end no comment, and look like what they are.

/// The lines of a text that somebody else has written.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| clean(line).trim_end().to_owned())
}

/// A text as one line.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if is_unseen(c) { '\u{fffd}' } else { c }).collect()
}

/// What controls, or has text look otherwise than it reads (Unicode, Bidirectional Algorithm).
fn is_unseen(c: char) -> bool {
    let is_of_direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}');
    let is_of_lines = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || is_of_direction || is_of_lines
}
