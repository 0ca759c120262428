//! `--json` and `-j` with the layouts of busctl, and a lossless layout.

use std::io::{IsTerminal as _, stdout};

use clap::{Args, ValueEnum};
use serde::Serialize;

/// Options for JSON output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Args)]
pub(crate) struct JsonChoice {
    /// Print JSON: `short` on one line, `pretty` on several lines, `lossless` with the type of each
    /// value and dictionaries as lists of pairs; without a form, pretty on a terminal and short
    /// elsewhere
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "auto",
        hide_possible_values = true
    )]
    json: Option<JsonWord>,
    /// The same as --json
    #[arg(short, conflicts_with = "json")]
    j: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum JsonWord {
    Short,
    Pretty,
    Lossless,
    Off,
    #[value(hide = true)]
    Auto,
}

/// The layout of JSON output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JsonLayout {
    /// One line, with values like busctl's.
    Line,
    /// Several lines, with values like busctl's.
    Lines,
    /// One line, with values in the lossless form.
    Lossless,
}

impl JsonChoice {
    /// The selected layout; `None` if JSON is not selected.
    pub(crate) fn layout(self) -> Option<JsonLayout> {
        match self.json.or(self.j.then_some(JsonWord::Auto))? {
            JsonWord::Off => None,
            JsonWord::Short => Some(JsonLayout::Line),
            JsonWord::Pretty => Some(JsonLayout::Lines),
            JsonWord::Lossless => Some(JsonLayout::Lossless),
            JsonWord::Auto => Some(JsonLayout::of_stdout()),
        }
    }

    /// Formats a value that has the same JSON in all layouts, with a newline at the end; `None` if
    /// JSON is not selected.
    pub(crate) fn text(self, value: &impl Serialize) -> Option<String> {
        let layout = self.layout()?;
        // All keys are strings, so this cannot fail.
        let json = serde_json::to_string(value).unwrap_or_default();
        Some(layout.format(json) + "\n")
    }
}

impl JsonLayout {
    /// Pretty on a terminal, and short elsewhere.
    pub(crate) fn of_stdout() -> Self {
        if stdout().is_terminal() { Self::Lines } else { Self::Line }
    }

    /// Formats JSON that is on one line.
    pub(crate) fn format(self, json: String) -> String {
        match self {
            Self::Line | Self::Lossless => json,
            Self::Lines => pretty_json(&json),
        }
    }
}

/// JSON on several lines in the style of systemd: tabs, and a space on both sides of a colon.
/// Repeated keys and numbers of any length stay unchanged.
fn pretty_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if is_text {
            text.push(character);
            is_text = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            continue;
        }
        match character {
            '{' | '[' => {
                text.push(character);
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    text.push(end);
                } else {
                    depth += 1;
                    break_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                break_line(&mut text, depth);
                text.push(character);
            }
            ',' => {
                text.push(character);
                break_line(&mut text, depth);
            }
            ':' => text.push_str(" : "),
            _ => {
                is_text = character == '"';
                text.push(character);
            }
        }
    }
    text
}

fn break_line(text: &mut String, depth: usize) {
    text.push('\n');
    (0..depth).for_each(|_| text.push('\t'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_json_has_the_layout_of_systemd() {
        let short = r#"{"type":"a{sv}","data":[{"a:\"{":[],"b":{"x":{}}}]}"#;
        let expected = "{\n\t\"type\" : \"a{sv}\",\n\t\"data\" : [\n\t\t{\n\t\t\t\"a:\\\"{\" : [],\n\t\t\t\
                        \"b\" : {\n\t\t\t\t\"x\" : {}\n\t\t\t}\n\t\t}\n\t]\n}";
        assert_eq!(pretty_json(short), expected);
    }

    #[test]
    fn json_text_has_the_selected_layout() {
        let of = |json| JsonChoice { json, j: false };
        let value = serde_json::json!([{"a": 1, "b": []}, {}]);
        let lines = "[\n\t{\n\t\t\"a\" : 1,\n\t\t\"b\" : []\n\t},\n\t{}\n]\n";
        assert_eq!(of(Some(JsonWord::Pretty)).text(&value).as_deref(), Some(lines));
        let line = "[{\"a\":1,\"b\":[]},{}]\n";
        assert_eq!(of(Some(JsonWord::Short)).text(&value).as_deref(), Some(line));
        assert_eq!(of(Some(JsonWord::Off)).text(&value), None);
        assert_eq!(of(None).text(&value), None);
    }
}
