//! Interfaces and members of an object as table rows.

use capture::text::visible::printable;
use inspector::introspection::{Annotation, Argument, EmitsChange, Method, PropertyAccess, Signal};
use inspector::{InspectedObject, ObjectInterface, ObjectProperty, PropertyReading};
use notation::busctl::line;

/// A row of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ObjectRow {
    /// The name of an interface, or a dot and the name of a member.
    pub(super) name: String,
    pub(super) kind: ObjectRowKind,
    /// The types of the arguments, or the type of the property.
    pub(super) signature: String,
    pub(super) result: ObjectRowResult,
    pub(super) flags: String,
}

/// The kind of a row, in the order in which the rows of an interface are sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ObjectRowKind {
    Interface,
    Method,
    Property,
    Signal,
}

/// The content of the column RESULT/VALUE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ObjectRowResult {
    /// The types of the results; may be empty.
    Types(String),
    Value(String),
    /// The error message if the property could not be read.
    Failure(String),
}

impl ObjectRowKind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Interface => "interface",
            Self::Method => "method",
            Self::Property => "property",
            Self::Signal => "signal",
        }
    }
}

/// Returns all rows, sorted by the name of the interface, kind and name.
pub(super) fn members(object: &InspectedObject) -> Vec<ObjectRow> {
    let mut interfaces: Vec<_> = object.interfaces.iter().collect();
    interfaces.sort_by(|one, other| one.name.cmp(&other.name));
    interfaces.into_iter().flat_map(rows).collect()
}

fn rows(interface: &ObjectInterface) -> Vec<ObjectRow> {
    let own =
        ObjectRow::new(&interface.name, "", ObjectRowKind::Interface, "", &interface.annotations);
    let methods = interface.methods.iter().map(method);
    let signals = interface.signals.iter().map(signal);
    let properties = interface.properties.iter().map(property);
    let mut rows: Vec<_> = methods.chain(properties).chain(signals).chain([own]).collect();
    rows.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    rows
}

fn method(method: &Method) -> ObjectRow {
    let Method { name, arguments, results, annotations, .. } = method;
    let row = ObjectRow::new(name, ".", ObjectRowKind::Method, &types(arguments), annotations);
    let no_reply = is_true(annotations, NO_REPLY).then_some("no-reply");
    ObjectRow { result: ObjectRowResult::Types(types(results)), ..row }.with(no_reply)
}

fn signal(signal: &Signal) -> ObjectRow {
    let Signal { name, arguments, annotations, .. } = signal;
    ObjectRow::new(name, ".", ObjectRowKind::Signal, &types(arguments), annotations)
}

fn property(property: &ObjectProperty) -> ObjectRow {
    let description = &property.description;
    let (types, annotations) = (&description.types, &description.annotations);
    let row = ObjectRow::new(&description.name, ".", ObjectRowKind::Property, types, annotations);
    let result = property.reading.as_ref().map(|reading| outcome(reading, types));
    let changes = match description.emits_change {
        EmitsChange::Value => Some("emits-change"),
        EmitsChange::Invalidates => Some("emits-invalidation"),
        EmitsChange::Const => Some("const"),
        EmitsChange::No => None,
    };
    let is_writable =
        matches!(description.access, PropertyAccess::Write | PropertyAccess::ReadWrite);
    ObjectRow { result: result.unwrap_or(ObjectRowResult::Types(String::new())), ..row }
        .with(changes)
        .with(is_writable.then_some("writable"))
}

/// Formats a value like busctl. The type is included only if it differs from the introspection
/// data.
fn outcome(reading: &PropertyReading, types: &str) -> ObjectRowResult {
    match reading {
        PropertyReading::Value(value) => {
            let line = line(std::slice::from_ref(&value.0));
            let untyped = line.strip_prefix(types).and_then(|rest| rest.strip_prefix(' '));
            ObjectRowResult::Value(untyped.unwrap_or(&line).to_owned())
        }
        PropertyReading::Failure(failure) => {
            ObjectRowResult::Failure(printable(&failure.to_string()).into_owned())
        }
    }
}

impl ObjectRow {
    fn new(
        name: &str,
        dot: &str,
        kind: ObjectRowKind,
        types: &str,
        annotations: &[Annotation],
    ) -> Self {
        let row = Self {
            name: format!("{dot}{}", printable(name)),
            kind,
            signature: printable(types).into_owned(),
            result: ObjectRowResult::Types(String::new()),
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
