//! The arguments of a message, decoded once for all match rules that test them.

use alloc::vec::Vec;
use core::cell::{Cell, OnceCell};

use wire::Message;
use wire::match_rule::{ARG_INDEX_MAX, MatchArgument};

/// The arguments of a message that rules can test.
///
/// Most messages are routed without decoding an argument. The first rule that tests an argument
/// decodes it, and later rules reuse it: there may be thousands of rules, and the data before an
/// argument may be long.
pub(super) struct Args<'a> {
    message: &'a Message<'a>,
    /// The first arguments, which most rules test.
    first: [Cell<Option<MatchArgument<'a>>>; FIRST],
    /// Number of the first arguments that were decoded.
    known: Cell<usize>,
    /// All arguments that rules can test, once a rule has tested one after the first.
    all: OnceCell<Vec<MatchArgument<'a>>>,
}

impl<'a> Args<'a> {
    #[inline]
    pub(super) const fn new(message: &'a Message<'a>) -> Self {
        let first = [const { Cell::new(None) }; FIRST];
        Self { message, first, known: Cell::new(0), all: OnceCell::new() }
    }

    /// The argument with this index, if the message has it.
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

/// Number of arguments that are kept without an allocation.
const FIRST: usize = 4;
