//! Interned texts of messages.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// The id of a text of a capture. Ids are equal if and only if the texts are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TextId(u32);

impl TextId {
    /// The empty text, which stands for an absent header field.
    pub const NONE: Self = Self(0);

    /// Returns true if the text is empty, so that the header field is absent.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns the index among all texts of the capture.
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
    /// The end offset of each text, which begins at the end of the previous one.
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
    /// Returns the text with this id; `NONE` is the empty text.
    pub fn get(&self, text: TextId) -> &str {
        text_at(&self.bytes, &self.ends, text)
    }

    /// Returns the id of a text; `None` if the capture does not contain it.
    pub fn find(&self, text: &str) -> Option<TextId> {
        let hash = self.hasher.hash_one(text.as_bytes());
        self.table.find(hash, |&id| self.get(id) == text).copied()
    }

    /// Returns all ids, in the order in which the texts were first seen.
    pub fn ids(&self) -> impl Iterator<Item = TextId> + use<> {
        (0..self.ends.len() as u32).map(TextId)
    }

    /// Returns all texts, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.ids().map(|id| self.get(id))
    }

    /// Returns the number of texts, including the empty one.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns false: the empty text is always present.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the id of a text, which is added if it is new.
    pub fn intern(&mut self, text: &str) -> TextId {
        match self.seen(text.as_bytes()) {
            Some(id) => id,
            None => self.add(text),
        }
    }

    /// The id of bytes that are already a text of the capture.
    #[inline]
    pub(super) fn seen(&self, bytes: &[u8]) -> Option<TextId> {
        let hash = self.hasher.hash_one(bytes);
        self.table.find(hash, |&id| self.get(id).as_bytes() == bytes).copied()
    }

    /// Adds a text. When 4 GiB of different texts are stored, further texts are treated as absent.
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
