//! What an object says it has: its interfaces with their members, and the objects below it.
//!
//! A document comes from any service, so nothing in it is trusted: what it may cost is bounded, and
//! its texts, names and types among them, are as they stand there, checked by nothing.
//!
//! ```
//! use diligence_capture::introspection::Introspection;
//!
//! let document = r#"<node><interface name="org.example.Mixer">
//!   <method name="SetMute"><arg name="mute" type="b" direction="in"/></method>
//! </interface></node>"#;
//! let mixer = &Introspection::parse(document)?.interfaces[0];
//! assert_eq!(mixer.methods[0].arguments[0].name.as_deref(), Some("mute"));
//! # Ok::<(), diligence_capture::introspection::InvalidDocument>(())
//! ```

mod documentation;
mod parse;
mod write;

use serde::{Deserialize, Serialize};

pub use parse::{DOCUMENT_MAX, InvalidDocument};

/// What an object has, as it answers Introspect.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Introspection {
    /// Its interfaces, in the order of the document.
    pub interfaces: Vec<Interface>,
    /// The objects below it, as paths relative to its own. What the document tells of them besides
    /// is left out: they can be asked themselves.
    pub children: Vec<String>,
}

/// All that a document tells of an object, and of those below it that it has inside.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Document {
    /// What is said of the object besides.
    pub annotations: Vec<Annotation>,
    /// Its interfaces, in the order of the document.
    pub interfaces: Vec<Interface>,
    /// The objects below it, each by its name: a path relative to its own.
    pub nodes: Vec<(String, Self)>,
}

/// An interface of an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// What can be called.
    pub methods: Vec<Method>,
    /// What it emits.
    pub signals: Vec<Signal>,
    /// What can be read or set.
    pub properties: Vec<Property>,
    /// What is said of it besides.
    pub annotations: Vec<Annotation>,
    /// What it is for, in words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
}

/// A method.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub arguments: Vec<Argument>,
    /// What it answers with.
    pub results: Vec<Argument>,
    /// What is said of it besides.
    pub annotations: Vec<Annotation>,
    /// What it is for, in words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
}

/// A signal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// What it carries.
    pub arguments: Vec<Argument>,
    /// What is said of it besides.
    pub annotations: Vec<Annotation>,
    /// What it is for, in words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
}

/// An argument of a method or signal.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Argument {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub types: String,
    /// What is said of it besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// A property.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub types: String,
    /// What may be done with it.
    pub access: Access,
    /// Whether its changes are announced.
    pub emits_change: EmitsChange,
    /// What is said of it besides.
    pub annotations: Vec<Annotation>,
    /// What it is for, in words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
}

/// What may be done with a property.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// It can be read. So is one for which the document has no word of the specification, since
    /// trying to read harms nobody.
    Read,
    /// It can be set.
    Write,
    /// Both.
    ReadWrite,
}

/// Whether PropertiesChanged tells of the changes of a property
/// (`org.freedesktop.DBus.Property.EmitsChangedSignal`, of the property or else of its interface).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmitsChange {
    /// With the new value, which is so where nothing is said.
    Value,
    /// Without the new value.
    Invalidates,
    /// It never changes.
    Const,
    /// It changes without a word.
    No,
}

/// Something that is said of an interface or a member: a name and a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Annotation {
    /// What is said.
    pub name: String,
    /// With which value.
    pub value: String,
}

impl Introspection {
    /// The interface of this name.
    pub fn interface(&self, name: &str) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }
}

impl Interface {
    /// The method of this name.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }
}

impl Method {
    /// The types of all that it takes, one behind the other.
    pub fn signature(&self) -> String {
        self.arguments.iter().map(|argument| argument.types.as_str()).collect()
    }
}

impl Access {
    /// Whether the property can be read.
    pub const fn is_readable(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether the property can be set.
    pub const fn is_writable(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }
}
