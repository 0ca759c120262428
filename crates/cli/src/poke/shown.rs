//! How values are printed: in the forms of other tools to the byte, or for people.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use capture::show::Controls;
use capture::text::visible::{self, printable};
use clap::{Args, ValueEnum};
use inspector::introspection::Argument;
use inspector::{Descriptor, Heading, TypedValue};
use notation::dbus_send::Texts;
use notation::{busctl, dbus_send, gvariant, signature};
use wire::body::Value;

use super::pretty;
use crate::json_choice::{JsonChoice, Layout};
use crate::output::{complain, controls, print};
use crate::style;

/// How values are printed.
#[derive(Clone, PartialEq, Eq, Debug, Args)]
pub(crate) struct ShownOptions {
    /// Output style
    #[arg(long, value_enum, default_value = "busctl", conflicts_with_all = ["json", "j"])]
    format: Form,
    #[command(flatten)]
    json: JsonChoice,
    /// What dbus-send has to be told: print the answer, as it does
    #[arg(
        long, value_enum, hide = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "typed", conflicts_with_all = ["format", "json", "j"]
    )]
    print_reply: Option<PrintReply>,
    /// Print no values
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// A line that can be given back: as 2 "one" "two"
    Busctl,
    /// As busctl --verbose: a line for each value, with its type
    Verbose,
    /// As gdbus: (['one', 'two'],)
    Gvariant,
    /// As dbus-send --print-reply
    DbusSend,
    /// As -j
    Json,
    /// For people, with names
    Pretty,
}

/// How dbus-send prints an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum PrintReply {
    /// With types.
    Typed,
    /// Texts as they are, and no heading.
    Literal,
}

/// The form that was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Busctl,
    Verbose,
    Gvariant,
    DbusSend,
    Literal,
    Json(Layout),
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
    Signal {
        /// What they are called, as far as that is known.
        names: &'v [Argument],
    },
    /// The one value of this property.
    Property(&'v str),
}

impl ShownOptions {
    /// The text of values; empty if none is wanted.
    fn text(&self, shown: &Values<'_>) -> String {
        let values: Vec<Value> = shown.values.iter().map(|typed| typed.0.clone()).collect();
        let values = match (self.shape(), controls()) {
            (Shape::Verbose | Shape::DbusSend, Controls::Escaped) => escaped(values, printable),
            (Shape::Literal, Controls::Escaped) => escaped(values, visible::lines),
            _ => values,
        };
        match self.shape() {
            Shape::Nothing => String::new(),
            Shape::Busctl => line(busctl::line(&values)),
            Shape::Gvariant => match shown.what {
                What::Property(_) => line(values.first().map(gvariant::value).unwrap_or_default()),
                _ => line(gvariant::tuple(&values)),
            },
            Shape::Verbose => verbose(shown.what, &values),
            Shape::DbusSend => as_dbus_send(shown, &values),
            Shape::Literal => literal(&values),
            Shape::Json(Layout::Lossless) => line(lossless(shown)),
            Shape::Json(layout) => line(layout.lay(json(shown.what, &values))),
            Shape::People => pretty::text(shown, &values, style::of_stdout()),
        }
    }

    /// Whether what values are called is shown.
    pub(crate) fn has_names(&self) -> bool {
        self.shape() == Shape::People
    }

    /// As busctl --verbose has it, unless another form was chosen.
    pub(crate) fn verbosely(&self) -> Self {
        let format = if self.format == Form::Busctl { Form::Verbose } else { self.format };
        Self { format, ..self.clone() }
    }

    /// Prints values, and on standard error what their descriptors are; people see that with the values.
    pub(crate) fn print(&self, shown: &Values<'_>) -> ExitCode {
        let status = print(&self.text(shown));
        if !matches!(self.shape(), Shape::Nothing | Shape::People) {
            let lines = shown.descriptors.iter().enumerate();
            let lines = lines.map(|(place, one)| format!("descriptor {place} is {}\n", one.what));
            complain(&lines.collect::<String>());
        }
        status
    }

    fn shape(&self) -> Shape {
        match (self.json.layout(), self.format) {
            _ if self.quiet => Shape::Nothing,
            (Some(layout), _) => Shape::Json(layout),
            _ if self.print_reply == Some(PrintReply::Typed) => Shape::DbusSend,
            _ if self.print_reply == Some(PrintReply::Literal) => Shape::Literal,
            (None, Form::Json) => Shape::Json(Layout::of_stdout()),
            (None, Form::Busctl) => Shape::Busctl,
            (None, Form::Verbose) => Shape::Verbose,
            (None, Form::Gvariant) => Shape::Gvariant,
            (None, Form::DbusSend) => Shape::DbusSend,
            (None, Form::Pretty) => Shape::People,
        }
    }
}

/// The values with what a terminal would obey escaped.
fn escaped(values: Vec<Value>, escape: fn(&str) -> Cow<'_, str>) -> Vec<Value> {
    values.into_iter().map(|value| visible::value(value, escape)).collect()
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
        What::Signal { .. } | What::Property(_) => 0,
    };
    let push = |value| dbus_send::push_tree(&mut text, value, Texts::Quoted, depth);
    values.iter().for_each(push);
    text
}

fn literal(values: &[Value]) -> String {
    let mut text = String::new();
    values.iter().for_each(|value| dbus_send::push_tree(&mut text, value, Texts::Literal, 1));
    text
}

/// As busctl has it: arguments are those of a message, a property is its value.
fn verbose(what: What<'_>, values: &[Value]) -> String {
    match (what, values) {
        (What::Property(_), [value]) => {
            let mut text = String::new();
            busctl::push_tree(&mut text, value, 0);
            text
        }
        _ => busctl::message_tree(values),
    }
}
