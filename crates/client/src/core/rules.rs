//! Reference counts of match rules; the bus has each rule once.

use std::collections::HashMap;

/// Number of users of each rule, by its canonical text.
#[derive(Debug, Default)]
pub(super) struct RuleUsers {
    users: HashMap<Box<str>, usize>,
}

/// Whether there are other users of a rule or name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Users {
    /// There is no other user: set it up, or take it down.
    None,
    /// There are other users, so nothing changes at the bus.
    Some,
}

impl Users {
    pub(super) const fn counted(others: usize) -> Self {
        if others == 0 { Self::None } else { Self::Some }
    }
}

impl RuleUsers {
    /// The canonical texts of the rules.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.users.keys().map(|rule| &**rule)
    }

    /// Adds a user of the rule; returns whether it had users before.
    pub(super) fn retain(&mut self, rule: &str) -> Users {
        if let Some(users) = self.users.get_mut(rule) {
            *users += 1;
            return Users::Some;
        }
        self.users.insert(rule.into(), 1);
        Users::None
    }

    /// Removes a user of the rule; returns whether it has users left.
    pub(super) fn release(&mut self, rule: &str) -> Users {
        let Some(users) = self.users.get_mut(rule) else { return Users::Some };
        *users -= 1;
        let left = Users::counted(*users);
        if left == Users::None {
            self.users.remove(rule);
        }
        left
    }
}
