//! Connections that act randomly. The [`BusWorld`](crate::world) checks everything that the bus
//! sends, and no state of a connection may remain after all have disconnected.

use std::time::Duration;

use bus::{
    BusLimits, Configuration, ConnectionCredentials, ContainerId, DescriptorPassing, Details,
    Input, PeerId, PidFd, Policy, Replacement, Service, ServiceHelper, ServiceManager, Services,
    StartFailure, StartId,
};
use wire::Message;
use wire::body::Value;
use wire::message::{Builder, Flags};
use wire::names::ErrorName;

use crate::random::Random;
use crate::rules::rule;
use crate::world::{
    BusWorld, ReadingMode, SeenEffect, build, dictionary, driver_method, element_of, foreign_error,
    interface, member, name, path,
};

/// A bus with connections that act randomly.
#[derive(Debug)]
pub struct Chaos {
    world: BusWorld,
    random: Random,
    peers: Vec<PeerId>,
    starts: Vec<StartId>,
}

impl Chaos {
    /// Creates a bus with a random configuration and no connections.
    pub fn new(mut random: Random) -> Self {
        let world = BusWorld::new(configuration(&mut random));
        Self { world, random, peers: Vec::new(), starts: Vec::new() }
    }

    /// True if bytes are left that determine the actions; see [`Random::from_bytes`].
    pub fn has_bytes(&self) -> bool {
        self.random.has_bytes()
    }

    /// Performs one random action.
    pub fn step(&mut self) {
        if self.peers.is_empty() {
            return self.connect();
        }
        let peer = self.random.pick(&self.peers);
        let seen = match self.random.below(100) {
            0..3 if self.peers.len() < 10 => return self.connect(),
            3 => return self.disconnect(peer),
            4..7 => self.world.call_bus(peer, "Hello", &[]),
            7..55 => self.call_bus(peer),
            55..90 => self.message(peer),
            90..93 => {
                self.world.set_reads(peer, ReadingMode::WhenTold);
                Vec::new()
            }
            93..96 => {
                self.world.set_reads(peer, ReadingMode::AtOnce);
                let count = self.random.below(20);
                self.world.write(peer, count)
            }
            96..98 => self.time_passes(),
            98 => self.start_fails(),
            _ => self.reconfigure(),
        };
        self.carry_out(seen);
    }

    /// Disconnects all peers, and checks that no state of them is left.
    pub fn end(mut self) -> Random {
        self.end_starts();
        self.world.end();
        self.random
    }

    fn carry_out(&mut self, seen: Vec<SeenEffect>) {
        for seen in seen {
            match seen {
                SeenEffect::Disconnect(peer, _) => self.disconnect(peer),
                SeenEffect::Start(start, _) => self.starts.push(start),
                SeenEffect::Replace(_) => {
                    let seen = self.replace();
                    self.carry_out(seen);
                }
                SeenEffect::Reload(_) => {
                    let seen = self.reconfigure();
                    self.carry_out(seen);
                }
                SeenEffect::Sent { .. }
                | SeenEffect::Abandon(_)
                | SeenEffect::CloseLane(_)
                | SeenEffect::NoteNameChanges(..)
                | SeenEffect::CloseRing(_)
                | SeenEffect::CloseContainer(_)
                | SeenEffect::RemoveContainer(_)
                | SeenEffect::Traced { .. }
                | SeenEffect::Joined(_)
                | SeenEffect::Owner(_)
                | SeenEffect::Log(_) => {}
            }
        }
    }

    /// Fails one of the started services, or reports its failure late.
    fn start_fails(&mut self) -> Vec<SeenEffect> {
        if self.starts.is_empty() {
            return Vec::new();
        }
        let start = self.random.pick(&self.starts);
        self.world.input(Input::StartFailed { start, failure: StartFailure::Exited { status: 1 } })
    }

    /// Lets the time pass in which services must start, even if no caller waits any more.
    fn end_starts(&mut self) {
        while self.world.bus.next_deadline().is_some() {
            self.world.now = self.world.now.after(Duration::from_secs(3600));
            let seen = self.world.input(Input::DeadlinePassed);
            self.carry_out(seen);
        }
    }

    fn connect(&mut self) {
        let random = &mut self.random;
        let uid = random.pick(&[0, 500, 1000, 1001]);
        let credentials = ConnectionCredentials {
            pid: (!random.once_in(5)).then_some(42),
            uid: (!random.once_in(5)).then_some(uid),
        };
        let details = Details {
            groups: (!random.once_in(5)).then(|| [4, uid].into()),
            security_label: (!random.once_in(5)).then(|| b"label".as_slice().into()),
            pidfd: random.pick(&[PidFd::Absent, PidFd::Held]),
        };
        let container = self.random.once_in(3).then(|| container(&mut self.random));
        let (peer, seen) = self.world.connect_to(container, credentials, details);
        self.peers.push(peer);
        if !seen.is_empty() {
            // The container does not exist, or is full.
            return self.carry_out(seen);
        }
        if self.random.once_in(10) {
            return;
        }
        let uid = self.random.pick(&[None, Some(0), Some(500), Some(1000), Some(1000)]);
        let refuses = self.random.once_in(4);
        let fds = if refuses { DescriptorPassing::Refused } else { DescriptorPassing::Agreed };
        self.world.authenticate(peer, uid, fds);
        if !self.random.once_in(10) {
            self.world.call_bus(peer, "Hello", &[]);
        }
    }

    fn disconnect(&mut self, peer: PeerId) {
        self.peers.retain(|other| *other != peer);
        self.world.disconnect(peer);
    }

    fn call_bus(&mut self, peer: PeerId) -> Vec<SeenEffect> {
        let method = self.random.pick(&METHODS);
        let args = match self.random.below(4) {
            0 => self.args(),
            _ => self.args_of(method),
        };
        let (of, what) = match method.rsplit_once('.') {
            Some((own, what)) if own.starts_with("org.") => (own.to_owned(), what),
            _ => driver_method(method),
        };
        let at = self.random.pick(&[
            "/org/freedesktop/DBus",
            "/org/freedesktop/DBus",
            "/",
            "/org",
            "/x",
        ]);
        let builder = Builder::method_call(path(at), member(what)).flags(self.flags());
        let builder = builder.destination(name("org.freedesktop.DBus"));
        let of = interface(&of);
        let builder = if self.random.once_in(5) { builder } else { builder.interface(of) };
        self.world.send(peer, builder, &args)
    }

    /// Returns arguments of the types that a method takes.
    fn args_of(&mut self, method: &str) -> Vec<Value> {
        let text = |random: &mut Random| Value::from(random.pick(&TEXTS));
        let random = &mut self.random;
        match method {
            "RequestName" | "StartServiceByName" => {
                vec![text(random), (random.below(16) as u32).into()]
            }
            "Properties.Get" => vec![text(random), text(random)],
            "Properties.Set" => {
                vec![text(random), text(random), Value::Variant(Box::new(text(random)))]
            }
            "Monitoring.BecomeMonitor" => {
                let element = element_of("as");
                let items = (0..random.below(3)).map(|_| text(random)).collect();
                vec![Value::Array { element, items }, (random.below(2) as u32).into()]
            }
            "Containers1.AddServer" => {
                let arguments = match random.below(5) {
                    0 => Vec::new(),
                    1 => vec![("Allow", allow(random))],
                    2 => vec![
                        ("org.diligence.Rules", rules(random)),
                        ("org.diligence.SeeUniqueNames", Value::Boolean(random.once_in(2))),
                    ],
                    _ => vec![("org.diligence.Rules", rules(random))],
                };
                let (kind, container) = (Value::from("a.b"), Value::from("app"));
                vec![kind, container, dictionary(Vec::new()), dictionary(arguments)]
            }
            "Containers1.StopInstance"
            | "Containers1.StopListening"
            | "Containers1.GetInstanceInfo" => vec![container_path(random)],
            "org.diligence.Containers1.SetRules" => vec![container_path(random), rules(random)],
            "Hello"
            | "ListNames"
            | "GetId"
            | "ReloadConfig"
            | "Reexecute"
            | "Peer.Ping"
            | "Containers1.RequestHeader" => Vec::new(),
            _ => vec![text(random)],
        }
    }

    fn args(&mut self) -> Vec<Value> {
        let count = self.random.below(5);
        (0..count)
            .map(|_| match self.random.below(4) {
                0 => Value::Uint32(self.random.number() as u32),
                1 => Value::from("x".repeat(self.random.below(5000)).as_str()),
                2 => Value::Variant(Box::new(Value::Boolean(true))),
                _ => Value::from(self.random.pick(&TEXTS)),
            })
            .collect()
    }

    /// Sends a random message to a random destination.
    fn message(&mut self, peer: PeerId) -> Vec<SeenEffect> {
        let serial = 1 + self.random.below(30) as u32;
        let reply = (1 + self.random.below(30) as u32).try_into().expect("not 0");
        let (of, what) = (interface("a.b"), member(self.random.pick(&["S", "Ping", "Hello"])));
        let at = path(self.random.pick(&["/", "/a", "/a/b", "/a/b/c"]));
        let builder = match self.random.below(8) {
            0 => Builder::method_return(reply),
            1 => Builder::error(ErrorName::literal("a.b.Error"), reply),
            2..4 => Builder::method_call(at, what),
            4 => Builder::method_call(at, what).interface(of),
            _ => Builder::signal(at, of, what),
        };
        let builder = builder.flags(self.flags());
        let builder = match self.random.once_in(12) {
            true => builder.unix_fds(1 + self.random.below(3) as u32),
            false => builder,
        };
        let (sender, destination) = (self.name(), self.name());
        let builder = match self.random.once_in(8) {
            true => builder.sender(name(&sender)),
            false => builder,
        };
        let builder = match self.random.once_in(4) {
            true => builder,
            false => builder.destination(name(&destination)),
        };
        let args = self.args();
        let mut bytes = build(builder, serial, &args);
        self.distort(&mut bytes);
        self.world.send_bytes(peer, &bytes)
    }

    /// Returns a name, mostly one that has an owner.
    fn name(&mut self) -> String {
        match self.random.once_in(2) {
            true => self.random.pick(&NAMES).to_owned(),
            false => {
                let peer = self.random.pick(&self.peers);
                self.world.name_of(peer)
            }
        }
    }

    /// Changes a message to an unknown type, or corrupts its body.
    fn distort(&mut self, bytes: &mut [u8]) {
        if self.random.once_in(40) {
            bytes[1] = 5 + self.random.below(250) as u8;
        }
        let start = Message::parse(bytes).expect("a message").header_bytes().len();
        if start < bytes.len() && self.random.once_in(100) {
            let place = start + self.random.below(bytes.len() - start);
            bytes[place] ^= self.random.number() as u8;
        }
    }

    fn flags(&mut self) -> Flags {
        Flags::from_bits(if self.random.once_in(3) { self.random.number() as u8 } else { 0 })
    }

    fn time_passes(&mut self) -> Vec<SeenEffect> {
        let step = Duration::from_millis(self.random.below(5000) as u64);
        self.world.now = self.world.now.after(step);
        self.world.input(Input::DeadlinePassed)
    }

    fn replace(&mut self) -> Vec<SeenEffect> {
        let outcome = match self.random.once_in(3) {
            true => Err(foreign_error("text with \0 in it")),
            false => Ok(Replacement {
                old_version: "1".into(),
                new_version: "2".into(),
                paused: Duration::from_millis(3),
            }),
        };
        self.world.input(Input::Replaced { outcome })
    }

    fn reconfigure(&mut self) -> Vec<SeenEffect> {
        let outcome = match self.random.once_in(3) {
            true => Err(foreign_error("text with \0 in it")),
            false => Ok(Box::new(configuration(&mut self.random))),
        };
        self.world.input(Input::Reconfigured { outcome })
    }
}

/// One of the first containers, which may exist.
fn container(random: &mut Random) -> ContainerId {
    ContainerId::new(random.below(5) as u32)
}

fn container_path(random: &mut Random) -> Value {
    Value::ObjectPath(path(&container(random).path()).into())
}

/// Rules for a container in the language of xdg-dbus-proxy.
fn rules(random: &mut Random) -> Value {
    let rule = |random: &mut Random| Value::from(random.pick(&CONTAINER_RULES));
    let items = (0..random.below(4)).map(|_| rule(random)).collect();
    Value::Array { element: element_of("as"), items }
}

/// Rules for a container with flags.
fn allow(random: &mut Random) -> Value {
    let rule = |random: &mut Random| {
        let at = path(random.pick(&["/", "/a"]));
        Value::Struct(vec![
            Value::Uint32(random.below(128) as u32),
            Value::from(random.pick(&["com.a", "com.a.b"])),
            Value::ObjectPath(at.into()),
            Value::from(random.pick(&["", "a.b.*", "a.b.S"])),
        ])
    };
    let items = (0..random.below(4)).map(|_| rule(random)).collect();
    Value::Array { element: element_of("a(usos)"), items }
}

/// Rules for containers about the names that peers request.
const CONTAINER_RULES: [&str; 7] = [
    "see=com.a",
    "talk=com.a.*",
    "own=com.a",
    "own=com.a.b",
    "call=com.a=a.b.S@/a/*",
    "broadcast=com.a.b=*",
    "talk=com.unit",
];

/// Small limits, so that connections reach them.
fn configuration(random: &mut Random) -> Configuration {
    let time = |random: &mut Random| {
        (!random.once_in(3)).then(|| Duration::from_millis(random.below(9000) as u64))
    };
    let limits = BusLimits {
        max_outgoing_bytes: random.pick(&[0, 1000, 10_000, 1 << 20, 1 << 20]),
        max_outgoing_unix_fds: random.below(4) as u64,
        auth_timeout: time(random),
        reply_timeout: time(random),
        max_completed_connections: 2 + random.below(9) as u64,
        max_connections_per_user: 1 + random.below(6) as u64,
        max_incomplete_connections: random.below(4) as u64,
        max_names_per_connection: random.below(4) as u64,
        max_match_rules_per_connection: random.below(6) as u64,
        max_replies_per_connection: random.below(30) as u64,
        max_pending_service_starts: random.pick(&[0, 5, 1000]),
        service_start_timeout: Some(Duration::from_millis(random.below(9000) as u64)),
        max_incoming_bytes: random.pick(&[100, 1 << 20]),
        max_containers: random.below(6) as u64,
        max_containers_per_user: random.below(5) as u64,
        max_connections_per_container: random.below(4) as u64,
        ..BusLimits::default()
    };
    let policy = policy(random);
    let service_helper = random.pick(&[ServiceHelper::Absent, ServiceHelper::Present]);
    let services = services(random);
    Configuration { limits, policy, services, service_helper, ..Configuration::default() }
}

fn services(random: &mut Random) -> Services {
    let manager = random.pick(&[ServiceManager::Absent, ServiceManager::Systemd]);
    let mut services = Services::new(manager);
    services.add("com.a", Service::default());
    services.add("com.unit", Service { unit: Some("a.service".into()), label: None });
    services
}

/// Returns a policy, mostly one that permits most actions.
fn policy(random: &mut Random) -> Policy {
    match random.below(4) {
        0 => Policy::open(),
        1 => Policy::unrestricted(),
        _ => {
            let mut rules: Vec<&str> = RULES[..4].to_vec();
            rules.extend((0..random.below(6)).map(|_| random.pick(RULES)));
            Policy::new(rules.into_iter().map(rule).collect())
        }
    }
}

/// The first four rules allow everything.
const RULES: &[&str] = &[
    "allow connect *",
    "allow own *",
    "allow send",
    "allow receive",
    "deny own below=a",
    "deny send type=signal audience=broadcast",
    "deny send to=org.freedesktop.DBus member=GetId",
    "deny send replies=unrequested",
    "deny receive type=signal from=org.freedesktop.DBus",
    "deny receive type=method_call",
    "deny receive recipient=eavesdropper",
    "user=0 deny send to=:1.1",
    "group=4 deny receive fds=1..3",
    "console deny own *",
    "mandatory allow send type=error log",
];

const METHODS: [&str; 42] = [
    "Hello",
    "RequestName",
    "RequestName",
    "ReleaseName",
    "StartServiceByName",
    "UpdateActivationEnvironment",
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
    "ReloadConfig",
    "Reexecute",
    "GetId",
    "GetConnectionCredentials",
    "Properties.Get",
    "Properties.GetAll",
    "Properties.Set",
    "Introspectable.Introspect",
    "Monitoring.BecomeMonitor",
    "Debug.Stats.GetStats",
    "Debug.Stats.GetConnectionStats",
    "Debug.Stats.GetAllMatchRules",
    "Peer.GetMachineId",
    "Peer.Ping",
    "Containers1.AddServer",
    "Containers1.AddServer",
    "Containers1.AddServer",
    "Containers1.StopInstance",
    "Containers1.StopListening",
    "Containers1.GetConnectionInstance",
    "Containers1.GetInstanceInfo",
    "Containers1.RequestHeader",
    "org.diligence.Containers1.SetRules",
    "Nothing",
];

const TEXTS: [&str; 23] = [
    "",
    "com.a",
    "com.a.b",
    "com.a",
    "com.unit",
    "org.freedesktop.systemd1",
    "org.freedesktop.DBus",
    ":1.0",
    ":1.1",
    ":1.2",
    ":1.99999999999999999999",
    ":not.active.yet",
    "type='signal'",
    "eavesdrop='true'",
    "sender='com.a',arg0='com.a'",
    "path_namespace='/a',arg63path='/'",
    "member='S',destination=':1.0'",
    "arg0namespace='com'",
    "type='signal',sender='org.freedesktop.DBus'",
    "/a/b",
    "Features",
    "\u{1f69a}",
    "'",
];

const NAMES: [&str; 7] =
    ["org.freedesktop.DBus", ":1.0", ":1.999", "com.a", "com.a.b", "com.absent", "com.unit"];
