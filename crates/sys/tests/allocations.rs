//! The calls of every turn of the event loop allocate nothing. This program has a counting
//! allocator, and one thread, so that no other allocations are counted.

#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

#[path = "support/runner.rs"]
mod runner;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{ErrorKind, IoSlice};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;
use sys::poll::{Events, Interest, Poller};
use sys::socket::{UnixAddress, accept, listen_unix, socket_pair};
use sys::transfer::{MAX_DESCRIPTORS, TransferWait, receive, send};

struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    runner::run(
        &[
            ("the_counter_counts", the_counter_counts),
            ("a_turn_allocates_nothing", a_turn_allocates_nothing),
            ("descriptors_allocate_nothing", descriptors_allocate_nothing),
            ("refusals_allocate_nothing", refusals_allocate_nothing),
        ],
        &[],
    );
}

/// Runs `work` once to warm up, and then counts the allocations of a hundred times.
fn count(mut work: impl FnMut()) -> u64 {
    work();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..100 {
        work();
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

fn the_counter_counts() {
    assert_eq!(count(|| drop(std::hint::black_box(Box::new(1)))), 100);
}

fn a_turn_allocates_nothing() {
    let (here, there) = socket_pair().expect("sockets can be made");
    let poller = Poller::new().expect("a poller can be made");
    poller.add(&there, 1, Interest::Read).expect("a socket can be polled");
    let mut events = Events::with_capacity(16);
    let mut buffer = [0; 4096];
    let mut descriptors = Vec::new();
    let turn = || {
        let slices = [IoSlice::new(b"head"), IoSlice::new(b"body")];
        assert_eq!(send(&here, &slices, &[], TransferWait::Never).expect("there is room"), 8);
        poller.wait(&mut events, Some(Duration::from_secs(1))).expect("a wait does not fail");
        assert_eq!(events.iter().len(), 1);
        let received = receive(&there, &mut buffer, &mut descriptors, TransferWait::Never);
        assert_eq!(received.expect("there is data").bytes, 8);
        poller.modify(&there, 1, Interest::Read).expect("it is watched");
        assert!(clock::monotonic() > Duration::ZERO);
    };
    assert_eq!(count(turn), 0);
}

fn descriptors_allocate_nothing() {
    let (here, there) = socket_pair().expect("sockets can be made");
    let sent = [here.as_fd(); MAX_DESCRIPTORS];
    let mut descriptors = Vec::with_capacity(MAX_DESCRIPTORS);
    let turn = || {
        send(&here, &[IoSlice::new(b"x")], &sent, TransferWait::Never).expect("there is room");
        let received = receive(&there, &mut [0; 8], &mut descriptors, TransferWait::Never);
        assert_eq!(received.expect("there is data").bytes, 1);
        assert_eq!(descriptors.len(), MAX_DESCRIPTORS);
        descriptors.clear();
    };
    assert_eq!(count(turn), 0);
}

fn refusals_allocate_nothing() {
    let (_here, there) = socket_pair().expect("sockets can be made");
    let name = format!("diligence-sys-allocations-{}", std::process::id());
    let listener = listen_unix(UnixAddress::Abstract(name.as_bytes())).expect("it is free");
    let turn = || {
        let received = receive(&there, &mut [0; 8], &mut Vec::new(), TransferWait::Never);
        assert_eq!(received.expect_err("there is nothing").kind(), ErrorKind::WouldBlock);
        drop(accept(&listener).expect("it listens"));
    };
    assert_eq!(count(turn), 0);
}
