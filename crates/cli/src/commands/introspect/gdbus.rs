//! The interfaces of an object in the format of gdbus.
//!
//! ```text
//! node /org/example/Player {
//!   interface org.example.Player1 {
//!     methods:
//!       Play(in  s song,
//!            out u length);
//!     properties:
//!       readonly d Volume = 0.5;
//!   };
//!   node Tracks {
//!   };
//! };
//! ```

use std::fmt::Write as _;

use inspector::introspection::{
    Annotation, Argument, Interface, IntrospectionDocument, Method, Property, PropertyAccess,
    Signal,
};
use inspector::{InspectedObject, PropertyReading};
use notation::gvariant;

use crate::output::one_line;

/// The members to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DeclarationPart {
    All,
    /// Only properties, and only interfaces that have some.
    Properties,
}

/// A builder for the text.
#[derive(Debug)]
pub(super) struct GdbusText {
    pub(super) text: String,
    part: DeclarationPart,
}

impl GdbusText {
    pub(super) const fn new(part: DeclarationPart) -> Self {
        Self { text: String::new(), part }
    }

    /// Adds the start of a node up to its child nodes, with the values of properties.
    pub(super) fn open(
        &mut self,
        indent: usize,
        path: &str,
        node: &IntrospectionDocument,
        read: &InspectedObject,
    ) {
        self.begin(indent, path, node);
        for interface in &node.interfaces {
            self.interface(indent + STEP, interface, Some(read));
        }
    }

    /// Adds a child node from the document of its parent, without values.
    pub(super) fn inside(&mut self, indent: usize, name: &str, node: &IntrospectionDocument) {
        self.begin(indent, name, node);
        for interface in &node.interfaces {
            self.interface(indent + STEP, interface, None);
        }
        for (name, node) in &node.nodes {
            self.inside(indent + STEP, name, node);
        }
        self.close(indent);
    }

    fn begin(&mut self, indent: usize, path: &str, node: &IntrospectionDocument) {
        self.annotations(indent, &node.annotations);
        let _ = writeln!(self.text, "{:indent$}node {} {{", "", one_line(path));
    }

    pub(super) fn close(&mut self, indent: usize) {
        let _ = writeln!(self.text, "{:indent$}}};", "");
    }

    fn interface(&mut self, indent: usize, interface: &Interface, read: Option<&InspectedObject>) {
        let Interface { name, methods, signals, properties, annotations, .. } = interface;
        if self.part == DeclarationPart::Properties && properties.is_empty() {
            return;
        }
        self.annotations(indent, annotations);
        let _ = writeln!(self.text, "{:indent$}interface {} {{", "", one_line(name));
        let member = indent + 2 * STEP;
        if self.part == DeclarationPart::All {
            let _ = writeln!(self.text, "{:indent$}  methods:", "");
            methods.iter().for_each(|method| self.method(member, method));
            let _ = writeln!(self.text, "{:indent$}  signals:", "");
            signals.iter().for_each(|signal| self.signal(member, signal));
        }
        let _ = writeln!(self.text, "{:indent$}  properties:", "");
        for property in properties {
            let value = read.and_then(|object| value_of(object, name, property));
            self.property(member, property, value);
        }
        let _ = writeln!(self.text, "{:indent$}}};", "");
    }

    fn method(&mut self, indent: usize, method: &Method) {
        let Method { name, arguments, results, annotations, .. } = method;
        let arguments = arguments.iter().map(|argument| ("in  ", argument));
        let results = results.iter().map(|result| ("out ", result));
        self.annotations(indent, annotations);
        self.member(indent, name, &arguments.chain(results).collect::<Vec<_>>());
    }

    fn signal(&mut self, indent: usize, signal: &Signal) {
        let arguments: Vec<_> = signal.arguments.iter().map(|argument| ("", argument)).collect();
        self.annotations(indent, &signal.annotations);
        self.member(indent, &signal.name, &arguments);
    }

    /// Adds a name and its arguments, one below the other.
    fn member(&mut self, indent: usize, name: &str, arguments: &[(&str, &Argument)]) {
        let name = one_line(name);
        let _ = write!(self.text, "{:indent$}{name}(", "");
        let column = indent + name.len() + 1;
        for (number, (direction, argument)) in arguments.iter().enumerate() {
            let is_first = number == 0;
            self.text.push_str(if is_first { "" } else { ",\n" });
            // The first argument, or its first annotation, follows on the same line as the name.
            let mut here = if is_first { 0 } else { column };
            for annotation in &argument.annotations {
                self.annotation(here, annotation);
                here = column;
            }
            let types = one_line(&argument.types);
            let _ = write!(self.text, "{:here$}{direction}{types} ", "");
            let _ = match &argument.name {
                Some(name) => write!(self.text, "{}", one_line(name)),
                None => write!(self.text, "arg_{number}"),
            };
        }
        self.text.push_str(");\n");
    }

    fn property(&mut self, indent: usize, property: &Property, value: Option<String>) {
        self.annotations(indent, &property.annotations);
        let (name, types) = (one_line(&property.name), one_line(&property.types));
        let access = match property.access {
            PropertyAccess::Read => "readonly",
            PropertyAccess::Write => "writeonly",
            PropertyAccess::ReadWrite => "readwrite",
        };
        let value = value.map(|value| format!(" = {value}")).unwrap_or_default();
        let _ = writeln!(self.text, "{:indent$}{access} {types} {name}{value};", "");
    }

    fn annotations(&mut self, indent: usize, annotations: &[Annotation]) {
        annotations.iter().for_each(|annotation| self.annotation(indent, annotation));
    }

    fn annotation(&mut self, indent: usize, Annotation { name, value }: &Annotation) {
        let _ = writeln!(self.text, "{:indent$}@{}(\"{}\")", "", one_line(name), one_line(value));
    }
}

fn value_of(object: &InspectedObject, interface: &str, property: &Property) -> Option<String> {
    let interface = object.interfaces.iter().find(|one| one.name == interface)?;
    let property = interface.properties.iter().find(|one| one.description.name == property.name)?;
    match property.reading.as_ref()? {
        PropertyReading::Value(value) => Some(gvariant::untyped(&value.0)),
        PropertyReading::Failure(_) => None,
    }
}

/// The indentation of each level, in columns.
pub(super) const STEP: usize = 2;
