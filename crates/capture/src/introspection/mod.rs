//! Introspection data of an object: its interfaces with their members, and the objects below it.
//!
//! A document comes from any service, so nothing in it is trusted: its cost is bounded, and names,
//! types and other texts are not checked.
//!
//! ```
//! use capture::introspection::Introspection;
//!
//! let document = r#"<node><interface name="org.example.Mixer">
//!   <method name="SetMute"><arg name="mute" type="b" direction="in"/></method>
//! </interface></node>"#;
//! let mixer = &Introspection::parse(document)?.interfaces[0];
//! assert_eq!(mixer.methods[0].arguments[0].name.as_deref(), Some("mute"));
//! # Ok::<(), capture::introspection::InvalidDocument>(())
//! ```

mod documentation;
mod parse;

use serde::{Deserialize, Serialize};

pub use parse::{DOCUMENT_MAX, InvalidDocument};
use wire::introspection::XmlWriter;
pub use wire::introspection::{
    Annotation, Argument, EmitsChange, Interface, Method, Property, PropertyAccess, Signal,
};

/// An object, as it describes itself in its reply to Introspect.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Introspection {
    /// The interfaces, in the order of the document.
    pub interfaces: Vec<Interface>,
    /// The objects below it, as paths relative to its own. The document may describe them in more
    /// detail, which is not read here.
    pub children: Vec<String>,
}

/// The complete content of a document: an object, and the child objects that it contains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IntrospectionDocument {
    /// Annotations of the object itself.
    pub annotations: Vec<Annotation>,
    /// The interfaces, in the order of the document.
    pub interfaces: Vec<Interface>,
    /// The child objects, each with its name: a path relative to its parent.
    pub nodes: Vec<(String, Self)>,
}

impl Introspection {
    /// Returns the interface with this name.
    pub fn interface(&self, name: &str) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }

    /// Returns an XML description of the methods and signals of the interfaces, with the names and
    /// types of their arguments. Everything else is left out.
    pub fn outline(&self) -> String {
        let mut xml = XmlWriter::without_doctype();
        for Interface { name, methods, signals, .. } in &self.interfaces {
            let methods = methods.iter().map(|Method { name, arguments, results, .. }| Method {
                name: name.clone(),
                arguments: without_annotations(arguments),
                results: without_annotations(results),
                ..Method::default()
            });
            let signals = signals.iter().map(|Signal { name, arguments, .. }| Signal {
                name: name.clone(),
                arguments: without_annotations(arguments),
                ..Signal::default()
            });
            let (methods, signals) = (methods.collect(), signals.collect());
            xml.interface(&Interface { methods, signals, ..Interface::named(name) });
        }
        xml.finish()
    }
}

fn without_annotations(arguments: &[Argument]) -> Vec<Argument> {
    let bare = |one: &Argument| Argument { annotations: Vec::new(), ..one.clone() };
    arguments.iter().map(bare).collect()
}
