//! The syntax tree of a GVariant text, before types are assigned.

use wire::signature::SignatureBuf;

/// A parsed value with its position.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct GvariantNode {
    /// Position of the first character, from 1.
    pub(super) column: usize,
    /// The parsed value, without its position.
    pub(super) content: GvariantContent,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum GvariantContent {
    /// A number as written, with its sign.
    Number(String),
    Boolean(bool),
    Text(String),
    /// `b'text'`, including the 0 byte at the end.
    Bytes(Vec<u8>),
    Array(Vec<GvariantNode>),
    /// Keys and values. A single entry appears in an array.
    Dictionary(Vec<(GvariantNode, GvariantNode)>),
    Entry(Box<(GvariantNode, GvariantNode)>),
    Tuple(Vec<GvariantNode>),
    Variant(Box<GvariantNode>),
    /// A value with a type annotation.
    Typed(SignatureBuf, Box<GvariantNode>),
}

/// A violation of the grammar, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct GvariantSyntaxError {
    /// Position of the character, from 1.
    pub(super) column: usize,
    /// The grammar element that is expected there.
    pub(super) expected: &'static str,
}
