//! Which methods are called and which signals are sent, how often, and by whom.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use super::flow::{Amount, Flow};

/// Method or signal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum MemberKind {
    /// A method, that somebody calls.
    Method,
    /// A signal.
    Signal,
}

/// A method or signal of one connection's objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemberName<'a> {
    /// Method or signal.
    pub(crate) kind: MemberKind,
    /// The interface, if the call names one.
    pub(crate) interface: Option<&'a str>,
    /// The member.
    pub(crate) member: &'a str,
    /// Who is called, or sends the signal: a unique name, if it has an owner.
    pub(crate) owner: &'a str,
}

/// What was seen of a method or signal.
#[derive(Debug)]
pub(crate) struct Member {
    /// Method or signal.
    pub(crate) kind: MemberKind,
    /// The interface, if the call names one.
    pub(crate) interface: Option<Box<str>>,
    /// The member.
    pub(crate) member: Box<str>,
    /// Who is called, or sends the signal.
    pub(crate) owner: Box<str>,
    /// Calls or signals; their bytes are those of the calls and their answers, or of the signals.
    pub(crate) uses: Flow,
    /// Calls that were answered with an error.
    pub(crate) errors: Flow,
    /// Who calls, or to whom signals are addressed, and how often.
    parties: Vec<Party>,
    /// When it was last used.
    used: Duration,
}

#[derive(Debug)]
struct Party {
    name: Box<str>,
    uses: Flow,
}

impl Member {
    fn new(name: &MemberName<'_>) -> Self {
        Self {
            kind: name.kind,
            interface: name.interface.map(Into::into),
            member: name.member.into(),
            owner: name.owner.into(),
            uses: Flow::default(),
            errors: Flow::default(),
            parties: Vec::new(),
            used: Duration::ZERO,
        }
    }

    /// Who calls the method, or to whom the signal is addressed, if it is; those who do so most
    /// come first.
    pub(crate) fn parties(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parties.iter().map(|party| &*party.name)
    }

    /// Bytes of one use: a call with its answer, or a signal.
    pub(crate) fn typical_len(&self) -> f64 {
        let Amount { messages, bytes } = self.uses.total();
        if messages == 0 { 0.0 } else { bytes as f64 / messages as f64 }
    }

    fn count_party(&mut self, name: &str) {
        if let Some(party) = self.parties.iter_mut().find(|party| *party.name == *name) {
            party.uses.add(1, 0);
        } else if self.parties.len() < PARTIES_MAX {
            let mut uses = Flow::default();
            uses.add(1, 0);
            self.parties.push(Party { name: name.into(), uses });
        }
    }

    fn step(&mut self) {
        self.uses.step();
        self.errors.step();
        self.parties.iter_mut().for_each(|party| party.uses.step());
        self.parties.sort_by_key(|party| Reverse(party.uses.total().messages));
    }
}

/// All methods and signals that were used lately.
#[derive(Debug, Default)]
pub(crate) struct Members {
    by_key: HashMap<Rc<str>, Member>,
    /// The key that is looked up; kept for its memory.
    key: String,
}

impl Members {
    /// Counts a call or a signal. `party` is the caller, or to whom the signal is addressed. Returns
    /// the key under which the answer of a call is to be counted.
    pub(super) fn count(
        &mut self,
        name: &MemberName<'_>,
        party: Option<&str>,
        now: Duration,
        len: u64,
    ) -> Option<Rc<str>> {
        let (key, member) = self.find_or_add(name)?;
        member.uses.add(1, len);
        member.used = now;
        party.into_iter().for_each(|party| member.count_party(party));
        Some(key)
    }

    /// Counts the results of a call.
    pub(super) fn answer(&mut self, key: &str, len: u64) {
        if let Some(member) = self.by_key.get_mut(key) {
            member.uses.add(0, len);
        }
    }

    /// Counts an error that answers a call, and returns what was called.
    pub(super) fn error(&mut self, key: &str, len: u64) -> Option<&Member> {
        let member = self.by_key.get_mut(key)?;
        member.uses.add(0, len);
        member.errors.add(1, len);
        Some(member)
    }

    pub(super) fn step(&mut self, now: Duration) {
        self.by_key.retain(|_, member| now.saturating_sub(member.used) < FORGOTTEN_AFTER);
        self.by_key.values_mut().for_each(Member::step);
    }

    /// Forgets what belongs to a connection that is gone.
    pub(super) fn forget(&mut self, owner: &str) {
        self.by_key.retain(|_, member| *member.owner != *owner);
        for member in self.by_key.values_mut() {
            member.parties.retain(|party| *party.name != *owner);
        }
    }

    /// All of them, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Member> {
        self.by_key.values()
    }

    /// `None` if there are too many already.
    fn find_or_add(&mut self, name: &MemberName<'_>) -> Option<(Rc<str>, &mut Member)> {
        name.write_key(&mut self.key);
        let known = self.by_key.get_key_value(self.key.as_str()).map(|(key, _)| Rc::clone(key));
        let key = match known {
            Some(key) => key,
            None if self.by_key.len() >= MEMBERS_MAX => return None,
            None => Rc::from(self.key.as_str()),
        };
        let member = self.by_key.entry(Rc::clone(&key)).or_insert_with(|| Member::new(name));
        Some((key, member))
    }
}

impl MemberName<'_> {
    /// No name contains a space, so the parts cannot run into each other.
    fn write_key(&self, key: &mut String) {
        key.clear();
        key.push_str(match self.kind {
            MemberKind::Method => "m ",
            MemberKind::Signal => "s ",
        });
        for part in [self.owner, self.interface.unwrap_or_default(), self.member] {
            key.push_str(part);
            key.push(' ');
        }
    }
}

/// Methods and signals that are counted. A program that makes up names gets no more memory.
const MEMBERS_MAX: usize = 4096;

/// Callers, or recipients, that are counted for one method or signal.
const PARTIES_MAX: usize = 16;

/// What is not used for so long is no longer listed.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn name(member: &str) -> MemberName<'_> {
        MemberName { kind: MemberKind::Method, interface: Some("org.a"), member, owner: ":1.1" }
    }

    #[test]
    fn a_call_and_its_answer_are_one_use() {
        let mut members = Members::default();
        let key = members.count(&name("Get"), Some(":1.2"), Duration::ZERO, 100).unwrap();
        members.answer(&key, 900);
        members.count(&name("Get"), Some(":1.3"), Duration::ZERO, 100);
        members.count(&name("Get"), Some(":1.3"), Duration::ZERO, 100);
        assert_eq!(members.error(&key, 300).unwrap().errors.total().messages, 1);
        members.step(Duration::ZERO);
        let [member] = members.iter().collect::<Vec<_>>()[..] else { panic!("one member") };
        assert_eq!(member.uses.total(), Amount { messages: 3, bytes: 1500 });
        assert_eq!(member.typical_len(), 500.0);
        assert_eq!(member.parties().collect::<Vec<_>>(), [":1.3", ":1.2"]);
    }

    #[test]
    fn each_part_of_the_name_counts() {
        let mut members = Members::default();
        let get = name("Get");
        let others = [
            MemberName { kind: MemberKind::Signal, ..get },
            MemberName { interface: None, ..get },
            MemberName { member: "Set", ..get },
            MemberName { owner: ":1.2", ..get },
        ];
        for name in [get, get].iter().chain(&others) {
            members.count(name, None, Duration::ZERO, 1);
        }
        assert_eq!(members.iter().count(), 5);
        members.forget(":1.1");
        assert_eq!(members.iter().count(), 1);
    }

    #[test]
    fn what_is_long_unused_or_too_much_is_not_kept() {
        let mut members = Members::default();
        for number in 0..=MEMBERS_MAX {
            members.count(&name(&number.to_string()), None, Duration::ZERO, 1);
        }
        assert_eq!(members.iter().count(), MEMBERS_MAX);
        members.step(FORGOTTEN_AFTER / 2);
        assert_eq!(members.iter().count(), MEMBERS_MAX);
        members.step(FORGOTTEN_AFTER);
        assert_eq!(members.iter().count(), 0);
    }
}
