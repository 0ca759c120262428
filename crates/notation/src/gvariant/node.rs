//! What a text says before it is known of what type it is.

use wire::signature::SignatureBuf;

/// A value as it is written, and where.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct GvariantNode {
    /// At which character it begins, from 1.
    pub(super) column: usize,
    /// The value.
    pub(super) what: GvariantContent,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum GvariantContent {
    /// A number, with its sign.
    Number(String),
    Boolean(bool),
    Text(String),
    /// `b'text'`, with the 0 at its end.
    Bytes(Vec<u8>),
    Array(Vec<GvariantNode>),
    /// Keys and values. The entry of one alone stands in an array.
    Dictionary(Vec<(GvariantNode, GvariantNode)>),
    Entry(Box<(GvariantNode, GvariantNode)>),
    Tuple(Vec<GvariantNode>),
    Variant(Box<GvariantNode>),
    /// A value that says of what type it is.
    Typed(SignatureBuf, Box<GvariantNode>),
}

/// Which rule of the form is broken, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct GvariantSyntaxError {
    /// At which character, from 1.
    pub(super) column: usize,
    /// What should stand there.
    pub(super) expected: &'static str,
}
