//! Checks that calls and replies in steady traffic allocate no memory on either side.
//!
//! This test has no harness: with its own threads only and a counting allocator, no other test is
//! counted.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use diligence_client::core::{CallDeadline, Core, CoreConfig, MessageDisposition};
use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::{CallError, Ended, interface, proxy};
use support::PrivateTestBus;

struct CountingAllocator;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "implementing an allocator requires unsafe code")]
// SAFETY: all operations are forwarded to the system allocator; counting does not touch its memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`, which is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory came from the system allocator, through `alloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Passes all queued bytes of one side to the other.
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
    let limit = Duration::from_secs(number.into());
    let deadline = Some(CallDeadline { at: limit, limit });
    let call = caller
        .call(&message, &(number, "text"), Vec::new(), deadline)
        .expect("the message is small");
    carry(caller, callee);
    assert_eq!(callee.poll_message(), Some(MessageDisposition::Request));
    let request = callee.poll_request().expect("the message was received");
    let (number, text) = request.read::<(u32, &str)>().expect("the types match");
    callee.send(&request.reply(), &(text, number), Vec::new()).expect("the message is small");
    carry(callee, caller);
    assert_eq!(caller.poll_message(), Some(MessageDisposition::Reply(call)));
    let reply = caller.poll_reply(call).expect("the message was received").expect("no timeout");
    assert_eq!(reply.read::<(&str, u32)>(), Ok(("text", number)));
}

#[proxy(interface = "org.freedesktop.DBus.Peer", default_service = "org.freedesktop.DBus")]
trait StandardPeer {
    fn ping(&self) -> Result<(), CallError>;
}

struct TestAdder {
    sum: u64,
}

#[interface(name = "org.example.Adder")]
impl TestAdder {
    fn add(&mut self, number: u32, unit: &str) -> Result<u64, CallError> {
        assert_eq!(unit, "apples");
        self.sum += u64::from(number);
        Ok(self.sum)
    }

    #[property]
    fn sum(&self) -> u64 {
        self.sum
    }
}

#[proxy(interface = "org.example.Adder")]
trait Adder {
    fn add(&self, number: u32, unit: &str) -> Result<u64, CallError>;
    #[property]
    fn sum(&self) -> Result<u64, CallError>;
}

/// Runs `step` 100 times to fill buffers and pools, and then checks that 1000 more runs allocate
/// nothing.
fn check(label: &str, mut step: impl FnMut(u32)) {
    (0..100).for_each(&mut step);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    (100..1100).for_each(&mut step);
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert_eq!(allocations, 0, "{label}, 1000 times");
    println!("{label}: no allocation");
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
        reply.read::<()>().expect("Ping has no results");
    });

    let peer = StandardPeerProxy::new(&connection, "/").expect("valid names");
    check("a typed call over a bus", |_| peer.ping().expect("the bus answers"));

    let service = bus.connect();
    service.export("/adder", TestAdder { sum: 0 }).expect("the path is free");
    let name = service.unique_name().to_string();
    let serving = std::thread::spawn(move || service.serve());
    let adder = AdderProxy::at(&connection, &name, "/adder").expect("valid names");
    check("a typed call that another thread serves", |_| {
        adder.add(7, "apples").expect("the service answers");
    });
    check("the value of a property that another thread serves", |_| {
        assert_eq!(adder.sum(), Ok(7700));
    });

    let changes = connection.subscribe("member='Changed'").expect("a valid rule");
    check("a signal to the own connection", |number| {
        connection.emit("/a", "org.example.A", "Changed", &(number,)).expect("valid names");
        let signal = changes.next(None).expect("the bus runs").expect("there is no time limit");
        assert_eq!(signal.read::<(u32,)>(), Ok((number,)));
    });

    drop(bus);
    assert_eq!(serving.join().expect("the thread serves"), Ended::Closed);
}
