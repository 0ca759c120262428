//! A configuration that is accepted lets pass what its rules let pass, no more and no less.
//!
//! Random rules are judged by the bus, and by a second reading of them here, which goes through
//! them one by one for single messages with names, paths and descriptors.

use std::fmt::Debug;
use std::fs;

use bus::Verdict;
use diligence_broker::busconfig::Admission;

use crate::{Files, environment, wrap};

#[test]
fn accepted_policies_mean_what_their_rules_say() {
    let mut random = Random(1);
    let mut accepted = 0;
    let files = Files::new();
    for _ in 0..3000 {
        let rules = random.rules();
        fs::write(files.path("main.conf"), wrap(&to_xml(&rules))).unwrap();
        let Ok(config) = files.load(&environment()) else { continue };
        accepted += 1;
        let rules = in_order(&rules);
        let check = |what: &dyn Debug, found: bool, expected: bool| {
            assert_eq!(found, expected, "{what:?}\n{}", to_xml(&rules));
        };
        check(&"own user", may_connect(&rules, true, "root"), true);
        let everybody = config.admission == Admission::Everybody;
        check(&"stranger", may_connect(&rules, false, "alice"), everybody);
        for user in ["root", "alice"] {
            for name in ["a.b", "c.d"] {
                check(&name, decide(&rules, user, false, |rule| rule.matches_name(name)), true);
            }
        }
        let policy = config.configuration.policy;
        let unrequested = policy.unrequested_replies == Verdict::Allow;
        let eavesdropping = policy.eavesdropping == Verdict::Allow;
        for (sender, recipient) in [("root", "alice"), ("alice", "root")] {
            for message in messages() {
                let receives = |overhears| {
                    decide(&rules, recipient, false, |rule| {
                        rule.matches_received(&message, overhears)
                    })
                };
                let sends = decide(&rules, sender, false, |rule| rule.matches_sent(&message));
                let passes = sends && receives(false);
                let expected = message.reply != Some("unrequested") || unrequested;
                check(&message, passes, expected);
                if passes && !message.broadcast {
                    check(&("overheard", message), receives(true), eavesdropping);
                }
            }
        }
    }
    assert!(accepted > 300, "only {accepted} were accepted, which checks little");
}

#[derive(Clone, Debug)]
struct Rule {
    scope: &'static str,
    allow: bool,
    attributes: Vec<(&'static str, &'static str)>,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    kind: &'static str,
    reply: Option<&'static str>,
    broadcast: bool,
    interface: Option<&'static str>,
    peer: &'static str,
    fds: u32,
}

fn messages() -> Vec<Message> {
    let kinds = [
        ("method_call", None, false),
        ("signal", None, false),
        ("signal", None, true),
        ("method_return", Some("requested"), false),
        ("method_return", Some("unrequested"), false),
        ("error", Some("requested"), false),
        ("error", Some("unrequested"), false),
        ("new", None, false),
    ];
    let mut messages = Vec::new();
    for (kind, reply, broadcast) in kinds {
        for (interface, peer, fds) in [(None, "a.b", 0), (Some("a.b"), "c.d", 1), (None, "", 2)] {
            messages.push(Message { kind, reply, broadcast, interface, peer, fds });
        }
    }
    messages
}

impl Rule {
    fn get(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| *name == attribute).map(|(_, value)| *value)
    }

    fn is_about(&self, prefix: &str) -> bool {
        self.attributes.iter().any(|(name, _)| name.starts_with(prefix))
    }

    /// Whether an attribute asks for nothing else than `value`.
    fn fits(&self, attribute: &str, value: &str) -> bool {
        self.get(attribute).is_none_or(|wanted| wanted == "*" || wanted == value)
    }

    fn matches_name(&self, name: &str) -> bool {
        self.get("own").is_some_and(|own| own == "*" || own == name)
            || self.get("own_prefix").is_some_and(|prefix| name.starts_with(prefix))
    }

    fn matches_message(&self, message: &Message, side: &str) -> bool {
        let name = |attribute: &str| format!("{side}_{attribute}");
        let wanted_fds =
            self.get("min_fds").map_or(0, number)..=self.get("max_fds").map_or(u32::MAX, number);
        let requested = self.get(&name("requested_reply")).map(|value| value == "true");
        let reply_fits = match (message.reply, self.allow) {
            (None, _) => true,
            (Some("requested"), true) | (Some("unrequested"), false) => true,
            (Some(_), true) => requested == Some(false) || self.get("eavesdrop") == Some("true"),
            (Some(_), false) => requested == Some(true),
        };
        // A rule that names an interface denies what has none, and does not allow it.
        let interface_fits = match message.interface {
            Some(interface) => self.fits(&name("interface"), interface),
            None => !self.allow || self.fits(&name("interface"), "none"),
        };
        reply_fits
            && interface_fits
            && self.fits(&name("type"), message.kind)
            && wanted_fds.contains(&message.fds)
    }

    fn matches_sent(&self, message: &Message) -> bool {
        let audience = if message.broadcast { "true" } else { "false" };
        self.is_about("send_")
            && self.matches_message(message, "send")
            && self.fits("send_broadcast", audience)
            && self.fits("send_destination", message.peer)
    }

    fn matches_received(&self, message: &Message, overhears: bool) -> bool {
        let eavesdrop = self.get("eavesdrop") == Some("true");
        (self.is_about("receive_") || (self.is_about("eavesdrop") && !self.is_about("send_")))
            && self.matches_message(message, "receive")
            && self.fits("receive_sender", message.peer)
            && (self.allow || !eavesdrop || overhears)
            && (!self.allow || eavesdrop || !overhears)
    }
}

/// What the last rule says that is for this user and matches.
fn decide(rules: &[Rule], user: &str, initial: bool, matches: impl Fn(&Rule) -> bool) -> bool {
    let is_for = |rule: &&Rule| match rule.scope {
        "user='root'" => user == "root",
        "at_console='true'" => user == "alice",
        _ => true,
    };
    rules.iter().filter(is_for).filter(|rule| matches(rule)).fold(initial, |_, rule| rule.allow)
}

fn may_connect(rules: &[Rule], own_user: bool, user: &str) -> bool {
    let rules = rules.iter().filter(|rule| rule.scope.starts_with("context"));
    let matches = |rule: &&Rule| {
        rule.get("user").is_some_and(|wanted| wanted == "*" || wanted == user)
            || rule.get("group").is_some_and(|wanted| wanted == "*")
    };
    rules.filter(matches).fold(own_user, |_, rule| rule.allow)
}

fn number(text: &str) -> u32 {
    text.parse().expect("a number of descriptors")
}

fn in_order(rules: &[Rule]) -> Vec<Rule> {
    let of = |scope| rules.iter().filter(move |rule| rule.scope == scope).cloned();
    SCOPES.into_iter().flat_map(of).collect()
}

fn to_xml(rules: &[Rule]) -> String {
    rules.iter().fold(String::new(), |mut text, Rule { scope, allow, attributes }| {
        let element = if *allow { "allow" } else { "deny" };
        text += &format!("<policy {scope}><{element}");
        for (name, value) in attributes {
            text += &format!(" {name}='{value}'");
        }
        text + "/></policy>\n"
    })
}

const SCOPES: [&str; 4] =
    ["context='default'", "user='root'", "at_console='true'", "context='mandatory'"];

/// One attribute of each list, or none of it, makes a rule.
const SEND: [&[(&str, &str)]; 6] = [
    &[("send_type", "*"), ("send_type", "signal"), ("send_type", "error")],
    &[("send_interface", "*"), ("send_interface", "a.b")],
    &[("send_destination", "*"), ("send_destination", "c.d")],
    &[("send_requested_reply", "true"), ("send_requested_reply", "false")],
    &[("eavesdrop", "true"), ("eavesdrop", "false")],
    &[("min_fds", "0"), ("max_fds", "1"), ("min_fds", "1")],
];
const BROADCAST: [&[(&str, &str)]; 2] = [
    &[("send_broadcast", "true"), ("send_broadcast", "false")],
    &[("send_type", "*"), ("send_type", "signal"), ("send_type", "method_call")],
];
const RECEIVE: [&[(&str, &str)]; 6] = [
    &[("receive_type", "*"), ("receive_type", "method_return"), ("receive_type", "method_call")],
    &[("receive_interface", "*"), ("receive_interface", "a.b")],
    &[("receive_sender", "*"), ("receive_sender", "c.d")],
    &[("receive_requested_reply", "true"), ("receive_requested_reply", "false")],
    &[("eavesdrop", "true"), ("eavesdrop", "false")],
    &[("max_fds", "0")],
];
const ALONE: [&[(&str, &str)]; 1] = [&[
    ("own", "*"),
    ("own", "a.b"),
    ("own_prefix", "c"),
    ("user", "*"),
    ("user", "alice"),
    ("group", "*"),
    ("group", "staff"),
]];

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    fn rules(&mut self) -> Vec<Rule> {
        let count = self.below(6);
        let mut rules: Vec<_> = (0..count).map(|_| self.rule()).collect();
        // Without these, hardly anything would be accepted.
        for attributes in [("own", "*"), ("send_type", "*"), ("receive_sender", "*")] {
            let at = if self.below(2) == 0 { 0 } else { rules.len() };
            let scope = if self.below(3) == 0 { SCOPES[3] } else { SCOPES[0] };
            rules.insert(at, Rule { scope, allow: true, attributes: vec![attributes] });
        }
        rules
    }

    fn rule(&mut self) -> Rule {
        let lists: [&[&[(&str, &str)]]; 4] = [&SEND, &BROADCAST, &RECEIVE, &ALONE];
        let lists = lists[self.below(4)];
        loop {
            let mut attributes = Vec::new();
            for list in lists {
                // Most rules ask little, so that they match much.
                if lists.len() == 1 || self.below(3) == 0 {
                    attributes.push(list[self.below(list.len())]);
                }
            }
            let rule = Rule { scope: self.scope(), allow: self.below(2) == 0, attributes };
            if rule.attributes.iter().any(|(name, _)| !name.ends_with("_fds")) {
                return rule;
            }
        }
    }

    fn scope(&mut self) -> &'static str {
        SCOPES[[0, 0, 0, 0, 1, 2, 3][self.below(7)]]
    }
}
