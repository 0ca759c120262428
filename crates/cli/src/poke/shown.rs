//! How values are printed: in the forms of other tools to the byte, or for people.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use inspector::introspection::Argument;
use inspector::{Descriptor, Heading, TypedValue};
use notation::{busctl, dbus_send, gvariant, signature};
use wire::body::Value;

use super::pretty;
use crate::style;

/// How values are printed.
#[derive(Clone, PartialEq, Eq, Debug, Args)]
pub(crate) struct ShownOptions {
    /// As which tool prints values
    #[arg(long, value_enum, default_value = "busctl")]
    format: Form,
    /// As JSON: as busctl has it on one line or several, or so that nothing is lost
    #[arg(long, value_enum, value_name = "SHAPE", num_args = 0..=1, require_equals = true,
          default_value = "off", default_missing_value = "short", conflicts_with = "format")]
    json: Json,
    /// As JSON, on several lines on a terminal and on one elsewhere
    #[arg(short, conflicts_with_all = ["format", "json"])]
    j: bool,
    /// What dbus-send has to be told: print the answer, as it does
    #[arg(long, hide = true, conflicts_with_all = ["format", "json", "j"])]
    print_reply: bool,
    /// Print no values
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// A line that can be given back: as 2 "one" "two"
    Busctl,
    /// As gdbus: (['one', 'two'],)
    Gvariant,
    /// As dbus-send --print-reply
    DbusSend,
    /// As -j
    Json,
    /// For people, with names
    Pretty,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Json {
    /// On a line
    Short,
    /// On several
    Pretty,
    /// With the type of each value, and dictionaries as lists of pairs
    Lossless,
    /// Not as JSON
    Off,
}

/// The form that was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Busctl,
    Gvariant,
    DbusSend,
    Line,
    Lines,
    Lossless,
    People,
    Nothing,
}

/// Values to be printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'v> {
    /// The values.
    pub values: &'v [TypedValue],
    /// What they are.
    pub what: What<'v>,
    /// The descriptors that came with them.
    pub descriptors: &'v [Descriptor],
}

/// What values are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'v> {
    /// The results of a call.
    Results {
        /// Who answered.
        sender: &'v str,
        /// What else the header said.
        heading: &'v Heading,
        /// What they are called.
        names: &'v [Argument],
    },
    /// The arguments of a signal.
    Signal,
    /// The one value of this property.
    Property(&'v str),
}

impl ShownOptions {
    /// The text of values; empty if none is wanted.
    pub(crate) fn text(&self, shown: &Values<'_>) -> String {
        let values: Vec<Value> = shown.values.iter().map(|typed| typed.0.clone()).collect();
        match self.shape() {
            Shape::Nothing => String::new(),
            Shape::Busctl => line(busctl::line(&values)),
            Shape::Gvariant => match shown.what {
                What::Property(_) => line(values.first().map(gvariant::value).unwrap_or_default()),
                _ => line(gvariant::tuple(&values)),
            },
            Shape::DbusSend => as_dbus_send(shown, &values),
            Shape::Line => line(json(shown.what, &values)),
            Shape::Lines => line(spread(&json(shown.what, &values))),
            Shape::Lossless => line(lossless(shown)),
            Shape::People => pretty::text(shown, &values, style::of_stdout()),
        }
    }

    /// What the descriptors are that came, for standard error; people see it with the values.
    pub(crate) fn descriptors(&self, shown: &Values<'_>) -> String {
        let mut text = String::new();
        if !matches!(self.shape(), Shape::Nothing | Shape::People) {
            for (place, descriptor) in shown.descriptors.iter().enumerate() {
                let _ = writeln!(text, "descriptor {place} is {}", descriptor.what);
            }
        }
        text
    }

    fn shape(&self) -> Shape {
        let by_terminal = || if stdout().is_terminal() { Shape::Lines } else { Shape::Line };
        match (self.json, self.format) {
            _ if self.quiet => Shape::Nothing,
            _ if self.j => by_terminal(),
            _ if self.print_reply => Shape::DbusSend,
            (Json::Short, _) => Shape::Line,
            (Json::Pretty, _) => Shape::Lines,
            (Json::Lossless, _) => Shape::Lossless,
            (Json::Off, Form::Json) => by_terminal(),
            (Json::Off, Form::Busctl) => Shape::Busctl,
            (Json::Off, Form::Gvariant) => Shape::Gvariant,
            (Json::Off, Form::DbusSend) => Shape::DbusSend,
            (Json::Off, Form::Pretty) => Shape::People,
        }
    }
}

/// A line, unless it is empty: busctl prints nothing where there are no values.
fn line(mut text: String) -> String {
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// As busctl has it: arguments are a list, a property is its value.
fn json(what: What<'_>, values: &[Value]) -> String {
    if values.is_empty() {
        return String::new();
    }
    let types: String = values.iter().map(signature).collect();
    let mut text = format!("{{\"type\":\"{types}\",\"data\":");
    match (what, values) {
        (What::Property(_), [value]) => busctl::push_json(&mut text, value),
        _ => busctl::push_json_list(&mut text, values),
    }
    text.push('}');
    text
}

fn lossless(shown: &Values<'_>) -> String {
    let text = match (shown.what, shown.values) {
        (What::Property(_), [value]) => serde_json::to_string(value),
        (_, values) => serde_json::to_string(values),
    };
    text.unwrap_or_default()
}

fn as_dbus_send(shown: &Values<'_>, values: &[Value]) -> String {
    let mut text = String::new();
    let depth = match shown.what {
        What::Results { sender, heading, .. } => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let Heading { destination, serial, reply_serial } = heading;
            let _ = writeln!(
                text,
                "method return time={}.{:06} sender={sender} -> destination={destination} \
                 serial={serial} reply_serial={reply_serial}",
                now.as_secs(),
                now.subsec_micros()
            );
            1
        }
        What::Signal | What::Property(_) => 0,
    };
    values.iter().for_each(|value| dbus_send::push_tree(&mut text, value, depth));
    text
}

/// JSON on several lines, as systemd spreads it: tabs, and a space on both sides of a colon.
fn spread(json: &str) -> String {
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
    fn json_is_spread_as_systemd_does() {
        let short = r#"{"type":"a{sv}","data":[{"a:\"{":[],"b":{"x":{}}}]}"#;
        let expected = "{\n\t\"type\" : \"a{sv}\",\n\t\"data\" : [\n\t\t{\n\t\t\t\"a:\\\"{\" : [],\n\t\t\t\
                        \"b\" : {\n\t\t\t\t\"x\" : {}\n\t\t\t}\n\t\t}\n\t]\n}";
        assert_eq!(spread(short), expected);
    }
}
