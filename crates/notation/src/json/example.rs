//! Example values in JSON.

use serde_json::json;
use wire::signature::{Signature, Type};

use super::Json;

/// A plausible value of this type.
///
/// ```
/// use notation::json::example;
/// use wire::signature::Signature;
///
/// let hints = Signature::new("a{sv}")?.single().expect("a single type");
/// assert_eq!(example(hints).to_string(), r#"{"text":{"data":"text","type":"s"}}"#);
/// # Ok::<(), wire::signature::SignatureError>(())
/// ```
pub fn example(kind: Type<'_>) -> Json {
    match kind {
        Type::Boolean => json!(true),
        Type::Double => json!(1.5),
        Type::Byte | Type::Int16 | Type::Uint16 | Type::Int32 | Type::Uint32 | Type::UnixFd => {
            json!(7)
        }
        Type::Int64 | Type::Uint64 => json!("7"),
        Type::String => json!("text"),
        Type::ObjectPath => json!("/org/example"),
        Type::Signature => json!("a{sv}"),
        Type::Variant => json!({"type": "s", "data": "text"}),
        Type::Array(element) => array(element),
        Type::Struct(types) | Type::DictEntry(types) => types.types().map(example).collect(),
    }
}

fn array(element: Signature<'_>) -> Json {
    let mut keyed = element.as_str().chars().skip(1);
    match element.single() {
        Some(Type::DictEntry(types)) if matches!(keyed.next(), Some('s' | 'o' | 'g')) => {
            let mut pair = types.types().map(example);
            let (key, value) = pair.next().zip(pair.next()).unwrap_or_default();
            let key = key.as_str().unwrap_or_default().to_owned();
            Json::Object([(key, value)].into_iter().collect())
        }
        Some(kind) => json!([example(kind)]),
        None => json!([]),
    }
}
