//! XML elements, seen as what a configuration may be made of.
//!
//! Nothing unknown passes: each element is opened with the list of attributes that it may have,
//! and then read as a leaf, as a text, or as a parent of elements.

use roxmltree::{Attribute, Document, Node, ParsingOptions};

use super::error::{ConfigErrorKind, Position, Problem, ShapeError, XmlError};

/// An XML document that is well-formed.
pub(super) struct Xml<'a> {
    tree: Document<'a>,
}

impl<'a> Xml<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, Problem> {
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        match Document::parse_with_options(text, options) {
            Ok(tree) => Ok(Self { tree }),
            Err(error) => Err(malformed(text, error)),
        }
    }

    pub(super) fn root(&self) -> Found<'_> {
        Found { node: self.tree.root_element() }
    }
}

/// The parser knows no place for what is missing at the end: that is the end.
fn malformed(text: &str, error: roxmltree::Error) -> Problem {
    use roxmltree::Error::{NoRootNode, UnclosedRootNode, UnexpectedEndOfStream};
    let position = match &error {
        NoRootNode | UnclosedRootNode | UnexpectedEndOfStream => end_of(text.as_bytes()),
        error => place(error.pos()),
    };
    ConfigErrorKind::Xml(XmlError(error)).at(position)
}

/// The place after all of `bytes`, in as far as they are UTF-8.
pub(super) fn end_of(bytes: &[u8]) -> Position {
    let text = String::from_utf8_lossy(bytes);
    let last_line = text.rsplit('\n').next().unwrap_or_default();
    let [lines, columns] = [text.matches('\n').count(), last_line.chars().count()];
    let one_based = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
    Position { line: one_based(lines), column: one_based(columns) }
}

const fn place(found: roxmltree::TextPos) -> Position {
    Position { line: found.row, column: found.col }
}

/// An element of which only the name was looked at.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    node: Node<'a, 'a>,
}

impl<'a> Found<'a> {
    /// The name; one with a namespace, which nothing in a configuration has, is no name here.
    pub(super) fn name(self) -> &'a str {
        match self.node.tag_name().namespace() {
            None => self.node.tag_name().name(),
            Some(_) => "",
        }
    }

    pub(super) fn position(self) -> Position {
        place(self.node.document().text_pos_at(self.node.range().start))
    }

    /// Checks that the element has none but these attributes. `name` is what was found to be its
    /// name.
    pub(super) fn open(
        self,
        name: &'static str,
        attributes: &[&str],
    ) -> Result<Element<'a>, Problem> {
        let is_known = |found: &Attribute<'_, '_>| {
            found.namespace().is_none() && attributes.contains(&found.name())
        };
        match self.node.attributes().find(|found| !is_known(found)) {
            None => Ok(Element { node: self.node, name }),
            Some(unknown) => {
                let attribute = unknown.name().to_owned();
                let kind = ShapeError::UnknownAttribute { attribute, element: name };
                let position = place(self.node.document().text_pos_at(unknown.range().start));
                Err(ConfigErrorKind::Shape(kind).at(position))
            }
        }
    }

    /// This element, which stands in none, has no meaning there.
    pub(super) fn unknown_root(self) -> Problem {
        self.refuse(ShapeError::UnknownRoot(self.written_name()))
    }

    /// This element has no meaning in `parent`.
    pub(super) fn unknown_in(self, parent: &'static str) -> Problem {
        self.refuse(ShapeError::UnknownElement { element: self.written_name(), parent })
    }

    fn written_name(self) -> String {
        self.node.tag_name().name().to_owned()
    }

    fn refuse(self, kind: ShapeError) -> Problem {
        ConfigErrorKind::Shape(kind).at(self.position())
    }
}

/// An element whose attributes are all known.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    node: Node<'a, 'a>,
    name: &'static str,
}

impl<'a> Element<'a> {
    pub(super) fn position(self) -> Position {
        self.place_of(self.node)
    }

    pub(super) fn attribute(self, name: &str) -> Option<&'a str> {
        self.node.attribute(name)
    }

    /// The place of an attribute; that of the element when it does not have it.
    pub(super) fn position_of(self, attribute: &str) -> Position {
        match self.node.attribute_node(attribute) {
            Some(found) => place(self.node.document().text_pos_at(found.range().start)),
            None => self.position(),
        }
    }

    /// Whether an attribute that takes `yes` and `no` is `yes`; `no` is its default.
    pub(super) fn is_yes(self, attribute: &'static str) -> Result<bool, Problem> {
        match self.attribute(attribute) {
            None | Some("no") => Ok(false),
            Some("yes") => Ok(true),
            Some(_) => {
                let kind = ConfigErrorKind::Shape(ShapeError::NotYesNo(attribute));
                Err(kind.at(self.position_of(attribute)))
            }
        }
    }

    /// Checks that there is nothing in the element but space and comments.
    pub(super) fn expect_empty(self) -> Result<Self, Problem> {
        self.expect_no_elements()?;
        self.expect_no_text()?;
        Ok(self)
    }

    /// The text in the element, without the space around it. There must be some, and no elements.
    pub(super) fn text(self) -> Result<String, Problem> {
        self.expect_no_elements()?;
        let pieces = self.node.children().filter(|child| child.is_text()).filter_map(|t| t.text());
        let text: String = pieces.collect();
        match text.trim_matches(is_space) {
            "" => Err(self.refuse(ShapeError::MissingText(self.name))),
            text => Ok(text.to_owned()),
        }
    }

    /// The elements in the element. There must be no text around them.
    pub(super) fn elements(self) -> Result<impl Iterator<Item = Found<'a>>, Problem> {
        self.expect_no_text()?;
        let children = self.node.children().filter(Node::is_element);
        Ok(children.map(|node| Found { node }))
    }

    pub(super) fn refuse(self, kind: impl Into<ConfigErrorKind>) -> Problem {
        kind.into().at(self.position())
    }

    fn expect_no_elements(self) -> Result<(), Problem> {
        let Some(child) = self.node.children().find(Node::is_element) else { return Ok(()) };
        let kind = ShapeError::NestedElement(child.tag_name().name().to_owned());
        Err(ConfigErrorKind::Shape(kind).at(self.place_of(child)))
    }

    fn expect_no_text(self) -> Result<(), Problem> {
        let is_ink = |node: &Node<'_, '_>| {
            node.is_text() && !node.text().unwrap_or_default().trim_matches(is_space).is_empty()
        };
        let Some(text) = self.node.children().find(is_ink) else { return Ok(()) };
        let kind = ConfigErrorKind::Shape(ShapeError::UnexpectedText(self.name));
        Err(kind.at(self.place_of(text)))
    }

    fn place_of(self, node: Node<'_, '_>) -> Position {
        place(self.node.document().text_pos_at(node.range().start))
    }
}

/// What XML calls white space; nothing else is trimmed away.
const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}
