//! Handling a small message allocates nothing, once the bus has handled a similar one.
//!
//! A counting allocator needs unsafe code, so this test is a separate program.

#![expect(unsafe_code, reason = "a global allocator is unsafe by its nature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use bus::{
    Amount, Bus, Configuration, ConnectionCredentials, DescriptorPassing, Effect, Effects, Input,
    PeerId, Time,
};
use testkit::world::{build, driver_method, identity, interface, member, name, path};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;

/// An allocator that counts its calls.
struct CountingAllocator;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does everything; this code only increments a counter.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller fulfills the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfills the same contract.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller fulfills the same contract.
        unsafe { System.realloc(place, layout, len) }
    }
}

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

const A: PeerId = PeerId::new(0, 0);
const B: PeerId = PeerId::new(1, 0);

/// Messages with the sender of each.
type AllocationScene = Vec<(PeerId, Vec<u8>)>;

#[test]
fn small_messages_allocate_nothing() {
    let call = Builder::method_call(path("/a/b"), member("M")).interface(interface("a.b"));
    let signal = |text| Builder::signal(path("/a/b"), interface("a.b"), member(text));
    let reply = Builder::method_return(7.try_into().expect("not 0"));
    let args = [Value::from("text"), Value::from(7_u32)];
    let scenes: [(&str, AllocationScene); 5] = [
        (
            "a call by unique name and its reply",
            vec![
                (A, build(call.destination(name(":1.1")), 7, &args)),
                (B, build(reply.destination(name(":1.0")), 8, &args)),
            ],
        ),
        (
            "a call by well-known name and its reply",
            vec![
                (A, build(call.destination(name("com.example.B")), 7, &args)),
                (B, build(reply.destination(name(":1.0")), 8, &args)),
            ],
        ),
        ("a signal whose route is kept", vec![(A, build(signal("S"), 9, &args))]),
        ("a signal for a rule on an argument", vec![(A, build(signal("T"), 9, &args))]),
        ("a signal for a rule that arguments decide", vec![(A, build(signal("U"), 9, &args))]),
    ];
    let mut bus = bus();
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > 0, "the counter counts");
    let mut effects = Effects::new();
    for (case, scene) in scenes {
        let mut counts = [0; 4];
        for count in &mut counts {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            let sent = play(&mut bus, &mut effects, &scene);
            *count = ALLOCATIONS.load(Ordering::Relaxed) - before;
            assert_eq!(sent, scene.len(), "{case}: each message reaches one connection");
        }
        assert_eq!(counts[1..], [0; 3], "{case}: {counts:?}");
    }
}

/// Creates a bus with two connections; B owns a name and has match rules.
fn bus() -> Bus {
    let mut bus = Bus::new(identity(), Configuration::default(), 7);
    let mut effects = Effects::new();
    for peer in [A, B] {
        let credentials = ConnectionCredentials::default();
        bus.handle(
            Time::default(),
            Input::Connected { peer, credentials, container: None },
            &mut effects,
        );
        let fds = DescriptorPassing::Agreed;
        bus.handle(Time::default(), Input::Authenticated { peer, uid: None, fds }, &mut effects);
        call(&mut bus, peer, "Hello", &[]);
    }
    call(&mut bus, B, "RequestName", &["com.example.B".into(), 0_u32.into()]);
    for rule in
        ["member='S',path_namespace='/a'", "member='T',arg0='text'", "member='U',arg0path='text'"]
    {
        call(&mut bus, B, "AddMatch", &[rule.into()]);
    }
    bus
}

fn call(bus: &mut Bus, from: PeerId, method: &str, args: &[Value]) {
    let (interface_name, method) = driver_method(method);
    let builder = Builder::method_call(path("/org/freedesktop/DBus"), member(method))
        .interface(interface(&interface_name))
        .destination(name("org.freedesktop.DBus"));
    play(bus, &mut Effects::new(), &vec![(from, build(builder, 1, args))]);
}

/// Sends messages, lets the recipients read them, and returns how many were delivered.
fn play(bus: &mut Bus, effects: &mut Effects, scene: &AllocationScene) -> usize {
    let mut sent = 0;
    for (from, bytes) in scene {
        effects.clear();
        let message = Message::parse(bytes).expect("a message");
        bus.handle(Time::default(), Input::Message { from: *from, message }, effects);
        for index in 0..effects.list().len() {
            let Effect::Send(delivery) = &effects.list()[index] else { panic!("only messages") };
            let body = message.body().len() as u64;
            let bytes = match delivery.body {
                bus::Body::InHead => 0,
                bus::Body::OfInput => body,
            };
            let bytes = bytes + delivery.head.len() as u64;
            let (to, amount) = (delivery.to, Amount { messages: 1, bytes, fds: 0 });
            sent += 1;
            bus.handle(
                Time::default(),
                Input::Written { to, amount, copied: 0 },
                &mut Effects::new(),
            );
        }
    }
    sent
}
