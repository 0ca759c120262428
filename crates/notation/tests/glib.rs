//! The text of GVariant as GLib itself reads and prints it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use notation::gvariant;
use serde_json::{Value as Json, json};
use testkit::random::Random;
use testkit::values::has_descriptor;
use wire::signature::Signature;

/// Reads lines of `[type or null, text]`, and prints what GLib makes of each.
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

/// What GLib makes of each text, whose type is told or not: its type and its text, or nothing.
fn glib(asked: &[(Option<&str>, &str)]) -> Vec<Option<(String, String)>> {
    let mut python = Command::new("/usr/bin/python3")
        .args(["-c", ORACLE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("python3: {error}; the Debian package is python3-gi"));
    let mut input = python.stdin.take().expect("it is piped");
    let lines: String =
        asked.iter().map(|(types, text)| format!("{}\n", json!([types, text]))).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = python.wait_with_output().expect("it was started here");
    writer.join().expect("it does not panic").expect("it reads all");
    assert!(output.status.success(), "the Debian package is python3-gi");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let told = text.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let told = told.map(|told| {
        let text = |place: usize| told[place].as_str().map(str::to_owned);
        text(0).zip(text(1))
    });
    told.collect()
}

#[test]
fn what_is_printed_is_what_glib_prints_and_reads() {
    let mut random = Random::from_env();
    let mut values = Vec::new();
    while values.len() < 3_000 {
        let types = random.signature();
        let told = random.values(Signature::new(&types).expect("it is valid"));
        // The place of a descriptor has a sign there, and never so many.
        values.extend(told.into_iter().filter(|value| !has_descriptor(value)));
    }
    let ours: Vec<_> =
        values.iter().map(|value| (notation::signature(value), gvariant::value(value))).collect();
    let asked: Vec<_> = ours.iter().map(|(_, text)| (None, text.as_str())).collect();
    for (told, ours) in glib(&asked).into_iter().zip(&ours) {
        assert_eq!(told.as_ref(), Some(ours));
    }
}

/// Texts as people write them, some of which are none.
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

/// Nobody opens a descriptor here: a word is its place, as with GLib.
fn place(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("{word} is no place"))
}

#[test]
fn what_people_write_is_what_glib_takes_it_for() {
    let asked: Vec<_> = TEXTS.iter().map(|text| (None, *text)).collect();
    for (told, text) in glib(&asked).into_iter().zip(TEXTS) {
        let ours = gvariant::read_untyped(text, &mut place).ok();
        let ours = ours.map(|value| (notation::signature(&value), gvariant::value(&value)));
        // GLib takes the first value of a dictionary for the type of all, arrays it does look at.
        if told.is_none() && *text == "{'a': 1, 'b': 2.5}" {
            assert_eq!(ours, Some(("a{sd}".into(), "{'a': 1.0, 'b': 2.5}".into())));
            continue;
        }
        // What GLib has and D-Bus has not: a structure without fields, an entry outside of a dictionary.
        let told = told.filter(|(types, _)| !types.contains("()") && !types.starts_with('{'));
        assert_eq!(ours, told, "{text}");
    }
}

#[test]
fn what_people_write_of_a_type_is_what_glib_takes_it_for() {
    let types =
        ["y", "n", "u", "x", "d", "s", "o", "v", "as", "ay", "ad", "a{sv}", "a{sd}", "(is)"];
    let asked: Vec<_> =
        TEXTS.iter().flat_map(|text| types.iter().map(|types| (Some(*types), *text))).collect();
    for (told, (types, text)) in glib(&asked).into_iter().zip(&asked) {
        let types = types.expect("each has one");
        // Words without quotes are texts to gdbus, not to GLib.
        let kind = Signature::new(types).expect("it is valid").single().expect("it is one");
        let open = &mut |_: &str| Err(String::from("there is none"));
        let ours = gvariant::read_value(kind, text, open).ok();
        if told.is_none() && matches!(types, "s" | "o") {
            continue;
        }
        // GLib takes no notice of a type that is said and is not the one that is wanted.
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
        assert_eq!(ours, told, "{types} {text}");
    }
}
