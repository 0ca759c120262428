//! The texts of messages, each stored once.

use std::collections::HashMap;

/// Assigns ids to texts, from 1 in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct SqliteTexts<'c> {
    ids: HashMap<&'c str, i64>,
    all: Vec<&'c str>,
}

impl<'c> SqliteTexts<'c> {
    /// The id of a text, which is assigned if it is new.
    pub(super) fn id(&mut self, text: &'c str) -> i64 {
        let next = self.all.len() as i64 + 1;
        let id = *self.ids.entry(text).or_insert(next);
        if id == next {
            self.all.push(text);
        }
        id
    }

    /// All texts with their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, &'c str)> {
        (1..).zip(self.all.iter().copied())
    }
}
