//! Values as text.
//!
//! | text | value |
//! | --- | --- |
//! | `"text"`, `"x"*500` | `s`, the second for one text repeated |
//! | `y:1 b:true n:1 q:1 i:1 u:1 x:1 t:1 d:1.5 h:0` | numbers |
//! | `o:/path`, `g:as` | `o`, `g` |
//! | `as["a", "b"]`, `a{su}["a": u:1]` | arrays |
//! | `ay"text"` | `ay` |
//! | `v(u:1)`, `(u:1, "a")` | `v`, structs |

use std::fmt::Write as _;

use wire::body::Value;
use wire::names::ObjectPath;
use wire::signature::{Signature, Type};

/// A cursor over a text that contains values.
#[derive(Clone, Copy, Debug)]
pub struct ValueCursor<'a> {
    rest: &'a str,
}

impl<'a> ValueCursor<'a> {
    /// Starts at the first word of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { rest: text.trim() }
    }

    /// True at the end of the text.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// True if a value comes next, and not another word.
    pub fn is_at_value(&self) -> bool {
        let word = self.rest.split(' ').next().unwrap_or_default();
        let mut characters = word.chars();
        let numbers = "ybnqiuxtdhog";
        match (characters.next(), characters.next()) {
            (Some('"' | '('), _) | (Some('v'), Some('(')) => true,
            (Some('a'), _) => word.contains(['[', '"']),
            (Some(code), Some(':')) => numbers.contains(code),
            _ => false,
        }
    }

    /// Takes everything up to the next blank.
    pub fn word(&mut self) -> &'a str {
        let end = self.rest.find(' ').unwrap_or(self.rest.len());
        self.take(end)
    }

    /// Takes a value.
    ///
    /// # Panics
    ///
    /// Panics if no value comes next.
    pub fn value(&mut self) -> Value {
        let rest = self.rest;
        if rest.starts_with('"') {
            return Value::String(self.string());
        }
        if self.skip("ay\"") {
            self.rest = &rest[2..];
            return Value::Bytes(self.string().into_bytes());
        }
        if self.skip("v(") {
            let value = self.value();
            self.expect(")");
            return Value::Variant(value.into());
        }
        if self.skip("(") {
            return Value::Struct(self.list(")", Self::value));
        }
        if rest.starts_with('a') {
            return self.array();
        }
        self.simple()
    }

    fn array(&mut self) -> Value {
        let end = self.rest.find('[').expect("an array has a bracket");
        let signature = self.take(end);
        self.expect("[");
        let kind = Signature::new(signature).ok().and_then(Signature::single);
        let Some(Type::Array(element)) = kind else { panic!("{signature} is not an array") };
        let element = element.into();
        let items = if signature.starts_with("a{") {
            self.list("]", |cursor| {
                let key = cursor.value();
                cursor.expect(":");
                Value::DictEntry(Box::new((key, cursor.value())))
            })
        } else {
            self.list("]", Self::value)
        };
        Value::Array { element, items }
    }

    fn list<T>(&mut self, end: &str, item: impl Fn(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        while !self.skip(end) {
            items.push(item(self));
            self.skip(",");
        }
        items
    }

    fn simple(&mut self) -> Value {
        let (code, _) = self.rest.split_at(2);
        self.rest = &self.rest[2..];
        let end = self.rest.find([',', ' ', ')', ']', ':']).unwrap_or(self.rest.len());
        let text = self.take(end);
        let number = || text.parse::<i128>().expect("a number");
        match code {
            "y:" => Value::Byte(number() as u8),
            "b:" => Value::Boolean(text == "true"),
            "n:" => Value::Int16(number() as i16),
            "q:" => Value::Uint16(number() as u16),
            "i:" => Value::Int32(number() as i32),
            "u:" => Value::Uint32(number() as u32),
            "x:" => Value::Int64(number() as i64),
            "t:" => Value::Uint64(number() as u64),
            "d:" => Value::Double(text.parse().expect("a number")),
            "h:" => Value::UnixFd(number() as u32),
            "o:" => Value::ObjectPath(ObjectPath::new(text).expect("an object path").into()),
            "g:" => Value::Signature(Signature::new(text).expect("a signature").into()),
            _ => panic!("{code}{text} is not a value"),
        }
    }

    fn string(&mut self) -> String {
        self.expect("\"");
        let mut text = String::new();
        let mut characters = self.rest.char_indices();
        loop {
            match characters.next().expect("a quotation has an end") {
                (at, '"') => break self.rest = self.rest[at + 1..].trim_start(),
                (_, '\\') => text.push(match characters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, '0')) => '\0',
                    Some((_, other)) => other,
                    None => panic!("a quotation has an end"),
                }),
                (_, other) => text.push(other),
            }
        }
        if !self.skip("*") {
            return text;
        }
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        text.repeat(self.take(end).parse().expect("how often"))
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest.trim_start();
        taken
    }

    fn skip(&mut self, text: &str) -> bool {
        let behind = self.rest.strip_prefix(text);
        behind.inspect(|rest| self.rest = rest.trim_start()).is_some()
    }

    fn expect(&mut self, text: &str) {
        assert!(self.skip(text), "expected {text} at {:?}", self.rest);
    }
}

/// Formats values as arguments: `"a", u:1`.
pub fn show_all(values: &[Value]) -> String {
    let shown: Vec<_> = values.iter().map(show).collect();
    shown.join(", ")
}

/// Formats one value as text.
pub fn show(value: &Value) -> String {
    match value {
        Value::Byte(number) => format!("y:{number}"),
        Value::Boolean(truth) => format!("b:{truth}"),
        Value::Int16(number) => format!("n:{number}"),
        Value::Uint16(number) => format!("q:{number}"),
        Value::Int32(number) => format!("i:{number}"),
        Value::Uint32(number) => format!("u:{number}"),
        Value::Int64(number) => format!("x:{number}"),
        Value::Uint64(number) => format!("t:{number}"),
        Value::Double(number) => format!("d:{number}"),
        Value::UnixFd(index) => format!("h:{index}"),
        Value::String(text) => show_text(text),
        Value::ObjectPath(path) => format!("o:{path}"),
        Value::Signature(signature) => format!("g:{}", signature.as_str()),
        Value::Variant(value) => format!("v({})", show(value)),
        Value::Bytes(bytes) => format!("ay{}", show_text(&String::from_utf8_lossy(bytes))),
        Value::Array { element, items } => format!("a{}[{}]", element.as_str(), show_all(items)),
        Value::DictEntry(entry) => format!("{}: {}", show(&entry.0), show(&entry.1)),
        Value::Struct(fields) => format!("({})", show_all(fields)),
    }
}

fn show_text(text: &str) -> String {
    if let Some(first) = text.chars().next()
        && text.len() > LONG
        && text.chars().all(|character| character == first)
    {
        return format!("\"{first}\"*{}", text.chars().count());
    }
    let mut shown = String::from("\"");
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\0' => shown.push_str("\\0"),
            '"' | '\\' => {
                let _ = write!(shown, "\\{character}");
            }
            other => shown.push(other),
        }
    }
    shown + "\""
}

/// A text of one repeated character is abbreviated from this many bytes on.
const LONG: usize = 40;
