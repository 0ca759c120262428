//! The filter with messages as lines of text.
//!
//! A message of the client is `KIND TO MEMBER ARGUMENT`, and a message from the bus is `KIND FROM
//! MEMBER ARGUMENT`, both with options after it: `serial=N`, `reply=N` and `path=PATH`, and the
//! words `noreply`, `noautostart` and `unicast`. `-` stands for an absent part.

use std::num::NonZeroU32;
use std::rc::Rc;

use wire::message::Builder;
use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};

use super::*;
use wire::Message;
use wire::message::{FixedHeader, Flags, MessageType};

const ME: &str = ":1.7";

/// A filter after Hello, whose own calls were answered: nobody owns a name.
fn filter(rules: &str) -> ConnectionFilter {
    let mut filter = new_filter(rules);
    assert_eq!(client(&mut filter, "call BUS org.freedesktop.DBus.Hello serial=1"), "forward");
    assert_eq!(bus(&mut filter, &format!("return BUS - {ME} reply=1")), "forward");
    answer_own_calls(&mut filter, |_| None);
    filter
}

fn new_filter(rules: &str) -> ConnectionFilter {
    let mut options = FilterOptions { is_enabled: true, logs: true, ..Default::default() };
    for word in rules.split_whitespace() {
        match word {
            "sloppy" => options.has_sloppy_names = true,
            rule => options.rules.push(SandboxRule::parse(rule).unwrap()),
        }
    }
    ConnectionFilter::new(Rc::new(with_bus_rule(options)))
}

/// Answers the calls of the filter: `owner` returns the owner of a name.
fn answer_own_calls(filter: &mut ConnectionFilter, owner: impl Fn(&str) -> Option<&'static str>) {
    loop {
        let bytes = filter.take_own_calls();
        for (serial, member, argument) in calls(&bytes) {
            let reply = match &*member {
                "AddMatch" => continue,
                "ListNames" => format!("names BUS - org.a.b,org.a.c,org.x,:1.1 reply={serial}"),
                _ => match owner(&argument) {
                    Some(owner) => format!("return BUS - {owner} reply={serial}"),
                    None => format!("error BUS a.b.NoOwner - reply={serial}"),
                },
            };
            assert_eq!(bus(filter, &reply), "drop");
        }
        if bytes.is_empty() {
            break;
        }
    }
    assert!(!filter.holds_client());
}

/// Returns the serial, the member and the first argument of each call.
fn calls(mut bytes: &[u8]) -> Vec<(u32, String, String)> {
    let mut calls = Vec::new();
    while let Some(start) = bytes.first_chunk() {
        let len = FixedHeader::parse(start).unwrap().message_len();
        let message = Message::parse(&bytes[..len]).unwrap();
        let argument = driver_calls::first_string(&message).unwrap_or_default();
        let member = message.member().unwrap().as_str();
        calls.push((message.serial().get(), member.into(), argument.into()));
        bytes = &bytes[len..];
    }
    calls
}

fn client(filter: &mut ConnectionFilter, line: &str) -> String {
    let bytes = message(line, true);
    let message = Message::parse(&bytes).unwrap();
    describe(&filter.client_message(&message))
}

fn bus(filter: &mut ConnectionFilter, line: &str) -> String {
    let bytes = message(line, false);
    let message = Message::parse(&bytes).unwrap();
    describe(&filter.bus_message(&message))
}

/// Makes a call of the client, and returns the error that it gets, or `forward` or `drop`.
fn result(filter: &mut ConnectionFilter, line: &str) -> String {
    match &*client(filter, &format!("{line} serial=9")) {
        "ping" => bus(filter, "return - - - reply=9"),
        other => other.into(),
    }
}

fn describe(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Forward => "forward".into(),
        Verdict::Drop => "drop".into(),
        Verdict::Disconnect(fault) => format!("disconnect: {fault}"),
        Verdict::Replace(bytes) => {
            let message = Message::parse(bytes).unwrap();
            message.validate_body().unwrap();
            match message.message_type() {
                MessageType::MethodCall => message.member().unwrap().as_str().to_lowercase(),
                MessageType::Error => {
                    let name = message.error_name().unwrap().as_str();
                    assert_eq!(message.read::<(&str,)>().unwrap(), (name,));
                    name.rsplit('.').next().unwrap().into()
                }
                _ if message.signature().as_str() == "b" => {
                    message.read::<(bool,)>().unwrap().0.to_string()
                }
                _ => message.read::<(Vec<&str>,)>().unwrap().0.join(","),
            }
        }
    }
}

fn message(line: &str, from_client: bool) -> Vec<u8> {
    let words: Vec<_> = line.split(' ').collect();
    let word = |index: usize| words.get(index).copied().filter(|word| *word != "-");
    let options = words.get(3..).unwrap_or_default();
    let option = |key: &str| options.iter().find_map(|word| word.strip_prefix(key));
    let has = |wanted: &str| options.contains(&wanted);
    let number = |key| option(key).map(|text: &str| text.parse::<NonZeroU32>().unwrap());
    let serial = number("serial=").unwrap_or(NonZeroU32::new(100).unwrap());
    let reply = number("reply=");
    let path = ObjectPath::new(option("path=").unwrap_or("/")).unwrap();
    let (interface, member) = match word(2).and_then(|name| name.rsplit_once('.')) {
        Some((interface, member)) => (InterfaceName::new(interface).ok(), member),
        None => (None, word(2).unwrap_or("Member")),
    };
    let member = MemberName::new(member).unwrap();
    let mut builder = match words[0] {
        "call" => Builder::method_call(path, member),
        "signal" => Builder::signal(path, interface.unwrap(), member),
        "error" => Builder::error(ErrorName::new(word(2).unwrap()).unwrap(), reply.unwrap()),
        _ => Builder::method_return(reply.unwrap()),
    };
    if words[0] == "call"
        && let Some(interface) = interface
    {
        builder = builder.interface(interface);
    }
    let peer = word(1).map(|name| if name == "BUS" { BUS_NAME } else { name });
    let peer = peer.map(|name| BusName::new(name).unwrap());
    if let Some(peer) = peer {
        builder = if from_client { builder.destination(peer) } else { builder.sender(peer) };
    }
    if has("unicast") {
        builder = builder.destination(BusName::new(ME).unwrap());
    }
    for (word, flag) in
        [("noreply", Flags::NO_REPLY_EXPECTED), ("noautostart", Flags::NO_AUTO_START)]
    {
        if has(word) {
            builder = builder.flags(flag);
        }
    }
    let mut bytes = Vec::new();
    let argument = word(3).filter(|word| !word.contains('=') || word.starts_with("rule:"));
    let written = match argument.map(|text| text.trim_start_matches("rule:")) {
        _ if words[0] == "names" => {
            let names: Vec<_> = word(3).unwrap().split(',').collect();
            builder.write(&mut bytes, serial, &(&names[..],))
        }
        Some("5") => builder.write(&mut bytes, serial, &(5_u32,)),
        Some(text) if text.contains('/') => {
            let parts: Vec<_> = text.split('/').collect();
            builder.write(&mut bytes, serial, &(parts[0], parts[1], parts[2]))
        }
        Some("noreply" | "noautostart" | "unicast") | None => {
            builder.write(&mut bytes, serial, &())
        }
        Some(text) => builder.write(&mut bytes, serial, &(text,)),
    };
    written.unwrap();
    match reply {
        Some(call) if matches!(words[0], "call" | "signal") => {
            let [a, b, c, d] = call.get().to_ne_bytes();
            with_field(&bytes, &[5, 1, b'u', 0, a, b, c, d])
        }
        _ => bytes,
    }
}

/// Appends a field to the header of a message.
fn with_field(message: &[u8], field: &[u8]) -> Vec<u8> {
    let fixed = FixedHeader::parse(message.first_chunk().unwrap()).unwrap();
    let mut bytes = message[..fixed.fields_end()].to_vec();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend_from_slice(field);
    let fields_len = (bytes.len() - FixedHeader::LEN) as u32;
    bytes[12..16].copy_from_slice(&fields_len.to_ne_bytes());
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend_from_slice(&message[fixed.body_start()..]);
    bytes
}

#[test]
fn calls_depend_on_the_level_and_the_patterns_of_their_destination() {
    let rules = "see=org.see talk=org.talk own=org.own.* call=org.call=a.b.Get@/x/* \
                 broadcast=org.sends=*";
    for (line, expected) in [
        ("call org.see a.b.Get", "AccessDenied"),
        ("call org.talk a.b.Get", "forward"),
        ("call org.talk Get", "forward"),
        ("call org.talk.below a.b.Get", "ServiceUnknown"),
        ("call org.own.below a.b.Get", "forward"),
        ("call org.call a.b.Get path=/x/y", "forward"),
        ("call org.call a.b.Get path=/y", "AccessDenied"),
        ("call org.call a.b.Set path=/x", "AccessDenied"),
        ("call org.call Get path=/x", "AccessDenied"),
        ("call org.sends a.b.Get", "AccessDenied"),
        ("call org.hidden a.b.Get", "ServiceUnknown"),
        ("call org.hidden a.b.Get - noautostart", "NameHasNoOwner"),
        ("call org.hidden a.b.Get - noreply", "drop"),
        ("call org.see a.b.Get - noreply", "drop"),
        ("call :1.99 a.b.Get", "NameHasNoOwner"),
        ("call :1.7 a.b.Get", "forward"),
        ("call - a.b.Get", "forward"),
        ("signal - a.b.Changed", "forward"),
        ("signal org.talk a.b.Changed", "forward"),
        ("signal org.see a.b.Changed", "drop"),
        ("signal org.hidden a.b.Changed", "drop"),
        ("signal org.call a.b.Get path=/x", "forward"),
        ("signal BUS a.b.Changed", "drop"),
        ("return org.talk - - reply=5", "drop"),
    ] {
        assert_eq!(result(&mut filter(rules), line), expected, "{line}");
    }
}

#[test]
fn methods_of_the_bus_depend_on_their_arguments() {
    let rules = "see=org.see talk=org.talk own=org.own.* call=org.call=Nothing";
    for (member, argument, expected) in [
        ("Hello", "-", "forward"),
        ("GetId", "-", "forward"),
        ("RemoveMatch", "rule:type='signal'", "forward"),
        ("AddMatch", "rule:type='signal'", "forward"),
        ("AddMatch", "rule:eavesdrop=true", "AccessDenied"),
        ("AddMatch", "5", "forward"),
        ("BecomeMonitor", "-", "AccessDenied"),
        ("UpdateActivationEnvironment", "-", "AccessDenied"),
        ("ReloadConfig", "-", "AccessDenied"),
        ("RequestName", "org.own.x", "forward"),
        ("RequestName", "org.own", "forward"),
        ("RequestName", "org.talk", "AccessDenied"),
        ("RequestName", "org.hidden", "ServiceUnknown"),
        ("ReleaseName", "org.see", "AccessDenied"),
        ("ListQueuedOwners", "org.own", "forward"),
        ("ListQueuedOwners", "5", "ServiceUnknown"),
        ("StartServiceByName", "org.talk", "forward"),
        ("StartServiceByName", "org.call", "forward"),
        ("StartServiceByName", "org.see", "AccessDenied"),
        ("GetConnectionCredentials", "org.see", "forward"),
        ("GetConnectionCredentials", "org.freedesktop.DBus", "forward"),
        ("GetConnectionUnixUser", ":1.7", "forward"),
        ("GetConnectionUnixProcessID", ":1.99", "ServiceUnknown"),
        ("GetNameOwner", "org.see", "forward"),
        ("GetNameOwner", "org.hidden", "NameHasNoOwner"),
        ("GetNameOwner", "-", "NameHasNoOwner"),
        ("NameHasOwner", "org.see", "forward"),
        ("NameHasOwner", "org.hidden", "false"),
        ("NameHasOwner", ":1.99", "false"),
        ("Unknown", "-", "AccessDenied"),
    ] {
        let line = format!("call BUS org.freedesktop.DBus.{member} {argument}");
        assert_eq!(result(&mut filter(rules), &line), expected, "{line}");
    }
    for (line, expected) in [
        ("call BUS ListNames", "AccessDenied"),
        ("call BUS org.freedesktop.DBus.Introspectable.Introspect", "forward"),
        ("call BUS org.freedesktop.DBus.Properties.GetAll a.b", "AccessDenied"),
        ("call BUS org.freedesktop.DBus.Peer.Ping", "AccessDenied"),
        ("call BUS org.freedesktop.DBus.Monitoring.BecomeMonitor", "AccessDenied"),
        ("call BUS org.freedesktop.DBus.NameHasOwner org.hidden noreply", "drop"),
        ("call BUS org.freedesktop.DBus.AddMatch rule:eavesdrop=true noreply", "drop"),
    ] {
        assert_eq!(result(&mut filter(rules), line), expected, "{line}");
    }
}

#[test]
fn lists_of_names_have_only_visible_names() {
    let mut filter = filter("see=org.see.* talk=org.talk");
    for member in ["ListNames", "ListActivatableNames"] {
        let call = format!("call BUS org.freedesktop.DBus.{member} serial=3");
        assert_eq!(client(&mut filter, &call), "forward");
        let all = "org.freedesktop.DBus,org.hidden,:1.7,:1.8,org.see.x,org.talk,org.talk.x";
        let reply = format!("names BUS - {all} reply=3");
        assert_eq!(bus(&mut filter, &reply), "org.freedesktop.DBus,:1.7,org.see.x,org.talk");
        // A second reply is not expected.
        assert_eq!(bus(&mut filter, &reply), "drop");
    }
}

#[test]
fn replies_pass_once_and_only_for_calls() {
    let mut filter = filter("talk=org.talk");
    assert_eq!(bus(&mut filter, "return :1.5 - - reply=2"), "drop");
    assert_eq!(client(&mut filter, "call org.talk a.b.Get serial=2"), "forward");
    assert_eq!(bus(&mut filter, "return :1.5 - - reply=3"), "drop");
    assert_eq!(bus(&mut filter, "error :1.5 a.b.Failed - reply=2"), "forward");
    assert_eq!(bus(&mut filter, "return :1.5 - - reply=2"), "drop");
    assert_eq!(client(&mut filter, "call org.talk a.b.Get - noreply serial=2"), "forward");
    assert_eq!(bus(&mut filter, "return :1.5 - - reply=2"), "drop");
    // A signal is not a reply.
    assert_eq!(client(&mut filter, "call org.talk a.b.Get serial=2"), "forward");
    assert_eq!(bus(&mut filter, "signal :1.6 a.b.Changed - reply=2"), "drop");
    assert_eq!(bus(&mut filter, "signal :1.6 a.b.Changed - reply=2 unicast"), "forward");
    assert_eq!(bus(&mut filter, "return :1.5 - - reply=2"), "forward");
    // Only the bus answers a Ping, and calls of the bus.
    assert_eq!(client(&mut filter, "call org.hidden a.b.Get serial=4"), "ping");
    assert_eq!(bus(&mut filter, "return :1.5 - - reply=4"), "drop");
    assert_eq!(bus(&mut filter, "return - - - reply=4"), "ServiceUnknown");
}

#[test]
fn the_client_replies_once_to_each_caller() {
    let mut filter = filter("talk=org.talk");
    for caller in [":1.5", ":1.6"] {
        assert_eq!(bus(&mut filter, &format!("call {caller} a.b.Get unicast serial=2")), "forward");
    }
    assert_eq!(bus(&mut filter, "call :1.5 a.b.Get - unicast noreply serial=3"), "forward");
    for (line, expected) in [
        ("return :1.8 - - reply=2", "drop"),
        ("return org.talk - - reply=2", "drop"),
        ("return BUS - - reply=2", "drop"),
        ("return - - - reply=2", "drop"),
        // Calls and signals are not replies, whatever their headers say.
        ("call :1.5 a.b.Get - reply=2", "AccessDenied"),
        ("call org.hidden a.b.Get - reply=2", "ServiceUnknown"),
        ("call BUS org.freedesktop.DBus.BecomeMonitor - reply=2", "AccessDenied"),
        ("call org.talk a.b.Get - reply=2", "forward"),
        ("signal :1.5 a.b.Changed - reply=2", "drop"),
        ("return :1.5 - - reply=2", "forward"),
        ("return :1.5 - - reply=2", "drop"),
        ("error :1.6 a.b.Failed - reply=2", "forward"),
        ("return :1.6 - - reply=2", "drop"),
        ("return :1.5 - - reply=3", "drop"),
    ] {
        assert_eq!(result(&mut filter, line), expected, "{line}");
    }
}

#[test]
fn senders_become_visible() {
    let mut filter = filter("");
    let changed = "signal BUS org.freedesktop.DBus.NameOwnerChanged :1.5/:1.5/";
    assert_eq!(bus(&mut filter, changed), "drop");
    assert_eq!(result(&mut filter, "call :1.5 a.b.Get"), "NameHasNoOwner");
    assert_eq!(bus(&mut filter, "signal :1.5 a.b.Changed - unicast"), "forward");
    assert_eq!(bus(&mut filter, changed), "forward");
    assert_eq!(result(&mut filter, "call :1.5 a.b.Get"), "AccessDenied");
    // A broadcast that is dropped does not make its sender visible.
    assert_eq!(bus(&mut filter, "signal :1.6 a.b.Changed"), "drop");
    assert_eq!(result(&mut filter, "call :1.6 a.b.Get"), "NameHasNoOwner");
}

#[test]
fn broadcasts_pass_from_owners_of_names_to_talk_to() {
    let mut filter =
        new_filter("see=org.see talk=org.talk call=org.call=@/x broadcast=org.b=c.d.*");
    assert_eq!(client(&mut filter, "call BUS org.freedesktop.DBus.Hello serial=1"), "forward");
    assert!(filter.holds_client());
    assert_eq!(bus(&mut filter, &format!("return BUS - {ME} reply=1")), "forward");
    answer_own_calls(&mut filter, |name| match name {
        "org.see" => Some(":1.1"),
        "org.talk" => Some(":1.2"),
        "org.call" => Some(":1.3"),
        _ => None,
    });
    for (sender, expected) in [
        (":1.1", "drop"),
        (":1.2", "forward"),
        (":1.3", "forward"),
        (":1.4", "drop"),
        (":1.7", "forward"),
        ("BUS", "forward"),
        ("-", "forward"),
    ] {
        assert_eq!(bus(&mut filter, &format!("signal {sender} a.b.Changed")), expected, "{sender}");
    }
    // The rights of a later owner, which it keeps.
    let changed = |name: &str, owner: &str| {
        format!("signal BUS org.freedesktop.DBus.NameOwnerChanged {name}//{owner}")
    };
    assert_eq!(bus(&mut filter, &changed("org.b", ":1.4")), "forward");
    assert_eq!(bus(&mut filter, &changed("org.b", "")), "forward");
    assert_eq!(bus(&mut filter, &changed("org.hidden", ":1.5")), "drop");
    assert_eq!(bus(&mut filter, "signal :1.4 a.b.Changed"), "forward");
    assert_eq!(bus(&mut filter, "signal :1.5 a.b.Changed"), "drop");
    assert_eq!(result(&mut filter, "call :1.4 a.b.Get"), "AccessDenied");
    assert_eq!(result(&mut filter, "call :1.3 a.b.Get path=/x"), "forward");
}

#[test]
fn changes_of_unique_names_pass_with_sloppy_names() {
    for (rules, expected) in [("", "drop"), ("sloppy", "forward")] {
        let mut filter = filter(rules);
        let changed = "signal BUS org.freedesktop.DBus.NameOwnerChanged :1.5//:1.5";
        assert_eq!(bus(&mut filter, changed), expected);
        let changed = "signal BUS org.freedesktop.DBus.NameOwnerChanged org.x//:1.5";
        assert_eq!(bus(&mut filter, changed), "drop");
        // The names are not visible otherwise.
        assert_eq!(result(&mut filter, "call :1.5 a.b.Get"), "NameHasNoOwner");
    }
}

#[test]
fn the_filter_asks_for_the_owners_of_its_names() {
    let mut filter = new_filter("talk=org.a.* see=org.x see=org.x own=org.freedesktop.DBus");
    assert_eq!(
        client(&mut filter, "call BUS org.freedesktop.DBus.Hello serial=4294967294"),
        "forward"
    );
    let rule = |key: &str| {
        format!(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',\
             member='NameOwnerChanged',{key}"
        )
    };
    let expected = [
        (u32::MAX, "AddMatch", &*rule("arg0namespace='org.a'")),
        (1, "AddMatch", &*rule("arg0='org.x'")),
        (2, "GetNameOwner", "org.x"),
        (3, "ListNames", ""),
    ];
    let expected = expected.map(|(serial, member, text)| (serial, member.into(), text.into()));
    assert_eq!(calls(&filter.take_own_calls()), expected);
    assert_eq!(bus(&mut filter, "return BUS - :1.2 reply=2"), "drop");
    assert!(filter.holds_client());
    assert_eq!(bus(&mut filter, "names BUS - org.a.b,org.other,org.x,:1.1 reply=3"), "drop");
    let expected = [(4, "GetNameOwner", "org.a.b"), (5, "GetNameOwner", "org.x")];
    let expected = expected.map(|(serial, member, text)| (serial, member.into(), text.into()));
    assert_eq!(calls(&filter.take_own_calls()), expected);
    assert_eq!(bus(&mut filter, "return BUS - :1.3 reply=4"), "drop");
    assert!(filter.holds_client());
    assert_eq!(bus(&mut filter, "error BUS a.b.NoOwner - reply=5"), "drop");
    assert!(!filter.holds_client());
    assert_eq!(result(&mut filter, "call :1.3 a.b.Get"), "forward");
    assert_eq!(result(&mut filter, "call :1.2 a.b.Get"), "AccessDenied");
    // A second Hello is an error of the client, and starts nothing.
    assert_eq!(client(&mut filter, "call BUS org.freedesktop.DBus.Hello serial=8"), "forward");
    assert!(filter.take_own_calls().is_empty());
}

#[test]
fn messages_that_a_bus_could_read_differently_end_the_connection() {
    let mut filter = filter("talk=a.b");
    let call = message("call BUS org.freedesktop.DBus.AddMatch rule:type='signal'", true);
    // The last byte is the end of the string.
    let damaged = [&call[..call.len() - 1], b"x"].concat();
    let parsed = Message::parse(&damaged).unwrap();
    let verdict = filter.client_message(&parsed);
    assert_eq!(verdict, Verdict::Disconnect(FilterFault::InvalidBody));
    let mut unknown_type = call;
    unknown_type[1] = 9;
    let parsed = Message::parse(&unknown_type).unwrap();
    assert_eq!(filter.client_message(&parsed), Verdict::Disconnect(FilterFault::UnknownType));
    assert_eq!(filter.bus_message(&parsed), Verdict::Drop);
    let signal = message("signal - a.b.C", true);
    let unknown_field = with_field(&signal, &[77, 1, b'y', 0, 5]);
    let parsed = Message::parse(&unknown_field).unwrap();
    assert_eq!(filter.client_message(&parsed), Verdict::Disconnect(FilterFault::UnknownField));
}

#[test]
fn the_log_has_the_lines_of_xdg_dbus_proxy() {
    let mut filter = filter("see=org.see");
    filter.take_log();
    client(&mut filter, "call org.hidden a.b.Get serial=5 path=/x");
    bus(&mut filter, "return - - - reply=5 serial=6");
    client(&mut filter, "signal org.see a.b.Changed serial=6");
    client(&mut filter, "call BUS org.freedesktop.DBus.RequestName org.see serial=7");
    bus(&mut filter, "error BUS a.b.Failed - reply=1 serial=7");
    bus(&mut filter, "signal :1.5 a.b.Changed serial=8");
    let expected = "\
C5: -> org.hidden call a.b.Get at /x
*HIDDEN* (ping)
B6: <- (no sender) return from C5
*REWRITTEN*
C6: -> org.see signal a.b.Changed at /
*DENIED*
C7: -> org.freedesktop.DBus call org.freedesktop.DBus.RequestName at /
Filtering message due to arg0 org.see, policy: 1 (required 3)
*DENIED* (ping)
B7: <- org.freedesktop.DBus return error a.b.Failed from C1
*Unexpected reply*
B8: <- :1.5 signal a.b.Changed at /
*FILTERED IN*
";
    assert_eq!(filter.take_log(), expected);
}
