//! Match rules that the bus was given, each once, however many want it.

use std::collections::HashMap;

/// How many use each rule, by its canonical text.
#[derive(Debug, Default)]
pub(super) struct RuleUsers {
    users: HashMap<Box<str>, usize>,
}

/// Whether others use something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Users {
    /// Nobody else: it is to be set up, or taken down.
    None,
    /// Somebody else does, so it stays as it is.
    Some,
}

impl Users {
    pub(super) const fn counted(others: usize) -> Self {
        if others == 0 { Self::None } else { Self::Some }
    }
}

impl RuleUsers {
    /// Counts one user more; says how many there were before.
    pub(super) fn retain(&mut self, rule: &str) -> Users {
        if let Some(users) = self.users.get_mut(rule) {
            *users += 1;
            return Users::Some;
        }
        self.users.insert(rule.into(), 1);
        Users::None
    }

    /// Counts one user less; says how many are left.
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
