//! Comparison of the GVariant text format with GLib's own reader and printer.

use std::io::Write as _;
use std::process::{Command, Stdio};

use notation::gvariant;
use serde_json::{Value as Json, json};
use testkit::random::Random;
use testkit::values::has_descriptor;
use wire::signature::Signature;

/// Reads lines of `[type or null, text]`, and prints GLib's result for each.
const ORACLE: &str = "
import json, sys
from gi.repository import GLib
for line in sys.stdin:
    types, text = json.loads(line)
    try:
        read = GLib.Variant.parse(GLib.VariantType(types) if types else None, text, None, None)
        print(json.dumps([read.get_type_string(), read.print_(True)]))
    except GLib.Error:
        print('null')
";

/// GLib's result for each text, with or without a given type: the type and the printed text, or
/// `None` if it is invalid.
fn glib(inputs: &[(Option<&str>, &str)]) -> Vec<Option<(String, String)>> {
    let mut python = Command::new("/usr/bin/python3")
        .args(["-c", ORACLE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("python3: {error}; the Debian package is python3-gi"));
    let mut input = python.stdin.take().expect("stdin is a pipe");
    let lines: String =
        inputs.iter().map(|(types, text)| format!("{}\n", json!([types, text]))).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = python.wait_with_output().expect("the output of Python");
    writer.join().expect("the thread does not panic").expect("Python reads all lines");
    assert!(output.status.success(), "the Debian package is python3-gi");
    let text = String::from_utf8(output.stdout).expect("UTF-8 output");
    let results = text.lines().map(|line| {
        let result = serde_json::from_str::<Json>(line).expect("JSON");
        let text = |place: usize| result[place].as_str().map(str::to_owned);
        text(0).zip(text(1))
    });
    results.collect()
}

#[test]
fn printed_values_equal_the_text_of_glib() {
    let mut random = Random::from_env();
    let mut values = Vec::new();
    while values.len() < 3_000 {
        let types = random.signature();
        let random_values = random.values(Signature::new(&types).expect("a valid signature"));
        // GLib's descriptor index is signed, so not all values fit.
        values.extend(random_values.into_iter().filter(|value| !has_descriptor(value)));
    }
    let ours: Vec<_> =
        values.iter().map(|value| (notation::signature(value), gvariant::value(value))).collect();
    let inputs: Vec<_> = ours.iter().map(|(_, text)| (None, text.as_str())).collect();
    for (theirs, ours) in glib(&inputs).into_iter().zip(&ours) {
        assert_eq!(theirs.as_ref(), Some(ours));
    }
}

/// Typical input texts, including invalid ones.
const TEXTS: &[&str] = &[
    "1",
    "-1",
    "+1",
    "0x1f",
    "017",
    "1.5",
    "1e3",
    ".5",
    "5.",
    "inf",
    "-inf",
    "nan",
    "true",
    "yes",
    "'text'",
    "\"text\"",
    "'it\\'s'",
    "'\\u00e9\\U0001f980\\n'",
    "'\\q'",
    "'open",
    "text",
    "b'bytes'",
    "b'\\101\\377\\n'",
    "b\"\"",
    "[]",
    "@as []",
    "[1, 2]",
    "[1, 2.5]",
    "[1, 'two']",
    "[byte 1, 2]",
    "[1, byte 2]",
    "['a', objectpath '/']",
    "[[], [1]]",
    "[[1], []]",
    "[1, 2,]",
    "[(1, 'a'), (2, 'b')]",
    "[(1, 'a'), (2.5, 'b')]",
    "{}",
    "@a{sv} {}",
    "{'a': 1}",
    "{'a': 1, 'b': 2.5}",
    "{'a': <1>, 'b': <'two'>}",
    "{1: 'one'}",
    "{'a', 1}",
    "[{'a', 1}]",
    "{'a': 1, 'b'}",
    "()",
    "(1,)",
    "(1, 'two')",
    "(1)",
    "<1>",
    "<<'deep'>>",
    "<[]>",
    "<@ai []>",
    "@i 5",
    "@s 'x'",
    "@v <5>",
    "@(ii) (1, 2)",
    "@y 300",
    "@d 1",
    "uint32 5",
    "uint32 -5",
    "byte 0x1f",
    "int64 5",
    "double 1",
    "handle 3",
    "string 'x'",
    "signature 'as'",
    "objectpath '/a'",
    "objectpath 'a'",
    "signature '('",
    "int32 'x'",
    "boolean true",
    "1 2",
    "",
    " 1 ",
    "[ 1 , 2 ]",
    "{ 'a' : 1 }",
    "<  1  >",
    "@ai [1, 2]",
    "[@y 1]",
    "[@y 1, 2]",
    "true1",
    "[<1>, <'two'>]",
    "(1, [2, 3], {'four': 5})",
    "2147483648",
    "-2147483649",
    "[true, false]",
    "@aay [b'one', b'two']",
    "[b'one', b'two']",
    "@a{oas} {'/': ['a']}",
    "[{'a': 1}, {}]",
];

/// Uses the number in the word as the descriptor index, as GLib does; no descriptors are opened.
fn place(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("{word} is not a descriptor index"))
}

#[test]
fn texts_without_type_are_read_as_glib_reads_them() {
    let inputs: Vec<_> = TEXTS.iter().map(|text| (None, *text)).collect();
    for (theirs, text) in glib(&inputs).into_iter().zip(TEXTS) {
        let ours = gvariant::read_untyped(text, &mut place).ok();
        let ours = ours.map(|value| (notation::signature(&value), gvariant::value(&value)));
        // GLib infers the type of a dictionary from its first value, but the type of an array from
        // all of them.
        if theirs.is_none() && *text == "{'a': 1, 'b': 2.5}" {
            assert_eq!(ours, Some(("a{sd}".into(), "{'a': 1.0, 'b': 2.5}".into())));
            continue;
        }
        // GLib has types that D-Bus lacks: a structure without fields, and an entry outside a
        // dictionary.
        let theirs = theirs.filter(|(types, _)| !types.contains("()") && !types.starts_with('{'));
        assert_eq!(ours, theirs, "{text}");
    }
}

#[test]
fn texts_with_a_known_type_are_read_as_glib_reads_them() {
    let types =
        ["y", "n", "u", "x", "d", "s", "o", "v", "as", "ay", "ad", "a{sv}", "a{sd}", "(is)"];
    let inputs: Vec<_> =
        TEXTS.iter().flat_map(|text| types.iter().map(|types| (Some(*types), *text))).collect();
    for (theirs, (types, text)) in glib(&inputs).into_iter().zip(&inputs) {
        let types = types.expect("a type");
        // gdbus, unlike GLib, accepts strings without quotes.
        let kind =
            Signature::new(types).expect("a valid signature").single().expect("a single type");
        let open = &mut |_: &str| Err(String::from("there are no descriptors"));
        let ours = gvariant::read_value(kind, text, open).ok();
        if theirs.is_none() && matches!(types, "s" | "o") {
            continue;
        }
        // GLib ignores a type annotation that differs from the expected type.
        let is_typed = [
            "@",
            "byte",
            "int",
            "double",
            "handle",
            "string",
            "objectpath",
            "signature",
            "boolean",
        ]
        .iter()
        .any(|word| text.contains(word));
        if is_typed && (ours.is_none() || matches!(types, "s" | "o")) {
            continue;
        }
        let ours = ours.map(|value| (notation::signature(&value), gvariant::value(&value)));
        assert_eq!(ours, theirs, "{types} {text}");
    }
}
