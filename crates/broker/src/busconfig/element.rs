//! Typed access to the XML elements of a configuration.
//!
//! Unknown content is always an error: each element is opened with the list of its allowed
//! attributes and then read as an empty element, as text, or as a parent of elements.

use std::cell::Cell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roxmltree::{Attribute, Document, Node, ParsingOptions};

use super::error::{ConfigError, ConfigErrorKind, ElementOrigin, Position, ShapeError, XmlError};

/// A well-formed XML document.
pub(super) struct Xml<'a> {
    tree: Document<'a>,
    places: TextPlaces<'a>,
}

impl<'a> Xml<'a> {
    /// Parses the text of `file`.
    pub(super) fn parse(file: &'a Arc<Path>, text: &'a str) -> Result<Self, ConfigError> {
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let places =
            TextPlaces { file, text: text.as_bytes(), last: Cell::new((0, Position::START)) };
        match Document::parse_with_options(text, options) {
            Ok(tree) => Ok(Self { tree, places }),
            Err(error) => Err(places.malformed(error)),
        }
    }

    pub(super) fn root(&self) -> FoundElement<'_> {
        FoundElement { node: self.tree.root_element(), places: &self.places }
    }

    /// The processing instructions with this name. Each is returned as a text in which an element
    /// of that name has the same content at the same position as in the file.
    pub(super) fn instructions(&self, name: &str) -> Result<Vec<String>, ConfigError> {
        let is_wanted = |node: &Node<'_, '_>| node.pi().is_some_and(|found| found.target == name);
        let all = self.tree.root().descendants().filter(is_wanted);
        let root = self.tree.root_element();
        all.map(|node| {
            let place = node.range();
            if node.parent() != Some(root) {
                return Err(self.places.find(place.start).error(ShapeError::MisplacedInstruction));
            }
            let text = str::from_utf8(self.places.text).expect("it was made from a text");
            Ok(as_element(text, place, name))
        })
        .collect()
    }
}

/// The text with spaces before `place`, and the instruction replaced by an element whose start tag
/// is as long as the start of the instruction.
fn as_element(text: &str, place: Range<usize>, name: &str) -> String {
    let before = text[..place.start].chars();
    let before = before.map(|found| if found == '\n' { found } else { ' ' });
    let start = format!("<{name}>");
    let content = text[place].strip_suffix("?>").unwrap_or_default();
    let content = content.get("<?".len() + name.len()..).unwrap_or_default();
    format!("{}{start}{content}</{name}>", before.collect::<String>())
}

/// Converts offsets into positions. Offsets are requested in increasing order, so each search
/// continues where the last one ended.
struct TextPlaces<'a> {
    file: &'a Arc<Path>,
    text: &'a [u8],
    last: Cell<(usize, Position)>,
}

impl TextPlaces<'_> {
    fn find(&self, offset: usize) -> ElementOrigin {
        let (from, start) = match self.last.get() {
            (last, position) if last <= offset => (last, position),
            _ => (0, Position::START),
        };
        let position = start.after(&self.text[from..offset]);
        self.last.set((offset, position));
        self.origin(position)
    }

    /// The parser reports no position for missing content at the end of the file, so the end is
    /// used.
    fn malformed(&self, error: roxmltree::Error) -> ConfigError {
        use roxmltree::Error::{NoRootNode, UnclosedRootNode, UnexpectedEndOfStream};
        let origin = match &error {
            NoRootNode | UnclosedRootNode | UnexpectedEndOfStream => self.find(self.text.len()),
            error => self.origin(Position { line: error.pos().row, column: error.pos().col }),
        };
        origin.error(ConfigErrorKind::Xml(XmlError(error)))
    }

    fn origin(&self, position: Position) -> ElementOrigin {
        ElementOrigin { file: Arc::clone(self.file), position }
    }
}

/// An element whose attributes were not checked yet.
#[derive(Clone, Copy)]
pub(super) struct FoundElement<'a> {
    node: Node<'a, 'a>,
    places: &'a TextPlaces<'a>,
}

impl<'a> FoundElement<'a> {
    /// The local name; an element with a namespace is never known and has an empty name here.
    pub(super) fn name(self) -> &'a str {
        match self.node.tag_name().namespace() {
            None => self.node.tag_name().name(),
            Some(_) => "",
        }
    }

    pub(super) fn origin(self) -> ElementOrigin {
        self.places.find(self.node.range().start)
    }

    /// Checks that the element has only these attributes. `name` is the name that was matched.
    pub(super) fn open(
        self,
        name: &'static str,
        attributes: &[&str],
    ) -> Result<Element<'a>, ConfigError> {
        let is_known = |found: &Attribute<'_, '_>| {
            found.namespace().is_none() && attributes.contains(&found.name())
        };
        let Some(unknown) = self.node.attributes().find(|found| !is_known(found)) else {
            return Ok(Element { found: self, name });
        };
        let attribute = unknown.name().to_owned();
        let error = ShapeError::UnknownAttribute { attribute, element: name };
        Err(self.places.find(unknown.range().start).error(error))
    }

    /// The error for an unknown root element.
    pub(super) fn unknown_root(self) -> ConfigError {
        self.refuse(ShapeError::UnknownRoot(self.written_name()))
    }

    /// The error for an element that is not allowed in `parent`.
    pub(super) fn unknown_in(self, parent: &'static str) -> ConfigError {
        self.refuse(ShapeError::UnknownElement { element: self.written_name(), parent })
    }

    fn written_name(self) -> String {
        self.node.tag_name().name().to_owned()
    }

    fn refuse(self, kind: impl Into<ConfigErrorKind>) -> ConfigError {
        self.origin().error(kind)
    }
}

/// An element whose attributes are all known.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    found: FoundElement<'a>,
    name: &'static str,
}

impl<'a> Element<'a> {
    pub(super) fn origin(self) -> ElementOrigin {
        self.found.origin()
    }

    pub(super) fn attribute(self, name: &str) -> Option<&'a str> {
        self.found.node.attribute(name)
    }

    /// The position of an attribute, or of the element if the attribute is missing.
    pub(super) fn origin_of(self, attribute: &str) -> ElementOrigin {
        let attribute = self.found.node.attribute_node(attribute);
        attribute.map_or_else(|| self.origin(), |found| self.found.places.find(found.range().start))
    }

    /// Whether a `yes`/`no` attribute is `yes`; the default is `no`.
    pub(super) fn is_yes(self, attribute: &'static str) -> Result<bool, ConfigError> {
        match self.attribute(attribute) {
            None | Some("no") => Ok(false),
            Some("yes") => Ok(true),
            Some(_) => Err(self.origin_of(attribute).error(ShapeError::NotYesNo(attribute))),
        }
    }

    /// Checks that the element contains only white space and comments.
    pub(super) fn expect_empty(self) -> Result<Self, ConfigError> {
        self.expect_no_elements()?;
        self.expect_no_text()?;
        Ok(self)
    }

    /// The text in the element, trimmed. It must not be empty, and must not contain elements.
    pub(super) fn text(self) -> Result<String, ConfigError> {
        self.expect_no_elements()?;
        let pieces = self.children().filter(Node::is_text).filter_map(|piece| piece.text());
        let text: String = pieces.collect();
        match text.trim_matches(is_space) {
            "" => Err(self.refuse(ShapeError::MissingText(self.name))),
            text => Ok(text.to_owned()),
        }
    }

    /// The path in the element. A relative path is relative to the directory of the file.
    pub(super) fn resolved_path(self) -> Result<PathBuf, ConfigError> {
        let directory = self.found.places.file.parent().unwrap_or(Path::new(""));
        Ok(directory.join(self.text()?))
    }

    /// The child elements. There must be no text around them.
    pub(super) fn elements(self) -> Result<impl Iterator<Item = FoundElement<'a>>, ConfigError> {
        self.expect_no_text()?;
        let places = self.found.places;
        Ok(self.children().filter(Node::is_element).map(move |node| FoundElement { node, places }))
    }

    pub(super) fn refuse(self, kind: impl Into<ConfigErrorKind>) -> ConfigError {
        self.found.refuse(kind)
    }

    fn expect_no_elements(self) -> Result<(), ConfigError> {
        let Some(child) = self.children().find(Node::is_element) else { return Ok(()) };
        let kind = ShapeError::NestedElement(child.tag_name().name().to_owned());
        Err(self.refuse_child(child, kind))
    }

    fn expect_no_text(self) -> Result<(), ConfigError> {
        let is_ink = |node: &Node<'_, '_>| {
            node.is_text() && !node.text().unwrap_or_default().trim_matches(is_space).is_empty()
        };
        let Some(text) = self.children().find(is_ink) else { return Ok(()) };
        Err(self.refuse_child(text, ShapeError::UnexpectedText(self.name)))
    }

    fn refuse_child(self, child: Node<'_, '_>, kind: ShapeError) -> ConfigError {
        self.found.places.find(child.range().start).error(kind)
    }

    fn children(self) -> impl Iterator<Item = Node<'a, 'a>> {
        self.found.node.children()
    }
}

/// White space as defined by XML; no other characters are trimmed.
const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}
