//! Makes texts that peers chose safe to print.
//!
//! Control characters can move the cursor of a terminal, set its title, or write to the clipboard.
//! Line and paragraph separators forge lines, bidirectional controls make a text look like another
//! one, and zero-width characters are invisible. All of these are printed as escapes in JSON
//! notation: `\n`, `\u001b`, and `\udb40\udc41` for a character outside the basic plane. An escaped
//! JSON document therefore remains valid and keeps its values.

use std::borrow::Cow;

use wire::body::Value;

/// Escapes all unsafe characters, including line breaks and tabs, for a text within a line.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe)
}

/// Escapes unsafe characters in whole lines. Line breaks and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_unsafe(c) && !is_layout(c))
}

/// Escapes unsafe characters in whole lines, except line breaks, tabs, colors and text attributes.
/// Texts of peers must have been [escaped](printable) before; this catches omissions.
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

/// Returns the value with `escape` applied to all texts in it.
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

/// Returns true if a character is unsafe to print: control characters (C0, DEL, C1), line and
/// paragraph separators, bidirectional controls, and invisible characters, such as zero-width
/// spaces, the byte order mark, invisible operators, annotation marks, tags and noncharacters. The
/// joiners U+200C and U+200D are safe: Persian and emoji need them.
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

/// Returns true if a character is U+FFFE or U+FFFF, or their counterpart in another plane. A
/// terminal that reads U+FFFE in the wrong byte order takes it for a byte order mark.
const fn is_noncharacter_at_end_of_plane(c: char) -> bool {
    c as u32 & 0xfffe == 0xfffe
}

const fn is_layout(c: char) -> bool {
    matches!(c, '\n' | '\t')
}

/// The length of the color or attribute sequence (SGR) at the start of a text, if there is one.
fn style_len(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some("\x1b[".len() + end + "m".len())
}
