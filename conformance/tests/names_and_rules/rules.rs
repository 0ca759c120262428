//! Random match rules, valid ones in every spelling and invalid ones.

use conformance::BUS_NAME;
use conformance::differential::SeededRandom;

use crate::operation::stand_in;
use crate::script::{INTERFACES, MEMBERS, NAMES, PATHS, TEXTS};
use crate::{CLIENTS, deviations};

/// A rule, independent of its spelling.
#[derive(Debug, Clone)]
pub(crate) struct GeneratedRule(Vec<(&'static str, String)>);

impl GeneratedRule {
    /// A rule with a random selection of keys; mostly few, so that it matches something.
    pub(crate) fn random(random: &mut SeededRandom) -> Self {
        let mut pairs: Vec<(&str, String)> = Vec::new();
        for (rarity, keys) in KEYS {
            if random.once_in(*rarity) {
                let key = keys[random.below(keys.len())];
                pairs.push((key, value(key, random)));
            }
        }
        Self(pairs).shuffled(random)
    }

    /// The same rule with its keys in another order.
    pub(crate) fn shuffled(mut self, random: &mut SeededRandom) -> Self {
        for end in 1..self.0.len() {
            self.0.swap(end, random.below(end + 1));
        }
        self
    }

    /// The rule in a random spelling.
    pub(crate) fn text(&self, random: &mut SeededRandom) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            if !text.is_empty() {
                text.push_str(random.pick(&[",", ",", ", ", ",\t"]));
            }
            text.push_str(&format!("{key}={}", quoted(value, random)));
        }
        if random.once_in(12) && !text.is_empty() {
            text.push(',');
        }
        text
    }
}

/// A rule that may be invalid.
pub(crate) fn any_rule(random: &mut SeededRandom) -> String {
    loop {
        let mut text = GeneratedRule::random(random).text(random);
        match random.below(3) {
            0 => {}
            1 => text.push_str(random.pick(WRONG)),
            _ => garble(&mut text, random),
        }
        if !deviations::rule_is_read_differently(&text) {
            return text;
        }
    }
}

/// Removes or inserts a character.
fn garble(text: &mut String, random: &mut SeededRandom) {
    let places: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
    if places.is_empty() {
        return;
    }
    let at = places[random.below(places.len())];
    match random.once_in(2) {
        true => drop(text.remove(at)),
        false => text.insert_str(at, random.pick(&["'", ",", "=", " ", "x", "1"])),
    }
}

fn value(key: &str, random: &mut SeededRandom) -> String {
    match key {
        "type" => random.pick(&["signal", "signal", "method_call", "method_return", "error"]),
        "sender" | "destination" => return name(random),
        "interface" if random.once_in(3) => BUS_NAME,
        "interface" => random.pick(INTERFACES),
        "member" if random.once_in(3) => random.pick(BUS_MEMBERS),
        "member" => random.pick(MEMBERS),
        "path" | "path_namespace" => random.pick(PATHS),
        "eavesdrop" => random.pick(&["true", "true", "false"]),
        "arg0namespace" => random.pick(&["com", "com.example", "com.example.A"]),
        _ if random.once_in(3) => return name(random),
        _ => random.pick(TEXTS),
    }
    .to_owned()
}

fn name(random: &mut SeededRandom) -> String {
    match random.below(3) {
        0 => stand_in(random.below(CLIENTS)),
        _ => random.pick(&[NAMES[0], NAMES[1], NAMES[2], BUS_NAME]).to_owned(),
    }
}

/// A value with apostrophes around all, a part or none of it. An apostrophe in the value is outside
/// of the quotes, after a backslash.
fn quoted(value: &str, random: &mut SeededRandom) -> String {
    let half = (0..=value.len() / 2).rev().find(|at| value.is_char_boundary(*at));
    let (first, last) = value.split_at(half.unwrap_or(0));
    let inside = |part: &str| format!("'{}'", part.replace('\'', "'\\''"));
    let needs_quotes = value.contains([',', '\'', ' ']);
    match random.below(8) {
        0 if !needs_quotes => value.to_owned(),
        1 if !needs_quotes => format!("{first}{}", inside(last)),
        2 if !needs_quotes => format!("{}{last}", inside(first)),
        3 => format!("{}{}", inside(first), inside(last)),
        _ => inside(value),
    }
}

/// Keys that a rule has at most once, and how rarely it has them.
const KEYS: &[(usize, &[&str])] = &[
    (3, &["type"]),
    (6, &["sender"]),
    (6, &["interface"]),
    (6, &["member"]),
    (4, &["path", "path_namespace", "path_namespace"]),
    (16, &["destination"]),
    (5, &["eavesdrop"]),
    (5, &["arg0", "arg0", "arg0path", "arg0namespace"]),
    (10, &["arg1", "arg1path"]),
    (24, &["arg2", "arg2path"]),
    (40, &["arg63", "arg63path"]),
];

const BUS_MEMBERS: &[&str] = &["NameOwnerChanged", "NameAcquired", "NameLost", "RequestName"];

const WRONG: &[&str] = &[
    ",type='signal'",
    "type='sig'",
    ",member='a.b'",
    ",path='/a/'",
    ",path='/a',path_namespace='/a'",
    ",sender='no name'",
    ",arg64='x'",
    ",arg1namespace='com'",
    ",arg0namespace='com.'",
    ",arg='x'",
    ",arg0='x',arg0path='/'",
    ",eavesdrop='yes'",
    ",nothing='x'",
    ",member='M",
    ",member",
    ",,member='M'",
    " , member='M'",
    ",member ='M'",
    ",member= 'M'",
    ",destination=''",
    ",interface='I'",
];
