//! What an object says it has, so that arguments can be shown with their names.
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

use std::fmt::{self, Write as _};

use roxmltree::{Document, Node, ParsingOptions};

/// What an object has, as it answers Introspect.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Introspection {
    /// Its interfaces, in the order of the document.
    pub interfaces: Vec<Interface>,
}

/// An interface of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name, as it stands there: nothing has checked it.
    pub name: String,
    /// What can be called.
    pub methods: Vec<Method>,
    /// What it emits.
    pub signals: Vec<Signal>,
}

/// A method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub arguments: Vec<Argument>,
    /// What it answers with.
    pub results: Vec<Argument>,
}

/// A signal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// What it carries.
    pub arguments: Vec<Argument>,
}

/// An argument of a method or signal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Argument {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its type, as it stands there.
    pub types: String,
}

/// Why a document says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InvalidDocument {
    /// It is longer than [`DOCUMENT_MAX`].
    TooLong,
    /// It is no XML, or more of it than an object needs.
    NotXml,
}

impl Introspection {
    /// Reads a document. What is in it that the specification does not know is passed over, as is
    /// what has no name.
    ///
    /// # Errors
    ///
    /// If it is no XML or too much.
    pub fn parse(document: &str) -> Result<Self, InvalidDocument> {
        if document.len() > DOCUMENT_MAX {
            return Err(InvalidDocument::TooLong);
        }
        // Most documents name the DTD of the specification.
        let options = ParsingOptions { allow_dtd: true, nodes_limit: NODES_MAX, ..<_>::default() };
        let tree = Document::parse_with_options(document, options);
        let tree = tree.map_err(|_| InvalidDocument::NotXml)?;
        let interfaces = children(tree.root_element(), "interface").filter_map(interface);
        Ok(Self { interfaces: interfaces.collect() })
    }
}

/// As a document with all that was read, and nothing else.
impl fmt::Display for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<node>")?;
        self.interfaces.iter().try_for_each(|interface| interface.write(f))?;
        f.write_str("</node>")
    }
}

impl Interface {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<interface name=\"{}\">", Escaped(&self.name))?;
        for method in &self.methods {
            write!(f, "<method name=\"{}\">", Escaped(&method.name))?;
            method.arguments.iter().try_for_each(|argument| argument.write(f, "in"))?;
            method.results.iter().try_for_each(|result| result.write(f, "out"))?;
            f.write_str("</method>")?;
        }
        for signal in &self.signals {
            write!(f, "<signal name=\"{}\">", Escaped(&signal.name))?;
            signal.arguments.iter().try_for_each(|argument| argument.write(f, "out"))?;
            f.write_str("</signal>")?;
        }
        f.write_str("</interface>")
    }
}

impl Argument {
    fn write(&self, f: &mut fmt::Formatter<'_>, direction: &str) -> fmt::Result {
        f.write_str("<arg")?;
        if let Some(name) = &self.name {
            write!(f, " name=\"{}\"", Escaped(name))?;
        }
        write!(f, " type=\"{}\" direction=\"{direction}\"/>", Escaped(&self.types))
    }
}

/// A text as the value of an attribute.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '"' | '&' | '<' | '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(character)),
            _ => f.write_char(character),
        })
    }
}

fn interface(node: Node<'_, '_>) -> Option<Interface> {
    Some(Interface {
        name: name(node)?,
        methods: children(node, "method").filter_map(method).collect(),
        signals: children(node, "signal").filter_map(signal).collect(),
    })
}

fn method(node: Node<'_, '_>) -> Option<Method> {
    let is_result = |node: &Node<'_, '_>| node.attribute("direction") == Some("out");
    let (results, arguments) = children(node, "arg").partition::<Vec<_>, _>(is_result);
    let all = |nodes: Vec<_>| nodes.into_iter().map(argument).collect();
    Some(Method { name: name(node)?, arguments: all(arguments), results: all(results) })
}

fn signal(node: Node<'_, '_>) -> Option<Signal> {
    Some(Signal { name: name(node)?, arguments: children(node, "arg").map(argument).collect() })
}

fn argument(node: Node<'_, '_>) -> Argument {
    let types = node.attribute("type").unwrap_or_default().to_owned();
    Argument { name: name(node), types }
}

fn name(node: Node<'_, '_>) -> Option<String> {
    node.attribute("name").filter(|name| !name.is_empty()).map(str::to_owned)
}

fn children<'a, 'i>(node: Node<'a, 'i>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.has_tag_name(tag))
}

impl fmt::Display for InvalidDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {DOCUMENT_MAX} bytes"),
            Self::NotXml => f.write_str("it is no XML, or has too many elements"),
        }
    }
}

impl std::error::Error for InvalidDocument {}

/// Bytes of a document at most; a root object with a thousand children has a tenth of that.
pub const DOCUMENT_MAX: usize = 512 << 10;

/// Elements and texts of a document at most: what they take in memory is bounded so.
const NODES_MAX: u32 = 50_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// `interface: method(in) -> out; signal!(in)`, each argument as `name:type`.
    fn told(document: &str) -> String {
        let arguments = |all: &[Argument]| {
            let all = all.iter().map(|one| match &one.name {
                Some(name) => format!("{name}:{}", one.types),
                None => one.types.clone(),
            });
            all.collect::<Vec<_>>().join(",")
        };
        let Ok(found) = Introspection::parse(document) else { return "invalid".to_owned() };
        let interfaces = found.interfaces.iter().map(|interface| {
            let methods = interface.methods.iter().map(|method| {
                let (taken, given) = (arguments(&method.arguments), arguments(&method.results));
                format!(" {}({taken})->{given}", method.name)
            });
            let signals = interface.signals.iter();
            let signals =
                signals.map(|one| format!(" {}!({})", one.name, arguments(&one.arguments)));
            format!("{}:{}", interface.name, methods.chain(signals).collect::<String>())
        });
        interfaces.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn documents_are_read() {
        for (document, expected) in [
            ("", "invalid"),
            ("<node", "invalid"),
            ("<node/>", ""),
            ("<node><interface/><interface name=''/><node name='a'/></node>", ""),
            (
                "<!DOCTYPE node PUBLIC '-//freedesktop//DTD D-BUS Object Introspection 1.0//EN' \
                 'http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd'>\
                 <node><interface name='a.B'><method name='M'><arg type='s' name='x'/>\
                 <arg type='u' direction='out'/><arg type='b' name='y' direction='in'/>\
                 <annotation name='n' value='v'/></method><signal name='S'><arg name='z'/>\
                 </signal><property name='P' type='s'/></interface><interface name='c.D'/></node>",
                "a.B: M(x:s,y:b)->u S!(z:); c.D:",
            ),
            ("<node><interface name='a&amp;&quot;&lt;&#10;'/></node>", "a&\"<\n:"),
            ("<!DOCTYPE n [<!ENTITY a 'aa'><!ENTITY b '&a;&b;'>]><node>&b;</node>", "invalid"),
        ] {
            assert_eq!(told(document), expected, "{document}");
            if let Ok(found) = Introspection::parse(document) {
                assert_eq!(Introspection::parse(&found.to_string()), Ok(found));
            }
        }
    }

    #[test]
    fn documents_are_bounded() {
        let long = format!("<node>{}</node>", " ".repeat(DOCUMENT_MAX));
        assert_eq!(Introspection::parse(&long), Err(InvalidDocument::TooLong));
        let many = format!("<node>{}</node>", "<a/>".repeat(NODES_MAX as usize));
        assert_eq!(Introspection::parse(&many), Err(InvalidDocument::NotXml));
    }
}
