//! Formats messages like `busctl monitor`.

use std::fmt::Write as _;

use notation::busctl::push_tree;
use wire::body::Value;
use wire::message::MessageType;

use super::body::{ShownBody, bus_label, push_named};
use crate::model::CapturedMessage;
use crate::text::units::date_and_time;
use crate::text::visible::printable;

pub(super) fn push(text: &mut String, message: &CapturedMessage<'_>, body: &ShownBody<'_>) {
    heading(text, message, body);
    names(text, message);
    if message.kind() == MessageType::Error {
        let _ = write!(text, "  ErrorName={}", message.member());
        if let Some(Value::String(words)) = body.values.first() {
            let _ = write!(text, "  ErrorMessage=\"{words}\"");
        }
        text.push('\n');
    }
    if message.sender().starts_with(':') {
        let _ = writeln!(text, "  UniqueName={}", message.sender());
    }
    if let Some(bus) = bus_label(message) {
        let _ = writeln!(text, "  Bus={}", printable(&bus));
    }
    let _ = writeln!(text, "  MESSAGE \"{}\" {{", message.signature());
    if let Some(problem) = body.problem {
        let _ = writeln!(text, "          ({})", problem.sentence(message));
    }
    for (name, value) in body.named() {
        push_named(text, name, |text| push_tree(text, value, INDENT));
    }
    text.push_str("  };\n\n");
}

fn heading(text: &mut String, message: &CapturedMessage<'_>, body: &ShownBody<'_>) {
    let _ = write!(
        text,
        "\u{2023} Type={}  Endian={}  Flags={}  Version=1 Cookie={}",
        message.kind(),
        body.endian,
        message.flags().bits(),
        message.serial(),
    );
    if message.reply_serial() != 0 {
        let _ = write!(text, "  ReplyCookie={}", message.reply_serial());
    }
    let _ = writeln!(text, "  Timestamp=\"{}\"", date_and_time(message.at()));
}

fn names(text: &mut String, message: &CapturedMessage<'_>) {
    let member = if message.kind() == MessageType::Error { "" } else { message.member() };
    let fields = [
        ("Sender", message.sender()),
        ("Destination", message.destination()),
        ("Path", message.path()),
        ("Interface", message.interface()),
        ("Member", member),
    ];
    let mut is_first = true;
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(text, "  {name}={value}");
        is_first = false;
    }
    if !is_first {
        text.push('\n');
    }
}

/// The indentation of the arguments of a message, in columns.
const INDENT: usize = 10;
