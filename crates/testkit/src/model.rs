//! What the bus should do, written as plainly as possible: lists that are searched from end to end.
//! Tests compare it with the real thing.

use std::collections::BTreeMap;

use bus::PeerId;
use wire::body::Value;

/// Who owns which well-known name and who waits for it, as the specification says it
/// ("Message Bus Messages", RequestName).
#[derive(Clone, Debug, Default)]
pub struct ModelNames {
    queues: BTreeMap<String, Vec<(PeerId, u32)>>,
    /// Names in the order in which each connection came into their queues.
    joined: Vec<(PeerId, String)>,
}

/// A name has gone from one owner to another.
pub type OwnershipChange = (String, Option<PeerId>, Option<PeerId>);

impl ModelNames {
    /// Who owns a name.
    pub fn owner(&self, name: &str) -> Option<PeerId> {
        Some(self.queues.get(name)?.first()?.0)
    }

    /// Owner first, then those who wait.
    pub fn queue(&self, name: &str) -> Vec<PeerId> {
        self.queues.get(name).into_iter().flatten().map(|(peer, _)| *peer).collect()
    }

    /// All names that have an owner.
    pub fn all(&self) -> Vec<&str> {
        self.queues.keys().map(String::as_str).collect()
    }

    /// RequestName: the number that it returns, and what has changed.
    pub fn request(
        &mut self,
        name: &str,
        peer: PeerId,
        flags: u32,
    ) -> (u32, Option<OwnershipChange>) {
        let before = self.owner(name);
        let queue = self.queues.entry(name.to_owned()).or_default();
        let place = queue.iter().position(|(other, _)| *other == peer);
        let replaceable = queue.first().is_some_and(|(_, owner)| owner & 1 != 0);
        let result = match place {
            Some(0) => {
                queue[0].1 = flags;
                4
            }
            _ if queue.is_empty() || (replaceable && flags & 2 != 0) => {
                queue.retain(|(other, _)| *other != peer);
                queue.insert(0, (peer, flags));
                1
            }
            Some(place) => {
                queue[place].1 = flags;
                2
            }
            None => {
                queue.push((peer, flags));
                2
            }
        };
        // Whoever does not want to wait does not.
        let mut is_owner = true;
        queue.retain(|(_, flags)| std::mem::take(&mut is_owner) || flags & 4 == 0);
        let result = if result == 2 && flags & 4 != 0 { 3 } else { result };
        self.note_joined(name);
        let after = self.owner(name);
        (result, (before != after).then(|| (name.to_owned(), before, after)))
    }

    /// ReleaseName: the number that it returns, and what has changed.
    pub fn release(&mut self, name: &str, peer: PeerId) -> (u32, Option<OwnershipChange>) {
        let before = self.owner(name);
        let Some(queue) = self.queues.get_mut(name) else { return (2, None) };
        let len = queue.len();
        queue.retain(|(other, _)| *other != peer);
        let result = if queue.len() < len { 1 } else { 3 };
        if queue.is_empty() {
            self.queues.remove(name);
        }
        self.note_joined(name);
        let after = self.owner(name);
        (result, (before != after).then(|| (name.to_owned(), before, after)))
    }

    /// The name that a connection came to last, of all in whose queues it is.
    pub fn last_of(&self, peer: PeerId) -> Option<String> {
        let last = self.joined.iter().rev().find(|(other, _)| *other == peer);
        last.map(|(_, name)| name.clone())
    }

    fn note_joined(&mut self, name: &str) {
        let queue = self.queue(name);
        self.joined.retain(|(peer, other)| other != name || queue.contains(peer));
        for peer in queue {
            if !self.joined.contains(&(peer, name.to_owned())) {
                self.joined.push((peer, name.to_owned()));
            }
        }
    }
}

/// What a rule asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ModelRule {
    /// `type`
    pub kind: Option<&'static str>,
    /// `sender`
    pub sender: Option<String>,
    /// `interface`
    pub interface: Option<&'static str>,
    /// `member`
    pub member: Option<&'static str>,
    /// `path`
    pub path: Option<&'static str>,
    /// `path_namespace`
    pub path_namespace: Option<&'static str>,
    /// `destination`
    pub destination: Option<String>,
    /// `arg0`, `arg1path`, `arg0namespace`: the number, what stands behind it, the value.
    pub args: Vec<(usize, &'static str, &'static str)>,
    /// `eavesdrop='true'`
    pub eavesdrops: bool,
}

/// A message as rules see it.
#[derive(Clone, Debug)]
pub struct ModelSubject<'a> {
    /// The word for its type.
    pub kind: &'static str,
    /// All names of its sender.
    pub senders: Vec<String>,
    /// All names of its addressed recipient, or the one it is addressed to if nobody has it.
    pub destinations: Vec<String>,
    /// The interface.
    pub interface: Option<&'a str>,
    /// The member.
    pub member: Option<&'a str>,
    /// The path.
    pub path: Option<&'a str>,
    /// The arguments.
    pub args: &'a [Value],
}

impl ModelRule {
    /// The rule as text.
    pub fn text(&self) -> String {
        let mut keys = Vec::new();
        let mut key = |name: &str, value: Option<&str>| {
            keys.extend(value.map(|value| format!("{name}='{value}'")));
        };
        key("eavesdrop", self.eavesdrops.then_some("true"));
        key("type", self.kind);
        key("sender", self.sender.as_deref());
        key("interface", self.interface);
        key("member", self.member);
        key("path", self.path);
        key("path_namespace", self.path_namespace);
        key("destination", self.destination.as_deref());
        for (index, how, value) in &self.args {
            key(&format!("arg{index}{how}"), Some(value));
        }
        keys.join(",")
    }

    /// Whether the rule's keys agree with a message.
    pub fn selects(&self, subject: &ModelSubject<'_>) -> bool {
        let same = |wanted: Option<&str>, found: Option<&str>| wanted.is_none() || wanted == found;
        let named = |wanted: &Option<String>, names: &[String]| {
            wanted.as_ref().is_none_or(|wanted| names.contains(wanted))
        };
        let below = |path: &str, top: &str| {
            top == "/" || path == top || path.starts_with(&format!("{top}/"))
        };
        same(self.kind, Some(subject.kind))
            && same(self.interface, subject.interface)
            && same(self.member, subject.member)
            && same(self.path, subject.path)
            && self.path_namespace.is_none_or(|top| subject.path.is_some_and(|p| below(p, top)))
            && named(&self.sender, &subject.senders)
            && named(&self.destination, &subject.destinations)
            && self.args.iter().all(|(index, how, value)| {
                subject.args.get(*index).is_some_and(|arg| arg_agrees(arg, how, value))
            })
    }
}

fn arg_agrees(arg: &Value, how: &str, wanted: &str) -> bool {
    let under = |path: &str, folder: &str| folder.ends_with('/') && path.starts_with(folder);
    match (arg, how) {
        (Value::String(text), "") => text == wanted,
        (Value::String(text), "namespace") => {
            text == wanted || text.starts_with(&format!("{wanted}."))
        }
        (Value::String(text), "path") => {
            text == wanted || under(text, wanted) || under(wanted, text)
        }
        (Value::ObjectPath(path), "path") => {
            let path = path.as_str();
            path == wanted || under(path, wanted) || under(wanted, path)
        }
        _ => false,
    }
}
