//! Texts that peers chose, made safe to print.
//!
//! A terminal obeys control characters: they move the cursor, set the title, write to the clipboard. Line
//! and paragraph separators forge lines, bidirectional controls make a text look like another one, and
//! characters without width hide in it. All of these are printed as escapes in the notation of JSON: `\n`,
//! `\u001b`, and `\udb40\udc41` for a character beyond the basic plane. So an escaped JSON document is still
//! one with the same values.

use std::borrow::Cow;

use wire::body::Value;

/// A text that shall stay within its line: everything unsafe is escaped, also line breaks and tabs.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe)
}

/// Whole lines: their breaks and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_unsafe(c) && !is_layout(c))
}

/// Whole lines in which colors and typefaces stay, too. Texts of peers in them must have been made
/// [printable] before; this catches what was forgotten.
pub fn styled_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_unsafe(c) && !is_layout(c)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        let (before, sequence) = rest.split_at(at);
        safe.push_str(&lines(before));
        let len = style_len(sequence).unwrap_or_else(|| {
            push_escape(&mut safe, '\x1b');
            0
        });
        safe.push_str(&sequence[..len]);
        rest = &sequence[len.max(1)..];
    }
    safe.push_str(&lines(rest));
    Cow::Owned(safe)
}

/// A value in which all texts went through `escape`.
#[must_use]
pub fn value(value: Value, escape: fn(&str) -> Cow<'_, str>) -> Value {
    let inside = |one: Value| self::value(one, escape);
    match value {
        Value::String(text) => Value::String(escape(&text).into_owned()),
        Value::Variant(one) => Value::Variant(Box::new(inside(*one))),
        Value::Array { element, items } => {
            Value::Array { element, items: items.into_iter().map(inside).collect() }
        }
        Value::Struct(items) => Value::Struct(items.into_iter().map(inside).collect()),
        Value::DictEntry(entry) => {
            let (key, one) = *entry;
            Value::DictEntry(Box::new((inside(key), inside(one))))
        }
        value => value,
    }
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_escaped(c) {
            true => push_escape(&mut safe, c),
            false => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

fn push_escape(text: &mut String, c: char) {
    match c {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        c => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
}

/// Control characters (C0, DEL, C1), separators of lines and paragraphs, bidirectional controls, and
/// characters that are not seen: spaces without width, the byte order mark, invisible operators, annotation
/// marks, tags and noncharacters. The joiners U+200C and U+200D are not among them: Persian and pictures need them.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}'
                | '\u{2029}'
                | '\u{061c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{200b}'
                | '\u{2060}'..='\u{2064}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{e0000}'..='\u{e007f}'
        )
        || is_noncharacter_at_end_of_plane(c)
}

/// U+FFFE, U+FFFF and their like in each plane. A terminal that reads U+FFFE in the wrong byte order takes it for
/// a byte order mark.
const fn is_noncharacter_at_end_of_plane(c: char) -> bool {
    c as u32 & 0xfffe == 0xfffe
}

const fn is_layout(c: char) -> bool {
    matches!(c, '\n' | '\t')
}

/// The length of the sequence for colors and typefaces (SGR) at the start of a text, if there is one.
fn style_len(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some("\x1b[".len() + end + "m".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_escaped() {
        for (text, on_one_line, as_lines) in [
            ("größer \\ 漢字 🙂", "größer \\ 漢字 🙂", "größer \\ 漢字 🙂"),
            ("a\nb\tc\r", "a\\nb\\tc\\r", "a\nb\tc\\r"),
            ("\x1b]0;t\x07", "\\u001b]0;t\\u0007", "\\u001b]0;t\\u0007"),
            ("\0\x7f\u{9b}31m", "\\u0000\\u007f\\u009b31m", "\\u0000\\u007f\\u009b31m"),
            ("\u{2028}\u{2029}", "\\u2028\\u2029", "\\u2028\\u2029"),
            (
                "\u{fffe}\u{1ffff}\u{fdd0}",
                "\\ufffe\\ud83f\\udfff\\ufdd0",
                "\\ufffe\\ud83f\\udfff\\ufdd0",
            ),
            ("a\u{feff}b\u{200b}\u{2060}", "a\\ufeffb\\u200b\\u2060", "a\\ufeffb\\u200b\\u2060"),
            ("\u{e0041}\u{e007f}", "\\udb40\\udc41\\udb40\\udc7f", "\\udb40\\udc41\\udb40\\udc7f"),
            ("\u{e0000}\u{e0100}", "\\udb40\\udc00\u{e0100}", "\\udb40\\udc00\u{e0100}"),
            ("\u{645}\u{200c}\u{200d}", "\u{645}\u{200c}\u{200d}", "\u{645}\u{200c}\u{200d}"),
            (
                "\u{202e}\u{2066}\u{200f}\u{61c}",
                "\\u202e\\u2066\\u200f\\u061c",
                "\\u202e\\u2066\\u200f\\u061c",
            ),
        ] {
            assert_eq!(printable(text), on_one_line);
            assert_eq!(lines(text), as_lines);
        }
    }

    #[test]
    fn escaped_json_has_the_same_values() {
        let value = serde_json::json!(["a\u{feff}\u{e0041}\u{202e}", {"\u{7f}": "\u{9b}"}]);
        let document = value.to_string();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&printable(&document)).unwrap(),
            value
        );
    }

    #[test]
    fn only_styles_pass_in_styled_lines() {
        for (text, expected) in [
            ("\x1b[1mbold\x1b[0m\n", "\x1b[1mbold\x1b[0m\n"),
            ("\x1b[38;5;1mred\x1b[m", "\x1b[38;5;1mred\x1b[m"),
            ("\x1b[2J\x1b[1m", "\\u001b[2J\x1b[1m"),
            ("\x1b]52;c;eA==\x07", "\\u001b]52;c;eA==\\u0007"),
            ("\x1b\x1b[0m\x1b", "\\u001b\x1b[0m\\u001b"),
            ("\x1b[1", "\\u001b[1"),
            ("\u{202e}\x1b[1m\r", "\\u202e\x1b[1m\\r"),
        ] {
            assert_eq!(styled_lines(text), expected);
        }
    }

    #[test]
    fn texts_inside_values_are_escaped() {
        let text = |text: &str| Value::String(text.to_owned());
        let nested = |inside| {
            let pair = Value::DictEntry(Box::new((text("k"), Value::Variant(Box::new(inside)))));
            Value::Struct(vec![Value::Uint32(7), pair])
        };
        assert_eq!(value(nested(text("\n")), printable), nested(text("\\n")));
        assert_eq!(value(nested(text("\n\r")), lines), nested(text("\n\\r")));
    }
}
