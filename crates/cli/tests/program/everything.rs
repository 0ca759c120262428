//! A service with a property of every type, and with optional faults.

use std::fmt::Write as _;
use std::sync::mpsc;
use std::thread;

use client::wire::body::Value;
use client::wire::names::ErrorName;
use client::{Connection, IncomingCall, NameFlags, Values};
use notation::busctl::read_arguments;

/// Runs the service in a thread until the bus ends.
pub(crate) fn serve(address: &str, name: &'static str, fault: ServiceFault) {
    let (address, (ready, is_ready)) = (address.to_owned(), mpsc::channel());
    thread::spawn(move || {
        let connection = Connection::open(&address).expect("the bus is there");
        connection.request_name(name, NameFlags::NONE).expect("the name is free");
        ready.send(()).expect("the test waits");
        while let Ok(Some(request)) = connection.next_request(None) {
            answer(&request, fault);
        }
    });
    is_ready.recv().expect("the service has its name");
}

/// The fault of a service, if any.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceFault {
    None,
    /// One property cannot be read, and so neither can `GetAll`.
    Broken,
    /// One object never replies.
    Silent,
}

fn answer(request: &IncomingCall, fault: ServiceFault) {
    let message = request.message();
    let path = message.path().unwrap_or_default();
    let sent = match message.member().unwrap_or_default() {
        "Introspect" if fault == ServiceFault::Silent && path == ODD => Ok(()),
        "Introspect" if path == ODD => request.reply_error(REFUSED, "not for you"),
        "Introspect" => request.reply(&(document(path),)),
        "GetAll" if fault == ServiceFault::Broken => request.reply_error(REFUSED, "one is broken"),
        "GetAll" => request.reply(&Values(&[all(request)])),
        "Get" => get(request),
        _ => request.reply(&()),
    };
    sent.expect("the bus accepts the reply");
}

fn get(request: &IncomingCall) -> Result<(), client::SendError> {
    let (_, name): (&str, &str) = request.read().expect("two strings");
    match PROPERTIES.iter().find(|(known, _, _)| *known == name) {
        Some((_, "d", _)) | None => request.reply_error(REFUSED, "it is broken"),
        Some((_, types, words)) => request.reply(&Values(&variant(types, words))),
    }
}

fn variant(types: &str, words: &[&str]) -> Vec<Value> {
    let words: Vec<_> = [types].into_iter().chain(words.iter().copied()).collect();
    let none = &mut |_: &str| Err(String::from("there is none"));
    read_arguments("v", &words, none).expect("values of the type")
}

fn all(request: &IncomingCall) -> Value {
    let (interface,): (&str,) = request.read().expect("a string");
    let properties = if interface == EVERYTHING { PROPERTIES } else { &[] };
    let count = properties.len().to_string();
    let mut words = vec![count.as_str()];
    for (name, types, value) in properties {
        words.extend([name, types]);
        words.extend(*value);
    }
    let none = &mut |_: &str| Err(String::from("there is none"));
    let mut values = read_arguments("a{sv}", &words, none).expect("values of the types");
    values.remove(0)
}

fn document(path: &str) -> String {
    match path {
        "/" => String::from("<node><node name='com'/><node name='odd'/></node>"),
        "/com" => String::from("<node><node name='example'/></node>"),
        "/com/example" => String::from("<node><node name='Everything'/></node>"),
        OBJECT => everything(),
        _ => String::from("<node/>"),
    }
}

fn everything() -> String {
    let mut text = format!("<node>{METHODS}<interface name='{EVERYTHING}'>{SIGNALS}");
    for (name, types, _) in PROPERTIES {
        let (access, more) = match *name {
            "Text" => ("readwrite", annotation("EmitsChangedSignal", "invalidates")),
            "Byte" => ("read", annotation("EmitsChangedSignal", "const")),
            "Truth" => ("read", annotation("EmitsChangedSignal", "false")),
            _ => ("read", String::new()),
        };
        let _ = write!(
            text,
            "<property name='{name}' type='{types}' access='{access}'>{more}</property>"
        );
    }
    text + "<property name='Secret' type='s' access='write'/></interface><node name='below'/></node>"
}

fn annotation(name: &str, value: &str) -> String {
    format!("<annotation name='org.freedesktop.DBus.Property.{name}' value='{value}'/>")
}

pub(crate) const OBJECT: &str = "/com/example/Everything";
pub(crate) const EVERYTHING: &str = "com.example.Everything1";

/// An object without introspection data.
pub(crate) const ODD: &str = "/odd";

const REFUSED: ErrorName<'static> = ErrorName::literal("com.example.Error.Refused");

const METHODS: &str = "<interface name='com.example.Methods1'>
    <method name='Take'><arg name='a' type='s' direction='in'/><arg type='ai' direction='in'/>
      <arg type='as' direction='out'/><arg type='u' direction='out'/></method>
    <method name='Drop'><annotation name='org.freedesktop.DBus.Method.NoReply' value='true'/></method>
    <method name='Old'><annotation name='org.freedesktop.DBus.Deprecated' value='true'/></method>
  </interface>";

const SIGNALS: &str = "<signal name='Changed'><arg type='s'/><arg type='v'/></signal>
    <signal name='Nothing'/>";

/// Name, type and busctl arguments of each property. Structs and variants occur only in arrays,
/// because busctl prints no value for them otherwise.
const PROPERTIES: &[(&str, &str, &[&str])] = &[
    ("Byte", "y", &["7"]),
    ("Truth", "b", &["true"]),
    ("Short", "n", &["-3"]),
    ("ShortU", "q", &["3"]),
    ("Int", "i", &["-70000"]),
    ("IntU", "u", &["70000"]),
    ("Long", "x", &["-9223372036854775808"]),
    ("LongU", "t", &["18446744073709551615"]),
    ("Double", "d", &["1.5e-10"]),
    ("Text", "s", &["with \"quotes\", \\ and \u{e9}, and 'more' than forty characters"]),
    ("Path", "o", &["/a/b"]),
    ("Types", "g", &["a{sv}"]),
    ("Bytes", "ay", &["3", "1", "2", "255"]),
    ("Texts", "as", &["2", "one", "two\nlines"]),
    ("NoTexts", "as", &["0"]),
    ("Dict", "a{sv}", &["2", "a", "i", "1", "b", "as", "1", "x"]),
    ("NoDict", "a{sv}", &["0"]),
    ("Numbers", "a{us}", &["2", "7", "seven", "8", "eight"]),
    ("Structs", "a(isaas)", &["1", "1", "a", "2", "0", "1", "z"]),
    ("Variants", "av", &["2", "s", "x", "v", "u", "7"]),
];
