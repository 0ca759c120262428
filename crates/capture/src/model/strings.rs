//! Texts, each kept once.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A text of a capture. Two are equal if the texts are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TextId(u32);

impl TextId {
    /// The empty text, which stands for an absent header field.
    pub const NONE: Self = Self(0);

    /// Whether there is none.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The place among all texts of the capture.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All texts of a capture.
#[derive(Clone, Debug)]
pub struct Strings {
    table: HashTable<TextId>,
    hasher: RandomState,
    bytes: String,
    /// Where each text ends; each begins where the one before ends.
    ends: Vec<u32>,
}

impl Default for Strings {
    fn default() -> Self {
        let mut strings = Self {
            table: HashTable::new(),
            hasher: RandomState::default(),
            bytes: String::new(),
            ends: Vec::new(),
        };
        strings.intern("");
        strings
    }
}

impl Strings {
    /// The text; `NONE` is empty.
    pub fn get(&self, text: TextId) -> &str {
        text_at(&self.bytes, &self.ends, text)
    }

    /// The id of a text that some message has.
    pub fn find(&self, text: &str) -> Option<TextId> {
        let hash = self.hasher.hash_one(text.as_bytes());
        self.table.find(hash, |&id| self.get(id) == text).copied()
    }

    /// All ids, in the order in which the texts were first seen.
    pub fn ids(&self) -> impl Iterator<Item = TextId> + use<> {
        (0..self.ends.len() as u32).map(TextId)
    }

    /// All texts, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.ids().map(|id| self.get(id))
    }

    /// How many there are, the empty one included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: the empty text is always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of a text.
    pub fn intern(&mut self, text: &str) -> TextId {
        match self.seen(text.as_bytes()) {
            Some(id) => id,
            None => self.add(text),
        }
    }

    /// The id of bytes that are a text of the capture already.
    #[inline]
    pub(super) fn seen(&self, bytes: &[u8]) -> Option<TextId> {
        let hash = self.hasher.hash_one(bytes);
        self.table.find(hash, |&id| self.get(id).as_bytes() == bytes).copied()
    }

    /// When 4 GiB of different texts are full, further ones count as absent.
    #[cold]
    fn add(&mut self, text: &str) -> TextId {
        let (Ok(id), Ok(end)) =
            (u32::try_from(self.ends.len()), u32::try_from(self.bytes.len() + text.len()))
        else {
            return TextId::NONE;
        };
        self.bytes.push_str(text);
        self.ends.push(end);
        let Self { table, hasher, bytes, ends } = self;
        let hash = |&id: &TextId| hasher.hash_one(text_at(bytes, ends, id).as_bytes());
        table.insert_unique(hash(&TextId(id)), TextId(id), hash);
        TextId(id)
    }
}

fn text_at<'t>(bytes: &'t str, ends: &[u32], text: TextId) -> &'t str {
    let index = text.index();
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start as usize..ends[index] as usize]
}
