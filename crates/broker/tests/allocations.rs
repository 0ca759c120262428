//! A small call and its reply pass through the whole daemon, from socket to socket, without
//! allocations, after a few similar calls.
//!
//! A counting allocator needs unsafe code, so this test is a separate program.

#![expect(unsafe_code, reason = "a global allocator is unsafe by its nature")]

mod daemon;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use broker::busconfig;
use wire::Message;
use wire::message::{Builder, FixedHeader};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

/// Counts the allocations of the bus thread.
struct CountingAllocator;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IS_BUS: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    if IS_BUS.try_with(Cell::get) == Ok(true) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: all operations are forwarded to the system's allocator; apart from that only a counter
// changes.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees the contract of this method, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees the contract of this method, which is the same.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees the contract of this method, which is the same.
        unsafe { System.realloc(place, layout, len) }
    }
}

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

const ROUND_TRIPS: u32 = 1000;

#[test]
fn a_round_trip_allocates_nothing() {
    let folder = std::env::temp_dir().join(format!("diligence-allocations-{}", std::process::id()));
    let (ready, is_ready) = mpsc::channel();
    let path = folder.clone();
    // The thread ends with the process of the test.
    std::thread::spawn(move || {
        daemon::run(&path, busconfig::built_in_session().into(), || {
            ready.send(()).expect("the test waits");
            IS_BUS.set(true);
        });
    });
    is_ready.recv().expect("the bus starts");

    let (mut caller, mut callee) =
        (AllocationPeer::connect(&folder), AllocationPeer::connect(&folder));
    std::fs::remove_file(&folder).expect("the socket");
    (1..100).for_each(|serial| round_trip(&mut caller, &mut callee, serial));
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    (100..100 + ROUND_TRIPS).for_each(|serial| round_trip(&mut caller, &mut callee, serial));
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert_eq!(allocations, 0, "in {ROUND_TRIPS} round trips");
}

fn round_trip(caller: &mut AllocationPeer, callee: &mut AllocationPeer, serial: u32) {
    let serial = NonZeroU32::new(serial + 1).expect("not zero");
    let builder = call("/com/example", "com.example.Cost", "Ping");
    caller.send(&builder.destination(BusName::new(&callee.name).expect("a name")), serial);
    let sender = caller.name.clone();
    callee.receive(|call| assert_eq!(call.serial(), serial));
    let destination = BusName::new(&sender).expect("a name");
    callee.send(&Builder::method_return(serial).destination(destination), serial);
    caller.receive(|reply| assert_eq!(reply.reply_serial(), Some(serial)));
}

fn call(path: &'static str, interface: &'static str, member: &'static str) -> Builder<'static> {
    let path = ObjectPath::new(path).expect("a path");
    let member = MemberName::new(member).expect("a member");
    Builder::method_call(path, member).interface(InterfaceName::new(interface).expect("a name"))
}

/// A minimal client of the bus.
struct AllocationPeer {
    stream: UnixStream,
    name: String,
}

impl AllocationPeer {
    fn connect(path: &Path) -> Self {
        let mut stream = UnixStream::connect(path).expect("the bus listens");
        stream.write_all(b"\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n").expect("room");
        let mut answer = [0; b"DATA\r\nOK 01234567890123456789012345678901\r\n".len()];
        stream.read_exact(&mut answer).expect("it lets us in");
        let mut peer = Self { stream, name: String::new() };
        let bus = BusName::new("org.freedesktop.DBus").expect("a name");
        let hello = call("/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello");
        peer.send(&hello.destination(bus), NonZeroU32::MIN);
        let mut name = String::new();
        peer.receive(|reply| name = reply.read::<(String,)>().expect("a name").0);
        peer.receive(|signal| {
            assert_eq!(signal.member().map(|m| m.as_str()), Some("NameAcquired"))
        });
        peer.name = name;
        peer
    }

    fn send(&mut self, builder: &Builder<'_>, serial: NonZeroU32) {
        let mut bytes = Vec::new();
        builder.write(&mut bytes, serial, &()).expect("it fits");
        self.stream.write_all(&bytes).expect("room");
    }

    fn receive(&mut self, check: impl FnOnce(&Message<'_>)) {
        let mut bytes = vec![0; FixedHeader::LEN];
        self.stream.read_exact(&mut bytes).expect("a message");
        let start = bytes.first_chunk().expect("that many were read");
        let len = FixedHeader::parse(start).expect("a valid header").message_len();
        bytes.resize(len, 0);
        self.stream.read_exact(&mut bytes[FixedHeader::LEN..]).expect("all of it");
        check(&Message::parse(&bytes).expect("a valid message"));
    }
}
