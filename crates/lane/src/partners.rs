//! Counts the messages of each partner, to ask for lanes to those with many.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// The partners of a connection: destinations of its calls, and callers.
#[derive(Debug, Default)]
pub(crate) struct Partners {
    known: HashMap<Box<str>, Partner, RandomState>,
}

#[derive(Debug)]
struct Partner {
    messages: u32,
    /// The number of messages at which the connection asks for a lane.
    asks_at: u32,
}

impl Partners {
    /// Counts a message to or from a partner. Returns true if it is time to ask for a lane.
    pub(crate) fn count(&mut self, name: &str) -> bool {
        if let Some(partner) = self.known.get_mut(name) {
            partner.messages = partner.messages.saturating_add(1);
            return partner.messages == partner.asks_at;
        }
        if self.known.len() >= PARTNERS_MAX {
            self.known.clear();
        }
        self.known.insert(name.into(), Partner { messages: 1, asks_at: ASKS_AFTER });
        false
    }

    /// Notes that a request was refused. The next one follows after many more messages.
    pub(crate) fn refused(&mut self, name: &str) {
        if let Some(partner) = self.known.get_mut(name) {
            partner.messages = 0;
            partner.asks_at = partner.asks_at.saturating_mul(BACK_OFF).min(ASKS_AFTER_MAX);
        }
    }

    /// Begins anew, because a lane has ended or a name has moved.
    pub(crate) fn restart(&mut self, name: &str) {
        if let Some(partner) = self.known.get_mut(name) {
            *partner = Partner { messages: 0, asks_at: ASKS_AFTER };
        }
    }
}

/// The number of messages after which a connection asks for a lane.
const ASKS_AFTER: u32 = 8;

/// The factor by which this number grows when the bus refuses.
const BACK_OFF: u32 = 16;

/// The bound of this growth. A request among thousands of messages costs little, and a program gets
/// its lane back soon after the last monitor has left.
const ASKS_AFTER_MAX: u32 = 1 << 13;

/// The number of partners that are remembered.
const PARTNERS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_asks_once_and_rarely_again() {
        let mut partners = Partners::default();
        let asked = |partners: &mut Partners, messages: usize| {
            (0..messages).filter(|_| partners.count("a.b")).count()
        };
        assert_eq!(asked(&mut partners, 7), 0);
        assert_eq!(asked(&mut partners, 1), 1);
        assert_eq!(asked(&mut partners, 1000), 0);
        partners.refused("a.b");
        assert_eq!(asked(&mut partners, 127), 0);
        assert_eq!(asked(&mut partners, 1), 1);
        for _ in 0..9 {
            partners.refused("a.b");
        }
        assert_eq!(asked(&mut partners, ASKS_AFTER_MAX as usize), 1);
        partners.restart("a.b");
        assert_eq!(asked(&mut partners, ASKS_AFTER as usize), 1);
    }

    #[test]
    fn many_partners_use_little_memory() {
        let mut partners = Partners::default();
        for number in 0..10_000 {
            partners.count(&format!(":1.{number}"));
        }
        assert!(partners.known.len() <= PARTNERS_MAX);
    }
}
