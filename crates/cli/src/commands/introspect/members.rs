//! What an object has, as the rows of a table.

use capture::text::visible::printable;
use inspector::introspection::{Access, Annotation, Argument, EmitsChange, Method, Signal};
use inspector::{Object, ObjectInterface, ObjectProperty, Reading};
use notation::busctl::line;

/// A row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Member {
    /// An interface, or with a dot in front one of its members.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Types of what it takes, carries or is.
    pub(super) signature: String,
    pub(super) result: Outcome,
    pub(super) flags: String,
}

/// What a row is about. Those of an interface stand in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Interface,
    Method,
    Property,
    Signal,
}

/// What stands under RESULT/VALUE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Nothing, or types of results.
    Types(String),
    Value(String),
    /// Why there is no value.
    Failure(String),
}

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Interface => "interface",
            Self::Method => "method",
            Self::Property => "property",
            Self::Signal => "signal",
        }
    }
}

/// All rows, by name of interface, kind and name.
pub(super) fn members(object: &Object) -> Vec<Member> {
    let mut interfaces: Vec<_> = object.interfaces.iter().collect();
    interfaces.sort_by(|one, other| one.name.cmp(&other.name));
    interfaces.into_iter().flat_map(rows).collect()
}

fn rows(interface: &ObjectInterface) -> Vec<Member> {
    let own = Member::new(&interface.name, "", Kind::Interface, "", &interface.annotations);
    let methods = interface.methods.iter().map(method);
    let signals = interface.signals.iter().map(signal);
    let properties = interface.properties.iter().map(property);
    let mut rows: Vec<_> = methods.chain(properties).chain(signals).chain([own]).collect();
    rows.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    rows
}

fn method(method: &Method) -> Member {
    let Method { name, arguments, results, annotations, .. } = method;
    let row = Member::new(name, ".", Kind::Method, &types(arguments), annotations);
    let no_reply = is_true(annotations, NO_REPLY).then_some("no-reply");
    Member { result: Outcome::Types(types(results)), ..row }.with(no_reply)
}

fn signal(signal: &Signal) -> Member {
    let Signal { name, arguments, annotations, .. } = signal;
    Member::new(name, ".", Kind::Signal, &types(arguments), annotations)
}

fn property(property: &ObjectProperty) -> Member {
    let description = &property.description;
    let (types, annotations) = (&description.types, &description.annotations);
    let row = Member::new(&description.name, ".", Kind::Property, types, annotations);
    let result = property.reading.as_ref().map(|reading| outcome(reading, types));
    let changes = match description.emits_change {
        EmitsChange::Value => Some("emits-change"),
        EmitsChange::Invalidates => Some("emits-invalidation"),
        EmitsChange::Const => Some("const"),
        EmitsChange::No => None,
    };
    let is_writable = matches!(description.access, Access::Write | Access::ReadWrite);
    Member { result: result.unwrap_or(Outcome::Types(String::new())), ..row }
        .with(changes)
        .with(is_writable.then_some("writable"))
}

/// A value as busctl has it, with its type only if that is another than the object has told.
fn outcome(reading: &Reading, types: &str) -> Outcome {
    match reading {
        Reading::Value(value) => {
            let line = line(std::slice::from_ref(&value.0));
            let told = line.strip_prefix(types).and_then(|rest| rest.strip_prefix(' '));
            Outcome::Value(told.unwrap_or(&line).to_owned())
        }
        Reading::Failure(failure) => Outcome::Failure(printable(&failure.to_string()).into_owned()),
    }
}

impl Member {
    fn new(name: &str, dot: &str, kind: Kind, types: &str, annotations: &[Annotation]) -> Self {
        let row = Self {
            name: format!("{dot}{}", printable(name)),
            kind,
            signature: printable(types).into_owned(),
            result: Outcome::Types(String::new()),
            flags: String::new(),
        };
        row.with(is_true(annotations, DEPRECATED).then_some("deprecated"))
    }

    fn with(mut self, flag: Option<&str>) -> Self {
        if let Some(flag) = flag {
            self.flags += if self.flags.is_empty() { "" } else { " " };
            self.flags += flag;
        }
        self
    }
}

fn types(arguments: &[Argument]) -> String {
    arguments.iter().map(|argument| printable(&argument.types)).collect()
}

pub(super) fn is_true(annotations: &[Annotation], name: &str) -> bool {
    annotations.iter().any(|one| one.name == name && one.value == "true")
}

pub(super) const DEPRECATED: &str = "org.freedesktop.DBus.Deprecated";
pub(super) const NO_REPLY: &str = "org.freedesktop.DBus.Method.NoReply";
