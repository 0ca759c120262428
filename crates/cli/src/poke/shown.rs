//! Printing of values, in exactly the formats of other tools, or for people.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use capture::show::Controls;
use capture::text::visible::{self, printable};
use clap::{Args, ValueEnum};
use inspector::introspection::Argument;
use inspector::{Descriptor, ReplyHeading, TypedValue};
use notation::dbus_send::TextStyle;
use notation::{busctl, dbus_send, gvariant, signature};
use wire::body::Value;

use super::pretty;
use crate::json_choice::{JsonChoice, JsonLayout};
use crate::output::{controls, print, print_to_stderr};
use crate::style;

/// Options for how values are printed.
#[derive(Clone, PartialEq, Eq, Debug, Args)]
pub(crate) struct ShownOptions {
    /// Output format of the values
    #[arg(long, value_enum, default_value = "busctl", conflicts_with_all = ["json", "j"])]
    format: ValueFormat,
    #[command(flatten)]
    json: JsonChoice,
    /// The option of dbus-send that prints the reply
    #[arg(
        long, value_enum, hide = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "typed", conflicts_with_all = ["format", "json", "j"]
    )]
    print_reply: Option<PrintReply>,
    /// Do not print the values
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ValueFormat {
    /// One line that `call` accepts again: as 2 "one" "two"
    Busctl,
    /// Like busctl --verbose: a line for each value, with its type
    Verbose,
    /// Like gdbus: (['one', 'two'],)
    Gvariant,
    /// Like dbus-send with --print-reply
    DbusSend,
    /// The same as -j
    Json,
    /// For people, with the names of arguments
    Pretty,
}

/// The forms in which dbus-send prints a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum PrintReply {
    /// Each value with its type.
    Typed,
    /// Strings without quotes, and no heading.
    Literal,
}

/// The form that the options select.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ValueShape {
    Busctl,
    Verbose,
    Gvariant,
    DbusSend,
    Literal,
    Json(JsonLayout),
    People,
    Nothing,
}

/// Values to print, and their context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownValues<'v> {
    /// The values, in their order.
    pub values: &'v [TypedValue],
    /// The origin of the values.
    pub origin: ShownKind<'v>,
    /// The descriptors that arrived with the values.
    pub descriptors: &'v [Descriptor],
}

/// The origin of values, which determines how they are labeled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ShownKind<'v> {
    /// The results of a call.
    Results {
        /// The unique name of the peer that replied.
        sender: &'v str,
        /// Other data from the header of the reply.
        heading: &'v ReplyHeading,
        /// The names of the results.
        names: &'v [Argument],
    },
    /// The arguments of a signal.
    Signal {
        /// The names of the arguments, if they are known.
        names: &'v [Argument],
    },
    /// The value of the property with this name.
    Property(&'v str),
}

impl ShownOptions {
    /// The values as text; empty with `--quiet`.
    fn text(&self, shown: &ShownValues<'_>) -> String {
        let values: Vec<Value> = shown.values.iter().map(|typed| typed.0.clone()).collect();
        let values = match (self.shape(), controls()) {
            (ValueShape::Verbose | ValueShape::DbusSend, Controls::Escaped) => {
                escaped(values, printable)
            }
            (ValueShape::Literal, Controls::Escaped) => escaped(values, visible::lines),
            _ => values,
        };
        match self.shape() {
            ValueShape::Nothing => String::new(),
            ValueShape::Busctl => line(busctl::line(&values)),
            ValueShape::Gvariant => match shown.origin {
                ShownKind::Property(_) => {
                    line(values.first().map(gvariant::value).unwrap_or_default())
                }
                _ => line(gvariant::tuple(&values)),
            },
            ValueShape::Verbose => verbose(shown.origin, &values),
            ValueShape::DbusSend => as_dbus_send(shown, &values),
            ValueShape::Literal => literal(&values),
            ValueShape::Json(JsonLayout::Lossless) => line(lossless(shown)),
            ValueShape::Json(layout) => line(layout.format(json(shown.origin, &values))),
            ValueShape::People => pretty::text(shown, &values, style::of_stdout()),
        }
    }

    /// Returns true if the form shows the names of values.
    pub(crate) fn has_names(&self) -> bool {
        self.shape() == ValueShape::People
    }

    /// The same options with the form of busctl --verbose, unless another form was selected.
    pub(crate) fn with_verbose_format(&self) -> Self {
        let format =
            if self.format == ValueFormat::Busctl { ValueFormat::Verbose } else { self.format };
        Self { format, ..self.clone() }
    }

    /// Prints values, and the targets of their descriptors on standard error; the form for people
    /// contains both.
    pub(crate) fn print(&self, shown: &ShownValues<'_>) -> ExitCode {
        let status = print(&self.text(shown));
        if !matches!(self.shape(), ValueShape::Nothing | ValueShape::People) {
            let lines = shown.descriptors.iter().enumerate();
            let lines = lines
                .map(|(place, one)| format!("descriptor {place} is {}\n", printable(&one.what)));
            print_to_stderr(&lines.collect::<String>());
        }
        status
    }

    fn shape(&self) -> ValueShape {
        match (self.json.layout(), self.format) {
            _ if self.quiet => ValueShape::Nothing,
            (Some(layout), _) => ValueShape::Json(layout),
            _ if self.print_reply == Some(PrintReply::Typed) => ValueShape::DbusSend,
            _ if self.print_reply == Some(PrintReply::Literal) => ValueShape::Literal,
            (None, ValueFormat::Json) => ValueShape::Json(JsonLayout::of_stdout()),
            (None, ValueFormat::Busctl) => ValueShape::Busctl,
            (None, ValueFormat::Verbose) => ValueShape::Verbose,
            (None, ValueFormat::Gvariant) => ValueShape::Gvariant,
            (None, ValueFormat::DbusSend) => ValueShape::DbusSend,
            (None, ValueFormat::Pretty) => ValueShape::People,
        }
    }
}

/// The values with terminal control characters escaped.
fn escaped(values: Vec<Value>, escape: fn(&str) -> Cow<'_, str>) -> Vec<Value> {
    values.into_iter().map(|value| visible::value(value, escape)).collect()
}

/// A line, unless it is empty: busctl prints nothing if there are no values.
fn line(mut text: String) -> String {
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// JSON like busctl's: arguments are a list, a property is its value.
fn json(origin: ShownKind<'_>, values: &[Value]) -> String {
    if values.is_empty() {
        return String::new();
    }
    let types: String = values.iter().map(signature).collect();
    let mut text = format!("{{\"type\":\"{types}\",\"data\":");
    match (origin, values) {
        (ShownKind::Property(_), [value]) => busctl::push_json(&mut text, value),
        _ => busctl::push_json_list(&mut text, values),
    }
    text.push('}');
    text
}

fn lossless(shown: &ShownValues<'_>) -> String {
    let text = match (shown.origin, shown.values) {
        (ShownKind::Property(_), [value]) => serde_json::to_string(value),
        (_, values) => serde_json::to_string(values),
    };
    text.unwrap_or_default()
}

fn as_dbus_send(shown: &ShownValues<'_>, values: &[Value]) -> String {
    let mut text = String::new();
    let depth = match shown.origin {
        ShownKind::Results { sender, heading, .. } => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let ReplyHeading { destination, serial, reply_serial } = heading;
            let _ = writeln!(
                text,
                "method return time={}.{:06} sender={sender} -> destination={destination} \
                 serial={serial} reply_serial={reply_serial}",
                now.as_secs(),
                now.subsec_micros()
            );
            1
        }
        ShownKind::Signal { .. } | ShownKind::Property(_) => 0,
    };
    let push = |value| dbus_send::push_tree(&mut text, value, TextStyle::Quoted, depth);
    values.iter().for_each(push);
    text
}

fn literal(values: &[Value]) -> String {
    let mut text = String::new();
    values.iter().for_each(|value| dbus_send::push_tree(&mut text, value, TextStyle::Literal, 1));
    text
}

/// The verbose form of busctl: arguments are inside a message, a property is its value.
fn verbose(origin: ShownKind<'_>, values: &[Value]) -> String {
    match (origin, values) {
        (ShownKind::Property(_), [value]) => {
            let mut text = String::new();
            busctl::push_tree(&mut text, value, 0);
            text
        }
        _ => busctl::message_tree(values),
    }
}
