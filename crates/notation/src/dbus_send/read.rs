//! Reading words that begin with their type.

use wire::body::Value;
use wire::signature::{Signature, Type};

use crate::{
    ArgumentError, DescriptorOpener, MismatchReason, MismatchStep, TypeMismatch, dbus_send,
    example, gvariant, scalar, signature,
};

/// True if the word begins with a type name of dbus-send and a colon.
pub fn is_word(word: &str) -> bool {
    let name = word.split(':').next().unwrap_or_default();
    word.contains(':') && (type_of(name).is_some() || matches!(name, "array" | "dict" | "variant"))
}

/// Reads the arguments of a message: one word each, which begins with its type.
///
/// For types without a dbus-send notation, the type is a signature, and the value is in GVariant
/// text format: `a(si):[('one', 1)]`.
///
/// ```
/// use notation::dbus_send::read_arguments;
///
/// let no_descriptors = &mut |_: &str| Err("there are no descriptors".to_owned());
/// let words = ["array:string:one,two", "dict:string:int32:one,1", "variant:int32:-8"];
/// assert!(read_arguments(&words, no_descriptors).is_ok());
/// let error = read_arguments(&["byte:256"], no_descriptors).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "argument 1 must be a whole number from 0 to 255 (y), but is 256; example: byte:7",
/// );
/// ```
///
/// # Errors
///
/// If a word does not begin with a type, or its value does not match the type.
pub fn read_arguments(
    words: &[&str],
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let values = words.iter().enumerate().map(|(place, word)| {
        let mismatch = |mismatch| ArgumentError::Mismatch { number: place + 1, mismatch };
        read(word, open).map_err(mismatch)
    });
    values.collect()
}

fn read(word: &str, open: DescriptorOpener<'_>) -> Result<Value, Box<TypeMismatch>> {
    let untyped = || {
        TypeMismatch::new(Type::Variant, word.into(), "string:text".into(), MismatchReason::Untyped)
    };
    let (name, rest) = word.split_once(':').ok_or_else(untyped)?;
    match name {
        "array" => array(rest),
        "dict" => dictionary(rest),
        "variant" => {
            let inside =
                read(rest, open).map_err(|mismatch| mismatch.inside(MismatchStep::Variant))?;
            Ok(Value::Variant(Box::new(inside)))
        }
        _ => match type_of(name) {
            Some(kind) => basic(kind, rest),
            None => {
                let kind = Signature::new(name).ok().and_then(Signature::single);
                gvariant::read_value(kind.ok_or_else(untyped)?, rest, open)
            }
        },
    }
}

fn basic(kind: Type<'_>, word: &str) -> Result<Value, Box<TypeMismatch>> {
    scalar::read(kind, word).map_err(|reason| mismatch(kind, word, reason))
}

/// Reads `TYPE:VALUE,VALUE,…`; the list of values can be empty.
fn array(rest: &str) -> Result<Value, Box<TypeMismatch>> {
    let (name, rest) = rest.split_once(':').unwrap_or((rest, ""));
    let kind = element(name)?;
    let items = parts(rest).enumerate().map(|(place, word)| {
        basic(kind, word).map_err(|mismatch| mismatch.inside(MismatchStep::Element(place + 1)))
    });
    let items: Vec<_> = items.collect::<Result<_, _>>()?;
    let types = kind.to_string();
    Ok(crate::array(Signature::new(&types).expect("a valid type"), items))
}

/// Reads a dictionary: `TYPE:TYPE:KEY,VALUE,…`
fn dictionary(rest: &str) -> Result<Value, Box<TypeMismatch>> {
    let mut words = rest.splitn(3, ':');
    let (of_key, of_value) =
        (element(words.next().unwrap_or_default())?, element(words.next().unwrap_or_default())?);
    let parts: Vec<_> = parts(words.next().unwrap_or_default()).collect();
    let types = format!("a{{{of_key}{of_value}}}");
    let types = Signature::new(&types).expect("basic types make a dictionary");
    let Some(Type::Array(element)) = types.single() else { unreachable!("the type is an array") };
    let entries = parts.chunks(2).map(|entry| {
        let [key, value] = entry else {
            return Err(mismatch(Type::Array(element), rest, MismatchReason::Count));
        };
        let read = basic(of_key, key).map_err(|mismatch| mismatch.inside(MismatchStep::Key))?;
        let value = basic(of_value, value)
            .map_err(|mismatch| mismatch.inside(MismatchStep::ValueOf((*key).into())))?;
        Ok(Value::DictEntry(Box::new((read, value))))
    });
    Ok(crate::array(element, entries.collect::<Result<_, _>>()?))
}

/// Splits at commas. Like dbus-send, ignores empty parts.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|part| !part.is_empty())
}

fn element(name: &str) -> Result<Type<'static>, Box<TypeMismatch>> {
    let unknown = || {
        TypeMismatch::new(
            Type::Variant,
            name.into(),
            "array:string:one,two".into(),
            MismatchReason::Untyped,
        )
    };
    type_of(name).ok_or_else(unknown)
}

/// The type with this name in dbus-send.
fn type_of(name: &str) -> Option<Type<'static>> {
    Some(match name {
        "byte" => Type::Byte,
        "boolean" => Type::Boolean,
        "int16" => Type::Int16,
        "uint16" => Type::Uint16,
        "int32" => Type::Int32,
        "uint32" => Type::Uint32,
        "int64" => Type::Int64,
        "uint64" => Type::Uint64,
        "double" => Type::Double,
        "string" => Type::String,
        "objpath" => Type::ObjectPath,
        _ => return None,
    })
}

fn mismatch(kind: Type<'_>, given: &str, reason: MismatchReason) -> Box<TypeMismatch> {
    let value = example::example(kind);
    let example = dbus_send::word(&value)
        .unwrap_or_else(|| format!("{}:{}", signature(&value), gvariant::value(&value)));
    TypeMismatch::new(kind, given.to_owned(), example, reason)
}

/// The error that a word is annotated with another type than the expected one.
pub(crate) fn type_mismatch(kind: Type<'_>, given: &str, actual: &str) -> Box<TypeMismatch> {
    mismatch(kind, given, MismatchReason::Typed(actual.into()))
}
