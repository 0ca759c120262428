//! Readiness of descriptors as epoll reports it.

use rustix::io::{read, write};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};
use unix::poll::{Events, Interest, PollEvent, Poller};
use unix::socket::socket_pair;

const TOKEN: u64 = u64::MAX - 1;

/// A poller that watches the first of two sockets.
fn watched(interest: Interest) -> (Poller, OwnedFd, OwnedFd) {
    let (here, there) = socket_pair().expect("sockets can be made");
    let poller = Poller::new().expect("a poller can be made");
    poller.add(&here, TOKEN, interest).expect("a socket can be polled");
    (poller, here, there)
}

/// Returns the events that are ready now.
fn ready(poller: &Poller) -> Vec<PollEvent> {
    let mut events = Events::with_capacity(8);
    poller.wait(&mut events, Some(Duration::ZERO)).expect("a wait does not fail");
    assert_eq!(events.is_empty(), events.iter().len() == 0);
    events.iter().collect()
}

/// Formats an event as its token and `rwhe`, with dots for the states that are not reported.
fn describe(event: PollEvent) -> (u64, String) {
    let letters = [
        ('r', event.is_readable()),
        ('w', event.is_writable()),
        ('h', event.is_hangup()),
        ('e', event.is_error()),
    ];
    (
        event.token(),
        letters.map(|(letter, is_set)| if is_set { letter } else { '.' }).iter().collect(),
    )
}

#[test]
fn readiness_is_reported_until_it_is_used_up() {
    let (poller, here, there) = watched(Interest::Read);
    assert_eq!(ready(&poller), []);
    write(&there, b"ab").unwrap();
    for _ in 0..3 {
        assert_eq!(ready(&poller).len(), 1);
    }
    let mut byte = [0];
    read(&here, &mut byte).unwrap();
    assert_eq!(ready(&poller).len(), 1, "one byte is left");
    read(&here, &mut byte).unwrap();
    assert_eq!(ready(&poller), []);
}

#[test]
fn only_what_is_of_interest_is_reported() {
    let check = |interest, idle: &str, with_data: &str, peer_gone: &str| {
        let (poller, _here, there) = watched(interest);
        let now = || ready(&poller).into_iter().map(|event| describe(event).1).collect::<String>();
        assert_eq!(now(), idle, "{interest:?}, idle");
        write(&there, b"data").unwrap();
        assert_eq!(now(), with_data, "{interest:?}, with data");
        drop(there);
        assert_eq!(now(), peer_gone, "{interest:?}, peer gone");
    };
    check(Interest::Read, "", "r...", "r.h.");
    check(Interest::Write, ".w..", ".w..", ".wh.");
    check(Interest::ReadWrite, ".w..", "rw..", "rwh.");
    check(Interest::Hangup, "", "", "..h.");
}

#[test]
fn a_peer_that_closes_without_reading_is_an_error() {
    let (poller, here, there) = watched(Interest::Hangup);
    write(&here, b"unread").unwrap();
    drop(there);
    assert_eq!(describe(ready(&poller)[0]).1, "..he");
}

#[test]
fn interest_and_token_can_be_replaced_and_removed() {
    let (poller, here, _there) = watched(Interest::Read);
    poller.modify(&here, 7, Interest::Write).unwrap();
    assert_eq!(describe(ready(&poller)[0]), (7, ".w..".to_owned()));
    poller.remove(&here).unwrap();
    assert_eq!(ready(&poller), []);
}

#[test]
fn misuse_is_an_error() {
    let (poller, here, there) = watched(Interest::Read);
    let check = |result: io::Result<()>, kind| {
        assert_eq!(result.map_err(|error| error.kind()), Err(kind));
    };
    check(poller.add(&here, 0, Interest::Read), io::ErrorKind::AlreadyExists);
    check(poller.modify(&there, 0, Interest::Read), io::ErrorKind::NotFound);
    check(poller.remove(&there), io::ErrorKind::NotFound);
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    check(poller.add(&file, 0, Interest::Read), io::ErrorKind::PermissionDenied);
}

#[test]
fn more_than_there_is_room_for_comes_in_turn() {
    let poller = Poller::new().unwrap();
    let pairs: Vec<_> = (0..20).map(|_| socket_pair().unwrap()).collect();
    for (token, (here, _)) in (0..).zip(&pairs) {
        poller.add(here, token, Interest::Write).unwrap();
    }
    let mut events = Events::with_capacity(0);
    let mut seen = BTreeSet::new();
    for _ in 0..pairs.len() {
        poller.wait(&mut events, None).unwrap();
        seen.extend(events.iter().map(PollEvent::token));
    }
    assert_eq!(seen.len(), pairs.len(), "nobody starves");
}

#[test]
fn a_wait_ends_when_its_time_is_over_and_not_before() {
    let (poller, _here, _there) = watched(Interest::Read);
    let mut events = Events::with_capacity(1);
    for timeout in [0, 1, 999_999, 1_000_001, 2_500_000].map(Duration::from_nanos) {
        let start = Instant::now();
        poller.wait(&mut events, Some(timeout)).unwrap();
        let waited = start.elapsed();
        assert!(events.is_empty());
        assert!(waited >= timeout, "{waited:?} < {timeout:?}");
    }
}

#[test]
fn a_wait_may_be_longer_than_the_kernel_can_count() {
    let (poller, _here, there) = watched(Interest::Read);
    write(&there, b"x").unwrap();
    let mut events = Events::with_capacity(1);
    for timeout in [Some(Duration::MAX), Some(Duration::from_secs(1 << 40)), None] {
        poller.wait(&mut events, timeout).unwrap();
        assert_eq!(events.iter().len(), 1);
    }
}

#[test]
fn pollers_nest() {
    let (inner, _here, there) = watched(Interest::Read);
    let outer = Poller::new().unwrap();
    outer.add(&inner, 1, Interest::Read).unwrap();
    assert_eq!(ready(&outer), []);
    write(&there, b"x").unwrap();
    assert_eq!(describe(ready(&outer)[0]), (1, "r...".to_owned()));
    assert!(format!("{outer:?}").contains("epoll"));
}
