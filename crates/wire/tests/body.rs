//! Bodies: encoding and decoding Rust types, and errors of both.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[path = "support/notation.rs"]
mod notation;

use std::collections::BTreeMap;
#[cfg(feature = "std")]
use std::collections::HashMap;
use std::fmt::Debug;
use std::num::NonZeroU32;

use diligence_wire::Endian;
use diligence_wire::body::{
    Decode, DecodeArgs, Encode, EncodeArgs, ReadError, Reader, UnixFd, Value, Variant, Writer,
    signature_of,
};
use diligence_wire::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX};
use diligence_wire::message::{Builder, InvalidReason, Message, WriteError};
use diligence_wire::names::{
    BusName, ErrorName, InterfaceName, MemberName, ObjectPath, ObjectPathBuf, WellKnownName,
};
use diligence_wire::signature::{Signature, SignatureBuf, SignatureErrorKind};
use notation::{ORDERS, bytes};

/// Encodes a message with these arguments.
fn message(endian: Endian, args: &impl EncodeArgs) -> Result<Vec<u8>, WriteError> {
    let mut out = Vec::new();
    let builder = Builder::method_return(NonZeroU32::MIN).endian(endian);
    builder.write(&mut out, NonZeroU32::MIN, args).map(|()| out)
}

/// Checks the signature and the bytes of a value, and decodes it again.
fn check<T>(value: T, signature: &str, words: &str)
where
    T: Encode + for<'a> Decode<'a> + PartialEq + Debug,
{
    check_borrowed(&value, signature, words);
    for endian in ORDERS {
        let message = message(endian, &(&value,)).unwrap();
        let (read,) = Message::parse(&message).unwrap().read::<(T,)>().unwrap();
        assert_eq!(read, value, "{endian:?}");
    }
}

/// Like `check`, for types that cannot be decoded, or that borrow from the message.
fn check_borrowed<T: Encode + ?Sized>(value: &T, signature: &str, words: &str) {
    assert_eq!(signature_of::<T>().unwrap().as_str(), signature);
    for endian in ORDERS {
        let bytes_of_message = message(endian, &(value,)).unwrap();
        let message = Message::parse(&bytes_of_message).unwrap();
        assert_eq!(message.signature().as_str(), signature);
        assert_eq!(message.body(), bytes(endian, words), "{endian:?} {signature} {words}");
        assert_eq!(message.validate_body(), Ok(()));
    }
}

fn signature(text: &str) -> Signature<'_> {
    Signature::new(text).unwrap()
}

fn path(text: &str) -> ObjectPath<'_> {
    ObjectPath::new(text).unwrap()
}

#[test]
fn basic_types_round_trip() {
    check(7_u8, "y", "07");
    check(true, "b", "u1");
    check(false, "b", "u0");
    check(-1_i16, "n", "ffff");
    check(0x1111_u16, "q", "1111");
    check(-1_i32, "i", "ffffffff");
    check(9_u32, "u", "u9");
    check(-1_i64, "x", "ffffffffffffffff");
    check(u64::MAX, "t", "ffffffffffffffff");
    check(0.0_f64, "d", "0000000000000000");
    check(UnixFd(3), "h", "u3");
    check(String::from("é"), "s", "u2 c3a9 00");
    check(String::new(), "s", "u0 00");
    check(ObjectPathBuf::from(path("/a")), "o", "u2 '/a' 00");
    assert_eq!(ObjectPathBuf::try_from("/a".to_owned()), Ok(path("/a").into()));
    assert!(ObjectPathBuf::try_from("a".to_owned()).is_err());
    check(SignatureBuf::from(signature("a{sv}")), "g", "05 'a{sv}' 00");
}

#[test]
fn numbers_use_the_byte_order_of_the_message() {
    let args = (0x0102_u16, 0x0304_0506_u32, 0x0708_090a_0b0c_0d0e_u64, 1.5_f64);
    let little = "0201 0000 06050403 0e0d0c0b0a090807 000000000000f83f";
    let big = "0102 0000 03040506 0708090a0b0c0d0e 3ff8000000000000";
    for (endian, words) in [(Endian::Little, little), (Endian::Big, big)] {
        let bytes_of_message = message(endian, &args).unwrap();
        let message = Message::parse(&bytes_of_message).unwrap();
        assert_eq!(message.body(), bytes(endian, words));
        assert_eq!(message.read(), Ok(args));
    }
}

#[test]
fn names_are_encoded_as_strings() {
    check_borrowed("abc", "s", "u3 'abc' 00");
    check_borrowed(&BusName::new(":1.2").unwrap(), "s", "u4 ':1.2' 00");
    check_borrowed(&WellKnownName::new("a.b").unwrap(), "s", "u3 'a.b' 00");
    check_borrowed(&InterfaceName::new("a.b").unwrap(), "s", "u3 'a.b' 00");
    check_borrowed(&ErrorName::new("a.b").unwrap(), "s", "u3 'a.b' 00");
    check_borrowed(&MemberName::new("M").unwrap(), "s", "u1 'M' 00");
    check_borrowed(&path("/"), "o", "u1 '/' 00");
    check_borrowed(&signature("i"), "g", "01 'i' 00");
}

#[test]
fn values_can_be_read_without_copying() {
    let args = ("text", path("/p"), signature("ay"), BusName::new(":1.2").unwrap());
    let bytes = message(Endian::Big, &args).unwrap();
    let message = Message::parse(&bytes).unwrap();
    assert_eq!(message.read::<(&str, ObjectPath<'_>, Signature<'_>, BusName<'_>)>(), Ok(args));
}

#[test]
fn arrays_round_trip() {
    check(vec![1_u8, 2], "ay", "u2 0102");
    check(Vec::<u8>::new(), "ay", "u0");
    check(vec![1_u32, 2], "au", "u8 u1 u2");
    check(vec![true], "ab", "u4 u1");
    check(vec![-1_i64], "ax", "u8 00000000 ffffffffffffffff");
    check(Vec::<u64>::new(), "at", "u0 00000000");
    check(vec![String::from("a"), "bc".into()], "as", "u15 u1 'a' 00 0000 u2 'bc' 00");
    check(vec![vec![1_u8], vec![]], "aay", "u12 u1 01 000000 u0");
    check(Vec::<(u8,)>::new(), "a(y)", "u0 00000000");
    check(vec![(1_u8,), (2_u8,)], "a(y)", "u9 00000000 01 00000000000000 02");
    check_borrowed(&[0x0101_u16, 0x0202], "aq", "u4 0101 0202");
    check_borrowed(&["a"][..], "as", "u6 u1 'a' 00");
}

#[test]
fn structs_round_trip() {
    check((1_u8,), "(y)", "01");
    check((1_u8, 2_u32), "(yu)", "01 000000 u2");
    check((1_u8, (2_u8, 3_u8)), "(y(yy))", "01 00000000000000 02 03");
    let words = "u1 'a' 00 0000 u8 00000000 01 000000 u1";
    check((String::from("a"), vec![(1_u8, true)]), "(sa(yb))", words);
    type Twelve = (u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8);
    let twelve: Twelve = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    check(twelve, "(yyyyyyyyyyyy)", "0102030405060708090a0b0c");
}

#[test]
fn maps_round_trip() {
    let map = BTreeMap::from([(1_u8, String::from("a")), (2, String::from("b"))]);
    check(map, "a{ys}", "u26 00000000 01 000000 u1 'a' 00 000000000000 02 000000 u1 'b' 00");
    check(BTreeMap::<u8, u8>::new(), "a{yy}", "u0 00000000");
    check(BTreeMap::from([(1_u8, BTreeMap::from([(2_u8, 3_u8)]))]), "a{ya{yy}}", {
        "u10 00000000 01 000000 u2 02 03"
    });
}

#[cfg(feature = "std")]
#[test]
fn hash_maps_round_trip() {
    check(HashMap::from([(1_u8, true)]), "a{yb}", "u8 00000000 01 000000 u1");
}

#[test]
fn the_last_dict_entry_with_a_key_wins() {
    let entries = vec![(1_u8, 1_u8), (1, 2)];
    let mut bytes = message(Endian::Little, &(entries,)).unwrap();
    let at = bytes.windows(5).position(|window| window == b"a(yy)").unwrap();
    bytes[at..at + 5].copy_from_slice(b"a{yy}");
    let message = Message::parse(&bytes).unwrap();
    assert_eq!(message.read(), Ok((BTreeMap::from([(1_u8, 2_u8)]),)));
}

#[test]
fn variants_round_trip() {
    check(Variant(7_u8), "v", "01 'y' 00 07");
    check(Variant(7_u32), "v", "01 'u' 00 00 u7");
    check(Variant(vec![u64::MAX]), "v", "02 'at' 00 u8 ffffffffffffffff");
    check(Variant(Variant(7_u8)), "v", "01 'v' 00 01 'y' 00 07");
    check(vec![Variant(true)], "av", "u8 01 'b' 00 00 u1");
    check(BTreeMap::from([(1_u8, Variant(2_u8))]), "a{yv}", "u5 00000000 01 01 'y' 00 02");
}

#[test]
fn arguments_are_not_a_struct() {
    let args = (1_u8, 2_u32, String::from("a"));
    let bytes_of_message = message(Endian::Little, &args).unwrap();
    let message = Message::parse(&bytes_of_message).unwrap();
    assert_eq!(message.signature().as_str(), "yus");
    assert_eq!(message.body(), bytes(Endian::Little, "01 000000 u2 u1 'a' 00"));
    assert_eq!(message.read(), Ok(args));
    let read: Result<((u8, u32, String),), _> = message.read();
    assert_eq!(read, Err(mismatch("(yus)", "yus")));
}

fn mismatch(expected: &str, found: &str) -> ReadError {
    ReadError::Signature { expected: signature(expected).into(), found: signature(found).into() }
}

/// Checks the error of decoding `args` as `T`.
fn check_error<T>(args: &impl EncodeArgs, expected: ReadError)
where
    T: for<'a> DecodeArgs<'a> + PartialEq + Debug,
{
    for endian in ORDERS {
        let bytes = message(endian, args).unwrap();
        assert_eq!(Message::parse(&bytes).unwrap().read::<T>(), Err(expected.clone()));
    }
}

#[test]
fn values_of_another_type_are_not_read() {
    check_error::<(u32,)>(&("a",), mismatch("u", "s"));
    check_error::<(u32, u32)>(&(1_u32,), mismatch("uu", "u"));
    check_error::<(u32,)>(&(1_u32, 2_u32), mismatch("u", "uu"));
    check_error::<()>(&(1_u32,), mismatch("", "u"));
    check_error::<(u32,)>(&(), mismatch("u", ""));
    check_error::<(Vec<(u8,)>,)>(&(vec![1_u8],), mismatch("a(y)", "ay"));
    check_error::<(BTreeMap<u8, bool>,)>(&(BTreeMap::from([(1_u8, 2_u8)]),), {
        mismatch("a{yb}", "a{yy}")
    });
    let variant =
        ReadError::Variant { expected: signature("u").into(), found: signature("s").into() };
    check_error::<(Variant<u32>,)>(&(Variant("a"),), variant);
}

#[test]
fn malformed_names_are_not_read() {
    let bytes = message(Endian::Little, &("1x",)).unwrap();
    let read = Message::parse(&bytes).unwrap().read::<(MemberName<'_>,)>();
    let Err(ReadError::Value(text)) = read else { panic!("{read:?}") };
    assert_eq!(
        text,
        "\"1x\" is not a valid MemberName: an element begins with a digit (at byte 0)"
    );
}

#[test]
fn invalid_values_are_not_read() {
    let types = signature("ab");
    for (words, expected) in [
        ("u4 u2", InvalidReason::Boolean.at(4)),
        ("u8 u1", InvalidReason::ValueTruncated.at(0)),
        ("u67108865", InvalidReason::ArrayTooLong.at(0)),
        ("u3 u1", InvalidReason::ArrayLength.at(7)),
    ] {
        for endian in ORDERS {
            let bytes = bytes(endian, words);
            let mut reader = Reader::new(&bytes, endian, 0);
            let read = <(Vec<bool>,)>::decode_body(types, &mut reader);
            assert_eq!(read, Err(ReadError::Invalid(expected)), "{words}");
        }
    }
}

fn value(kind: &str, items: Vec<Value>) -> Value {
    Value::Array { element: signature(kind).into(), items }
}

/// A dictionary. The type of a dict entry cannot be parsed on its own, only as the element of an
/// array.
fn dict_of(items: Vec<(Value, Value)>) -> Value {
    let bytes = message(Endian::Little, &(BTreeMap::<String, Value>::new(),)).unwrap();
    let message = Message::parse(&bytes).unwrap();
    let Value::Array { element, .. } = Value::read_args(&message).unwrap().remove(0) else {
        panic!("a dict is an array");
    };
    let items = items.into_iter().map(|entry| Value::DictEntry(Box::new(entry))).collect();
    Value::Array { element, items }
}

#[test]
fn values_of_any_type_are_encoded_as_variants() {
    let entry = ("k".into(), Value::Variant(Box::new(7_u8.into())));
    for (value, words) in [
        (Value::from(7_u8), "01 'y' 00 07"),
        (Value::UnixFd(1), "01 'h' 00 00 u1"),
        (Value::from("a"), "01 's' 00 00 u1 'a' 00"),
        (Value::Bytes(vec![7]), "02 'ay' 00 u1 07"),
        (value("b", vec![true.into()]), "02 'ab' 00 u4 u1"),
        (value("at", vec![]), "03 'aat' 00 000000 u0"),
        (Value::Variant(Box::new(7_u8.into())), "01 'v' 00 01 'y' 00 07"),
        (Value::Struct(vec![7_u8.into(), true.into()]), "04 '(yb)' 00 0000 07 000000 u1"),
        (dict_of(vec![entry]), "05 'a{sv}' 00 00 u10 00000000 u1 'k' 00 01 'y' 00 07"),
    ] {
        check(value, "v", words);
    }
}

#[test]
fn values_have_a_signature() {
    let nested = Value::Struct(vec![value("(i)", vec![]), dict_of(vec![]), 1.5.into()]);
    let mut text = String::from("s");
    nested.push_signature(&mut text);
    assert_eq!(text, "s(a(i)a{sv}d)");
}

#[test]
fn rust_types_and_dynamic_values_are_encoded_alike() {
    let dict = BTreeMap::from([("k".to_owned(), Value::from(7_u8))]);
    let bytes = message(Endian::Big, &(&dict, "s")).unwrap();
    let message = Message::parse(&bytes).unwrap();
    let entry = ("k".into(), Value::Variant(Box::new(7_u8.into())));
    assert_eq!(Value::read_args(&message), Ok(vec![dict_of(vec![entry]), "s".into()]));
    assert_eq!(message.read::<(BTreeMap<String, Value>, String)>(), Ok((dict, "s".into())));
}

/// Checks the error of encoding `args`, and that the buffer is unchanged.
fn check_unwritable(args: &impl EncodeArgs, expected: WriteError) {
    let mut out = b"before".to_vec();
    let written = Builder::method_return(NonZeroU32::MIN).write(&mut out, NonZeroU32::MIN, args);
    assert_eq!(written, Err(expected));
    assert_eq!(out, b"before");
}

#[test]
fn invalid_values_are_not_written() {
    check_unwritable(&("a\0b",), WriteError::StringContainsNul);
    check_unwritable(&(Variant(vec!["a\0b"]),), WriteError::StringContainsNul);
    let key = BTreeMap::from([(vec![1_u8], 1_u8)]);
    let error = WriteError::Signature(SignatureErrorKind::DictEntryKeyNotBasic);
    check_unwritable(&(&key,), error);
    check_unwritable(&(Variant(key),), error);
    type FourBytes = (u8, u8, u8, u8);
    type Sixteen = (FourBytes, FourBytes, FourBytes, FourBytes);
    let sixteen = Sixteen::default();
    let long = (sixteen, sixteen, sixteen, sixteen, sixteen, sixteen, sixteen, sixteen);
    let error = WriteError::Signature(SignatureErrorKind::TooLong);
    check_unwritable(&(long, long), error);
}

#[test]
fn inconsistent_values_are_not_written() {
    for wrong in [
        value("i", vec![1_u32.into()]),
        value("i", vec![1_i32.into(), "a".into()]),
        value("ii", vec![]),
        Value::Struct(vec![value("ii", vec![])]),
        value("(i)", vec![Value::Struct(vec![1_i32.into(), 2_i32.into()])]),
        value("as", vec![value("u", vec![])]),
        value("ay", vec![Value::Variant(Box::new(Value::Bytes(vec![])))]),
    ] {
        check_unwritable(&(wrong,), WriteError::ElementType);
    }
    let entry = Value::DictEntry(Box::new((1_u8.into(), 2_u8.into())));
    let error = WriteError::Signature(SignatureErrorKind::DictEntryOutsideArray);
    check_unwritable(&(entry,), error);
    let error = WriteError::Signature(SignatureErrorKind::StructEmpty);
    check_unwritable(&(Value::Struct(vec![]),), error);
    for right in [
        value("as", vec![value("s", vec![])]),
        value("ay", vec![Value::Bytes(vec![])]),
        value(
            "(iv)",
            vec![Value::Struct(vec![1_i32.into(), Value::Variant(Box::new("a".into()))])],
        ),
    ] {
        assert!(message(Endian::Little, &(right,)).is_ok());
    }
}

#[test]
fn sixty_four_containers_may_be_nested() {
    // A value as an argument is inside a variant, and each nested value is in another one.
    let nested = |count: usize| {
        (1..count).fold(Value::from(7_u8), |inner, _| Value::Variant(Box::new(inner)))
    };
    let bytes = message(Endian::Little, &(nested(64),)).unwrap();
    let deepest = Message::parse(&bytes).unwrap();
    assert_eq!(deepest.validate_body(), Ok(()));
    assert_eq!(deepest.read::<(Value,)>(), Ok((nested(64),)));
    check_unwritable(&(nested(65),), WriteError::TooDeep);
    check_unwritable(&(vec![nested(64)],), WriteError::TooDeep);
    check_unwritable(&((nested(64),),), WriteError::TooDeep);
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn arrays_end_at_64_mib_and_messages_at_128() {
    let mut large = vec![0_u8; ARRAY_LEN_MAX];
    let mut out = Vec::new();
    let mut write = |first: &Vec<u8>, second: &[u8]| {
        out.clear();
        Builder::method_return(NonZeroU32::MIN)
            .write(&mut out, NonZeroU32::MIN, &(first, second))
            .map(|()| Message::parse(&out).unwrap().validate_body().map(|()| out.len()))
    };
    // The header has 40 bytes, and each array a length of 4 bytes.
    let rest = MESSAGE_LEN_MAX - ARRAY_LEN_MAX - 40 - 4 - 4;
    let second = vec![0_u8; rest + 1];
    assert_eq!(write(&large, &second[..rest]), Ok(Ok(MESSAGE_LEN_MAX)));
    let error = WriteError::TooLong { len: MESSAGE_LEN_MAX + 1 };
    assert_eq!(write(&large, &second), Err(error));
    large.push(0);
    assert_eq!(write(&large, &[]), Err(WriteError::ArrayTooLong { len: ARRAY_LEN_MAX + 1 }));
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn oversized_strings_are_rejected_before_copying() {
    let text = "x".repeat(MESSAGE_LEN_MAX + 1);
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, Endian::NATIVE);
    writer.string(&text);
    assert!(writer.is_empty());
    assert_eq!(writer.finish(), Err(WriteError::TooLong { len: MESSAGE_LEN_MAX + 1 }));
}
