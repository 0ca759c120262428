//! Tests of the JSON form of D-Bus values.

use inspector::TypedValue;
use inspector::json::{Json, example, read_arguments, read_value};
use wire::body::Value;
use wire::signature::Signature;

/// Decodes JSON and encodes the value again, or returns the error.
fn round_trip(signature: &str, given: &str) -> String {
    let given: Json = serde_json::from_str(given).expect("valid JSON");
    match read_value(signature, &given) {
        Ok(value) => data_of(&TypedValue(value), signature),
        Err(error) => error.to_string(),
    }
}

fn data_of(value: &TypedValue, signature: &str) -> String {
    let text = serde_json::to_string(value).expect("JSON");
    let start = format!(r#"{{"type":"{signature}","data":"#);
    let data = text
        .strip_prefix(&start)
        .unwrap_or_else(|| panic!("{text} does not have the type {signature}"));
    data.strip_suffix('}').expect("an object").to_owned()
}

#[test]
fn json_of_every_type_survives_a_round_trip() {
    for (signature, data) in [
        ("y", "0"),
        ("y", "255"),
        ("b", "true"),
        ("b", "false"),
        ("n", "-32768"),
        ("q", "65535"),
        ("i", "-2147483648"),
        ("u", "4294967295"),
        ("x", r#""-9223372036854775808""#),
        ("x", r#""9223372036854775807""#),
        ("t", r#""18446744073709551615""#),
        ("d", "0.1"),
        ("d", "-0.0"),
        ("d", "5e-324"),
        ("d", "1.7976931348623157e+308"),
        ("d", r#""NaN""#),
        ("d", r#""Infinity""#),
        ("d", r#""-Infinity""#),
        ("s", r#""""#),
        ("s", r#""a\"\\\n\u0001ü🙂""#),
        ("o", r#""/""#),
        ("o", r#""/org/example_1""#),
        ("g", r#""""#),
        ("g", r#""a{s(iv)}""#),
        ("v", r#"{"type":"t","data":"7"}"#),
        ("v", r#"{"type":"v","data":{"type":"ay","data":[1,2]}}"#),
        ("ay", "[]"),
        ("ay", "[0,255]"),
        ("as", "[]"),
        ("as", r#"["a",""]"#),
        ("aay", "[[],[1]]"),
        ("av", r#"[{"type":"s","data":"a"},{"type":"(id)","data":[1,2.5]}]"#),
        ("(s)", r#"["a"]"#),
        ("(y(bx)as)", r#"[1,[true,"2"],["c"]]"#),
        ("a(su)", r#"[["a",1],["b",2]]"#),
        ("a{sv}", "[]"),
        ("a{sv}", r#"[["b",{"type":"y","data":1}],["a",{"type":"a{us}","data":[[7,"x"]]}]]"#),
        ("a{us}", r#"[[7,"x"],[7,"the same key"]]"#),
        ("a{xd}", r#"[["-1",0.5]]"#),
        ("a{bo}", r#"[[true,"/"]]"#),
        ("a{dg}", r#"[["NaN","s"]]"#),
        ("aa{oa{sv}}", r#"[[["/a",[]]]]"#),
    ] {
        assert_eq!(round_trip(signature, data), data, "{signature}");
    }
}

/// Fast parsers of JSON may round to a neighboring double.
#[test]
fn doubles_keep_their_last_bit() {
    let mut bits = 0x0123_4567_89ab_cdef_u64;
    for _ in 0..10_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = f64::from_bits(bits);
        if number.is_finite() {
            let text = data_of(&TypedValue(Value::Double(number)), "d");
            let given = serde_json::from_str(&text).expect("valid JSON");
            assert_eq!(read_value("d", &given), Ok(Value::Double(number)), "{text}");
        }
    }
}

#[test]
fn alternative_json_forms_are_accepted() {
    for (signature, given, data) in [
        ("x", "-7", r#""-7""#),
        ("t", "18446744073709551615", r#""18446744073709551615""#),
        ("d", "7", "7.0"),
        ("a{ss}", r#"{"a":"b"}"#, r#"[["a","b"]]"#),
        ("a{us}", r#"{"7":"b"}"#, r#"[[7,"b"]]"#),
        ("a{ts}", r#"{"7":"b"}"#, r#"[["7","b"]]"#),
        ("a{bs}", r#"{"true":"b"}"#, r#"[[true,"b"]]"#),
        ("a{ds}", r#"{"1.5":"b","NaN":"c"}"#, r#"[[1.5,"b"],["NaN","c"]]"#),
        ("v", r#"{"data":1,"type":"u"}"#, r#"{"type":"u","data":1}"#),
    ] {
        assert_eq!(round_trip(signature, given), data, "{signature}");
    }
}

#[test]
fn json_that_does_not_match_the_signature_is_rejected() {
    for (signature, given, error) in [
        ("y", "256", "argument 1 must be a whole number from 0 to 255 (y), but is 256; example: 7"),
        (
            "u",
            "-1",
            "argument 1 must be a whole number from 0 to 4294967295 (u), but is -1; example: 7",
        ),
        (
            "i",
            "1.0",
            "argument 1 must be a whole number from -2147483648 to 2147483647 (i), but is 1.0; \
             example: 7",
        ),
        (
            "n",
            r#""7""#,
            "argument 1 must be a whole number from -32768 to 32767 (n), but is \"7\"; \
             example: 7",
        ),
        (
            "t",
            r#""18446744073709551616""#,
            "argument 1 must be a whole number from 0 to 18446744073709551615 (t), \
             but is \"18446744073709551616\"; example: \"7\"",
        ),
        (
            "x",
            r#""+7""#,
            "argument 1 must be a whole number from -9223372036854775808 to 9223372036854775807 \
             (x), but is \"+7\"; example: \"7\"",
        ),
        ("b", "1", "argument 1 must be true or false (b), but is 1; example: true"),
        ("d", r#""nan""#, "argument 1 must be a number (d), but is \"nan\"; example: 1.5"),
        ("s", "7", "argument 1 must be a string (s), but is 7; example: \"text\""),
        (
            "s",
            r#""a\u0000""#,
            "argument 1 must be a string (s), but is \"a\\u0000\", which contains a 0 byte; \
             example: \"text\"",
        ),
        (
            "o",
            r#""a""#,
            "argument 1 must be an object path (o), but is \"a\": \
             the object path does not begin with '/' (at byte 0); example: \"/org/example\"",
        ),
        (
            "g",
            r#""a""#,
            "argument 1 must be a signature (g), but is \"a\": \
             an array has no element type (at byte 0); example: \"a{sv}\"",
        ),
        (
            "h",
            "0",
            "argument 1 must be a file descriptor (h), but is 0; \
             file descriptors cannot be given in this form",
        ),
        (
            "v",
            "7",
            "argument 1 must be a variant (v), but is 7; \
             example: {\"data\":\"text\",\"type\":\"s\"}",
        ),
        (
            "v",
            r#"{"type":"ss","data":7}"#,
            "argument 1 must be a variant (v), but is {\"data\":7,\"type\":\"ss\"}: \
             a variant must have exactly one type; example: {\"data\":\"text\",\"type\":\"s\"}",
        ),
        ("as", r#""a""#, "argument 1 must be an array (as), but is \"a\"; example: [\"text\"]"),
        (
            "(su)",
            r#"["a"]"#,
            "argument 1 must be a struct ((su)), but is [\"a\"]: expected 2 items, got 1; \
             example: [\"text\",7]",
        ),
        (
            "a{s(yav)}",
            r#"{"k":[1,[{"type":"u","data":1},{"type":"u","data":"x"}]]}"#,
            "argument 1, the value of \"k\", field 2, element 2, the variant's value must be \
             a whole number from 0 to 4294967295 (u), but is \"x\"; example: 7",
        ),
        (
            "a{us}",
            r#"{"x":"b"}"#,
            "argument 1, a key must be a whole number from 0 to 4294967295 (u), but is \"x\"; \
             example: 7",
        ),
        (
            "a{us}",
            r#"[["x"]]"#,
            "argument 1, element 1 must be a pair of key and value ({us}), but is [\"x\"]: \
             expected 2 items, got 1; example: [7,\"text\"]",
        ),
        ("z", "7", "\"z\" is not a valid signature: a byte is not a type code (at byte 0)"),
        ("ss", "7", "too few arguments for signature \"ss\": expected 2, got 1"),
    ] {
        assert_eq!(round_trip(signature, given), error, "{signature}");
    }
}

#[test]
fn argument_errors_have_the_number_of_the_argument() {
    let given = ["a".into(), 7.into(), "c".into()];
    let error = read_arguments("sss", &given).expect_err("7 is not a string");
    assert_eq!(error.argument(), Some(2));
    let error = read_arguments("s", &given).expect_err("too many arguments");
    assert_eq!(error.argument(), None);
    assert_eq!(error.to_string(), "too many arguments for signature \"s\": expected 1, got 3");
}

#[test]
fn long_values_in_errors_are_cut_at_a_character_boundary() {
    let given = Json::from("ü".repeat(1000));
    let error = read_value("u", &given).expect_err("not a number").to_string();
    assert!(error.contains("ü…;"), "{error}");
    assert!(error.len() < 200, "{error}");
}

#[test]
fn nested_containers_have_the_depth_limit_of_messages() {
    let nested = |levels| {
        let innermost = serde_json::json!({"type": "y", "data": 1});
        (1..levels).fold(innermost, |inside, _| serde_json::json!({"type": "v", "data": inside}))
    };
    assert!(read_value("v", &nested(64)).is_ok());
    let error = read_value("v", &nested(65)).expect_err("nested too deeply").to_string();
    assert!(error.ends_with("more than 64 containers are nested"), "{error}");
}

#[test]
fn example_values_match_their_signatures() {
    for types in [
        "y",
        "b",
        "n",
        "q",
        "i",
        "u",
        "x",
        "t",
        "d",
        "s",
        "o",
        "g",
        "v",
        "ay",
        "as",
        "a{sv}",
        "a{oa{sv}}",
        "a{us}",
        "(sa(id)v)",
        "aay",
        "av",
        "a{gs}",
    ] {
        let kind = Signature::new(types).expect("a signature").single().expect("one type");
        let example = example(kind);
        let read = read_value(types, &example);
        assert!(read.is_ok(), "{example} does not have the type {types}: {read:?}");
    }
}

#[test]
fn descriptors_have_a_json_form() {
    assert_eq!(data_of(&TypedValue(Value::UnixFd(3)), "h"), "3");
}
