//! Words with the type in front to values.

use wire::body::Value;
use wire::signature::{Signature, Type};

use crate::{
    ArgumentError, DescriptorOpener, Misfit, MisfitReason, MisfitStep, dbus_send, example,
    gvariant, scalar, signature,
};

/// Whether a word is a value with its type in front.
pub fn is_word(word: &str) -> bool {
    let name = word.split(':').next().unwrap_or_default();
    word.contains(':') && (type_of(name).is_some() || matches!(name, "array" | "dict" | "variant"))
}

/// Reads the arguments of a message: a word for each, which says its type.
///
/// For what dbus-send has no words the type is a signature, and the value as gdbus takes it:
/// `a(si):[('one', 1)]`.
///
/// ```
/// use notation::dbus_send::read_arguments;
///
/// let none = &mut |_: &str| Err("there is none".to_owned());
/// let words = ["array:string:one,two", "dict:string:int32:one,1", "variant:int32:-8"];
/// assert!(read_arguments(&words, none).is_ok());
/// let error = read_arguments(&["byte:256"], none).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "argument 1 must be a whole number from 0 to 255 (y), and is 256; an example is byte:7",
/// );
/// ```
///
/// # Errors
///
/// If a word says no type, or is not of the type that it says.
pub fn read_arguments(
    words: &[&str],
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let values = words.iter().enumerate().map(|(place, word)| {
        let misfit = |misfit| ArgumentError::Misfit { number: place + 1, misfit };
        read(word, open).map_err(misfit)
    });
    values.collect()
}

fn read(word: &str, open: DescriptorOpener<'_>) -> Result<Value, Box<Misfit>> {
    let untyped =
        || Misfit::new(Type::Variant, word.into(), "string:text".into(), MisfitReason::Untyped);
    let (name, rest) = word.split_once(':').ok_or_else(untyped)?;
    match name {
        "array" => array(rest),
        "dict" => dictionary(rest),
        "variant" => {
            let inside = read(rest, open).map_err(|misfit| misfit.inside(MisfitStep::Variant))?;
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

fn basic(kind: Type<'_>, word: &str) -> Result<Value, Box<Misfit>> {
    scalar::read(kind, word).map_err(|reason| misfit(kind, word, reason))
}

/// `TYPE:VALUE,VALUE,…`, of which there may be none.
fn array(rest: &str) -> Result<Value, Box<Misfit>> {
    let (name, rest) = rest.split_once(':').unwrap_or((rest, ""));
    let kind = element(name)?;
    let items = parts(rest).enumerate().map(|(place, word)| {
        basic(kind, word).map_err(|misfit| misfit.inside(MisfitStep::Element(place + 1)))
    });
    let items: Vec<_> = items.collect::<Result<_, _>>()?;
    let types = kind.to_string();
    Ok(crate::array(Signature::new(&types).expect("it is a type"), items))
}

/// `TYPE:TYPE:KEY,VALUE,…`
fn dictionary(rest: &str) -> Result<Value, Box<Misfit>> {
    let mut words = rest.splitn(3, ':');
    let (of_key, of_value) =
        (element(words.next().unwrap_or_default())?, element(words.next().unwrap_or_default())?);
    let parts: Vec<_> = parts(words.next().unwrap_or_default()).collect();
    let types = format!("a{{{of_key}{of_value}}}");
    let types = Signature::new(&types).expect("basic types make a dictionary");
    let Some(Type::Array(element)) = types.single() else { unreachable!("it is an array") };
    let entries = parts.chunks(2).map(|entry| {
        let [key, value] = entry else {
            return Err(misfit(Type::Array(element), rest, MisfitReason::Count));
        };
        let read = basic(of_key, key).map_err(|misfit| misfit.inside(MisfitStep::Key))?;
        let value = basic(of_value, value)
            .map_err(|misfit| misfit.inside(MisfitStep::ValueOf((*key).into())))?;
        Ok(Value::DictEntry(Box::new((read, value))))
    });
    Ok(crate::array(element, entries.collect::<Result<_, _>>()?))
}

/// What stands between commas. As with dbus-send, there is nothing between two of them.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|part| !part.is_empty())
}

fn element(name: &str) -> Result<Type<'static>, Box<Misfit>> {
    let unknown = || {
        Misfit::new(
            Type::Variant,
            name.into(),
            "array:string:one,two".into(),
            MisfitReason::Untyped,
        )
    };
    type_of(name).ok_or_else(unknown)
}

/// The type that dbus-send calls so.
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

fn misfit(kind: Type<'_>, given: &str, reason: MisfitReason) -> Box<Misfit> {
    let value = example::example(kind);
    let example = dbus_send::word(&value)
        .unwrap_or_else(|| format!("{}:{}", signature(&value), gvariant::value(&value)));
    Misfit::new(kind, given.to_owned(), example, reason)
}

/// That a word says another type than the one that is wanted.
pub(crate) fn typed_otherwise(kind: Type<'_>, given: &str, said: &str) -> Box<Misfit> {
    misfit(kind, given, MisfitReason::Typed(said.into()))
}
