//! A report as JSON: the dictionaries as the bus tells them, with its keys.

use client::wire::body::Value;
use serde_json::{Map, Value as Json, json};

use super::dict::Dict;
use super::report::{Numbers, Report};

/// The report, as one object.
pub(super) fn object(report: &Report) -> Json {
    let Report { choice, id, pid, uid, numbers } = report;
    let mut object = json!({ "bus": choice, "id": id, "process": pid, "user": uid });
    let more = match numbers {
        Numbers::Own { totals, connections, members, counted_for, history } => json!({
            "totals": of_dict(totals),
            "connections": of_dicts(connections),
            "members": of_dicts(members),
            "members_counted_for": counted_for,
            "history": of_dicts(history),
        }),
        Numbers::DebugStats { totals, connections } => json!({
            "debug_stats": of_dict(totals),
            "connections": of_dicts(connections),
        }),
        Numbers::Nothing => json!({}),
    };
    if let (Json::Object(object), Json::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

fn of_dicts(dicts: &[Dict]) -> Json {
    dicts.iter().map(of_dict).collect()
}

fn of_dict(Dict(entries): &Dict) -> Json {
    let entries = entries.iter().map(|(key, value)| (key.clone(), of_value(value)));
    Json::Object(entries.collect())
}

fn of_value(value: &Value) -> Json {
    match value {
        Value::Byte(number) => json!(number),
        Value::Boolean(truth) => json!(truth),
        Value::Int16(number) => json!(number),
        Value::Uint16(number) => json!(number),
        Value::Int32(number) => json!(number),
        Value::Uint32(number) | Value::UnixFd(number) => json!(number),
        Value::Int64(number) => json!(number),
        Value::Uint64(number) => json!(number),
        Value::Double(number) => json!(number),
        Value::String(text) => json!(text),
        Value::ObjectPath(path) => json!(path.to_string()),
        Value::Signature(signature) => json!(signature.as_str()),
        Value::Variant(value) => of_value(value),
        Value::Bytes(bytes) => json!(bytes),
        Value::Array { items, .. } => of_array(items),
        Value::DictEntry(entry) => json!([of_value(&entry.0), of_value(&entry.1)]),
        Value::Struct(fields) => fields.iter().map(of_value).collect(),
    }
}

/// A dictionary with texts for keys is an object; anything else is an array.
fn of_array(items: &[Value]) -> Json {
    let entry = |item: &Value| match item {
        Value::DictEntry(entry) => match &**entry {
            (Value::String(key), value) => Some((key.clone(), of_value(value))),
            _ => None,
        },
        _ => None,
    };
    match items.iter().map(entry).collect::<Option<Map<_, _>>>() {
        Some(object) if !items.is_empty() => Json::Object(object),
        _ => items.iter().map(of_value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use client::wire::signature::{Signature, SignatureBuf, Type};

    use super::*;

    #[test]
    fn values_become_what_json_has_for_them() {
        let text = |text: &str| Value::from(text);
        let texts = |items| Value::Array { element: element_of("as"), items };
        let entry = Value::DictEntry(Box::new((text("a"), Value::Uint64(u64::MAX))));
        let dict = Dict(BTreeMap::from([
            ("Names".to_owned(), texts(vec![text("x"), text("y")])),
            ("None".to_owned(), texts(Vec::new())),
            (
                "Causes".to_owned(),
                Value::Array { element: element_of("a{st}"), items: vec![entry] },
            ),
            ("Losing".to_owned(), Value::Boolean(false)),
        ]));
        let expected = json!({
            "Names": ["x", "y"],
            "None": [],
            "Causes": { "a": u64::MAX },
            "Losing": false,
        });
        assert_eq!(of_dict(&dict), expected);
    }

    fn element_of(array: &str) -> SignatureBuf {
        match Signature::new(array).ok().and_then(Signature::single) {
            Some(Type::Array(element)) => element.into(),
            other => panic!("{other:?}"),
        }
    }
}
