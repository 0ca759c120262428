//! A call and its reply in steady traffic allocate nothing, on neither side.
//!
//! A program of its own, with a counting allocator and one thread, so that nothing else is counted.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use diligence_client::core::{Core, CoreConfig, MessageDisposition};
use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use support::PrivateTestBus;

struct CountingAllocator;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: everything is done by the system's allocator; counting touches no memory of it.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory came from the system's allocator, through `alloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Moves what one side wants to send to the other.
fn carry(from: &mut Core<()>, to: &mut Core<()>) {
    while let Some(transmit) = from.poll_transmit() {
        let count = transmit.bytes.len();
        to.space().put(transmit.bytes);
        to.handle_received(count, []);
        from.transmitted(count);
    }
}

fn ping(caller: &mut Core<()>, callee: &mut Core<()>, number: u32) {
    let message = Builder::method_call(ObjectPath::literal("/a"), MemberName::literal("Ping"))
        .interface(InterfaceName::literal("org.example.Ping"))
        .destination(BusName::new("org.example.Ping").expect("a name"))
        .sender(BusName::new(":1.7").expect("a name"));
    let deadline = Some(Duration::from_secs(number.into()));
    let call = caller.call(&message, &(number, "text"), Vec::new(), deadline).expect("it fits");
    carry(caller, callee);
    assert_eq!(callee.poll_message(), Some(MessageDisposition::Request));
    let request = callee.poll_request().expect("it has come");
    let (number, text) = request.read::<(u32, &str)>().expect("its types");
    callee.send(&request.reply(), &(text, number), Vec::new()).expect("it fits");
    carry(callee, caller);
    assert_eq!(caller.poll_message(), Some(MessageDisposition::Reply(call)));
    let reply = caller.poll_reply(call).expect("it has come").expect("in time");
    assert_eq!(reply.read::<(&str, u32)>(), Ok(("text", number)));
}

/// Runs `step` until memory is warm, and then counts what a thousand more allocate.
fn check(what: &str, mut step: impl FnMut(u32)) {
    (0..100).for_each(&mut step);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    (100..1100).for_each(&mut step);
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert_eq!(allocations, 0, "{what}, 1000 times");
    println!("{what}: no allocation");
}

fn main() {
    let mut caller = Core::new(CoreConfig::default());
    let mut callee = Core::new(CoreConfig::default());
    check("a call and its reply, from core to core", |number| {
        ping(&mut caller, &mut callee, number);
    });

    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let proxy = connection.proxy("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer");
    let proxy = proxy.expect("valid names");
    check("a call over a bus", |_| {
        let reply = proxy.call("Ping", &()).expect("the bus answers");
        reply.read::<()>().expect("it has no results");
    });

    let changes = connection.subscribe("member='Changed'").expect("a valid rule");
    check("a signal to ourselves", |number| {
        connection.emit("/a", "org.example.A", "Changed", &(number,)).expect("valid names");
        let signal = changes.next(None).expect("the bus runs").expect("there is no time limit");
        assert_eq!(signal.read::<(u32,)>(), Ok((number,)));
    });
}
