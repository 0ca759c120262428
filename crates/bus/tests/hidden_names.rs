//! A program in a container cannot tell a hidden name from a name without an owner.
//!
//! Two buses get the same random inputs, except that a hidden connection acts on one of them only:
//! it owns and releases hidden names, emits signals and calls others. The programs in the container
//! must get the same messages from both.

use std::collections::BTreeMap;

use bus::{Configuration, ConnectionCredentials, ContainerId, DescriptorPassing, Details, PeerId};
use testkit::random::{Random, rounds};
use testkit::world::{
    BusWorld, ReplacementTiming, SeenEffect, build, dictionary, driver_method, element_of,
    interface, member, messages_to, name, path,
};
use wire::Message;
use wire::body::Value;
use wire::message::{Builder, Flags};
use wire::names::ErrorName;

const ROUNDS: usize = rounds(60);
const STEPS: usize = if cfg!(miri) { 50 } else { 600 };

#[test]
fn hidden_connections_leave_no_trace() {
    let mut random = Random::from_env();
    let mut total = ReceivedCounts::default();
    for _ in 0..ROUNDS {
        let mut twins = TwinBuses::new(random);
        for _ in 0..STEPS {
            twins.step();
        }
        total.replies += twins.received.replies;
        total.errors += twins.received.errors;
        total.from_others += twins.received.from_others;
        random = twins.random;
    }
    // The programs do get messages, and are refused others.
    let ReceivedCounts { replies, errors, from_others } = total;
    let least = ROUNDS * STEPS / 100;
    assert!(replies > least && errors > least && from_others > least, "{total:?}");
}

/// How many messages the programs in the container have received.
#[derive(Clone, Copy, Debug, Default)]
struct ReceivedCounts {
    /// Returns of the bus.
    replies: usize,
    /// Errors of the bus.
    errors: usize,
    from_others: usize,
}

/// The connections, by the order in which they connect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Actor {
    /// The creator of the container.
    Creator,
    /// A connection outside that the programs see when it owns a name in the rules.
    Public,
    /// A connection outside that owns only hidden names.
    Hidden,
    Program,
    OtherProgram,
}

const PROGRAMS: [Actor; 2] = [Actor::Program, Actor::OtherProgram];

/// A random message of a connection.
#[derive(Debug)]
struct RandomAct {
    actor: Actor,
    bytes: Vec<u8>,
}

struct TwinBuses {
    random: Random,
    /// The bus on which the hidden connection acts.
    busy: BusWorld,
    /// The bus on which it does nothing.
    quiet: BusWorld,
    peers: BTreeMap<Actor, PeerId>,
    serials: BTreeMap<Actor, u32>,
    received: ReceivedCounts,
}

impl TwinBuses {
    fn new(mut random: Random) -> Self {
        let first = random.pick(&RULES);
        let world = || BusWorld::new(Configuration::default());
        let (busy, quiet) = (world(), world());
        // What a bus restores after a replacement must hide as much.
        let busy = match random.once_in(10) {
            true => busy.replaced(ReplacementTiming::BeforeEachInput),
            false => busy,
        };
        let (peers, serials) = (BTreeMap::new(), BTreeMap::new());
        let received = ReceivedCounts::default();
        let mut twins = Self { random, busy, quiet, peers, serials, received };
        for actor in [Actor::Creator, Actor::Public, Actor::Hidden] {
            twins.join(actor, None);
        }
        let arguments = dictionary(vec![("org.diligence.Rules", rules(first))]);
        let args = [Value::from("a.b"), Value::from("app"), dictionary(Vec::new()), arguments];
        twins.on_both(|world, peers| {
            world.call_bus(peers[&Actor::Creator], "Containers1.AddServer", &args)
        });
        for actor in PROGRAMS {
            twins.join(actor, Some(ContainerId::default()));
        }
        twins
    }

    fn join(&mut self, actor: Actor, container: Option<ContainerId>) {
        let credentials = ConnectionCredentials { uid: Some(UID), pid: Some(1) };
        for world in [&mut self.busy, &mut self.quiet] {
            let (peer, _) = world.connect_to(container, credentials.clone(), Details::default());
            world.authenticate(peer, Some(UID), DescriptorPassing::Agreed);
            world.call_bus(peer, "Hello", &[]);
            self.peers.insert(actor, peer);
        }
        // Later calls have larger serials than the calls that `BusWorld` has numbered.
        self.serials.insert(actor, 10);
    }

    fn step(&mut self) {
        let act = self.random_act();
        let peer = self.peers[&act.actor];
        if act.actor == Actor::Hidden {
            let seen = self.busy.send_bytes(peer, &act.bytes);
            for program in PROGRAMS {
                let got = messages_to(&seen, self.peers[&program]);
                assert!(got.is_empty(), "{act:?} was noticed by {program:?}: {got:?}");
            }
        } else {
            let bytes = act.bytes;
            self.on_both(|world, _| world.send_bytes(peer, &bytes));
        }
    }

    /// Passes the same input to both buses. The programs must get the same.
    fn on_both(
        &mut self,
        input: impl Fn(&mut BusWorld, &BTreeMap<Actor, PeerId>) -> Vec<SeenEffect>,
    ) {
        let seen = [&mut self.busy, &mut self.quiet].map(|world| input(world, &self.peers));
        for program in PROGRAMS.iter().filter_map(|program| self.peers.get(program)) {
            let [busy, quiet] = seen.each_ref().map(|seen| experience(seen, *program));
            assert_eq!(busy, quiet, "what {program} gets");
            for message in messages_to(&seen[0], *program) {
                self.received.count(&Message::parse(message).expect("a message"));
            }
        }
    }

    fn random_act(&mut self) -> RandomAct {
        let actor = match self.random.below(10) {
            0..3 => Actor::Hidden,
            3..5 => Actor::Public,
            5 if self.random.once_in(4) => Actor::Creator,
            number => PROGRAMS[number % 2],
        };
        let serial = self.serials.get_mut(&actor).expect("it has joined");
        *serial += 1;
        let serial = *serial;
        let bytes = match (actor, self.random.below(2)) {
            (Actor::Creator, _) => {
                let args = [
                    Value::ObjectPath(path(&ContainerId::default().path()).into()),
                    rules(self.random.pick(&RULES)),
                ];
                let call = driver_call("org.diligence.Containers1", "SetRules");
                build(call, serial, &args)
            }
            (_, 0) => self.call_of_the_bus(actor, serial),
            _ => self.message(actor, serial),
        };
        RandomAct { actor, bytes }
    }

    /// Returns a call of a method of the bus.
    fn call_of_the_bus(&mut self, actor: Actor, serial: u32) -> Vec<u8> {
        let random = &mut self.random;
        let names: &[&str] = match actor {
            Actor::Hidden => &HIDDEN_NAMES,
            _ => &ALL_NAMES,
        };
        let method = match actor {
            // Names are what matters.
            Actor::Hidden | Actor::Public if random.once_in(2) => {
                random.pick(&["RequestName", "ReleaseName"])
            }
            _ => random.pick(&METHODS),
        };
        let text = Value::from(random.pick(names));
        let args = match method {
            "RequestName" => vec![text, Value::Uint32(random.below(8) as u32)],
            "StartServiceByName" => vec![text, Value::Uint32(0)],
            "AddMatch" | "RemoveMatch" => vec![Value::from(random.pick(&MATCH_RULES))],
            "Properties.Get" => vec![Value::from("org.freedesktop.DBus"), text],
            "ListNames" | "ListActivatableNames" | "GetId" | "Peer.Ping" => Vec::new(),
            _ => vec![text],
        };
        let (interface, method) = driver_method(method);
        build(driver_call(&interface, method), serial, &args)
    }

    /// Returns a message to another connection, or a broadcast.
    fn message(&mut self, actor: Actor, serial: u32) -> Vec<u8> {
        let callee = self.random.pick(&[Actor::Program, Actor::OtherProgram, Actor::Public]);
        let latest = self.serials[&callee];
        let random = &mut self.random;
        let answered = latest.saturating_sub(random.below(4) as u32).max(1);
        let answered = answered.try_into().expect("at least 1");
        let (of, what) = (interface("a.b"), member(random.pick(&["S", "Ping"])));
        let at = path(random.pick(&["/", "/a", "/a/b"]));
        let builder = match random.below(6) {
            0 => Builder::method_return(answered),
            1 => Builder::error(ErrorName::literal("a.b.Error"), answered),
            2..4 => Builder::method_call(at, what).interface(of),
            _ => Builder::signal(at, of, what),
        };
        let bits = if random.once_in(3) { random.number() as u8 } else { 0 };
        let builder = builder.flags(Flags::from_bits(bits));
        // A message of the hidden connection to a program would make it visible.
        let destinations: &[&str] = match actor {
            Actor::Hidden => &[PUBLIC, "com.public", "com.hidden", "com.absent"],
            _ => &[PUBLIC, HIDDEN, PROGRAM, OTHER_PROGRAM, "com.public", "com.hidden", "com.own"],
        };
        let destination = random.pick(destinations);
        let builder = match random.once_in(4) {
            true => builder,
            false => builder.destination(name(destination)),
        };
        build(builder, serial, &[])
    }
}

impl ReceivedCounts {
    fn count(&mut self, message: &Message<'_>) {
        let is_from_bus = message.sender().is_none_or(|sender| sender == "org.freedesktop.DBus");
        match (is_from_bus, message.error_name().is_some()) {
            (true, true) => self.errors += 1,
            (true, false) => self.replies += 1,
            (false, _) => self.from_others += 1,
        }
    }
}

/// What a program gets: messages, without the serials of the bus, and the end of its connection.
fn experience(seen: &[SeenEffect], program: PeerId) -> Vec<String> {
    let mut got: Vec<String> = messages_to(seen, program)
        .into_iter()
        .map(|bytes| {
            let message = Message::parse(bytes).expect("a message");
            let mut bytes = bytes.to_vec();
            if message.sender().is_none_or(|sender| sender == "org.freedesktop.DBus") {
                bytes[SERIAL..SERIAL + 4].fill(0);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
        .collect();
    got.extend(seen.iter().filter_map(|seen| match seen {
        SeenEffect::Disconnect(peer, reason) if *peer == program => Some(format!("{reason:?}")),
        _ => None,
    }));
    got
}

fn driver_call<'a>(of: &'a str, method: &'a str) -> Builder<'a> {
    Builder::method_call(path("/org/freedesktop/DBus"), member(method))
        .interface(interface(of))
        .destination(name("org.freedesktop.DBus"))
}

fn rules(texts: &[&str]) -> Value {
    Value::Array {
        element: element_of("as"),
        items: texts.iter().map(|text| Value::from(*text)).collect(),
    }
}

/// The user of all connections.
const UID: u32 = 1000;

/// The offset of the serial in a message.
const SERIAL: usize = 8;

/// The unique names, by the order of connecting.
const PUBLIC: &str = ":1.1";
const HIDDEN: &str = ":1.2";
const PROGRAM: &str = ":1.3";
const OTHER_PROGRAM: &str = ":1.4";

/// Rules of the container, in turns. None is about a hidden name.
const RULES: [&[&str]; 5] = [
    &[],
    &["see=com.public"],
    &["talk=com.public", "own=com.own"],
    &["own=com.own.*", "call=com.public=a.b.S@/a/*"],
    &["broadcast=com.public=*", "talk=com.other.*", "own=com.own"],
];

const HIDDEN_NAMES: [&str; 2] = ["com.hidden", "com.hidden.b"];

const ALL_NAMES: [&str; 11] = [
    "com.public",
    "com.public",
    "com.other.b",
    "com.own",
    "com.hidden",
    "com.hidden.b",
    "com.absent",
    PUBLIC,
    HIDDEN,
    PROGRAM,
    "org.freedesktop.DBus",
];

/// No rule has a hidden well-known name as the sender: that a broadcast matches such a rule shows
/// that its sender, which is visible, also owns the name.
const MATCH_RULES: [&str; 9] = [
    "type='signal'",
    "eavesdrop='true'",
    "sender='com.public'",
    "sender=':1.2'",
    "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='com.hidden'",
    "arg0namespace='com'",
    "path_namespace='/a'",
    "member='S',destination=':1.3'",
    "type='error'",
];

const METHODS: [&str; 24] = [
    "RequestName",
    "ReleaseName",
    "StartServiceByName",
    "NameHasOwner",
    "ListNames",
    "ListActivatableNames",
    "AddMatch",
    "AddMatch",
    "RemoveMatch",
    "GetNameOwner",
    "ListQueuedOwners",
    "GetConnectionUnixUser",
    "GetConnectionUnixProcessID",
    "GetAdtAuditSessionData",
    "GetConnectionSELinuxSecurityContext",
    "GetConnectionCredentials",
    "GetId",
    "Properties.Get",
    "Properties.GetAll",
    "Introspectable.Introspect",
    "Debug.Stats.GetConnectionStats",
    "Peer.Ping",
    "Containers1.GetConnectionInstance",
    "Nothing",
];
