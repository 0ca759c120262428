//! Formats messages like `busctl --json=short monitor`, with additional keys.

use std::fmt::Write as _;

use notation::busctl::push_json_list;
use notation::json::TypedValue;
use wire::message::MessageType;

use super::body::{ShownBody, bus_label};
use crate::model::{CapturedMessage, RecordedPeerId, TextId};
use crate::timeline::BusTime;

/// The representation of arguments in JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JsonArgumentShape {
    /// The representation that busctl uses.
    Busctl,
    /// Each value with its type.
    Lossless,
}

pub(super) fn push(
    text: &mut String,
    message: &CapturedMessage<'_>,
    body: &ShownBody<'_>,
    shape: JsonArgumentShape,
) {
    let _ = write!(
        text,
        r#"{{"type":"{}","endian":"{}","flags":{},"version":1,"cookie":{}"#,
        message.kind(),
        body.endian,
        message.flags().bits(),
        message.serial(),
    );
    if message.reply_serial() != 0 {
        let _ = write!(text, r#","reply_cookie":{}"#, message.reply_serial());
    }
    let _ = write!(text, r#","timestamp-realtime":{}"#, message.at().0.div_euclid(1000));
    names(text, message);
    payload(text, message, body, shape);
    more(text, message, body);
    text.push_str("}\n");
}

fn names(text: &mut String, message: &CapturedMessage<'_>) {
    let is_error = message.kind() == MessageType::Error;
    let fields = [
        ("sender", message.sender()),
        ("destination", message.destination()),
        ("path", message.path()),
        ("interface", message.interface()),
        (if is_error { "error_name" } else { "member" }, message.member()),
    ];
    for (key, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
        push_text(text, key, value);
    }
}

fn payload(
    text: &mut String,
    message: &CapturedMessage<'_>,
    body: &ShownBody<'_>,
    shape: JsonArgumentShape,
) {
    let _ = write!(text, r#","payload":{{"type":{},"data":"#, quoted(message.signature()));
    match (body.problem, shape) {
        (None, JsonArgumentShape::Busctl) => push_json_list(text, &body.values),
        (None, JsonArgumentShape::Lossless) => {
            let typed: Vec<_> = body.values.iter().cloned().map(TypedValue).collect();
            // Serialization cannot fail: the keys of objects are texts.
            text.push_str(&serde_json::to_string(&typed).unwrap_or_default());
        }
        (Some(_), _) => text.push_str("null"),
    }
    text.push('}');
}

/// Appends the keys that busctl does not have.
fn more(text: &mut String, message: &CapturedMessage<'_>, body: &ShownBody<'_>) {
    let capture = message.capture();
    let _ = write!(text, r#","number":{},"size":{}"#, message.id().number(), message.len());
    if let Some(bus) = bus_label(message) {
        push_text(text, "bus", &bus);
    }
    let name = |peer: Option<RecordedPeerId>, shown: TextId| {
        let name = capture.directory().peer(peer?).names.first().copied()?;
        (name != shown).then(|| capture.strings().get(name))
    };
    let pairs = [
        ("sender_name", name(message.from(), message.sender_id())),
        ("destination_name", name(message.to(), message.destination_id())),
    ];
    for (key, value) in pairs {
        if let Some(value) = value {
            push_text(text, key, value);
        }
    }
    if let Some(process) = message.from().and_then(|peer| capture.process_label(peer)) {
        push_text(text, "process", &process);
    }
    if let Some(duration) = message.duration() {
        let _ = write!(text, r#","duration_ns":{}"#, duration.as_nanos());
    }
    if let Some(partner) = message.partner() {
        let _ = write!(text, r#","partner":{}"#, partner.id().number());
    }
    if let Some(copies) = message.copies() {
        let names: Vec<_> = copies.map(|copy| format!("\":1.{}\"", copy.recipient)).collect();
        let _ = write!(text, r#","recipients":[{}]"#, names.join(","));
    }
    if let Some(time) = BusTime::of(message) {
        let phases: Vec<_> = time
            .phases()
            .map(|(phase, time)| format!(r#""{}_ns":{}"#, phase.as_str(), time.as_nanos()))
            .collect();
        let _ = write!(text, r#","in_bus":{{{}}}"#, phases.join(","));
    }
    if !body.names.is_empty() {
        let names: Vec<_> =
            body.names.iter().map(|name| name.map_or("null".into(), quoted)).collect();
        let _ = write!(text, r#","arguments":[{}]"#, names.join(","));
    }
    if let Some(problem) = body.problem {
        push_text(text, "problem", problem.word());
    }
}

fn push_text(text: &mut String, key: &str, value: &str) {
    let _ = write!(text, r#","{key}":{}"#, quoted(value));
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
