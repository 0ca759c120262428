extern crate std;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hash};
use core::num::NonZeroU32;
use std::collections::BTreeMap;

use foldhash::SharedSeed;
use foldhash::fast::{FixedState, SeedableRandomState};
use testkit::random::Random;
use wire::match_rule::MatchRule;

use super::*;
use crate::PeerId;

/// The hash of the bytes 0, 1, 2, … with the key 0, 1, 2, ….
fn sip_hash_of_counting(len: usize) -> u64 {
    let bytes: Vec<u8> = (0..len as u8).collect();
    let key = HashKey([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
    sip_hash(key, &bytes)
}

fn sip_hash(key: HashKey, bytes: &[u8]) -> u64 {
    let mut hasher = KeyedBuildHasher(key).build_hasher();
    let (words, rest) = bytes.as_chunks();
    words.iter().for_each(|word| hasher.word(u64::from_le_bytes(*word)));
    hasher.rest = rest.iter().rev().fold(0, |rest, &byte| rest << 8 | u64::from(byte));
    hasher.rest_len = rest.len() as u32;
    hasher.finish()
}

#[test]
fn the_hash_is_siphash_1_3() {
    // These hashes are published with the reference implementation of SipHash.
    for (len, expected) in [
        (0, 0xabac_0158_050f_c4dc),
        (1, 0xc9f4_9bf3_7d57_ca93),
        (7, 0xd392_7d98_9bb1_1140),
        (8, 0x3690_9511_8d29_9a8e),
        (15, 0xd320_d86d_2a51_9956),
        (16, 0xcc4f_dd1a_7d90_8b66),
        (63, 0x9d19_9062_b7bb_b3a8),
    ] {
        assert_eq!(sip_hash_of_counting(len), expected, "{len} bytes");
    }
}

#[test]
fn keys_are_encoded_in_words() {
    fn check(key: impl Hash, encoding: &[u8]) {
        let state = KeyedState::new(3.into());
        assert_eq!(state.hash(&key), sip_hash(3.into(), encoding), "{encoding:x?}");
    }
    check((), b"");
    check("", b"\xff\0\0\0\0\0\0\0");
    check("seven..", b"seven..\xff");
    check("eight...", b"eight...\xff\0\0\0\0\0\0\0");
    check("com.example.A", b"com.example.A\xff\0\0");
    check(('a', "com.example.A"), b"com.example.A\xff\0\0a\0\0\0");
    check((Some("a"), None::<&str>, 5_u32), b"a\xff\0\0\0\0\0\0\x01\0\x05\0\0\0");
    check((1_u8, 0x0302_u16, 0x0706_0504_u32), b"\x01\x02\x03\x04\x05\x06\x07");
    check(
        (0x0807_0605_0403_0201_u64, 9_usize),
        b"\xfe\x01\x02\x03\x04\x05\x06\x07\xfe\x08\x09\0\0\0\0\0\0\0",
    );
}

#[test]
fn keys_that_look_alike_have_different_hashes() {
    let state = KeyedState::new(Random::from_env().number().into());
    let texts =
        ["", "\0", "\0\0", "a", "a\0", "b", "abcdefg", "abcdefg\0", "abcdefgh", "\u{fe}\u{ff}"];
    let mut keys = BTreeMap::new();
    let mut check = |key: String, hash| {
        let known = keys.entry(hash).or_insert_with(|| key.clone());
        assert_eq!(*known, key);
    };
    for (first, second) in texts.iter().flat_map(|first| texts.map(|second| (*first, second))) {
        check(format!("{first:?} and {second:?}"), state.hash(&(first, second)));
        for third in [None, Some(first)] {
            let key = (third, Some(second), None::<&str>, 1_u32);
            check(format!("{key:?}"), state.hash(&key));
            let key = (third, None::<&str>, Some(second), 1_u32);
            check(format!("{key:?}"), state.hash(&key));
        }
    }
}

#[test]
fn each_half_of_the_key_changes_the_hash() {
    static SEEDS: [HashSeed; 2] = [HashSeed::new(1), HashSeed::new(2)];
    let hash = |random, seed| KeyedState::new(HashKey::new(random, seed)).hash("com.example.A");
    let hashes = [hash(1, &SEEDS[0]), hash(1, &SEEDS[1]), hash(2, &SEEDS[0])];
    assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2] && hashes[1] != hashes[2]);
    assert_eq!(hash(1, &SEEDS[0]), hashes[0]);
}

#[test]
fn a_key_is_not_shown() {
    let seed = HashSeed::new(1_234_567);
    let key = HashKey::new(7_654_321, &seed);
    let shown = format!("{key:?} {seed:?} {:?}", KeyedState::new(key));
    assert!(!shown.contains("1234567") && !shown.contains("7654321"), "{shown}");
}

#[test]
#[cfg_attr(miri, ignore = "too many hashes to be interpreted")]
fn keys_of_an_attacker_are_distributed_like_random_keys() {
    let mut random = Random::from_env();
    let sets = sets();
    for _ in 0..8 {
        let key = HashKey([random.number(), random.number()]);
        assert_eq!(crowded(&sets, &KeyedBuildHasher(key)), [""; 0], "{:x?}", key.0);
    }
}

/// Makes one key of a family.
type MakeKey = fn(u32) -> ChosenKey;

#[test]
#[cfg_attr(miri, ignore = "too many hashes to be interpreted")]
fn keys_chosen_for_a_known_secret_collide() {
    let mut random = Random::from_env();
    let sets = sets();
    assert_eq!(crowded(&sets, &FixedState::default()), CHOSEN_FOR_FOLDHASH);
    assert_eq!(crowded(&sets, &KeyedBuildHasher(HashKey([0; 2]))), CHOSEN_FOR_ZERO);
    // One of the two secrets is random, like in an earlier version of the bus.
    let half = SeedableRandomState::with_seed(random.number(), SharedSeed::global_fixed());
    assert_eq!(crowded(&sets, &half), ["numbers that meet the second secret"]);
}

/// The sets whose keys share buckets under the secrets that foldhash publishes.
const CHOSEN_FOR_FOLDHASH: [&str; 5] = [
    "names chosen for foldhash",
    "paths chosen for foldhash",
    "serials chosen for foldhash",
    "rules chosen for foldhash",
    "numbers that meet the second secret",
];

/// The sets whose keys share buckets if the key of SipHash is zero.
const CHOSEN_FOR_ZERO: [&str; 4] = [
    "names chosen for a key of zero",
    "paths chosen for a key of zero",
    "serials chosen for a key of zero",
    "rules chosen for a key of zero",
];

/// Number of keys in a set.
const KEYS: u32 = 1024;

/// Number of buckets in which the keys are counted.
const BUCKETS: u64 = 256;

/// Maximum deviation of the counts of a set from the counts of random hashes, in standard
/// deviations. The counts of crowded sets deviate by more than ten times as much.
const DEVIATIONS_MAX: f64 = 8.0;

/// Keys that an attacker would choose.
struct Set {
    name: &'static str,
    keys: Vec<ChosenKey>,
}

/// A key of the kinds that the tables of the bus contain.
#[derive(Debug, Hash)]
enum Chosen {
    Name(Box<str>),
    Route(Option<PeerId>, Option<Box<str>>, Option<&'static str>, Option<&'static str>),
    Reply(PeerId, NonZeroU32, PeerId),
    Rule(PeerId, MatchRule),
    Numbers(u64, u64),
}

/// The same key, hashed without the discriminant, which the tables do not contain.
struct ChosenKey(Chosen);

impl Hash for ChosenKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Chosen::Name(name) => name.hash(state),
            Chosen::Route(sender, path, interface, member) => {
                (sender, path, interface, member).hash(state);
            }
            Chosen::Reply(caller, serial, callee) => (caller, serial, callee).hash(state),
            Chosen::Rule(owner, rule) => (owner, rule).hash(state),
            Chosen::Numbers(first, second) => (first, second).hash(state),
        }
    }
}

fn name(text: String) -> ChosenKey {
    ChosenKey(Chosen::Name(text.into()))
}

fn signal(sender: PeerId, path: String) -> ChosenKey {
    let (interface, member) = (Some("com.example.Thing"), Some("Changed"));
    ChosenKey(Chosen::Route(Some(sender), Some(path.into()), interface, member))
}

fn path(number: u32) -> ChosenKey {
    signal(PeerId::new(7, 0), format!("/com/example/{number}"))
}

fn serial(number: u32) -> ChosenKey {
    let serial = NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    ChosenKey(Chosen::Reply(PeerId::new(7, 0), serial, PeerId::new(9, 0)))
}

fn rule(number: u32) -> ChosenKey {
    let text = format!("type='signal',path='/com/example/{number}',arg0='{number}'");
    ChosenKey(Chosen::Rule(PeerId::new(7, 0), MatchRule::parse(&text).expect("a rule")))
}

fn sets() -> Vec<Set> {
    // Bits 2 to 11 of `number`, moved to positions that are far apart.
    let sparse = |number: u32| (0..10).fold(0, |bits, n| bits | (number >> n & 1) << (3 * n + 1));
    let block = |before: usize, number: u32, after: usize| {
        name(format!("{}{number:016}{}", "a".repeat(before), "z".repeat(after)))
    };
    let all =
        |name, key: &dyn Fn(u32) -> ChosenKey| Set { name, keys: (0..KEYS).map(key).collect() };
    let foldhash = FixedState::default();
    let zero = KeyedBuildHasher(HashKey([0; 2]));
    let mut sets = Vec::from([
        all("names with numbers", &|n| name(format!("com.example.Service{n}"))),
        all("names that differ in the first block", &|n| block(0, n, 48)),
        all("names that differ in a block within", &|n| block(21, n, 27)),
        all("names that differ in the last block", &|n| block(48, n, 0)),
        all("long texts that differ in a block within", &|n| block(200, n, 300)),
        all("short names", &|n| name(format!("a.{n}"))),
        all("paths", &path),
        all("senders by their places", &|n| signal(PeerId::new(n, 0), "/".into())),
        all("senders by their generations", &|n| signal(PeerId::new(7, n), "/".into())),
        all("serials", &|n| serial(n + 1)),
        all("serials with low bits of zero", &|n| serial((n + 1) << 20)),
        all("serials that differ in few bits", &|n| serial(1 | sparse(n))),
        all("rules", &rule),
    ]);
    let families: [(_, MakeKey); 4] = [
        (CHOSEN_FOR_FOLDHASH[0], |n| name(format!("com.example.Service{n}"))),
        (CHOSEN_FOR_FOLDHASH[1], path),
        (CHOSEN_FOR_FOLDHASH[2], serial),
        (CHOSEN_FOR_FOLDHASH[3], rule),
    ];
    for (index, (name, key)) in families.into_iter().enumerate() {
        sets.push(Set { name, keys: colliding(key, &foldhash) });
        sets.push(Set { name: CHOSEN_FOR_ZERO[index], keys: colliding(key, &zero) });
    }
    let meeting = |n: u32| ChosenKey(Chosen::Numbers(n.into(), FOLDHASH_SECOND_SECRET));
    sets.push(all(CHOSEN_FOR_FOLDHASH[4], &meeting));
    sets
}

/// The keys of a family that share one bucket under a hash function.
fn colliding(key: fn(u32) -> ChosenKey, known: &impl BuildHasher) -> Vec<ChosenKey> {
    let all = (1..).map(key).filter(|key| known.hash_one(key) % BUCKETS == 0);
    all.take(KEYS as usize).collect()
}

/// Returns the crowded sets. Hashes of their keys agree more often than random hashes in the bits
/// that choose a bucket (the lowest), or in the bits that distinguish the keys in a bucket (the
/// highest seven).
fn crowded(sets: &[Set], hasher: &impl BuildHasher) -> Vec<&'static str> {
    let is_crowded = |set: &&Set| {
        let hashes = || set.keys.iter().map(|key| hasher.hash_one(key));
        let buckets = deviations(hashes().map(|hash| hash % BUCKETS), BUCKETS);
        let tags = deviations(hashes().map(|hash| hash >> 57), 128);
        buckets.max(tags) > DEVIATIONS_MAX
    };
    sets.iter().filter(is_crowded).map(|set| set.name).collect()
}

/// The chi-square statistic of counts, as standard deviations from its mean.
fn deviations(places: impl ExactSizeIterator<Item = u64>, count: u64) -> f64 {
    let expected = places.len() as f64 / count as f64;
    let mut counts = alloc::vec![0_u32; count as usize];
    places.for_each(|place| counts[place as usize] += 1);
    let squares = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected);
    let freedom = (count - 1) as f64;
    (squares.sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

/// The first word of the second secret that foldhash publishes: `SharedSeed::global_fixed()` of
/// version 0.2.
const FOLDHASH_SECOND_SECRET: u64 = 0xc0ac_29b7_c97c_50dd;
