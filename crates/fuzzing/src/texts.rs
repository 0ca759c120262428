//! Fuzzing targets for match rules, addresses and service files.

use services::{DesktopFile, ServiceFile};
use wire::address::AddressList;
use wire::match_rule::{MATCH_RULE_LEN_MAX, MatchArgument, MatchRule, MatchSubject};
use wire::message::MessageType;
use wire::names::WellKnownName;

use crate::seed::{Seed, numbered};

/// Parses a match rule. Its canonical form must parse to the same rule.
pub fn match_rule(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match MatchRule::parse(text) {
        Ok(rule) => {
            assert!(text.len() <= MATCH_RULE_LEN_MAX);
            let _ = rule.matches(&FuzzedSignal);
            let written = rule.to_string();
            // A rule near the length limit can have a longer canonical form, because that quotes
            // all values.
            if written.len() <= MATCH_RULE_LEN_MAX {
                assert_eq!(MatchRule::parse(&written).as_ref(), Ok(&rule), "{written:?}");
            }
        }
        Err(error) => check_place(text, error.at, &error),
    }
}

/// Parses a list of addresses. Its formatted text must parse to the same list.
pub fn address(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match AddressList::parse(text) {
        Ok(list) => {
            for address in &list {
                let _ = (address.is_connectable(), address.is_listenable());
            }
            let written = list.to_string();
            assert_eq!(AddressList::parse(&written).as_ref(), Ok(&list), "{written:?}");
        }
        Err(error) => check_place(text, error.at, &error),
    }
}

/// Checks that the position in an error is inside the text.
fn check_place(text: &str, at: usize, error: &impl std::fmt::Display) {
    assert!(at <= text.len(), "{error}: {at} of {}", text.len());
}

/// Parses a service file, as the bus and the launch helper do.
pub fn service_file(bytes: &[u8]) {
    let entry = DesktopFile::parse(bytes);
    match ServiceFile::parse(bytes) {
        Ok(service) => {
            let entry = entry.expect("a service file is a desktop entry");
            assert_eq!(entry.get("D-BUS Service", "Name"), Some(service.name.as_str()));
            assert!(WellKnownName::new(&service.name).is_ok());
            if let Ok(command) = service.command {
                let first = command.words().first().map_or("", String::as_str);
                assert_eq!(command.program(), first);
                assert!(command.words().iter().all(|word| !word.contains('\0')));
            }
        }
        Err(error) => drop(error.to_string()),
    }
}

/// A signal with three arguments.
struct FuzzedSignal;

impl MatchSubject for FuzzedSignal {
    fn message_type(&self) -> MessageType {
        MessageType::Signal
    }

    fn path(&self) -> Option<&str> {
        Some("/a/b")
    }

    fn interface(&self) -> Option<&str> {
        Some("a.b")
    }

    fn member(&self) -> Option<&str> {
        Some("S")
    }

    fn is_sender(&self, name: &str) -> bool {
        name == ":1.1"
    }

    fn is_destination(&self, _: &str) -> bool {
        false
    }

    fn arg(&self, index: u8) -> Option<MatchArgument<'_>> {
        [MatchArgument::String("com.a"), MatchArgument::ObjectPath("/a/"), MatchArgument::Other]
            .get(usize::from(index))
            .copied()
    }
}

/// Seeds with match rules that contain every key.
pub fn match_rules() -> Vec<Seed> {
    numbered([
        "type='signal',sender='org.freedesktop.DBus',interface='a.b',member='S',path='/a/b'",
        "path_namespace='/a',destination=':1.2',eavesdrop='true'",
        "arg0='text',arg1path='/a/',arg63=',',eavesdrop=false",
        "arg0namespace='com.a', type = 'error'",
        r"arg0=it\'s,arg1='a'\''b',arg2=\\",
        "",
    ])
}

/// Seeds with addresses of every transport.
pub fn addresses() -> Vec<Seed> {
    numbered([
        "unix:path=/run/user/1000/bus,guid=0123456789abcdef0123456789abcdef",
        "unix:abstract=/tmp/a%20b;unix:tmpdir=/tmp;unix:dir=/run;unix:runtime=yes",
        "tcp:host=localhost,port=4711,family=ipv4,bind=*;systemd:",
        "nonce-tcp:host=::1,port=0,noncefile=/a",
        "unixexec:path=/usr/bin/ssh,argv0=ssh,argv1=-xT,argv2=there",
        "launchd:env=A;autolaunch:scope=b;other:key=value,",
    ])
}

/// Seeds with service files that contain every key, comments and other groups.
pub fn service_files() -> Vec<Seed> {
    numbered([
        "[D-BUS Service]\nName=com.example.Clock\nExec=/usr/bin/clock --zone 'Mid Sea' \"a\\\"b\" c\\ d\n",
        "# Comment\n\n[Other]\nKey[de]=Wert\n[D-BUS Service]\nName=a.b\nExec=/bin/true\nUser=root\n\
         SystemdService=a.service\nAssumedAppArmorLabel=label\n",
        "[D-BUS Service]\nName = a.b\nExec = /bin/\\s\\n\\t\\r\\\\\n",
    ])
}
