//! How command lines are split. Each row was tested with the reference implementation: a program
//! wrote down its arguments.

use services::{Command, CommandError};

#[rustfmt::skip]
const ROWS: &[(&str, &[&str])] = &[
    ("a b", &["a", "b"]),
    ("a  b\t\n c ", &["a", "b", "c"]),
    ("'a b'", &["a b"]),
    ("\"a b\"", &["a b"]),
    ("a'b'c", &["abc"]),
    ("a\"b\"c", &["abc"]),
    ("'a''b'", &["ab"]),
    ("a '' b", &["a", "", "b"]),
    ("\"\"", &[""]),
    ("a\\ b", &["a b"]),
    ("\\'a\\'", &["'a'"]),
    ("'a\\b'", &["a\\b"]),
    ("\"a\\\"b\"", &["a\"b"]),
    ("\"a\\$b\"", &["a$b"]),
    ("\"a\\`b\"", &["a`b"]),
    ("\"a\\\\b\"", &["a\\b"]),
    ("\"a\\nb\"", &["a\\nb"]),
    ("\"a\\\nb\"", &["a\nb"]),
    ("'a\nb'", &["a\nb"]),
    ("a\\\nb", &["ab"]),
    ("a #b", &["a", ""]),
    ("#a b", &[""]),
    ("a#b", &["a"]),
    ("a#b\nc", &["a", "c"]),
    ("\\#a", &["#a"]),
    ("a;b & c > d", &["a;b", "&", "c", ">", "d"]),
    ("$HOME `ls` * ~ %u A=b", &["$HOME", "`ls`", "*", "~", "%u", "A=b"]),
    ("ä", &["ä"]),
    ("", &[]),
    ("   ", &[]),
];

#[test]
fn lines_are_split_as_the_reference_splits_them() {
    for (line, words) in ROWS {
        assert_eq!(Command::split(line).unwrap().words(), *words, "{line:?}");
    }
}

#[test]
fn quotes_must_be_closed() {
    let check = |line: &str, error| assert_eq!(Command::split(line), Err(error), "{line:?}");
    check("'", CommandError::OpenQuote);
    check("'a", CommandError::OpenQuote);
    check("a \"b", CommandError::OpenQuote);
    check("\"a\\\"", CommandError::OpenQuote);
    check("a\\", CommandError::OpenEscape);
}
