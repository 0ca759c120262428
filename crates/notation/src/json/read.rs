//! Reading JSON values, checked against the expected types.

use wire::body::Value;
use wire::limits::VALUE_DEPTH_MAX;
use wire::names::ObjectPath;
use wire::signature::{Signature, Type};

use super::write::{INFINITY, NAN, NEGATIVE_INFINITY};
use super::{Json, example};
use crate::{ArgumentError, MismatchReason, MismatchStep, TypeMismatch, parse_signature};

/// Reads the arguments of a message with the types `signature`.
///
/// ```
/// use notation::json::read_arguments;
/// use serde_json::json;
///
/// assert!(read_arguments("sy", &[json!("text"), json!(7)]).is_ok());
/// let error = read_arguments("sy", &[json!("text"), json!(256)]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "argument 2 must be a whole number from 0 to 255 (y), but is 256; example: 7",
/// );
/// ```
///
/// # Errors
///
/// If the signature is invalid, or the number of arguments or their values do not match it.
pub fn read_arguments(signature: &str, given: &[Json]) -> Result<Vec<Value>, ArgumentError> {
    let signature = parse_signature(signature)?;
    let types: Vec<_> = signature.types().collect();
    if types.len() != given.len() {
        let (signature, given) = (signature.into(), given.len());
        return Err(ArgumentError::Count { signature, expected: types.len(), given });
    }
    let pairs = types.into_iter().zip(given).enumerate();
    pairs.map(|(place, (kind, given))| argument(place + 1, kind, given)).collect()
}

/// Reads one value of the type `signature`.
///
/// # Errors
///
/// If the signature is not exactly one type, or the value does not match it.
pub fn read_value(signature: &str, given: &Json) -> Result<Value, ArgumentError> {
    let values = read_arguments(signature, std::slice::from_ref(given))?;
    Ok(values.into_iter().next().expect("as many as were given"))
}

fn argument(number: usize, kind: Type<'_>, given: &Json) -> Result<Value, ArgumentError> {
    value(kind, given, 0).map_err(|mismatch| ArgumentError::Mismatch { number, mismatch })
}

/// Reads a value that is nested inside `depth` containers.
fn value(kind: Type<'_>, given: &Json, depth: usize) -> Result<Value, Box<TypeMismatch>> {
    let wrong = |reason| mismatch(kind, given, reason);
    let read = match kind {
        Type::Byte => integer(given).map(Value::Byte),
        Type::Boolean => given.as_bool().map(Value::Boolean).ok_or(MismatchReason::Kind),
        Type::Int16 => integer(given).map(Value::Int16),
        Type::Uint16 => integer(given).map(Value::Uint16),
        Type::Int32 => integer(given).map(Value::Int32),
        Type::Uint32 => integer(given).map(Value::Uint32),
        Type::Int64 => integer_or_digits(given).map(Value::Int64),
        Type::Uint64 => integer_or_digits(given).map(Value::Uint64),
        Type::Double => double(given).map(Value::Double),
        Type::String => text(given).map(Value::from),
        Type::ObjectPath => object_path(given),
        Type::Signature => signature(given),
        Type::UnixFd => Err(MismatchReason::Descriptor),
        Type::Variant | Type::Array(_) | Type::Struct(_) | Type::DictEntry(_)
            if depth >= VALUE_DEPTH_MAX =>
        {
            Err(MismatchReason::TooDeep)
        }
        Type::Variant => return variant(given, depth + 1),
        Type::Array(element) => return array(element, given, depth + 1),
        Type::Struct(types) => return Ok(Value::Struct(fields(kind, types, given, depth + 1)?)),
        Type::DictEntry(types) => return entry(kind, types, given, depth + 1),
    };
    read.map_err(wrong)
}

fn mismatch(kind: Type<'_>, given: &Json, reason: MismatchReason) -> Box<TypeMismatch> {
    TypeMismatch::new(kind, given.to_string(), example(kind).to_string(), reason)
}

fn integer<T: TryFrom<i128>>(given: &Json) -> Result<T, MismatchReason> {
    let signed = given.as_i64().map(i128::from);
    let number = signed.or_else(|| given.as_u64().map(i128::from)).ok_or(MismatchReason::Kind)?;
    T::try_from(number).map_err(|_| MismatchReason::Range)
}

fn integer_or_digits<T: TryFrom<i128>>(given: &Json) -> Result<T, MismatchReason> {
    let Some(digits) = given.as_str() else { return integer(given) };
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(MismatchReason::Kind);
    }
    let number = digits.parse::<i128>().map_err(|_| MismatchReason::Range)?;
    T::try_from(number).map_err(|_| MismatchReason::Range)
}

fn double(given: &Json) -> Result<f64, MismatchReason> {
    match given.as_str() {
        None => given.as_f64().ok_or(MismatchReason::Kind),
        Some(NAN) => Ok(f64::NAN),
        Some(INFINITY) => Ok(f64::INFINITY),
        Some(NEGATIVE_INFINITY) => Ok(f64::NEG_INFINITY),
        Some(_) => Err(MismatchReason::Kind),
    }
}

fn text(given: &Json) -> Result<&str, MismatchReason> {
    let text = given.as_str().ok_or(MismatchReason::Kind)?;
    if text.contains('\0') { Err(MismatchReason::Nul) } else { Ok(text) }
}

fn object_path(given: &Json) -> Result<Value, MismatchReason> {
    let path = ObjectPath::new(text(given)?).map_err(MismatchReason::Path)?;
    Ok(Value::ObjectPath(path.into()))
}

fn signature(given: &Json) -> Result<Value, MismatchReason> {
    let types = Signature::new(text(given)?).map_err(MismatchReason::Signature)?;
    Ok(Value::Signature(types.into()))
}

/// Reads `{"type":…,"data":…}`, with no other keys.
fn variant(given: &Json, depth: usize) -> Result<Value, Box<TypeMismatch>> {
    let wrong = |reason| mismatch(Type::Variant, given, reason);
    let members = given.as_object().filter(|members| members.len() == 2);
    let members = members.and_then(|members| Some((members.get("type")?, members.get("data")?)));
    let (types, data) = members.ok_or_else(|| wrong(MismatchReason::Kind))?;
    let types = text(types).map_err(wrong)?;
    let types = Signature::new(types).map_err(|error| wrong(MismatchReason::Signature(error)))?;
    let kind = types.single().ok_or_else(|| wrong(MismatchReason::VariantNotSingle))?;
    let inside =
        value(kind, data, depth).map_err(|mismatch| mismatch.inside(MismatchStep::Variant))?;
    Ok(Value::Variant(Box::new(inside)))
}

fn array(element: Signature<'_>, given: &Json, depth: usize) -> Result<Value, Box<TypeMismatch>> {
    let kind = element.single().expect("an array has one element type");
    let items = match (kind, given) {
        (Type::DictEntry(types), Json::Object(members)) => members
            .iter()
            .map(|(key, given)| member(types, key, given, depth + 1))
            .collect::<Result<_, _>>()?,
        (_, Json::Array(items)) => elements(kind, items, depth)?,
        _ => return Err(mismatch(Type::Array(element), given, MismatchReason::Kind)),
    };
    Ok(crate::array(element, items))
}

fn elements(kind: Type<'_>, items: &[Json], depth: usize) -> Result<Vec<Value>, Box<TypeMismatch>> {
    let items = items.iter().enumerate();
    let read = items.map(|(place, item)| {
        value(kind, item, depth)
            .map_err(|mismatch| mismatch.inside(MismatchStep::Element(place + 1)))
    });
    read.collect()
}

/// Reads a dictionary entry from a member of a JSON object.
fn member(
    types: Signature<'_>,
    key: &str,
    given: &Json,
    depth: usize,
) -> Result<Value, Box<TypeMismatch>> {
    let (key_kind, value_kind) = key_and_value(types);
    let key_value = value(key_kind, &key_as_json(key_kind, key), depth)
        .map_err(|mismatch| mismatch.inside(MismatchStep::Key))?;
    let value = value(value_kind, given, depth)
        .map_err(|mismatch| mismatch.inside(MismatchStep::ValueOf(key.into())))?;
    Ok(Value::DictEntry(Box::new((key_value, value))))
}

/// Reads a dictionary entry from a JSON list.
fn entry(
    kind: Type<'_>,
    types: Signature<'_>,
    given: &Json,
    depth: usize,
) -> Result<Value, Box<TypeMismatch>> {
    let pair = fields(kind, types, given, depth)?;
    let pair = <[Value; 2]>::try_from(pair).expect("a dict entry has a key and a value");
    Ok(Value::DictEntry(Box::new(pair.into())))
}

fn key_and_value(types: Signature<'_>) -> (Type<'_>, Type<'_>) {
    let mut types = types.types();
    types.next().zip(types.next()).expect("a dict entry has a key and a value")
}

/// Converts the key of a JSON object to a value for the key's type.
fn key_as_json(kind: Type<'_>, key: &str) -> Json {
    match kind {
        Type::String | Type::ObjectPath | Type::Signature => key.into(),
        _ => serde_json::from_str(key).unwrap_or_else(|_| key.into()),
    }
}

fn fields(
    kind: Type<'_>,
    types: Signature<'_>,
    given: &Json,
    depth: usize,
) -> Result<Vec<Value>, Box<TypeMismatch>> {
    let items = given.as_array().ok_or_else(|| mismatch(kind, given, MismatchReason::Kind))?;
    let expected = types.types().count();
    if items.len() != expected {
        return Err(mismatch(kind, given, MismatchReason::Fields { expected, given: items.len() }));
    }
    let fields = types.types().zip(items).enumerate();
    let read = fields.map(|(place, (field, item))| {
        value(field, item, depth)
            .map_err(|mismatch| mismatch.inside(MismatchStep::Field(place + 1)))
    });
    read.collect()
}
