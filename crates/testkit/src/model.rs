//! A model of the bus that is as plain as possible: lists with linear search. Tests compare the bus
//! with it.

use std::collections::BTreeMap;

use bus::PeerId;
use wire::body::Value;

/// The owners and queues of well-known names, according to the specification ("Message Bus
/// Messages", RequestName).
#[derive(Clone, Debug, Default)]
pub struct ModelNames {
    queues: BTreeMap<String, Vec<(PeerId, u32)>>,
    /// Names in the order in which each connection joined their queues.
    joined: Vec<(PeerId, String)>,
}

/// A name with its old and its new owner.
pub type OwnershipChange = (String, Option<PeerId>, Option<PeerId>);

impl ModelNames {
    /// Returns the owner of a name.
    pub fn owner(&self, name: &str) -> Option<PeerId> {
        Some(self.queues.get(name)?.first()?.0)
    }

    /// Returns the owner, then the connections in the queue.
    pub fn queue(&self, name: &str) -> Vec<PeerId> {
        self.queues.get(name).into_iter().flatten().map(|(peer, _)| *peer).collect()
    }

    /// Returns all names that have an owner.
    pub fn all(&self) -> Vec<&str> {
        self.queues.keys().map(String::as_str).collect()
    }

    /// Models RequestName: the returned number, and the change of ownership.
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
        // A connection that does not want to queue is removed.
        let mut is_owner = true;
        queue.retain(|(_, flags)| std::mem::take(&mut is_owner) || flags & 4 == 0);
        let result = if result == 2 && flags & 4 != 0 { 3 } else { result };
        self.note_joined(name);
        let after = self.owner(name);
        (result, (before != after).then(|| (name.to_owned(), before, after)))
    }

    /// Models ReleaseName: the returned number, and the change of ownership.
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

    /// Returns the name whose queue the connection joined last.
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

/// The keys of a match rule.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ModelRule {
    /// The key `type` of the rule.
    pub kind: Option<&'static str>,
    /// The key `sender` of the rule.
    pub sender: Option<String>,
    /// The key `interface` of the rule.
    pub interface: Option<&'static str>,
    /// The key `member` of the rule.
    pub member: Option<&'static str>,
    /// The key `path` of the rule.
    pub path: Option<&'static str>,
    /// The key `path_namespace` of the rule.
    pub path_namespace: Option<&'static str>,
    /// The key `destination` of the rule.
    pub destination: Option<String>,
    /// The keys `arg0`, `arg1path`, `arg0namespace`: number, suffix and value.
    pub args: Vec<(usize, &'static str, &'static str)>,
    /// True for the key `eavesdrop='true'`.
    pub eavesdrops: bool,
}

/// The properties of a message that rules match.
#[derive(Clone, Debug)]
pub struct ModelSubject<'a> {
    /// The word for its type.
    pub kind: &'static str,
    /// All names of its sender.
    pub senders: Vec<String>,
    /// All names of its unicast recipient or, if the destination has no owner, the destination.
    pub destinations: Vec<String>,
    /// The interface of the message.
    pub interface: Option<&'a str>,
    /// The member of the message.
    pub member: Option<&'a str>,
    /// The path of the message.
    pub path: Option<&'a str>,
    /// The arguments of the message.
    pub args: &'a [Value],
}

impl ModelRule {
    /// Formats the rule as text.
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

    /// True if the rule matches the message.
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
