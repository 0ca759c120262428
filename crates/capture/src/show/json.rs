//! Messages as `busctl --json=short monitor` prints them, and a little more.

use std::collections::HashSet;
use std::fmt::Write as _;

use wire::body::Value;
use wire::message::MessageType;

use super::{Body, number, signature, which_bus};
use crate::model::{Message, PeerId, Text};

pub(super) fn push(text: &mut String, message: &Message<'_>, body: &Body<'_>) {
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
    payload(text, message, body);
    more(text, message, body);
    text.push_str("}\n");
}

/// Values as a list.
pub(super) fn list(values: &[Value]) -> String {
    let mut text = String::new();
    push_list(&mut text, values);
    text
}

fn names(text: &mut String, message: &Message<'_>) {
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

fn payload(text: &mut String, message: &Message<'_>, body: &Body<'_>) {
    let _ = write!(text, r#","payload":{{"type":{},"data":"#, quoted(message.signature()));
    match body.problem {
        None => push_list(text, &body.values),
        Some(_) => text.push_str("null"),
    }
    text.push('}');
}

/// What busctl does not know.
fn more(text: &mut String, message: &Message<'_>, body: &Body<'_>) {
    let capture = message.capture();
    let _ = write!(text, r#","number":{},"size":{}"#, message.id().number(), message.len());
    if let Some(bus) = which_bus(message) {
        push_text(text, "bus", &bus);
    }
    let name = |peer: Option<PeerId>, shown: Text| {
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
    if let Some(copies) = message.deliveries() {
        let names: Vec<_> =
            copies.iter().map(|copy| format!("\":1.{}\"", copy.recipient)).collect();
        let _ = write!(text, r#","recipients":[{}]"#, names.join(","));
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

fn push_list(text: &mut String, values: &[Value]) {
    text.push('[');
    for (index, value) in values.iter().enumerate() {
        text.push_str(if index > 0 { "," } else { "" });
        push_value(text, value);
    }
    text.push(']');
}

fn push_value(text: &mut String, value: &Value) {
    let _ = match value {
        Value::Byte(number) => write!(text, "{number}"),
        Value::Boolean(truth) => write!(text, "{truth}"),
        Value::Int16(number) => write!(text, "{number}"),
        Value::Uint16(number) => write!(text, "{number}"),
        Value::Int32(number) => write!(text, "{number}"),
        Value::Uint32(number) | Value::UnixFd(number) => write!(text, "{number}"),
        Value::Int64(number) => write!(text, "{number}"),
        Value::Uint64(number) => write!(text, "{number}"),
        Value::Double(number) if number.is_finite() => {
            // The tool knows no negative zero: adding zero makes it a positive one.
            write!(text, "{}", number::exponential(*number + 0.0, DOUBLE_DIGITS))
        }
        Value::Double(_) => write!(text, "null"),
        Value::String(words) => write!(text, "{}", quoted(words)),
        Value::ObjectPath(path) => write!(text, "{}", quoted(&path.to_string())),
        Value::Signature(types) => write!(text, "{}", quoted(types.as_str())),
        Value::Variant(inside) => {
            let _ = write!(text, r#"{{"type":{},"data":"#, quoted(&signature(inside)));
            push_value(text, inside);
            return text.push('}');
        }
        Value::Bytes(bytes) => {
            let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
            write!(text, "[{}]", bytes.join(","))
        }
        Value::Array { element, items } if element.as_str().starts_with('{') => {
            return push_dict(text, items);
        }
        Value::Array { items, .. } | Value::Struct(items) => return push_list(text, items),
        Value::DictEntry(entry) => {
            text.push('[');
            push_value(text, &entry.0);
            text.push(',');
            push_value(text, &entry.1);
            return text.push(']');
        }
    };
}

/// An object, if its keys are different texts; else a list of pairs, so that nothing is lost.
fn push_dict(text: &mut String, items: &[Value]) {
    let entry = |item: &'_ Value| match item {
        Value::DictEntry(entry) => match &entry.0 {
            Value::String(key) => Some(key.clone()),
            Value::ObjectPath(path) => Some(path.to_string()),
            Value::Signature(types) => Some(types.to_string()),
            _ => None,
        },
        _ => None,
    };
    let Some(keys) = items.iter().map(entry).collect::<Option<Vec<_>>>() else {
        return push_list(text, items);
    };
    if keys.iter().collect::<HashSet<_>>().len() < keys.len() {
        return push_list(text, items);
    }
    text.push('{');
    for (index, (key, item)) in keys.iter().zip(items).enumerate() {
        let Value::DictEntry(entry) = item else { continue };
        let _ = write!(text, "{}{}:", if index > 0 { "," } else { "" }, quoted(key));
        push_value(text, &entry.1);
    }
    text.push('}');
}

/// Digits behind the point of the tool's doubles.
const DOUBLE_DIGITS: usize = 21;
