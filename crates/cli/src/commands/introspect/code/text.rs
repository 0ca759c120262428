//! Making texts of a service safe for comments: they cannot end the comment or hide code.

/// Splits an untrusted text into safe lines.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| clean(line).trim_end().to_owned())
}

/// Replaces control characters in a text that stays on one line.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { '\u{fffd}' } else { c }).collect()
}

/// Returns true for control characters, line separators, and characters that change the direction
/// of text (Unicode Bidirectional Algorithm).
fn is_unsafe(c: char) -> bool {
    let is_of_direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}');
    let is_of_lines = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || is_of_direction || is_of_lines
}
