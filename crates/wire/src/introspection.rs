//! Introspection data: the interfaces of an object with their members, and the XML that describes them
//! ("Introspection Data Format").
//!
//! Names and types are texts, because a description may come from any peer. Reading XML is left to crates that
//! have a parser for it.
//!
//! ```
//! use diligence_wire::introspection::{Interface, Property, XmlWriter};
//!
//! let volume = Property { name: "Volume".into(), types: "d".into(), ..Property::default() };
//! let mixer = Interface { properties: vec![volume], ..Interface::named("org.example.Mixer") };
//! let mut xml = XmlWriter::new();
//! xml.interface(&mixer);
//! assert!(xml.finish().ends_with(
//!     r#"<node>
//!   <interface name="org.example.Mixer">
//!     <property name="Volume" type="d" access="read"/>
//!   </interface>
//! </node>
//! "#
//! ));
//! ```

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// An interface of an object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interface {
    /// The name of the interface.
    pub name: String,
    /// The methods of the interface.
    pub methods: Vec<Method>,
    /// The signals of the interface.
    pub signals: Vec<Signal>,
    /// The properties of the interface.
    pub properties: Vec<Property>,
    /// Annotations of the interface itself.
    pub annotations: Vec<Annotation>,
    /// Its documentation, if the data contains any.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub documentation: Option<String>,
}

/// A method of an interface.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Method {
    /// The name of the method.
    pub name: String,
    /// The arguments of a call.
    pub arguments: Vec<Argument>,
    /// The arguments of the reply.
    pub results: Vec<Argument>,
    /// Annotations of the method.
    pub annotations: Vec<Annotation>,
    /// Its documentation, if the data contains any.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub documentation: Option<String>,
}

/// A signal of an interface.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Signal {
    /// The name of the signal.
    pub name: String,
    /// The arguments of the signal.
    pub arguments: Vec<Argument>,
    /// Annotations of the signal.
    pub annotations: Vec<Annotation>,
    /// Its documentation, if the data contains any.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub documentation: Option<String>,
}

/// An argument of a method, a reply or a signal.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Argument {
    /// The name of the argument, if it has one.
    pub name: Option<String>,
    /// The signature of the argument.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub types: String,
    /// Annotations of the argument.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub annotations: Vec<Annotation>,
}

/// A property of an interface.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Property {
    /// The name of the property.
    pub name: String,
    /// The signature of the property.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub types: String,
    /// Whether the property can be read and set.
    pub access: PropertyAccess,
    /// How the object announces changes.
    pub emits_change: EmitsChange,
    /// Annotations of the property.
    pub annotations: Vec<Annotation>,
    /// Its documentation, if the data contains any.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub documentation: Option<String>,
}

/// A name and a value about an interface, a member or an argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Annotation {
    /// The name of the annotation.
    pub name: String,
    /// The value of the annotation.
    pub value: String,
}

/// Whether a property can be read and set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Access"))]
pub enum PropertyAccess {
    /// The property can be read. Parsers also use this for unknown words, because an attempt to
    /// read is harmless.
    #[default]
    Read,
    /// The property can only be set.
    Write,
    /// The property can be read and set.
    ReadWrite,
}

/// How an object announces changes of a property: the annotation [`EMITS_CHANGE`] of the property, or else of its
/// interface.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EmitsChange {
    /// `PropertiesChanged` contains the new value: `true`. This is the default of the specification.
    #[default]
    Value,
    /// `PropertiesChanged` contains the name of the property without its value: `invalidates`.
    Invalidates,
    /// The property never changes: `const`.
    Const,
    /// Changes are not announced: `false`.
    No,
}

impl Interface {
    /// An interface without members.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The method with this name.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// The property with this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }
}

impl Method {
    /// The signature of a call: the types of all arguments.
    pub fn signature(&self) -> String {
        self.arguments.iter().map(|argument| argument.types.as_str()).collect()
    }
}

impl PropertyAccess {
    /// Returns true if the property can be read.
    pub const fn is_readable(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Returns true if the property can be set.
    pub const fn is_writable(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }

    /// The value of the attribute `access`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "readwrite",
        }
    }
}

impl EmitsChange {
    /// The value of the annotation [`EMITS_CHANGE`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Value => "true",
            Self::Invalidates => "invalidates",
            Self::Const => "const",
            Self::No => "false",
        }
    }

    /// The variant for a value of the annotation; `None` if the specification does not define the
    /// value.
    pub fn parse(value: &str) -> Option<Self> {
        [Self::Value, Self::Invalidates, Self::Const, Self::No]
            .into_iter()
            .find(|way| way.as_str() == value)
    }
}

/// Writes the XML description of one object.
#[derive(Clone, Debug)]
pub struct XmlWriter {
    text: String,
}

impl XmlWriter {
    /// Starts the description of an object.
    pub fn new() -> Self {
        Self { text: [DOCTYPE, "<node>\n"].concat() }
    }

    /// Starts the description of an object without the document type, which is longer than most
    /// interfaces.
    pub fn without_doctype() -> Self {
        Self { text: "<node>\n".into() }
    }

    /// Adds text that is already XML: lines inside the object.
    pub fn raw(&mut self, lines: &str) {
        self.text.push_str(lines);
    }

    /// Adds the name of a child object.
    pub fn child(&mut self, name: &str) {
        self.line(format_args!("  <node name=\"{}\"/>", EscapedXml(name)));
    }

    /// Adds an interface, without its documentation.
    pub fn interface(&mut self, interface: &Interface) {
        self.line(format_args!("  <interface name=\"{}\">", EscapedXml(&interface.name)));
        for Method { name, arguments, results, annotations, .. } in &interface.methods {
            self.element("method", name, format_args!(""), |xml| {
                xml.arguments(arguments, " direction=\"in\"");
                xml.arguments(results, " direction=\"out\"");
                xml.annotations(6, annotations);
            });
        }
        for Signal { name, arguments, annotations, .. } in &interface.signals {
            self.element("signal", name, format_args!(""), |xml| {
                xml.arguments(arguments, "");
                xml.annotations(6, annotations);
            });
        }
        for Property { name, types, access, emits_change, annotations, .. } in &interface.properties
        {
            let (types, access) = (EscapedXml(types), access.as_str());
            let write_children = |xml: &mut Self| {
                let is_said = annotations.iter().any(|one| one.name == EMITS_CHANGE);
                if *emits_change != EmitsChange::Value && !is_said {
                    xml.annotation(6, EMITS_CHANGE, emits_change.as_str());
                }
                xml.annotations(6, annotations);
            };
            self.element(
                "property",
                name,
                format_args!(" type=\"{types}\" access=\"{access}\""),
                write_children,
            );
        }
        self.annotations(4, &interface.annotations);
        self.raw("  </interface>\n");
    }

    /// Completes the description and returns it.
    pub fn finish(mut self) -> String {
        self.raw("</node>\n");
        self.text
    }

    /// Writes an element, which is empty if `content` writes nothing.
    fn element(
        &mut self,
        tag: &str,
        name: &str,
        attributes: fmt::Arguments<'_>,
        content: impl FnOnce(&mut Self),
    ) {
        self.line(format_args!("    <{tag} name=\"{}\"{attributes}>", EscapedXml(name)));
        let before = self.text.len();
        content(self);
        if self.text.len() == before {
            self.text.truncate(before - ">\n".len());
            self.raw("/>\n");
        } else {
            self.line(format_args!("    </{tag}>"));
        }
    }

    fn arguments(&mut self, arguments: &[Argument], direction: &str) {
        for Argument { name, types, annotations } in arguments {
            self.raw("      <arg");
            if let Some(name) = name {
                self.write(format_args!(" name=\"{}\"", EscapedXml(name)));
            }
            self.write(format_args!(" type=\"{}\"{direction}", EscapedXml(types)));
            if annotations.is_empty() {
                self.raw("/>\n");
            } else {
                self.raw(">\n");
                self.annotations(8, annotations);
                self.raw("      </arg>\n");
            }
        }
    }

    fn annotations(&mut self, indent: usize, annotations: &[Annotation]) {
        for Annotation { name, value } in annotations {
            self.annotation(indent, name, value);
        }
    }

    fn annotation(&mut self, indent: usize, name: &str, value: &str) {
        let (name, value) = (EscapedXml(name), EscapedXml(value));
        self.line(format_args!("{:indent$}<annotation name=\"{name}\" value=\"{value}\"/>", ""));
    }

    fn line(&mut self, text: fmt::Arguments<'_>) {
        self.write(text);
        self.text.push('\n');
    }

    fn write(&mut self, text: fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("writing to a string cannot fail");
    }
}

impl Default for XmlWriter {
    fn default() -> Self {
        Self::new()
    }
}

/// Escapes a text for the value of an attribute. A parser would replace line breaks and tabs by
/// spaces.
struct EscapedXml<'t>(&'t str);

impl fmt::Display for EscapedXml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(character)),
            other => f.write_char(other),
        })
    }
}

/// The name of the annotation with an [`EmitsChange`].
pub const EMITS_CHANGE: &str = "org.freedesktop.DBus.Property.EmitsChangedSignal";

/// The document type of introspection data from the specification.
const DOCTYPE: &str = "<!DOCTYPE node PUBLIC \
    \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n \
    \"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n";
