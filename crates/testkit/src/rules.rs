//! Policy rules, one per line.
//!
//! ```text
//! allow own a.b                        own *, own below=a.b
//! deny send to=a.b interface=a.b.I member=M
//! allow send type=signal audience=broadcast log
//! user=7 deny receive from=a.b replies=unrequested recipient=eavesdropper
//! mandatory deny send fds=1..4 path=/x error=a.b.E to=below:a.b
//! group=3 allow connect user=7         connect *, connect group=4
//! ```
//!
//! The words before the decision are the context of the rule: also `console` and `no-console`;
//! without a context, the rule applies to every connection, before all others.

use bus::policy::{
    Audience, ConnectSubject, MessageMatch, NamePattern, PolicyRule, PolicyVerdict, ReceiveMatch,
    RecipientRole, Replies, RuleSubject, Scope, SendMatch,
};
use wire::message::MessageType;

/// Parses a rule.
///
/// # Panics
///
/// Panics if the line is not a rule.
pub fn rule(line: &str) -> PolicyRule {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_verdict = |word: &&str| matches!(*word, "allow" | "deny");
    let at = words.iter().position(is_verdict).unwrap_or_else(|| panic!("{line}: no verdict"));
    let verdict = if words[at] == "allow" { PolicyVerdict::Allow } else { PolicyVerdict::Deny };
    let scope = words[..at].first().map_or(Scope::Default, |word| scope(word));
    let right = *words.get(at + 1).unwrap_or_else(|| panic!("{line}: no right"));
    let rest = &words[at + 2..];
    let subject = match right {
        "connect" => RuleSubject::Connect(connect_subject(rest[0])),
        "own" => RuleSubject::Own(names(
            rest[0]
                .strip_prefix("below=")
                .map_or_else(|| rest[0].to_owned(), |prefix| format!("below:{prefix}")),
        )),
        "send" => RuleSubject::Send(send(rest)),
        "receive" => RuleSubject::Receive(receive(rest)),
        _ => panic!("{line}: unknown action {right}"),
    };
    PolicyRule { scope, verdict, subject, log: rest.contains(&"log") }
}

fn scope(word: &str) -> Scope {
    match pair(word) {
        ("default", _) => Scope::Default,
        ("mandatory", _) => Scope::Mandatory,
        ("user", uid) => Scope::User(number(uid)),
        ("group", gid) => Scope::Group(number(gid)),
        ("console", _) => Scope::AtConsole,
        ("no-console", _) => Scope::NotAtConsole,
        _ => panic!("unknown scope {word}"),
    }
}

fn connect_subject(word: &str) -> ConnectSubject {
    match pair(word) {
        ("*", _) => ConnectSubject::AllUsers,
        ("user", uid) => ConnectSubject::User(number(uid)),
        ("group", gid) => ConnectSubject::Group(number(gid)),
        _ => panic!("unknown connect subject {word}"),
    }
}

fn names(text: impl AsRef<str>) -> NamePattern {
    let text = text.as_ref();
    match text.strip_prefix("below:") {
        _ if text == "*" => NamePattern::Any,
        Some(prefix) => NamePattern::Prefix(prefix.to_owned()),
        None => NamePattern::One(text.to_owned()),
    }
}

fn send(words: &[&str]) -> SendMatch {
    let mut wanted = SendMatch::default();
    for word in words {
        match pair(word) {
            ("to", name) => wanted.destination = names(name),
            ("audience", "broadcast") => wanted.audience = Audience::Broadcast,
            ("audience", "unicast") => wanted.audience = Audience::Unicast,
            ("log", _) => {}
            (key, value) => message(&mut wanted.message, key, value),
        }
    }
    wanted
}

fn receive(words: &[&str]) -> ReceiveMatch {
    let mut wanted = ReceiveMatch::default();
    for word in words {
        match pair(word) {
            ("from", name) => wanted.sender = Some(name.to_owned()),
            ("recipient", "addressee") => wanted.recipient = RecipientRole::Addressee,
            ("recipient", "eavesdropper") => wanted.recipient = RecipientRole::Eavesdropper,
            (key, value) => message(&mut wanted.message, key, value),
        }
    }
    wanted
}

fn message(wanted: &mut MessageMatch, key: &str, value: &str) {
    let text = || Some(value.to_owned());
    match key {
        "type" => wanted.message_type = Some(message_type(value)),
        "path" => wanted.path = text(),
        "interface" => wanted.interface = text(),
        "member" => wanted.member = text(),
        "error" => wanted.error = text(),
        "replies" => wanted.replies = replies(value),
        "fds" => {
            let (least, most) = value.split_once("..").expect("fds=LEAST..MOST");
            wanted.fds = number(least)..=number(most);
        }
        _ => panic!("unknown rule key {key}"),
    }
}

fn message_type(text: &str) -> MessageType {
    let known = [
        MessageType::MethodCall,
        MessageType::MethodReturn,
        MessageType::Error,
        MessageType::Signal,
    ];
    let found = known.into_iter().find(|known| known.as_str() == text);
    found.unwrap_or_else(|| panic!("unknown message type {text}"))
}

fn replies(text: &str) -> Replies {
    match text {
        "any" => Replies::Any,
        "requested" => Replies::Requested,
        "unrequested" => Replies::Unrequested,
        _ => panic!("unknown kind of replies {text}"),
    }
}

fn pair(word: &str) -> (&str, &str) {
    word.split_once('=').unwrap_or((word, ""))
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("{text} is not a number"))
}
