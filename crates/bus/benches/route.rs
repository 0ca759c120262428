//! What the core costs: nanoseconds for routing a message, without parsing it and without sockets.
//!
//! `cargo bench -p diligence-bus-core`. Each message that is routed is also written off its recipient's
//! account, as in the daemon.

use bus::{
    Amount, Body, Bus, BusLimits, Configuration, ConnectionCredentials, DescriptorPassing, Effect,
    Effects, End, Input, PeerId, Policy, Time,
};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use testkit::rules::rule;
use testkit::world::{build, driver_method, identity, interface, member, name, path};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;

fn main() {
    divan::main();
}

/// A bus, and what its caller keeps.
struct Fixture {
    bus: Bus,
    effects: Effects,
    next: u32,
}

impl Fixture {
    fn new() -> Self {
        Self::under(Policy::unrestricted())
    }

    fn under(policy: Policy) -> Self {
        let limits =
            BusLimits { max_match_rules_per_connection: 1_000_000, ..BusLimits::session() };
        let config = Configuration { limits, policy, ..Configuration::default() };
        Self { bus: Bus::new(identity(), config, 7), effects: Effects::new(), next: 0 }
    }

    fn with_peers(count: u32) -> (Self, Vec<PeerId>) {
        Self::new().joined_by(count)
    }

    fn joined_by(mut self, count: u32) -> (Self, Vec<PeerId>) {
        let peers = (0..count).map(|_| self.join()).collect();
        (self, peers)
    }

    fn input(&mut self, input: Input<'_>) {
        let body = match &input {
            Input::Message { message, .. } => message.body().len(),
            _ => 0,
        };
        self.effects.clear();
        self.bus.handle(Time::default(), input, &mut self.effects);
        for effect in self.effects.list() {
            let Effect::Send(delivery) = effect else { continue };
            let body = if delivery.body == Body::OfInput { body } else { 0 };
            let bytes = (delivery.head.len() + body) as u64;
            let amount = Amount { messages: 1, bytes, fds: 0 };
            let mut none = Effects::new();
            self.bus.handle(
                Time::default(),
                Input::Written { to: delivery.to, amount, copied: 0 },
                &mut none,
            );
        }
    }

    fn send(&mut self, from: PeerId, message: &Message<'_>) {
        self.input(Input::Message { from, message: *message });
    }

    fn connect(&mut self) -> PeerId {
        let peer = PeerId::new(self.next, 0);
        self.next += 1;
        self.input(Input::Connected {
            peer,
            credentials: ConnectionCredentials::default(),
            container: None,
        });
        self.input(Input::Authenticated { peer, uid: Some(1000), fds: DescriptorPassing::Agreed });
        peer
    }

    fn join(&mut self) -> PeerId {
        let peer = self.connect();
        self.call(peer, "Hello", &[]);
        peer
    }

    fn call(&mut self, from: PeerId, method: &str, args: &[Value]) {
        let bytes = call_bytes(method, args);
        self.send(from, &parse(&bytes));
    }

    fn add_rule(&mut self, peer: PeerId, rule: &str) {
        self.call(peer, "AddMatch", &[rule.into()]);
    }
}

fn call_bytes(method: &str, args: &[Value]) -> Vec<u8> {
    let (of, what) = driver_method(method);
    let builder = Builder::method_call(path("/org/freedesktop/DBus"), member(what))
        .interface(interface(&of))
        .destination(name("org.freedesktop.DBus"));
    build(builder, 1, args)
}

fn parse(bytes: &[u8]) -> Message<'_> {
    Message::parse(bytes).expect("a message")
}

fn signal(args: &[Value]) -> Vec<u8> {
    let builder = Builder::signal(
        path("/org/example/Object/7"),
        interface("org.example.Thing"),
        member("Changed"),
    );
    build(builder, 9, args)
}

/// A call to `destination`, and the reply to it from the second connection to the first.
fn call_and_reply(destination: &str) -> [Vec<u8>; 2] {
    let args = ["some text".into(), 7_u32.into()];
    let call = Builder::method_call(path("/org/example/Object/7"), member("Frobnicate"))
        .interface(interface("org.example.Thing"))
        .destination(name(destination));
    let reply = Builder::method_return(7.try_into().expect("not 0")).destination(name(":1.0"));
    [build(call, 7, &args), build(reply, 8, &args)]
}

/// The connections and the rules of each connection in a state to save.
const STATES: [(u32, u32); 2] = [(1000, 10), (10_000, 10)];

/// A bus in the saved state that the daemon would hand over to a new program.
fn saved(connections: u32, rules: u32) -> (Bus, Vec<u8>) {
    let (mut fixture, peers) = Fixture::with_peers(connections);
    for (number, peer) in peers.into_iter().enumerate() {
        let own = format!("org.example.Service{number}");
        fixture.call(peer, "RequestName", &[own.as_str().into(), 0_u32.into()]);
        for rule in 0..rules {
            let path = format!("/org/example/Object{}", number + rule as usize);
            let interface = "interface='org.freedesktop.DBus.Properties'";
            let rule =
                format!("type='signal',{interface},member='PropertiesChanged',path='{path}'");
            fixture.add_rule(peer, &rule);
        }
    }
    let bytes = rmp_serde::to_vec(&fixture.bus).expect("every state can be saved");
    (fixture.bus, bytes)
}

#[divan::bench(args = STATES)]
fn save(bencher: Bencher<'_, '_>, (connections, rules): (u32, u32)) {
    let (bus, bytes) = saved(connections, rules);
    let size = BytesCount::new(bytes.len());
    bencher
        .counter(size)
        .bench_local(|| rmp_serde::to_vec(&bus).expect("every state can be saved"));
}

#[divan::bench(args = STATES)]
fn restore(bencher: Bencher<'_, '_>, (connections, rules): (u32, u32)) {
    let (_, bytes) = saved(connections, rules);
    let size = BytesCount::new(bytes.len());
    bencher.counter(size).bench_local(|| {
        rmp_serde::from_slice::<Bus>(&bytes).expect("a saved state can be restored")
    });
}

/// A call and its reply: two messages.
#[divan::bench(args = [":1.1", "org.example.Service"])]
fn call_and_reply_between_two(bencher: Bencher<'_, '_>, destination: &str) {
    let (mut fixture, peers) = Fixture::with_peers(2);
    fixture.call(peers[1], "RequestName", &["org.example.Service".into(), 0_u32.into()]);
    let bytes = call_and_reply(destination);
    let [call, reply] = bytes.each_ref().map(|bytes| parse(bytes));
    bencher.counter(ItemsCount::new(2_u32)).bench_local(|| {
        fixture.send(peers[0], &call);
        fixture.send(peers[1], &reply);
    });
}

/// The same with parsing, from bytes to effects.
#[divan::bench]
fn parse_call_and_reply(bencher: Bencher<'_, '_>) {
    let (mut fixture, peers) = Fixture::with_peers(2);
    let [call, reply] = call_and_reply(":1.1");
    bencher.counter(ItemsCount::new(2_u32)).bench_local(|| {
        fixture.send(peers[0], &parse(&call));
        fixture.send(peers[1], &parse(&reply));
    });
}

/// The policy of a system bus with the given number of services, written like the packages of distributions write it.
fn system_policy(services: u32) -> Policy {
    let stock = [
        "allow connect *",
        "deny own *",
        "deny send type=method_call",
        "allow send type=signal",
        "allow send type=method_return replies=requested",
        "allow send type=error replies=requested",
        "allow receive type=method_call replies=requested recipient=addressee",
        "allow receive type=method_return replies=requested recipient=addressee",
        "allow receive type=error replies=requested recipient=addressee",
        "allow receive type=signal replies=requested recipient=addressee",
        "allow send to=org.freedesktop.DBus interface=org.freedesktop.DBus",
        "deny send to=org.freedesktop.DBus interface=org.freedesktop.DBus member=UpdateActivationEnvironment",
        "user=1000 allow own org.example.Service",
        "allow send to=org.example.Service interface=org.example.Thing",
    ];
    let mut rules: Vec<_> = stock.into_iter().map(rule).collect();
    for service in 0..services {
        let name = format!("org.example.Service{service}");
        rules.push(rule(&format!("user=0 allow own {name}")));
        rules.push(rule(&format!("user=0 allow send to={name}")));
        rules.push(rule(&format!("deny send to={name}")));
        rules.push(rule(&format!("allow send interface={name}")));
        for member in ["Get", "List", "Open", "Close", "Changed"] {
            rules.push(rule(&format!("allow send to={name} interface={name} member={member}")));
        }
    }
    Policy::new(rules)
}

/// A call and its reply where policies decide: two messages.
#[divan::bench(args = [0, 60])]
fn call_and_reply_on_a_system_bus(bencher: Bencher<'_, '_>, services: u32) {
    let (mut fixture, peers) = Fixture::under(system_policy(services)).joined_by(2);
    fixture.call(peers[1], "RequestName", &["org.example.Service".into(), 0_u32.into()]);
    let bytes = call_and_reply("org.example.Service");
    let [call, reply] = bytes.each_ref().map(|bytes| parse(bytes));
    bencher.counter(ItemsCount::new(2_u32)).bench_local(|| {
        fixture.send(peers[0], &call);
        fixture.send(peers[1], &reply);
    });
}

/// A signal that ten connections listen to where policies decide.
#[divan::bench(args = [0, 60])]
fn broadcast_on_a_system_bus(bencher: Bencher<'_, '_>, services: u32) {
    let (mut fixture, peers) = Fixture::under(system_policy(services)).joined_by(11);
    for &peer in &peers[1..] {
        fixture.add_rule(peer, "type='signal',interface='org.example.Thing',member='Changed'");
    }
    let bytes = signal(&["some text".into()]);
    let message = parse(&bytes);
    bencher.bench_local(|| fixture.send(peers[0], &message));
}

/// A signal that has listeners, by a rule on its interface and member.
#[divan::bench(args = [0, 1, 10, 1000])]
fn broadcast(bencher: Bencher<'_, '_>, listeners: u32) {
    let (mut fixture, peers) = Fixture::with_peers(listeners + 1);
    for &peer in &peers[1..] {
        fixture.add_rule(peer, "type='signal',interface='org.example.Thing',member='Changed'");
    }
    let bytes = signal(&["some text".into()]);
    let message = parse(&bytes);
    bencher.bench_local(|| fixture.send(peers[0], &message));
}

/// A signal that has one listener, by a rule that its arguments decide, so that no route is kept.
#[divan::bench(args = ["arg0='org.example'", "arg0path='org.example'", "arg0namespace='org'"])]
fn broadcast_by_argument(bencher: Bencher<'_, '_>, key: &str) {
    let (mut fixture, peers) = Fixture::with_peers(2);
    fixture.add_rule(peers[1], &format!("interface='org.example.Thing',{key}"));
    let bytes = signal(&["org.example".into()]);
    let message = parse(&bytes);
    bencher.bench_local(|| fixture.send(peers[0], &message));
}

/// A signal that has one listener, among 100,000 rules for other things.
#[divan::bench(args = ["arg0", "path_namespace", "path", "sender", "member"])]
fn broadcast_past_rules(bencher: Bencher<'_, '_>, key: &str) {
    let (mut fixture, peers) = Fixture::with_peers(12);
    for number in 0..100_000 {
        let value = match key {
            "arg0" => format!("text {number}"),
            "path_namespace" | "path" => format!("/org/example/Object/Other{number}"),
            "sender" => format!(":1.{}", number + 100),
            _ => format!("Other{number}"),
        };
        fixture.add_rule(peers[2 + number % 10], &format!("type='signal',{key}='{value}'"));
    }
    fixture.add_rule(peers[1], "interface='org.example.Thing'");
    let bytes = signal(&["some text".into()]);
    let message = parse(&bytes);
    bencher.bench_local(|| fixture.send(peers[0], &message));
}

/// Signals of more kinds than the route cache stores, so that each one is a miss.
#[divan::bench]
fn broadcast_always_new(bencher: Bencher<'_, '_>) {
    let (mut fixture, peers) = Fixture::with_peers(2);
    fixture.add_rule(peers[1], "type='signal',interface='org.example.Thing'");
    let all: Vec<_> = (0..10_000)
        .map(|number| {
            let at = format!("/org/example/Object/{number}");
            let builder =
                Builder::signal(path(&at), interface("org.example.Thing"), member("Changed"));
            build(builder, 9, &["some text".into()])
        })
        .collect();
    let all: Vec<_> = all.iter().map(|bytes| parse(bytes)).collect();
    let mut next = 0;
    bencher.bench_local(|| {
        next = (next + 1) % all.len();
        fixture.send(peers[0], &all[next]);
    });
}

/// A call of a method of the bus.
#[divan::bench(args = ["GetId", "Peer.Ping", "NameHasOwner"])]
fn call_of_the_bus(bencher: Bencher<'_, '_>, method: &str) {
    let (mut fixture, peers) = Fixture::with_peers(2);
    let args: &[Value] = if method == "NameHasOwner" { &[":1.1".into()] } else { &[] };
    let bytes = call_bytes(method, args);
    let message = parse(&bytes);
    bencher.bench_local(|| fixture.send(peers[0], &message));
}

/// A connection that opens, calls Hello and closes. The given number of peers receive NameOwnerChanged.
#[divan::bench(args = [0, 1, 100])]
fn connect_hello_disconnect(bencher: Bencher<'_, '_>, watchers: u32) {
    let (mut fixture, peers) = Fixture::with_peers(watchers);
    for &peer in &peers {
        fixture.add_rule(peer, "type='signal',member='NameOwnerChanged'");
    }
    let hello = call_bytes("Hello", &[]);
    let hello = parse(&hello);
    bencher.bench_local(|| {
        let peer = fixture.connect();
        fixture.next -= 1;
        fixture.send(peer, &hello);
        fixture.input(Input::Disconnected { peer, end: End::Closed });
    });
}

/// RequestName and ReleaseName by a connection that owns the given number of other names.
#[divan::bench(args = [0, 10_000])]
fn request_and_release_name(bencher: Bencher<'_, '_>, others: u32) {
    let (mut fixture, peers) = Fixture::with_peers(1);
    for number in 0..others {
        let text = format!("org.example.Name{number}");
        fixture.call(peers[0], "RequestName", &[text.as_str().into(), 0_u32.into()]);
    }
    let request = call_bytes("RequestName", &["org.example.Service".into(), 0_u32.into()]);
    let release = call_bytes("ReleaseName", &["org.example.Service".into()]);
    let (request, release) = (parse(&request), parse(&release));
    bencher.bench_local(|| {
        fixture.send(peers[0], &request);
        fixture.send(peers[0], &release);
    });
}

/// AddMatch and RemoveMatch by a connection that has the given number of other rules.
#[divan::bench(args = [0, 100_000])]
fn add_and_remove_match(bencher: Bencher<'_, '_>, others: u32) {
    let (mut fixture, peers) = Fixture::with_peers(1);
    for number in 0..others {
        fixture.add_rule(peers[0], &format!("type='signal',path='/org/example/Object/{number}'"));
    }
    let rule = "type='signal',sender='org.example.Service',interface='org.example.Thing',path='/org/example/Object/7'";
    let add = call_bytes("AddMatch", &[rule.into()]);
    let remove = call_bytes("RemoveMatch", &[rule.into()]);
    let (add, remove) = (parse(&add), parse(&remove));
    bencher.bench_local(|| {
        fixture.send(peers[0], &add);
        fixture.send(peers[0], &remove);
    });
}

/// The disconnection of a callee with the given number of pending calls.
#[divan::bench(args = [10_000])]
fn disconnect_with_calls_owed(bencher: Bencher<'_, '_>, calls: u32) {
    let call = |serial| {
        let builder = Builder::method_call(path("/x"), member("M")).destination(name(":1.1"));
        build(builder, serial, &[])
    };
    let calls: Vec<_> = (1..=calls).map(call).collect();
    bencher
        .with_inputs(|| {
            let (mut fixture, peers) = Fixture::with_peers(2);
            calls.iter().for_each(|bytes| fixture.send(peers[0], &parse(bytes)));
            (fixture, peers[1])
        })
        .counter(ItemsCount::new(calls.len()))
        .bench_local_values(|(mut fixture, peer)| {
            fixture.input(Input::Disconnected { peer, end: End::Closed });
        });
}
