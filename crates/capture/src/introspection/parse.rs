//! The parser of introspection documents.

use roxmltree::{Node, ParsingOptions};
use wire::introspection::EMITS_CHANGE;

use super::{
    Annotation, Argument, EmitsChange, Interface, Introspection, IntrospectionDocument, Method,
    Property, PropertyAccess, Signal, documentation,
};

/// The reasons why introspection data is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidDocument {
    /// The document is longer than [`DOCUMENT_MAX`].
    #[error("it is longer than {DOCUMENT_MAX} bytes")]
    TooLong,
    /// The document declares entities. Introspection data needs none, and they let a small text
    /// expand to a large one.
    #[error("it declares entities")]
    Entities,
    /// The document is not XML, or has more elements than an object needs.
    #[error("it is not XML, or it has too many elements")]
    NotXml,
}

impl Introspection {
    /// Parses a document. Unknown elements and elements without a name are skipped.
    ///
    /// # Errors
    ///
    /// If the document is longer than [`DOCUMENT_MAX`], declares entities, is not XML, or has too
    /// many elements.
    pub fn parse(document: &str) -> Result<Self, InvalidDocument> {
        let document = IntrospectionDocument::parse(document)?;
        let mut children = Vec::new();
        push_children(&document.nodes, "", &mut children);
        Ok(Self { interfaces: document.interfaces, children })
    }
}

/// Appends the paths of objects and of all their descendants.
fn push_children(nodes: &[(String, IntrospectionDocument)], prefix: &str, paths: &mut Vec<String>) {
    for (name, inside) in nodes {
        let path = format!("{prefix}{name}");
        if path.len() > CHILD_PATH_MAX {
            continue;
        }
        let prefix = format!("{path}/");
        paths.push(path);
        push_children(&inside.nodes, &prefix, paths);
    }
}

impl IntrospectionDocument {
    /// Parses a document, as [`Introspection::parse`] does.
    ///
    /// # Errors
    ///
    /// If the document is longer than [`DOCUMENT_MAX`], declares entities, is not XML, or has too
    /// many elements.
    pub fn parse(document: &str) -> Result<Self, InvalidDocument> {
        if document.len() > DOCUMENT_MAX {
            return Err(InvalidDocument::TooLong);
        }
        if document.contains("<!ENTITY") {
            return Err(InvalidDocument::Entities);
        }
        // Most documents name the DTD of the specification.
        let options = ParsingOptions { allow_dtd: true, nodes_limit: NODES_MAX, ..<_>::default() };
        let tree = roxmltree::Document::parse_with_options(document, options);
        let tree = tree.map_err(|_| InvalidDocument::NotXml)?;
        Ok(Self::read(tree.root_element(), NESTED_MAX + 1))
    }

    /// Reads an object and its child objects, down to `levels` levels.
    fn read(node: Node<'_, '_>, levels: usize) -> Self {
        let nodes = match levels.checked_sub(1) {
            Some(levels) => all(node, "node", |node| Some((name(node)?, Self::read(node, levels)))),
            None => Vec::new(),
        };
        let (annotations, interfaces) = (annotations(node), all(node, "interface", interface));
        Self { annotations, interfaces, nodes }
    }
}

fn interface(node: Node<'_, '_>) -> Option<Interface> {
    let annotations = annotations(node);
    let usual = emits_change(&annotations).unwrap_or(EmitsChange::Value);
    Some(Interface {
        name: name(node)?,
        methods: all(node, "method", method),
        signals: all(node, "signal", signal),
        properties: all(node, "property", |node| property(node, usual)),
        documentation: documentation::of(node, &annotations),
        annotations,
    })
}

fn method(node: Node<'_, '_>) -> Option<Method> {
    let is_result = |node: &Node<'_, '_>| node.attribute("direction") == Some("out");
    let (results, arguments) = elements(node, "arg").partition::<Vec<_>, _>(is_result);
    let read = |nodes: Vec<_>| nodes.into_iter().map(argument).collect();
    let annotations = annotations(node);
    Some(Method {
        name: name(node)?,
        arguments: read(arguments),
        results: read(results),
        documentation: documentation::of(node, &annotations),
        annotations,
    })
}

fn signal(node: Node<'_, '_>) -> Option<Signal> {
    let arguments = elements(node, "arg").map(argument).collect();
    let annotations = annotations(node);
    let documentation = documentation::of(node, &annotations);
    Some(Signal { name: name(node)?, arguments, annotations, documentation })
}

fn property(node: Node<'_, '_>, usual: EmitsChange) -> Option<Property> {
    let annotations = annotations(node);
    let access = match node.attribute("access") {
        Some("write") => PropertyAccess::Write,
        Some("readwrite") => PropertyAccess::ReadWrite,
        _ => PropertyAccess::Read,
    };
    Some(Property {
        name: name(node)?,
        types: types(node),
        access,
        emits_change: emits_change(&annotations).unwrap_or(usual),
        documentation: documentation::of(node, &annotations),
        annotations,
    })
}

fn argument(node: Node<'_, '_>) -> Argument {
    Argument { name: name(node), types: types(node), annotations: annotations(node) }
}

fn annotations(node: Node<'_, '_>) -> Vec<Annotation> {
    all(node, "annotation", |node| {
        let value = node.attribute("value").unwrap_or_default().to_owned();
        Some(Annotation { name: name(node)?, value })
    })
}

fn emits_change(annotations: &[Annotation]) -> Option<EmitsChange> {
    let found = annotations.iter().find(|annotation| annotation.name == EMITS_CHANGE)?;
    EmitsChange::parse(&found.value)
}

fn types(node: Node<'_, '_>) -> String {
    node.attribute("type").unwrap_or_default().to_owned()
}

fn name(node: Node<'_, '_>) -> Option<String> {
    node.attribute("name").filter(|name| !name.is_empty()).map(str::to_owned)
}

fn all<T>(
    node: Node<'_, '_>,
    tag: &'static str,
    read: impl FnMut(Node<'_, '_>) -> Option<T>,
) -> Vec<T> {
    elements(node, tag).filter_map(read).collect()
}

fn elements<'a, 'i>(node: Node<'a, 'i>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.has_tag_name(tag))
}

/// The maximum length of a document in bytes. A root object with a thousand children needs a tenth
/// of that.
pub const DOCUMENT_MAX: usize = 512 << 10;

/// The maximum number of elements and texts in a document, which bounds the memory they take.
const NODES_MAX: u32 = 50_000;

/// The maximum nesting depth of objects in one document. Paths grow with each level.
const NESTED_MAX: usize = 16;

/// The maximum length, in bytes, of the path of a child object. Longer paths are skipped, as many
/// paths with a long common prefix would take much more memory than the document.
const CHILD_PATH_MAX: usize = 1024;
