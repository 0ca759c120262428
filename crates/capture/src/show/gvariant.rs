//! Formats messages like `gdbus monitor`.

use std::fmt::Write as _;

use notation::gvariant::push;
use wire::body::Value;
use wire::message::MessageType;

use super::body::{Problem, ShownBody, push_named};
use crate::model::CapturedMessage;
use crate::text::visible::printable;

/// Formats a message in a single line: signals like gdbus, other messages with sender and
/// destination in front.
pub(super) fn push_message(text: &mut String, message: &CapturedMessage<'_>, body: &ShownBody<'_>) {
    let member = message.full_member();
    let (from, to) = (message.sender(), message.destination());
    let _ = match message.kind() {
        MessageType::Signal => write!(text, "{}: {member} ", message.path()),
        MessageType::MethodCall => write!(text, "{from} -> {to} {}: {member} ", message.path()),
        MessageType::MethodReturn => write!(text, "{from} -> {to} returns "),
        MessageType::Error => write!(text, "{from} -> {to} Error: GDBus.Error:{member}: "),
        MessageType::Unknown(code) => write!(text, "{from} -> {to} message of type {code} "),
    };
    match (message.kind(), body.values.as_slice(), body.problem) {
        (_, _, Some(problem @ (Problem::Cut | Problem::Invalid))) => {
            text.push_str(&problem.sentence(message));
        }
        (MessageType::Error, [Value::String(words)], _) => text.push_str(&printable(words)),
        _ => push_arguments(text, body),
    }
    if body.problem == Some(Problem::Redacted) {
        text.push_str(" (redacted)");
    }
    text.push('\n');
}

/// The arguments as a tuple, with their names.
fn push_arguments(text: &mut String, body: &ShownBody<'_>) {
    text.push('(');
    for (index, (name, value)) in body.named().enumerate() {
        text.push_str(if index > 0 { ", " } else { "" });
        push_named(text, name, |text| push(text, value));
    }
    text.push_str(if body.values.len() == 1 { ",)" } else { ")" });
}
