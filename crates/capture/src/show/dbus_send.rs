//! Formats messages like `dbus-monitor` and `dbus-send --print-reply`.

use std::fmt::Write as _;

use notation::dbus_send::{TextStyle, push_tree};
use wire::message::MessageType;

use super::body::{ShownBody, push_named};
use crate::model::CapturedMessage;

pub(super) fn push(text: &mut String, message: &CapturedMessage<'_>, body: &ShownBody<'_>) {
    heading(text, message);
    for (name, value) in body.named() {
        push_named(text, name, |text| push_tree(text, value, TextStyle::Quoted, 1));
    }
    if let Some(problem) = body.problem {
        let _ = writeln!(text, "   ({})", problem.sentence(message));
    }
}

fn heading(text: &mut String, message: &CapturedMessage<'_>) {
    let what = match message.kind() {
        MessageType::MethodCall => "method call",
        MessageType::MethodReturn => "method return",
        MessageType::Error => "error",
        MessageType::Signal => "signal",
        MessageType::Unknown(_) => "(unknown message type)",
    };
    let at = message.at().0;
    let (seconds, micros) = (at.div_euclid(NANOS), at.rem_euclid(NANOS) / 1000);
    let sender = or(message.sender(), "(null sender)");
    let destination = or(message.destination(), "(null destination)");
    let _ = write!(text, "{what} time={seconds}.{micros:06} sender={sender} -> ");
    let _ = write!(text, "destination={destination}");
    let (serial, reply_serial) = (message.serial(), message.reply_serial());
    let _ = match message.kind() {
        MessageType::MethodCall | MessageType::Signal => write!(
            text,
            " serial={serial} path={}; interface={}; member={}",
            message.path(),
            or(message.interface(), "(null)"),
            message.member(),
        ),
        MessageType::MethodReturn => write!(text, " serial={serial} reply_serial={reply_serial}"),
        MessageType::Error => {
            write!(text, " error_name={} reply_serial={reply_serial}", message.member())
        }
        MessageType::Unknown(_) => Ok(()),
    };
    text.push('\n');
}

fn or<'t>(text: &'t str, other: &'t str) -> &'t str {
    if text.is_empty() { other } else { text }
}

const NANOS: i64 = 1_000_000_000;
