//! Well-known names: owners, queues, and the order of their signals.

use std::collections::BTreeMap;

use conformance::{
    BUS_NAME, BusUnderTest, PlainMessage, PlainValue, TestPeer, check_all, eventually, kind,
};

const NAME: &str = "com.example.Name";

const ALLOW_REPLACEMENT: u32 = 1;
const REPLACE_EXISTING: u32 = 2;
const DO_NOT_QUEUE: u32 = 4;

/// Results of RequestName, in the words of the tests.
const PRIMARY: u32 = 1;
const WAITS: u32 = 2;
const EXISTS: u32 = 3;
const ALREADY: u32 = 4;

/// Results of ReleaseName, in the words of the tests.
const RELEASED: u32 = 1;
const NON_EXISTENT: u32 = 2;
const NOT_OWNER: u32 = 3;

/// An action of one of the clients a, b, c, and its result.
enum NameAction {
    Request(char, u32, u32),
    Release(char, u32),
    Leave(char),
}

use NameAction::{Leave, Release, Request};

struct NameStory {
    name: &'static str,
    acts: &'static [NameAction],
    /// Owner and queue afterwards; a bar separates alternatives.
    queue: &'static str,
}

const fn story(name: &'static str, acts: &'static [NameAction], queue: &'static str) -> NameStory {
    NameStory { name, acts, queue }
}

#[rustfmt::skip]
const STORIES: &[NameStory] = &[
    story("a free name", &[Request('a', 0, PRIMARY)], "a"),
    story("again", &[Request('a', 0, PRIMARY), Request('a', 0, ALREADY)], "a"),
    story("a second one waits", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS)], "ab"),
    story("waiting again", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS), Request('b', 0, WAITS)], "ab"),
    story("first come, first served", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS), Request('c', 0, WAITS), Release('a', RELEASED)], "bc"),
    story("not to wait", &[Request('a', 0, PRIMARY), Request('b', DO_NOT_QUEUE, EXISTS)], "a"),
    story("not to wait any more", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS), Request('b', DO_NOT_QUEUE, EXISTS)], "a"),
    story("replacing needs leave", &[Request('a', 0, PRIMARY), Request('b', REPLACE_EXISTING | DO_NOT_QUEUE, EXISTS)], "a"),
    story("replacing", &[Request('a', ALLOW_REPLACEMENT, PRIMARY), Request('b', REPLACE_EXISTING, PRIMARY)], "ba"),
    story("replaced, and not to wait", &[Request('a', ALLOW_REPLACEMENT | DO_NOT_QUEUE, PRIMARY), Request('b', REPLACE_EXISTING, PRIMARY)], "b"),
    story("replaced, and first to wait", &[Request('a', ALLOW_REPLACEMENT, PRIMARY), Request('b', 0, WAITS), Request('c', REPLACE_EXISTING, PRIMARY)], "cab"),
    story("replaced by a waiting client", &[Request('a', ALLOW_REPLACEMENT, PRIMARY), Request('b', 0, WAITS), Request('c', 0, WAITS), Request('c', REPLACE_EXISTING, PRIMARY)], "cab"),
    story("leave given later", &[Request('a', 0, PRIMARY), Request('a', ALLOW_REPLACEMENT, ALREADY), Request('b', REPLACE_EXISTING, PRIMARY)], "ba"),
    story("leave taken back", &[Request('a', ALLOW_REPLACEMENT, PRIMARY), Request('a', 0, ALREADY), Request('b', REPLACE_EXISTING, WAITS)], "ab"),
    // In dbus-daemon, a failed replacement goes to the front of the queue; the specification does
    // not require that.
    story("a failed replacement waits", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS), Request('c', REPLACE_EXISTING, WAITS)], "acb|abc"),
    story("a waiter keeps its flags", &[Request('a', 0, PRIMARY), Request('b', ALLOW_REPLACEMENT, WAITS), Release('a', RELEASED), Request('c', REPLACE_EXISTING, PRIMARY)], "cb"),
    story("released", &[Request('a', 0, PRIMARY), Release('a', RELEASED)], ""),
    story("released twice", &[Request('a', 0, PRIMARY), Release('a', RELEASED), Release('a', NON_EXISTENT)], ""),
    story("a stranger releases", &[Request('a', 0, PRIMARY), Release('b', NOT_OWNER)], "a"),
    story("a waiter releases", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS), Release('b', RELEASED)], "a"),
    story("the owner leaves", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS), Leave('a')], "b"),
    story("a waiter leaves", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS), Leave('b')], "a"),
    story("all leave", &[Request('a', 0, PRIMARY), Request('b', 0, WAITS), Leave('a'), Leave('b')], ""),
];

#[test]
fn queues() {
    let bus = BusUnderTest::session();
    check_all(
        STORIES,
        |story| story.name.to_owned(),
        |story| {
            let mut watcher = bus.peer();
            // The clients of the previous row may not have disconnected completely.
            wait_until_gone(&mut watcher, NAME);
            let mut peers = BTreeMap::from(['a', 'b', 'c'].map(|letter| (letter, bus.peer())));
            let letters: BTreeMap<_, _> =
                peers.iter().map(|(letter, peer)| (peer.name().to_owned(), *letter)).collect();
            for act in story.acts {
                perform(act, &mut peers, &mut watcher);
            }
            let reply = watcher.ask_bus("ListQueuedOwners", NAME);
            let queue = reply.body[0].strings().unwrap_or_default();
            let queue: String = queue.into_iter().map(|name| letters[name]).collect();
            assert!(story.queue.split('|').any(|fine| fine == queue), "the queue is {queue}");
        },
    );
    bus.stop();
}

fn perform(act: &NameAction, peers: &mut BTreeMap<char, TestPeer>, watcher: &mut TestPeer) {
    match *act {
        Request(letter, flags, result) => {
            let peer = peers.get_mut(&letter).expect("it has not left");
            assert_eq!(peer.request_name(NAME, flags), result, "{letter} requests {flags}");
        }
        Release(letter, result) => {
            let peer = peers.get_mut(&letter).expect("it has not left");
            let reply = peer.ask_bus("ReleaseName", NAME);
            assert_eq!(reply.first_u32(), Some(result), "{letter} releases");
        }
        Leave(letter) => {
            let gone = peers.remove(&letter).expect("it has not left");
            let name = gone.name().to_owned();
            drop(gone);
            wait_until_gone(watcher, &name);
        }
    }
}

fn wait_until_gone(watcher: &mut TestPeer, name: &str) {
    eventually("the bus to notice", || {
        let reply = watcher.ask_bus("NameHasOwner", name);
        (reply.body == [PlainValue::Bool(false)]).then_some(())
    });
}

/// First the reply to Hello, then the broadcast NameOwnerChanged, then the client's own
/// NameAcquired.
#[test]
fn signals_after_hello_have_a_fixed_order() {
    let bus = BusUnderTest::session();
    let mut watcher = bus.peer();
    watcher.add_match("type='signal',sender='org.freedesktop.DBus'");
    let mut peer = bus.peer();
    let name = peer.name().to_owned();
    assert_eq!(received(&mut watcher), [format!("changed {name}: -> {name}")]);
    // The test client has already received its own NameAcquired, right after the reply.
    assert_eq!(received(&mut peer), Vec::<String>::new());
    bus.stop();
}

/// The signals of a change of owner precede the reply to the call that caused it, in this order.
#[test]
fn signals_of_a_name_change_precede_the_reply() {
    let bus = BusUnderTest::session();
    let [mut first, mut second, mut watcher] = [bus.peer(), bus.peer(), bus.peer()];
    for peer in [&mut first, &mut second, &mut watcher] {
        peer.add_match(&format!("type='signal',member='NameOwnerChanged',arg0='{NAME}'"));
    }
    let [a, b] = [&first, &second].map(|peer| peer.name().to_owned());

    let request =
        |flags| PlainMessage::to_bus("RequestName").arg(PlainValue::text(NAME)).arg(flags);
    let (_, before) = first.call_and_collect(request(PlainValue::U32(ALLOW_REPLACEMENT)));
    assert_eq!(in_short(&before), [format!("changed {NAME}: -> {a}"), format!("acquired {NAME}")]);
    assert_eq!(received(&mut second), [format!("changed {NAME}: -> {a}")]);
    let (_, before) = second.call_and_collect(request(PlainValue::U32(REPLACE_EXISTING)));
    let changed = format!("changed {NAME}: {a} -> {b}");
    assert_eq!(in_short(&before), [changed.clone(), format!("acquired {NAME}")]);
    assert_eq!(received(&mut first), [format!("lost {NAME}"), changed]);

    let release = PlainMessage::to_bus("ReleaseName").arg(PlainValue::text(NAME));
    let (_, before) = second.call_and_collect(release);
    let changed = format!("changed {NAME}: {b} -> {a}");
    assert_eq!(in_short(&before), [format!("lost {NAME}"), changed.clone()]);
    assert_eq!(received(&mut first), [changed, format!("acquired {NAME}")]);
    drop(first);
    let received: Vec<_> = (0..4).filter_map(|_| watcher.receive()).collect();
    let expected = [
        format!("changed {NAME}: -> {a}"),
        format!("changed {NAME}: {a} -> {b}"),
        format!("changed {NAME}: {b} -> {a}"),
        format!("changed {NAME}: {a} -> "),
    ];
    assert_eq!(in_short(&received), expected);
    bus.stop();
}

/// A client that disconnects loses its names in the reverse order of acquisition, and its unique
/// name last.
#[test]
fn names_of_a_disconnected_client_are_released_in_reverse_order() {
    let bus = BusUnderTest::session();
    let mut watcher = bus.peer();
    watcher.add_match("type='signal',member='NameOwnerChanged'");
    let mut leaver = bus.peer();
    let name = leaver.name().to_owned();
    for part in ["A", "B", "C"] {
        leaver.request_name(&format!("com.example.{part}"), 0);
    }
    let _ = watcher.collect();
    drop(leaver);
    let received: Vec<_> = (0..4).filter_map(|_| watcher.receive()).collect();
    let lost = |what: &str| format!("changed {what}: {name} -> ");
    assert_eq!(
        in_short(&received),
        ["com.example.C", "com.example.B", "com.example.A", &name].map(lost)
    );
    bus.stop();
}

/// Unique names are never used twice.
#[test]
fn unique_names_are_not_reused() {
    let bus = BusUnderTest::session();
    let mut names: Vec<_> = (0..50).map(|_| bus.peer().name().to_owned()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 50);
    bus.stop();
}

/// Only subscribers receive NameOwnerChanged.
#[test]
fn name_changes_reach_only_subscribers() {
    let bus = BusUnderTest::session();
    let [mut asked, mut other, mut silent, mut owner] = [(); 4].map(|()| bus.peer());
    asked.add_match("type='signal',member='NameOwnerChanged',arg0namespace='com.example'");
    other.add_match("type='signal',member='NameOwnerChanged',arg0='com.example.Other'");
    owner.request_name(NAME, 0);
    assert_eq!(received(&mut asked).len(), 1);
    assert_eq!(received(&mut other), Vec::<String>::new());
    assert_eq!(received(&mut silent), Vec::<String>::new());
    bus.stop();
}

/// The signals that a client has received from the bus, in a short form.
fn received(peer: &mut TestPeer) -> Vec<String> {
    in_short(&peer.collect())
}

fn in_short(messages: &[PlainMessage]) -> Vec<String> {
    let of_bus = messages.iter().filter(|found| found.kind == kind::SIGNAL);
    of_bus
        .map(|signal| {
            assert_eq!(signal.sender(), BUS_NAME);
            let texts: Vec<_> = signal.body.iter().filter_map(PlainValue::as_str).collect();
            match (signal.member(), &texts[..]) {
                ("NameOwnerChanged", [name, old, new]) => {
                    let from = if old.is_empty() { String::new() } else { format!(" {old}") };
                    format!("changed {name}:{from} -> {new}")
                }
                ("NameAcquired", [name]) => format!("acquired {name}"),
                ("NameLost", [name]) => format!("lost {name}"),
                (member, texts) => format!("{member} {texts:?}"),
            }
        })
        .collect()
}
