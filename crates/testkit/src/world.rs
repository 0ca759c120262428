//! A bus with connections, and checks for everything that it sends.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use bus::{
    Amount, Body, Bus, BusIdentity, Configuration, ConnectionCredentials, ContainerId,
    ContainerSocket, Delivery, DescriptorPassing, Details, DisconnectReason, Effect, Effects, End,
    Fds, ForeignError, HeldFds, Input, LaneId, LogEvent, PeerId, RingFacts, StartId, Time,
    TraceAudience, TraceRequest, Traced, TracedMessage, TracedOwner, Urgency,
};
use wire::Message;
use wire::body::Value;
use wire::guid::Guid;
use wire::message::{Builder, Flags, append_with_path_field};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use wire::signature::{Signature, SignatureBuf, Type};

/// Creates an error of the daemon with this text.
#[must_use]
pub fn foreign_error(text: &str) -> ForeignError {
    ForeignError::new(io::Error::other(text.to_owned()))
}

/// A bus, with the state that a daemon would have.
#[derive(Debug)]
pub struct BusWorld {
    /// The bus itself, for queries.
    pub bus: Bus,
    /// The time of the next input.
    pub now: Time,
    peers: BTreeMap<PeerId, WorldPeer>,
    generations: Vec<u32>,
    last_serial: u32,
    /// Descriptors that the bus has requested to keep.
    held: BTreeSet<HeldFds>,
    replacement: ReplacementTiming,
}

/// Whether the bus is replaced while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReplacementTiming {
    /// It is never replaced.
    #[default]
    Never,
    /// Before each input it is saved and replaced by a restored bus.
    BeforeEachInput,
}

/// The daemon's state of a connection.
#[derive(Debug)]
struct WorldPeer {
    serial: u32,
    takes_fds: bool,
    reads: ReadingMode,
    /// Messages that the connection has not read.
    queue: Vec<Amount>,
    /// The credentials and facts of its process.
    details: Details,
    /// The reason why the bus wants to disconnect it, if it does.
    unwanted: Option<DisconnectReason>,
}

/// When a connection reads its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadingMode {
    /// Reads all messages after each input.
    AtOnce,
    /// Reads only on request of the test.
    WhenTold,
}

/// An effect, with bytes instead of positions in a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeenEffect {
    /// The bus sent a message.
    Sent {
        /// The recipient of the message.
        to: PeerId,
        /// Header and body as bytes.
        bytes: Vec<u8>,
        /// The descriptors of the message.
        fds: Fds,
        /// Whether a process waits for it.
        urgency: Urgency,
    },
    /// The bus disconnected a connection, for this reason.
    Disconnect(PeerId, DisconnectReason),
    /// The bus requested a reload of the configuration.
    Reload(PeerId),
    /// The bus requested to be replaced by another program.
    Replace(PeerId),
    /// The bus requested the start of a service.
    Start(StartId, String),
    /// A service did not start in time.
    Abandon(StartId),
    /// The bus ended a lane.
    CloseLane(LaneId),
    /// The partners of a connection learn how often its names have changed.
    NoteNameChanges(PeerId, u64),
    /// A change of ownership was traced.
    Owner(TracedOwner),
    /// A message was traced.
    Traced {
        /// Header and body as bytes.
        bytes: Vec<u8>,
        /// The traces that receive the message.
        audience: TraceAudience,
    },
    /// The trace records that a connection got its unique name.
    Joined(PeerId),
    /// The trace of this connection has ended.
    CloseRing(PeerId),
    /// The daemon shall close the socket of a container.
    CloseContainer(ContainerId),
    /// The daemon shall close what else belongs to a container.
    RemoveContainer(ContainerId),
    /// A line for the log.
    Log(LogEvent),
}

impl BusWorld {
    /// Creates a bus without connections whose identity is [`identity`].
    pub fn new(configuration: Configuration) -> Self {
        Self::with_identity(configuration, identity())
    }

    /// Creates a bus without connections.
    pub fn with_identity(configuration: Configuration, identity: BusIdentity) -> Self {
        let bus = Bus::new(identity, configuration, 7);
        let (peers, generations, held) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        let (now, last_serial, replacement) = (Time::default(), 0, ReplacementTiming::Never);
        Self { bus, now, peers, generations, last_serial, held, replacement }
    }

    /// Sets whether the bus is replaced while it runs.
    #[must_use]
    pub fn replaced(self, replacement: ReplacementTiming) -> Self {
        Self { replacement, ..self }
    }

    /// Replaces the bus by a bus that is restored from its saved state.
    fn replace(&mut self) {
        let saved = rmp_serde::to_vec(&self.bus).expect("every state can be saved");
        let restored: Bus = rmp_serde::from_slice(&saved).expect("a saved state can be restored");
        restored.check();
        let again = rmp_serde::to_vec(&restored).expect("every state can be saved");
        assert_eq!(saved, again, "the saved state of the restored bus");
        self.bus = restored;
    }

    /// Accepts a connection, in the first free slot.
    pub fn connect(
        &mut self,
        credentials: ConnectionCredentials,
        details: Details,
    ) -> (PeerId, Vec<SeenEffect>) {
        self.connect_to(None, credentials, details)
    }

    /// Accepts a connection to the socket of a container, or of the bus.
    pub fn connect_to(
        &mut self,
        container: Option<ContainerId>,
        credentials: ConnectionCredentials,
        details: Details,
    ) -> (PeerId, Vec<SeenEffect>) {
        let taken = |index: &u32| self.peers.keys().any(|peer| peer.index() == *index as usize);
        let index = (0..).find(|index| !taken(index)).expect("there is always a place");
        if self.generations.len() <= index as usize {
            self.generations.push(0);
        }
        let generation = &mut self.generations[index as usize];
        let peer = PeerId::new(index, *generation);
        *generation += 1;
        let (serial, takes_fds, reads, queue) = (0, false, ReadingMode::AtOnce, Vec::new());
        let unwanted = None;
        self.peers.insert(peer, WorldPeer { serial, takes_fds, reads, queue, details, unwanted });
        (peer, self.input(Input::Connected { peer, credentials, container }))
    }

    /// Completes the handshake of a connection.
    pub fn authenticate(
        &mut self,
        peer: PeerId,
        uid: Option<u32>,
        fds: DescriptorPassing,
    ) -> Vec<SeenEffect> {
        self.peer(peer).takes_fds = fds == DescriptorPassing::Agreed;
        self.input(Input::Authenticated { peer, uid, fds })
    }

    /// Adds a connection of a user that has called Hello.
    pub fn join(&mut self, uid: u32) -> PeerId {
        let credentials = ConnectionCredentials { uid: Some(uid), pid: Some(1) };
        let (peer, _) = self.connect(credentials, Details::default());
        self.authenticate(peer, Some(uid), DescriptorPassing::Agreed);
        self.call_bus(peer, "Hello", &[]);
        peer
    }

    /// Calls a method of the bus itself.
    pub fn call_bus(&mut self, from: PeerId, method: &str, args: &[Value]) -> Vec<SeenEffect> {
        let (interface, member) = driver_method(method);
        let builder = Builder::method_call(path("/org/freedesktop/DBus"), self::member(member))
            .interface(self::interface(&interface))
            .destination(name("org.freedesktop.DBus"));
        self.send(from, builder, args)
    }

    /// Sends a message with the next serial of the connection.
    pub fn send(&mut self, from: PeerId, builder: Builder<'_>, args: &[Value]) -> Vec<SeenEffect> {
        let serial = self.next_serial(from);
        self.send_bytes(from, &build(builder, serial, args))
    }

    /// Returns a serial that the connection has not used.
    pub fn next_serial(&mut self, peer: PeerId) -> u32 {
        let peer = self.peer(peer);
        peer.serial += 1;
        peer.serial
    }

    /// Sends a message, which must have a valid header.
    pub fn send_bytes(&mut self, from: PeerId, bytes: &[u8]) -> Vec<SeenEffect> {
        let message = Message::parse(bytes).expect("a message with a valid header");
        self.input(Input::Message { from, message })
    }

    /// Ends a connection, as requested by the bus or, otherwise, as closed by the peer.
    pub fn disconnect(&mut self, peer: PeerId) -> Vec<SeenEffect> {
        let reason = self.peers.remove(&peer).and_then(|peer| peer.unwanted);
        self.input(Input::Disconnected { peer, end: reason.map_or(End::Closed, End::Bus) })
    }

    /// Sets when a connection reads.
    pub fn set_reads(&mut self, peer: PeerId, reads: ReadingMode) {
        self.peer(peer).reads = reads;
    }

    /// Lets a connection read some of its queued messages.
    pub fn write(&mut self, to: PeerId, messages: usize) -> Vec<SeenEffect> {
        let queue = &mut self.peer(to).queue;
        let mut amount = Amount::default();
        for one in queue.drain(..messages.min(queue.len())) {
            amount.messages += one.messages;
            amount.bytes += one.bytes;
            amount.fds += one.fds;
        }
        self.input(Input::Written { to, amount, copied: 0 })
    }

    /// Passes an input to the bus, and lets connections in mode `AtOnce` read the result.
    pub fn input(&mut self, input: Input<'_>) -> Vec<SeenEffect> {
        let mut seen = self.input_without_reading(input);
        let reading = self.peers.iter().filter(|(_, peer)| peer.reads == ReadingMode::AtOnce);
        let full = reading.filter(|(_, peer)| !peer.queue.is_empty());
        let full: Vec<_> = full.map(|(id, peer)| (*id, peer.queue.len())).collect();
        for (peer, messages) in full {
            seen.extend(self.write(peer, messages));
        }
        seen
    }

    fn input_without_reading(&mut self, input: Input<'_>) -> Vec<SeenEffect> {
        let message = match &input {
            Input::Message { from, message } => Some((*from, *message)),
            _ => None,
        };
        let mut effects = Effects::new();
        if self.replacement == ReplacementTiming::BeforeEachInput {
            self.replace();
        }
        self.bus.handle(self.now, input, &mut effects);
        // Determined after the input, because Hello is shown with the name that it assigns.
        let sender = message.map(|(from, _)| self.name_of(from));
        let mut seen: Vec<SeenEffect> = effects
            .traced()
            .iter()
            .map(|traced| match traced {
                Traced::Joined(peer) => SeenEffect::Joined(*peer),
                Traced::Owner(owner) => SeenEffect::Owner(owner.clone()),
                &Traced::Message(TracedMessage { head, body, audience, .. }) => {
                    let mut bytes = effects.bytes(head).to_vec();
                    if body == Body::OfInput {
                        bytes.extend_from_slice(message.expect("one was handled").1.body());
                    }
                    SeenEffect::Traced { bytes, audience }
                }
            })
            .collect();
        for effect in effects.list() {
            seen.push(match effect {
                Effect::Send(delivery) => {
                    let input = message.as_ref().zip(sender.as_deref());
                    let input = input.map(|((_, message), name)| (message, name));
                    self.receive(delivery, &effects, input)
                }
                Effect::Disconnect { peer, reason } => {
                    self.peer(*peer).unwanted = Some(*reason);
                    SeenEffect::Disconnect(*peer, *reason)
                }
                Effect::Replace { caller } => SeenEffect::Replace(*caller),
                Effect::Reload { caller } => SeenEffect::Reload(*caller),
                Effect::Log(event) => SeenEffect::Log((**event).clone()),
                Effect::Start { start, name } => SeenEffect::Start(*start, name.to_string()),
                Effect::Abandon { start } => SeenEffect::Abandon(*start),
                Effect::HoldFds(fds) => {
                    let (_, message) = message.as_ref().expect("a message was handled");
                    assert!(message.unix_fds() > 0, "there are some to keep");
                    assert!(self.held.insert(*fds), "each is kept once");
                    continue;
                }
                Effect::ReleaseFds(fds) => {
                    assert!(self.held.remove(fds), "only what is kept is released");
                    continue;
                }
                Effect::OpenRing { call, request } => {
                    let input = Input::RingOpened {
                        call: *call,
                        request: **request,
                        outcome: match **request {
                            TraceRequest::New { bytes, kept, .. } => {
                                Ok(RingFacts { version: 1, bytes, kept })
                            }
                            TraceRequest::FlightRecorder => Err(foreign_error("there is none")),
                        },
                    };
                    seen.extend(self.input_without_reading(input));
                    continue;
                }
                Effect::OpenLane { lane, ends: _, request } => {
                    let (lane, request, outcome) = (*lane, *request, Ok(()));
                    let input = Input::LaneOpened { lane, request, outcome };
                    seen.extend(self.input_without_reading(input));
                    continue;
                }
                Effect::CloseLane { lane } => SeenEffect::CloseLane(*lane),
                Effect::NoteNameChanges { peer, count } => {
                    SeenEffect::NoteNameChanges(*peer, *count)
                }
                Effect::OpenContainer { container, creator, call, descriptors: _ } => {
                    let number = container.number();
                    let outcome = Ok(ContainerSocket {
                        path: format!("/containers/{number}").into_bytes().into(),
                        address: format!("unix:path=/containers/{number}").into(),
                        creator: self.peer(*creator).details.clone(),
                    });
                    let (container, call) = (*container, *call);
                    let input = Input::ContainerOpened { container, call, outcome };
                    seen.extend(self.input_without_reading(input));
                    continue;
                }
                Effect::CloseContainer { container } => SeenEffect::CloseContainer(*container),
                Effect::RemoveContainer { container } => SeenEffect::RemoveContainer(*container),
                Effect::CloseRing { peer } => SeenEffect::CloseRing(*peer),
                Effect::ReadDetails { subject, peer, call } => {
                    let details = self.peer(*peer).details.clone();
                    let (subject, peer, call) = (*subject, *peer, *call);
                    let input = Input::DetailsRead { subject, peer, details, call };
                    seen.extend(self.input_without_reading(input));
                    continue;
                }
            });
        }
        seen
    }

    /// Checks a message as its recipient gets it.
    fn receive(
        &mut self,
        delivery: &Delivery,
        effects: &Effects,
        input: Option<(&Message<'_>, &str)>,
    ) -> SeenEffect {
        let Delivery { to, head, body, fds, urgency } = *delivery;
        let mut bytes = effects.bytes(head).to_vec();
        bytes.extend_from_slice(match body {
            Body::InHead => &[],
            Body::OfInput => input.expect("a message was handled").0.body(),
        });
        let message = Message::parse(&bytes).expect("what is sent is a message");
        message.validate_body().expect("what is sent has a valid body");
        match body {
            Body::InHead if message.sender().is_none_or(|name| name == DRIVER) => {
                self.check_own(&message);
            }
            // The message was queued for its recipient.
            Body::InHead => {}
            Body::OfInput => {
                let (original, sender) = input.expect("a message was handled");
                check_forwarded(&message, original, sender);
            }
        }
        let count = match fds {
            Fds::None => 0,
            Fds::OfInput => input.expect("a message was handled").0.unix_fds(),
            Fds::OfProcess(_) | Fds::OfRing => 1,
            Fds::OfRecorder => 2,
            Fds::OfLane(_) => 4,
            Fds::Held(held) => {
                assert!(self.held.contains(&held), "only what is kept can be sent");
                message.unix_fds()
            }
        };
        assert_eq!(message.unix_fds(), count, "descriptors announced and sent");
        let peer = self.peers.get_mut(&to).unwrap_or_else(|| panic!("{to} is not connected"));
        assert!(count == 0 || peer.takes_fds, "{to} takes no descriptors");
        let amount = Amount { messages: 1, bytes: bytes.len() as u64, fds: count.into() };
        peer.queue.push(amount);
        SeenEffect::Sent { to, bytes, fds, urgency }
    }

    /// Checks a message from the bus itself.
    fn check_own(&mut self, message: &Message<'_>) {
        let serial = message.serial().get();
        // Copies for monitors have the same serial, one after another.
        assert!(serial >= self.last_serial, "the serials of the bus go up");
        self.last_serial = serial;
        assert_eq!(message.flags(), Flags::NO_REPLY_EXPECTED);
        match message.sender() {
            Some(sender) => assert_eq!(sender, "org.freedesktop.DBus"),
            None => assert_eq!(message.destination(), None, "an answer without names"),
        }
    }

    /// Returns the sender name that the bus adds to messages of a connection.
    pub fn name_of(&self, peer: PeerId) -> String {
        self.bus.unique_name(peer).unwrap_or(":not.active.yet").to_owned()
    }

    /// Ends all connections and checks that no state of them is left.
    pub fn end(&mut self) {
        for peer in self.peers.keys().copied().collect::<Vec<_>>() {
            self.disconnect(peer);
        }
        // The limits applied to the connections that are gone.
        let outcome = Ok(Box::new(Configuration::default()));
        self.input(Input::Reconfigured { outcome });
        assert_eq!(self.bus.next_deadline(), None, "nobody waits for anything");
        assert!(self.held.is_empty(), "no descriptors remain without a recipient");
        let stats = self.stats();
        let expected = [
            ("ActiveConnections", 1),
            ("IncompleteConnections", 0),
            ("BusNames", 1),
            ("MatchRules", 0),
            ("org.diligence.PendingReplies", 0),
        ];
        for (key, value) in expected {
            assert_eq!(stats.get(key), Some(&value), "{key} when everybody has gone");
        }
    }

    /// Returns the statistics of the bus, as a new connection reads them.
    pub fn stats(&mut self) -> BTreeMap<String, u64> {
        let peer = self.join(0);
        let seen = self.call_bus(peer, "Debug.Stats.GetStats", &[]);
        let replies = messages_to(&seen, peer);
        let [bytes] = &replies[..] else { panic!("one reply, not {}", replies.len()) };
        let message = Message::parse(bytes).expect("a reply");
        let (stats,): (BTreeMap<String, Value>,) = message.read().expect("statistics");
        let number = |value| match value {
            Value::Uint32(number) => number.into(),
            Value::Uint64(number) => number,
            other => panic!("{other:?}"),
        };
        let stats = stats.into_iter().map(|(key, value)| (key, number(value))).collect();
        self.disconnect(peer);
        stats
    }

    fn peer(&mut self, peer: PeerId) -> &mut WorldPeer {
        self.peers.get_mut(&peer).unwrap_or_else(|| panic!("{peer} is not connected"))
    }
}

/// Returns the messages in `seen` that were sent to one connection.
pub fn messages_to(seen: &[SeenEffect], peer: PeerId) -> Vec<&[u8]> {
    let sent = seen.iter().filter_map(|seen| match seen {
        SeenEffect::Sent { to, bytes, .. } if *to == peer => Some(&**bytes),
        _ => None,
    });
    sent.collect()
}

/// Checks that a forwarded message equals the original, except for the sender and unknown fields.
fn check_forwarded(message: &Message<'_>, original: &Message<'_>, sender: &str) {
    assert_eq!(message.sender().map(BusName::as_str), Some(sender));
    assert_eq!(message.serial(), original.serial());
    // The bus may add one flag.
    let flags = |message: &Message<'_>| message.flags().bits() & !Flags::LANE_REPLY.bits();
    assert_eq!(flags(message), flags(original));
    assert_eq!(message.endian(), original.endian());
    assert_eq!(message.message_type(), original.message_type());
    assert_eq!(message.destination(), original.destination());
    assert_eq!(message.path(), original.path());
    assert_eq!(message.interface(), original.interface());
    assert_eq!(message.member(), original.member());
    assert_eq!(message.error_name(), original.error_name());
    assert_eq!(message.reply_serial(), original.reply_serial());
    assert_eq!(message.signature(), original.signature());
    assert_eq!(message.unix_fds(), original.unix_fds());
    assert_eq!(message.body(), original.body());
    let sender = wire::message::SenderField::new(name(sender));
    let mut expected = Vec::new();
    match container_of(message) {
        None => message.stamp(&sender, &mut expected),
        Some(container) => {
            let mut unlabeled = Vec::new();
            original.stamp(&sender, &mut unlabeled);
            append_with_path_field(&unlabeled, CONTAINER_INSTANCE, path(container), &mut expected);
        }
    }
    assert_eq!(expected, message.header_bytes(), "no field that is unknown");
}

/// Returns the container of the sender in the header of a message, if the field is present.
pub fn container_of<'m>(message: &Message<'m>) -> Option<&'m str> {
    let header = message.header_bytes();
    let start = [CONTAINER_INSTANCE, 1, b'o', 0];
    // Fields begin at multiples of 8 bytes. The length of the path and the path follow.
    let field = header.chunks(8).position(|chunk| chunk.starts_with(&start))? * 8;
    let text = header.get(field + 8..)?;
    let end = text.iter().position(|&byte| byte == 0)?;
    str::from_utf8(&text[..end]).ok()
}

/// The code of the header field with the container of the sender.
const CONTAINER_INSTANCE: u8 = 10;

/// Builds a message with its body.
pub fn build(builder: Builder<'_>, serial: u32, args: &[Value]) -> Vec<u8> {
    let mut signature = String::new();
    args.iter().for_each(|arg| arg.push_signature(&mut signature));
    let signature = Signature::new(&signature).expect("a valid signature");
    let serial = serial.try_into().expect("serials are not 0");
    let mut bytes = Vec::new();
    builder
        .write_with(&mut bytes, serial, signature, |writer| {
            args.iter().for_each(|arg| arg.write(writer));
        })
        .expect("a message that can be written");
    bytes
}

/// Creates a dictionary (`a{sv}`).
pub fn dictionary(entries: Vec<(&str, Value)>) -> Value {
    let entry = |(key, value)| {
        Value::DictEntry(Box::new((Value::from(key), Value::Variant(Box::new(value)))))
    };
    Value::Array { element: element_of("a{sv}"), items: entries.into_iter().map(entry).collect() }
}

/// The type of the elements of an array.
///
/// # Panics
///
/// Panics if `array` is not the type of an array.
pub fn element_of(array: &str) -> SignatureBuf {
    match Signature::new(array).ok().and_then(Signature::single) {
        Some(Type::Array(element)) => element.into(),
        _ => panic!("{array} is not an array"),
    }
}

/// Splits the text for a method of the bus into interface and member: `GetId`,
/// `Debug.Stats.GetStats`.
pub fn driver_method(text: &str) -> (String, &str) {
    match text.rsplit_once('.') {
        Some((interface, member)) => (format!("org.freedesktop.DBus.{interface}"), member),
        None => ("org.freedesktop.DBus".to_owned(), text),
    }
}

/// Returns the identity of a bus of user 500.
pub fn identity() -> BusIdentity {
    BusIdentity {
        id: Guid::from_bytes([0xab; 16]),
        machine_id: Some("0123456789abcdef0123456789abcdef".to_owned()),
        pid: 99,
        uid: 500,
        security_label: None,
    }
}

/// Creates an object path from a valid text.
pub fn path(text: &str) -> ObjectPath<'_> {
    ObjectPath::new(text).expect("an object path")
}

/// Creates a bus name from a valid text.
pub fn name(text: &str) -> BusName<'_> {
    BusName::new(text).expect("a bus name")
}

/// Creates an interface name from a valid text.
pub fn interface(text: &str) -> InterfaceName<'_> {
    InterfaceName::new(text).expect("an interface name")
}

/// Creates a member name from a valid text.
pub fn member(text: &str) -> MemberName<'_> {
    MemberName::new(text).expect("a member name")
}

/// The name of the bus itself.
const DRIVER: &str = "org.freedesktop.DBus";
