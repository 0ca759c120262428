//! The arguments of a message, read once for all the rules that ask for them.

use alloc::vec::Vec;
use core::cell::{Cell, OnceCell};

use wire::Message;
use wire::match_rule::{ARG_INDEX_MAX, MatchArgument};

/// The arguments that rules can ask for.
///
/// Most messages are routed without a look at any. The first rule that asks for one has it read,
/// and the next rules find it here: there may be thousands, and what stands before an argument may
/// be long.
pub(super) struct Args<'a> {
    message: &'a Message<'a>,
    /// The first arguments, which rules ask for most.
    first: [Cell<Option<MatchArgument<'a>>>; FIRST],
    /// How many of the first were looked for.
    known: Cell<usize>,
    /// As many as rules can ask for, if one has asked for a later one.
    all: OnceCell<Vec<MatchArgument<'a>>>,
}

impl<'a> Args<'a> {
    #[inline]
    pub(super) const fn new(message: &'a Message<'a>) -> Self {
        let first = [const { Cell::new(None) }; FIRST];
        Self { message, first, known: Cell::new(0), all: OnceCell::new() }
    }

    /// The argument with this index, if there are so many.
    pub(super) fn get(&self, index: u8) -> Option<MatchArgument<'a>> {
        let index = usize::from(index);
        match self.first.get(index) {
            Some(place) if index < self.known.get() => place.get(),
            Some(place) => {
                self.read_first(index + 1);
                place.get()
            }
            None => self.all.get_or_init(|| self.read_all()).get(index).copied(),
        }
    }

    fn read_first(&self, count: usize) {
        for (place, arg) in self.first.iter().zip(self.message.args().take(count)) {
            place.set(Some(arg));
        }
        self.known.set(count);
    }

    fn read_all(&self) -> Vec<MatchArgument<'a>> {
        self.message.args().take(usize::from(ARG_INDEX_MAX) + 1).collect()
    }
}

/// How many arguments are kept without allocating.
const FIRST: usize = 4;
