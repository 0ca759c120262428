//! Comparison of server addresses with libdbus.

use diligence_wire::address::AddressList;
use testkit::random::Random;

use crate::judge::{Judge, JudgedText, ReferenceVerdict};
use crate::{BATCH, ReferenceComparison, cases, deviations, distort, verdict};

#[test]
fn addresses_are_validated_like_libdbus() {
    let comparison = ReferenceComparison {
        kind: JudgedText::Address,
        count: cases(30),
        case: &address,
        ours: &|text: &String| verdict(AddressList::parse(text).map_err(|error| error.kind)),
        deviation: &|_, ours, theirs| deviations::address_deviation(ours, theirs),
    };
    comparison.run(&mut Judge::new());
}

#[test]
fn addresses_are_read_like_libdbus() {
    let mut random = Random::from_env();
    let mut judge = Judge::new();
    let mut compared = 0;
    for _ in 0..cases(10).div_ceil(BATCH) {
        let texts: Vec<String> = (0..BATCH).map(|_| address(&mut random)).collect();
        let lists = texts.iter().filter_map(|text| Some((text, AddressList::parse(text).ok()?)));
        let pairs: Vec<_> = lists.map(|(text, list)| (text, list.to_string())).collect();
        judge.ask(JudgedText::AddressToRead, pairs.iter().map(|(before, _)| before.as_bytes()));
        let read: Vec<ReferenceVerdict> = pairs.iter().map(|_| judge.verdict()).collect();
        judge.ask(JudgedText::AddressToRead, pairs.iter().map(|(_, after)| after.as_bytes()));
        for ((before, after), read) in pairs.iter().zip(read) {
            assert_eq!(judge.verdict(), read, "{before:?} was written as {after:?}");
        }
        compared += pairs.len();
    }
    assert!(compared > cases(1), "only {compared} were valid");
}

/// A list of addresses, valid or almost valid.
fn address(random: &mut Random) -> String {
    let entries: Vec<String> = (0..random.pick(&[1, 1, 1, 2, 3])).map(|_| entry(random)).collect();
    let mut text = entries.join(";");
    if random.once_in(2) {
        distort(&mut text, ODD, random);
    }
    text
}

fn entry(random: &mut Random) -> String {
    let (transport, keys) = random.pick(TRANSPORTS);
    let mut pairs = Vec::new();
    for (key, values) in keys {
        if pairs.is_empty() || random.once_in(2) {
            pairs.push(format!("{key}={}", random.pick(values)));
        }
    }
    if random.once_in(6) {
        pairs.push(format!("{}={}", random.pick(&["x", "guid", "env", "path"]), random.pick(ANY)));
    }
    format!("{transport}:{}", pairs.join(","))
}

type RandomKeys = &'static [(&'static str, &'static [&'static str])];

const TRANSPORTS: &[(&str, RandomKeys)] = &[
    ("unix", &[("path", PATHS), ("guid", GUIDS)]),
    ("unix", &[("abstract", PATHS), ("guid", GUIDS)]),
    ("unix", &[("dir", PATHS), ("x", ANY)]),
    ("unix", &[("tmpdir", PATHS)]),
    ("unix", &[("runtime", &["yes", "no"])]),
    ("tcp", &[("host", HOSTS), ("port", PORTS), ("family", FAMILIES), ("bind", HOSTS)]),
    ("nonce-tcp", &[("noncefile", PATHS), ("host", HOSTS), ("port", PORTS)]),
    ("unixexec", &[("path", PATHS), ("argv1", ANY), ("argv0", ANY)]),
    ("autolaunch", &[("scope", ANY)]),
    ("launchd", &[("env", ANY)]),
    ("systemd", &[("x", ANY)]),
    ("other", &[("x", ANY)]),
];

const PATHS: &[&str] =
    &["/tmp/a", "/run/user/1000/bus", "/a%20b", "relative", "%2fa", "/%c3%a9", "/%ff"];
const GUIDS: &[&str] =
    &["0123456789abcdef0123456789abcdef", "ffffffffffffffffffffffffffffffff", "0"];
const HOSTS: &[&str] = &["localhost", "127.0.0.1", "%3a%3a1", "*", "a.example"];
const PORTS: &[&str] = &["1", "65535", "4711", "65536"];
const FAMILIES: &[&str] = &["ipv4", "ipv6"];
const ANY: &[&str] = &["y", "%41", "*.-_/\\", "%00", "%zz", "a=b", "a%2cb", "0"];
const ODD: &[&str] = &[
    ";",
    ",",
    "=",
    ":",
    "%",
    "%2",
    "%4x",
    "%2F",
    "%e2%82%ac",
    "é",
    " ",
    "~",
    "*",
    "\\",
    "/",
    "a",
    "guid=",
    ",path=/b",
    "@",
    "\n",
    "+",
];
