//! Encoding and decoding with the derived traits.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroU32;

use diligence_client::wire::body::{ReadError, Value, Variant, signature_of};
use diligence_client::wire::message::{Builder, Message};
use diligence_client::wire::names::{MemberName, ObjectPath};
use diligence_client::wire::signature::{Signature, SignatureBuf, Type};
use diligence_client::{Decode, Encode, Typed};

fn message<T: Encode>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    let member = MemberName::new("Test").unwrap();
    let builder = Builder::method_call(ObjectPath::ROOT, member);
    builder.write(&mut bytes, NonZeroU32::MIN, &(value,)).unwrap();
    Message::parse(&bytes).unwrap().validate_body().unwrap();
    bytes
}

/// Encodes `value` and decodes it again; checks its signature, and its value for a dynamic reader.
fn check<T>(value: &T, signature: &str, seen: Value)
where
    T: Typed + Encode + for<'a> Decode<'a> + PartialEq + Debug,
{
    assert_eq!(signature_of::<T>().unwrap().as_str(), signature);
    let bytes = message(value);
    let message = Message::parse(&bytes).unwrap();
    assert_eq!(&message.read::<(T,)>().unwrap().0, value);
    assert_eq!(Value::read_args(&message).unwrap(), [seen]);
}

fn read_error<From: Encode, To: for<'a> Decode<'a> + Debug>(value: From) -> ReadError {
    let bytes = message(&value);
    Message::parse(&bytes).unwrap().read::<(To,)>().unwrap_err()
}

#[derive(Typed, Encode, Decode, PartialEq, Debug)]
struct DerivedPoint {
    x: i32,
    y: i32,
}

#[derive(Typed, Encode, Decode, PartialEq, Debug)]
struct DerivedPair<A, B>(A, B);

#[derive(Typed, Encode, Decode, PartialEq, Debug)]
#[dbus(transparent)]
struct Level(u32);

#[test]
fn structs_encode_as_dbus_structs() {
    let seen = Value::Struct(vec![Value::Int32(1), Value::Int32(-2)]);
    check(&DerivedPoint { x: 1, y: -2 }, "(ii)", seen.clone());
    let pair = DerivedPair(DerivedPoint { x: 1, y: -2 }, "text".to_owned());
    check(&pair, "((ii)s)", Value::Struct(vec![seen, Value::from("text")]));
    check(&Level(7), "u", Value::Uint32(7));
    let map = BTreeMap::from([(7_u32, Level(8))]);
    assert_eq!(
        signature_of::<DerivedPair<Vec<Level>, BTreeMap<u8, DerivedPoint>>>().unwrap().as_str(),
        "(aua{y(ii)})"
    );
    assert_eq!(message(&map).len() % 4, 0);
}

#[derive(Typed, Encode, Decode, PartialEq, Debug)]
struct Borrowed<'a> {
    name: &'a str,
    bytes: Vec<&'a str>,
}

#[test]
fn decoded_structs_can_borrow_from_the_message() {
    let bytes = message(&Borrowed { name: "n", bytes: vec!["b"] });
    let message = Message::parse(&bytes).unwrap();
    let (read,): (Borrowed<'_>,) = message.read().unwrap();
    assert_eq!(read, Borrowed { name: "n", bytes: vec!["b"] });
    assert!(bytes.as_ptr_range().contains(&read.name.as_ptr()));
}

#[derive(Typed, Encode, Decode, PartialEq, Debug)]
#[dbus(dict, rename_all = "PascalCase")]
struct Song {
    title: String,
    track_number: Option<u32>,
    #[dbus(rename = "xesam:artist")]
    artist: Option<Vec<String>>,
    rating: Option<Value>,
    level: Option<Variant<Level>>,
    r#type: Option<DerivedKind>,
}

fn song() -> Song {
    Song {
        title: "t".into(),
        track_number: None,
        artist: None,
        rating: None,
        level: None,
        r#type: None,
    }
}

fn dict(entries: Vec<(&str, Value)>) -> Value {
    let entry = |(key, value): (&str, Value)| {
        Value::DictEntry(Box::new((key.into(), Value::Variant(value.into()))))
    };
    let array = Signature::new("a{sv}").unwrap();
    let Some(Type::Array(element)) = array.single() else { panic!("an array") };
    let element = SignatureBuf::from(element);
    Value::Array { element, items: entries.into_iter().map(entry).collect() }
}

#[test]
fn dicts_omit_absent_entries() {
    check(&song(), "a{sv}", dict(vec![("Title", "t".into())]));
    let full = Song {
        track_number: Some(3),
        artist: Some(vec!["a".into()]),
        rating: Some(Value::Double(0.5)),
        level: Some(Variant(Level(9))),
        r#type: Some(DerivedKind::Music),
        ..song()
    };
    let artists =
        Value::Array { element: signature_of::<String>().unwrap(), items: vec![Value::from("a")] };
    let seen = dict(vec![
        ("Title", "t".into()),
        ("TrackNumber", Value::Uint32(3)),
        ("xesam:artist", artists),
        ("Rating", Value::Double(0.5)),
        ("Level", Value::Uint32(9)),
        ("Type", Value::from("music")),
    ]);
    check(&full, "a{sv}", seen);
}

#[test]
fn dicts_ignore_unknown_entries() {
    let others = BTreeMap::from([
        ("Title", Value::from("t")),
        ("Zzz", Value::Variant(Box::new(7_u8.into()))),
    ]);
    let bytes = message(&others);
    assert_eq!(Message::parse(&bytes).unwrap().read::<(Song,)>(), Ok((song(),)));

    let empty = BTreeMap::<String, Value>::new();
    let missing = ReadError::Value("the entry \"Title\" is missing".into());
    assert_eq!(read_error::<_, Song>(empty), missing);
    let wrong = BTreeMap::from([("Title", Value::Byte(0))]);
    assert!(matches!(read_error::<_, Song>(wrong), ReadError::Variant { .. }));
}

#[derive(Typed, Encode, Decode, PartialEq, Debug, Clone, Copy)]
#[repr(i16)]
enum Weekday {
    Monday = 1,
    Tuesday,
    Sunday = -7,
}

#[derive(Typed, Encode, Decode, PartialEq, Debug)]
enum PlainEnum {
    Zero,
    One,
}

#[derive(Typed, Encode, Decode, PartialEq, Debug)]
#[dbus(string, rename_all = "kebab-case")]
enum DerivedKind {
    Music,
    SpokenWord,
    #[dbus(rename = "?")]
    Other,
}

#[test]
fn enums_encode_as_numbers_or_strings() {
    check(&Weekday::Tuesday, "n", Value::Int16(2));
    check(&Weekday::Sunday, "n", Value::Int16(-7));
    check(&Weekday::Monday, "n", Value::Int16(1));
    check(&PlainEnum::One, "u", Value::Uint32(1));
    check(&PlainEnum::Zero, "u", Value::Uint32(0));
    check(&DerivedKind::SpokenWord, "s", Value::from("spoken-word"));
    check(&DerivedKind::Other, "s", Value::from("?"));
    assert_eq!(
        read_error::<_, Weekday>(3_i16),
        ReadError::Value("3 is not a value of Weekday".into())
    );
    assert_eq!(
        read_error::<_, DerivedKind>("noise"),
        ReadError::Value("\"noise\" is not a value of DerivedKind".into())
    );
    let types = read_error::<_, Weekday>(3_u32);
    assert!(matches!(types, ReadError::Signature { .. }));
}
