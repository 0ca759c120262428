//! The recipients of messages: compares the rule index and the route cache with a linear search
//! through all rules of all connections.

use std::collections::{BTreeMap, BTreeSet};

use bus::{BusLimits, Configuration, PeerId, Policy};
use testkit::model::{ModelNames, ModelRule, ModelSubject, OwnershipChange};
use testkit::random::{Random, rounds};
use testkit::world::{BusWorld, SeenEffect, interface, member, name, path};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;
use wire::names::ObjectPath;

const STEPS: usize = rounds(20_000);
const PEERS: usize = 8;

const NAMES: [&str; 3] = ["com.a", "com.a.b", "org.x"];
const PATHS: [&str; 6] = ["/", "/a", "/a/b", "/a/b/c", "/ab", "/org/freedesktop/DBus"];
const INTERFACES: [&str; 3] = ["a.b", "a.c", "org.freedesktop.DBus"];
const MEMBERS: [&str; 4] = ["S", "T", "U", "NameOwnerChanged"];
const TEXTS: [&str; 10] =
    ["", "com", "com.a", "com.a.b", "com.ab", "/", "/a", "/a/", "/a/b", "/a/b/"];

struct MatchingTest {
    world: BusWorld,
    random: Random,
    names: ModelNames,
    peers: Vec<MatchingPeer>,
    deliveries: usize,
}

struct MatchingPeer {
    id: PeerId,
    rules: Vec<ModelRule>,
    is_monitor: bool,
}

/// The path, interface and member of a message.
type Source = (&'static str, &'static str, &'static str);

/// The recipients of a message. Each receives it once.
type ExpectedRecipients = BTreeSet<PeerId>;

/// The recipients of NameOwnerChanged by its arguments.
type Announcements = BTreeMap<[String; 3], ExpectedRecipients>;

#[test]
fn recipients_match_a_linear_search_of_rules() {
    let mut test = MatchingTest::new();
    for _ in 0..STEPS {
        test.step();
    }
    let deliveries = test.deliveries;
    // Under Miri, there are too few rounds to add many rules.
    assert!(
        cfg!(miri) || deliveries > STEPS / 2,
        "too few deliveries for a meaningful test: {deliveries}"
    );
    test.world.end();
}

/// There are more senders of the same signal than the route cache has entries.
#[test]
fn routes_of_many_senders_do_not_mix() {
    let mut world =
        BusWorld::new(Configuration { limits: BusLimits::session(), ..Configuration::default() });
    let peers: Vec<_> = (0..rounds(700)).map(|_| world.join(1000)).collect();
    for &peer in &peers {
        let rule = format!("sender='{}'", world.name_of(peer));
        world.call_bus(peer, "AddMatch", &[rule.as_str().into()]);
    }
    for &peer in peers.iter().chain(&peers) {
        let builder = Builder::signal(path("/x"), interface("a.b"), member("S"));
        let seen = world.send(peer, builder, &[]);
        let [SeenEffect::Sent { to, .. }] = &seen[..] else {
            panic!("exactly one recipient expected: {seen:?}")
        };
        assert_eq!(*to, peer);
    }
    world.end();
}

impl MatchingTest {
    fn new() -> Self {
        let policy = Policy::unrestricted();
        let world = BusWorld::new(Configuration { policy, ..Configuration::default() });
        let (random, names) = (Random::from_env(), ModelNames::default());
        let mut test = Self { world, random, names, peers: Vec::new(), deliveries: 0 };
        for _ in 0..PEERS {
            let id = test.world.join(0);
            test.peers.push(MatchingPeer { id, rules: Vec::new(), is_monitor: false });
        }
        test
    }

    fn step(&mut self) {
        let place = self.random.below(PEERS);
        match self.random.below(100) {
            _ if self.peers[place].is_monitor => {
                if self.random.once_in(10) {
                    self.replace(place);
                }
            }
            0..20 => self.add_rule(place),
            20..34 => self.remove_rule(place),
            34..44 => self.request_name(place),
            44..52 => self.release_name(place),
            52..82 => self.broadcast(place),
            82..97 => self.unicast(place),
            97..99 => self.replace(place),
            _ => self.become_monitor(place),
        }
    }

    fn add_rule(&mut self, place: usize) {
        // Few rules per peer, so that most messages have few recipients.
        if self.peers[place].rules.len() >= 4 {
            return self.remove_rule(place);
        }
        let rule = self.rule();
        let id = self.peers[place].id;
        let seen = self.world.call_bus(id, "AddMatch", &[rule.text().as_str().into()]);
        assert_eq!(seen.iter().filter(|seen| is_error(seen)).count(), 0, "{}", rule.text());
        self.peers[place].rules.push(rule);
    }

    fn remove_rule(&mut self, place: usize) {
        let MatchingPeer { id, rules, .. } = &mut self.peers[place];
        if rules.is_empty() {
            return;
        }
        let rule = rules.swap_remove(self.random.below(rules.len()));
        let seen = self.world.call_bus(*id, "RemoveMatch", &[rule.text().as_str().into()]);
        assert_eq!(seen.iter().filter(|seen| is_error(seen)).count(), 0, "{}", rule.text());
    }

    fn request_name(&mut self, place: usize) {
        let (peer, text) = (self.peers[place].id, self.random.pick(&NAMES));
        let flags = self.random.below(8) as u32;
        let (_, change) = self.names.request(text, peer, flags);
        let seen = self.world.call_bus(peer, "RequestName", &[text.into(), flags.into()]);
        self.check_announced(change.as_slice(), &seen);
    }

    fn release_name(&mut self, place: usize) {
        let (peer, text) = (self.peers[place].id, self.random.pick(&NAMES));
        let (_, change) = self.names.release(text, peer);
        let seen = self.world.call_bus(peer, "ReleaseName", &[text.into()]);
        self.check_announced(change.as_slice(), &seen);
    }

    /// Replaces a connection by a new one.
    fn replace(&mut self, place: usize) {
        let MatchingPeer { id: gone, is_monitor, .. } = self.peers[place];
        self.peers[place].rules.clear();
        let mut expected = Announcements::new();
        if !is_monitor {
            while let Some(text) = self.names.last_of(gone) {
                let (_, change) = self.names.release(&text, gone);
                expected.extend(change.and_then(|change| self.announcement(&change)));
            }
            let unique = (self.world.name_of(gone), Some(gone), None);
            expected.extend(self.announcement(&unique));
        }
        let seen = self.world.disconnect(gone);
        assert_eq!(announcements(&seen), expected);
        let id = self.world.join(0);
        self.peers[place] = MatchingPeer { id, rules: Vec::new(), is_monitor: false };
    }

    fn become_monitor(&mut self, place: usize) {
        if self.peers.iter().filter(|peer| peer.is_monitor).count() >= 2 {
            return;
        }
        let id = self.peers[place].id;
        while let Some(text) = self.names.last_of(id) {
            self.names.release(&text, id);
        }
        let rules: Vec<_> = (0..1 + self.random.below(3)).map(|_| self.rule()).collect();
        let texts = rules.iter().map(|rule| rule.text().as_str().into()).collect();
        let element = wire::signature::Signature::new("s").expect("valid").into();
        let texts = Value::Array { element, items: texts };
        self.world.call_bus(id, "Monitoring.BecomeMonitor", &[texts, 0_u32.into()]);
        self.peers[place] = MatchingPeer { id, rules, is_monitor: true };
    }

    /// Sends a signal twice with different arguments. The second one uses the cached route.
    fn broadcast(&mut self, place: usize) {
        let from = self.peers[place].id;
        let source = self.source();
        for _ in 0..2 {
            self.broadcast_one(from, source);
        }
    }

    fn broadcast_one(&mut self, from: PeerId, (object_path, interface_name, member_name): Source) {
        let args = self.args();
        let builder =
            Builder::signal(path(object_path), interface(interface_name), member(member_name));
        let seen = self.world.send(from, builder, &args);
        let subject = ModelSubject {
            kind: "signal",
            senders: self.names_of(from),
            destinations: Vec::new(),
            interface: Some(interface_name),
            member: Some(member_name),
            path: Some(object_path),
            args: &args,
        };
        let expected = self.matching(&subject, |_| true);
        self.compare(from, &seen, &expected);
    }

    /// Sends a call or a signal to a destination that may not exist.
    fn unicast(&mut self, place: usize) {
        let from = self.peers[place].id;
        let (object_path, interface_name, member_name) = self.source();
        let args = self.args();
        let destination = self.destination();
        let to = self.resolve(&destination);
        let is_call = self.random.once_in(2);
        let (kind, builder) = if is_call {
            (
                "method_call",
                Builder::method_call(path(object_path), member(member_name))
                    .interface(interface(interface_name)),
            )
        } else {
            (
                "signal",
                Builder::signal(path(object_path), interface(interface_name), member(member_name)),
            )
        };
        let seen = self.world.send(from, builder.destination(name(&destination)), &args);
        let subject = ModelSubject {
            kind,
            senders: self.names_of(from),
            destinations: to.map_or_else(|| vec![destination.clone()], |to| self.names_of(to)),
            interface: Some(interface_name),
            member: Some(member_name),
            path: Some(object_path),
            args: &args,
        };
        // Only monitors receive a message to a destination that does not exist.
        let eavesdrops = |rule: &ModelRule| rule.eavesdrops && to.is_some();
        let mut expected = self.matching(&subject, eavesdrops);
        expected.extend(to);
        self.compare(from, &seen, &expected);
        if let (Some(to), true) = (to, is_call) {
            let serial = self.world.next_serial(from) - 1;
            let reply = Builder::method_return(serial.try_into().expect("not 0"));
            let caller = self.world.name_of(from);
            self.world.send(to, reply.destination(name(&caller)), &[]);
        }
    }

    fn compare(&mut self, from: PeerId, seen: &[SeenEffect], expected: &ExpectedRecipients) {
        let sender = self.world.name_of(from);
        let mut found = ExpectedRecipients::new();
        for seen in seen {
            let SeenEffect::Sent { to, bytes, .. } = seen else { continue };
            let message = Message::parse(bytes).expect("a message");
            if message.sender().is_some_and(|name| name.as_str() == sender) {
                assert!(found.insert(*to), "{to} received the message twice");
            }
        }
        assert_eq!(found, *expected);
        self.deliveries += found.len();
    }

    /// Returns the peers with a matching rule: monitors, and other peers if the rule `applies`.
    fn matching(
        &self,
        subject: &ModelSubject<'_>,
        applies: impl Fn(&ModelRule) -> bool,
    ) -> ExpectedRecipients {
        let selects = |peer: &MatchingPeer, rule: &ModelRule| {
            (peer.is_monitor || applies(rule)) && rule.selects(subject)
        };
        let peers = self.peers.iter();
        let found = peers.filter(|peer| peer.rules.iter().any(|rule| selects(peer, rule)));
        found.map(|peer| peer.id).collect()
    }

    fn check_announced(&self, changes: &[OwnershipChange], seen: &[SeenEffect]) {
        let expected = changes.iter().filter_map(|change| self.announcement(change)).collect();
        assert_eq!(announcements(seen), expected);
    }

    /// Returns the arguments of NameOwnerChanged for a change of ownership, and its recipients;
    /// `None` if it has no recipients.
    fn announcement(&self, change: &OwnershipChange) -> Option<([String; 3], ExpectedRecipients)> {
        let (text, old, new) = change;
        let unique =
            |peer: &Option<PeerId>| peer.map_or_else(String::new, |p| self.world.name_of(p));
        let args = [text.clone(), unique(old), unique(new)];
        let values = args.clone().map(Value::from);
        let subject = ModelSubject {
            kind: "signal",
            senders: vec!["org.freedesktop.DBus".to_owned()],
            destinations: Vec::new(),
            interface: Some("org.freedesktop.DBus"),
            member: Some("NameOwnerChanged"),
            path: Some("/org/freedesktop/DBus"),
            args: &values,
        };
        let recipients = self.matching(&subject, |_| true);
        (!recipients.is_empty()).then_some((args, recipients))
    }

    fn names_of(&self, peer: PeerId) -> Vec<String> {
        let owned = self.names.all().into_iter();
        let owned = owned.filter(|name| self.names.owner(name) == Some(peer)).map(str::to_owned);
        std::iter::once(self.world.name_of(peer)).chain(owned).collect()
    }

    fn resolve(&self, destination: &str) -> Option<PeerId> {
        let by_unique = self.peers.iter().find(|peer| self.world.name_of(peer.id) == destination);
        let by_unique = by_unique.filter(|peer| !peer.is_monitor).map(|peer| peer.id);
        by_unique.or_else(|| self.names.owner(destination))
    }

    fn destination(&mut self) -> String {
        if self.random.once_in(2) {
            return self.random.pick(&NAMES).to_owned();
        }
        let place = self.random.below(PEERS);
        self.world.name_of(self.peers[place].id)
    }

    fn source(&mut self) -> Source {
        let random = &mut self.random;
        (random.pick(&PATHS), random.pick(&INTERFACES), random.pick(&MEMBERS))
    }

    fn args(&mut self) -> Vec<Value> {
        let count = self.random.below(4);
        let mut args: Vec<_> = (0..count).map(|_| self.arg()).collect();
        if self.random.once_in(10) {
            args.resize(63, Value::Byte(0));
            args.push(self.arg());
        }
        args
    }

    fn arg(&mut self) -> Value {
        let text = self.random.pick(&TEXTS);
        match self.random.below(6) {
            0 => Value::Uint32(1),
            1 => Value::Variant(Box::new(text.into())),
            2 => match ObjectPath::new(text) {
                Ok(path) => Value::ObjectPath(path.into()),
                Err(_) => text.into(),
            },
            _ => text.into(),
        }
    }

    fn rule(&mut self) -> ModelRule {
        let mut rule = ModelRule { eavesdrops: self.random.once_in(4), ..ModelRule::default() };
        for _ in 0..1 + self.random.below(3) {
            self.add_key(&mut rule);
        }
        rule
    }

    fn add_key(&mut self, rule: &mut ModelRule) {
        match self.random.below(9) {
            0 => rule.kind = Some(self.random.pick(&["signal", "method_call"])),
            1 => rule.sender = Some(self.sender()),
            2 => rule.interface = Some(self.random.pick(&INTERFACES)),
            3 => rule.member = Some(self.random.pick(&MEMBERS)),
            4 if rule.path_namespace.is_none() => rule.path = Some(self.random.pick(&PATHS)),
            5 if rule.path.is_none() => {
                rule.path_namespace = Some(self.random.pick(&PATHS));
            }
            6 => rule.destination = Some(self.destination()),
            _ => self.add_arg(rule),
        }
    }

    fn sender(&mut self) -> String {
        match self.random.below(4) {
            0 => "org.freedesktop.DBus".to_owned(),
            _ => self.destination(),
        }
    }

    fn add_arg(&mut self, rule: &mut ModelRule) {
        let index = self.random.pick(&[0, 0, 1, 2, 63]);
        if rule.args.iter().any(|(other, ..)| *other == index) {
            return;
        }
        let kind = self.random.pick(&["", "", "path", "namespace"]);
        let value = match kind {
            "namespace" if index > 0 => return,
            "namespace" => self.random.pick(&["com", "com.a", "com.a.b"]),
            _ => self.random.pick(&TEXTS),
        };
        rule.args.push((index, kind, value));
    }
}

/// Returns the recipients of each NameOwnerChanged signal.
fn announcements(seen: &[SeenEffect]) -> Announcements {
    let mut found = Announcements::new();
    for seen in seen {
        let SeenEffect::Sent { to, bytes, .. } = seen else { continue };
        let message = Message::parse(bytes).expect("a message");
        if message.member().is_some_and(|member| member == "NameOwnerChanged") {
            let (name, old, new) = message.read().expect("three texts");
            let recipients = found.entry([name, old, new]).or_default();
            assert!(recipients.insert(*to), "{to} received the message twice");
        }
    }
    found
}

fn is_error(seen: &SeenEffect) -> bool {
    match seen {
        SeenEffect::Sent { bytes, .. } => {
            Message::parse(bytes).expect("a message").error_name().is_some()
        }
        _ => false,
    }
}
