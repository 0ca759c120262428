//! A chat: a room, and peers who talk there, whisper to each other, and answer.

use std::cell::RefCell;
use std::time::Duration;

use client::wire::message::Builder;
use client::wire::names::{MemberName, ObjectPath, WellKnownName};
use client::{
    CallOptions, Connection, EmitError, Interface, InterfaceError, MethodError, Object,
    PendingCall, Request,
};

use super::error::unless_ended;
use super::{BUS, DOC, DemoError, archive, serve, take_name, wait_for_owner};

/// Who to be in the chat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The room.
    Room,
    /// Somebody of this name.
    Peer(String),
}

impl Role {
    /// A role by its word on the command line.
    pub(super) fn parse(word: &str) -> Result<Self, String> {
        match word {
            "room" => Ok(Self::Room),
            name if is_name(name) => Ok(Self::Peer(name.to_owned())),
            _ => Err(format!("a name has 1 to {NAME_LEN_MAX} small letters, and no more")),
        }
    }

    /// The word on the command line.
    pub(super) fn word(&self) -> &str {
        match self {
            Self::Room => "room",
            Self::Peer(name) => name,
        }
    }
}

/// Plays a role.
pub(super) fn play(bus: &Connection, role: &Role) -> Result<(), DemoError> {
    match role {
        Role::Room => play_room(bus),
        Role::Peer(name) => play_peer(bus, name),
    }
}

/// The room: those who are in it, by connection and name.
#[derive(Debug, Default)]
struct Room {
    members: Vec<(String, String)>,
    said: u64,
}

impl Room {
    fn names(&self) -> Vec<String> {
        self.members.iter().map(|(_, name)| name.clone()).collect()
    }

    fn join(&mut self, connection: &str, name: &str) -> Result<Vec<String>, MethodError> {
        if self.members.iter().any(|(_, taken)| taken == name) {
            return Err(MethodError::failed(format!("somebody called {name} is here already")));
        }
        self.members.retain(|(member, _)| member != connection);
        self.members.push((connection.to_owned(), name.to_owned()));
        Ok(self.names())
    }

    fn leave(&mut self, connection: &str) -> Option<String> {
        let place = self.members.iter().position(|(member, _)| member == connection)?;
        Some(self.members.remove(place).1)
    }

    fn name_of(&self, connection: &str) -> Result<&str, MethodError> {
        let found = self.members.iter().find(|(member, _)| member == connection);
        let found = found.map(|(_, name)| name.as_str());
        found.ok_or_else(|| MethodError::failed("join the room before you say something"))
    }
}

fn play_room(bus: &Connection) -> Result<(), DemoError> {
    let room = bus.add_object(ROOM_PATH, &room_interface()?, Room::default())?;
    let left = format!("type='signal',sender='{BUS}',member='NameOwnerChanged',arg2=''");
    let left = bus.subscribe(left.as_str())?;
    take_name(bus, ROOM)?;
    let look = || {
        while let Some(signal) = unless_ended(left.poll())? {
            let (connection, _, _): (&str, &str, &str) = signal.read().map_err(DemoError::Read)?;
            let gone = room.state().leave(connection);
            if let Some(name) = gone {
                room.emit("Left", &(name,))?;
                room.properties_changed(&["Members"]);
            }
        }
        Ok(())
    };
    serve(bus, Duration::from_secs(60), look, || Ok(()))
}

fn room_interface() -> Result<Interface<Room>, InterfaceError> {
    Interface::<Room>::builder(ROOM_INTERFACE)
        .annotate(DOC, "A room where all hear what somebody says.")
        .method("Join", &["name"], &["members"], |room, call, (name,): (String,)| {
            let members = room.join(sender(call), &name)?;
            tell(call, "Joined", &(name,))?;
            call.properties_changed(&["Members"]);
            Ok((members,))
        })
        .annotate(DOC, "Enters the room by a name, and tells who is there.")
        .method("Leave", &[], &[], |room, call, ()| {
            if let Some(name) = room.leave(sender(call)) {
                tell(call, "Left", &(name,))?;
                call.properties_changed(&["Members"]);
            }
            Ok(())
        })
        .annotate(DOC, "Leaves the room; closing the connection does so, too.")
        .method("Say", &["text"], &["heard_by"], |room, call, (text,): (String,)| {
            tell(call, "Said", &(room.name_of(sender(call))?, text))?;
            room.said += 1;
            Ok((room.members.len() as u32 - 1,))
        })
        .annotate(DOC, "Says something to all in the room; tells to how many.")
        .property("Members", Room::names)
        .annotate(DOC, "The names of those who are in the room.")
        .property("MessagesSaid", |room| room.said)
        .emits_change(client::EmitsChange::No)
        .annotate(DOC, "How often somebody said something.")
        .signal::<(String,)>("Joined", &["name"])
        .annotate(DOC, "Somebody has entered the room.")
        .signal::<(String,)>("Left", &["name"])
        .annotate(DOC, "Somebody has left it.")
        .signal::<(String, String)>("Said", &["name", "text"])
        .annotate(DOC, "Somebody has said something.")
        .build()
}

fn sender(call: &Request) -> &str {
    call.message().sender().unwrap_or_default()
}

fn tell(call: &Request, signal: &str, body: &impl client::Body) -> Result<(), MethodError> {
    let sent = call.connection().emit(ROOM_PATH, ROOM_INTERFACE, signal, body);
    sent.map_err(|error: EmitError| MethodError::failed(error.to_string()))
}

/// Somebody in the chat.
struct Peer<'b> {
    bus: &'b Connection,
    name: &'b str,
    said: usize,
    /// Calls whose answers are still to come.
    calls: Vec<PendingCall>,
}

/// What others may ask of a peer.
struct Ear {
    whispers: u32,
}

fn play_peer(bus: &Connection, name: &str) -> Result<(), DemoError> {
    let _ear: Object<Ear> = bus.add_object(PEER_PATH, &peer_interface()?, Ear { whispers: 0 })?;
    take_name(bus, &peer_name(name))?;
    wait_for_owner(bus, ROOM)?;
    let heard = bus.proxy(ROOM, ROOM_PATH, ROOM_INTERFACE)?.signals("Said")?;
    let peer = RefCell::new(Peer { bus, name, said: 0, calls: Vec::new() });
    bus.call(ROOM, ROOM_PATH, ROOM_INTERFACE, "Join", &(name,))?;
    let look = || {
        let mut peer = peer.borrow_mut();
        peer.take_answers()?;
        while let Some(signal) = unless_ended(heard.poll())? {
            let (who, text): (&str, &str) = signal.read().map_err(DemoError::Read)?;
            peer.hear(who, text)?;
        }
        Ok(())
    };
    serve(bus, pace(name), look, || peer.borrow_mut().speak())
}

impl Peer<'_> {
    /// Says the next thing, and now and then whispers something to somebody.
    fn speak(&mut self) -> Result<(), DemoError> {
        self.said += 1;
        let other = neighbour(self.name);
        if self.said.is_multiple_of(SEARCH_EVERY) {
            return self.search(other);
        }
        if self.said.is_multiple_of(WHISPER_EVERY) {
            return self.whisper(other, "did you hear that?");
        }
        let line = LINES[self.said % LINES.len()];
        match self.said % QUESTION_EVERY {
            0 => self.say(&format!("{other}, {line}?")),
            _ => self.say(line),
        }
    }

    /// Answers somebody who asks it.
    fn hear(&mut self, who: &str, text: &str) -> Result<(), DemoError> {
        let asked = text.strip_prefix(self.name).is_some_and(|rest| rest.starts_with(','));
        if asked && who != self.name { self.say(&format!("{who}: I think so")) } else { Ok(()) }
    }

    /// Looks up what somebody has said before.
    fn search(&mut self, who: &str) -> Result<(), DemoError> {
        let message = Builder::method_call(ObjectPath::literal(archive::PATH), SEARCH)
            .interface(client::IntoName::into_name(archive::INTERFACE)?)
            .destination(client::IntoName::into_name(archive::NAME)?);
        self.call(&message, &(who,))
    }

    fn say(&mut self, text: &str) -> Result<(), DemoError> {
        let message = Builder::method_call(ObjectPath::literal(ROOM_PATH), SAY)
            .interface(client::IntoName::into_name(ROOM_INTERFACE)?)
            .destination(ROOM_NAME.into());
        self.call(&message, &(text,))
    }

    fn whisper(&mut self, to: &str, text: &str) -> Result<(), DemoError> {
        let destination = peer_name(to);
        let message = Builder::method_call(ObjectPath::literal(PEER_PATH), WHISPER)
            .interface(client::IntoName::into_name(PEER_INTERFACE)?)
            .destination(client::IntoName::into_name(&destination)?);
        self.call(&message, &(self.name, text))
    }

    /// Calls without waiting: two who whisper to each other must not wait for each other.
    fn call(&mut self, message: &Builder<'_>, body: &impl client::Body) -> Result<(), DemoError> {
        self.calls.push(self.bus.start_call(message, body, CallOptions::default())?);
        Ok(())
    }

    /// Errors are for those who watch to see; nobody here does anything about them.
    fn take_answers(&mut self) -> Result<(), DemoError> {
        self.calls.retain_mut(|call| call.poll().is_none());
        self.bus.flush()?;
        Ok(())
    }
}

fn peer_interface() -> Result<Interface<Ear>, InterfaceError> {
    Interface::<Ear>::builder(PEER_INTERFACE)
        .annotate(DOC, "Somebody in the chat.")
        .method("Whisper", &["from", "text"], &["answer"], |ear, _, (from, _): (String, String)| {
            ear.whispers += 1;
            Ok((format!("Yes, {from}. That is the {}. time somebody asks me.", ear.whispers),))
        })
        .annotate(DOC, "Says something that nobody else hears, and tells the answer.")
        .property("Whispers", |ear| ear.whispers)
        .emits_change(client::EmitsChange::No)
        .annotate(DOC, "How often somebody whispered to it.")
        .build()
}

fn peer_name(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{ROOM}.{}{rest}", first.to_ascii_uppercase())
}

fn is_name(text: &str) -> bool {
    (1..=NAME_LEN_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Who is whispered to.
fn neighbour(name: &str) -> &'static str {
    let place = PEERS.iter().position(|peer| *peer == name).unwrap_or(0);
    PEERS[(place + 1) % PEERS.len()]
}

/// Some talk more than others.
fn pace(name: &str) -> Duration {
    let place = PEERS.iter().position(|peer| *peer == name);
    Duration::from_millis(place.map_or(1300, |place| [300, 700, 1900][place]))
}

const ROOM: &str = "com.example.Chat";
const ROOM_NAME: WellKnownName<'static> = WellKnownName::literal(ROOM);
const ROOM_PATH: &str = "/com/example/Chat";
const ROOM_INTERFACE: &str = "com.example.Chat1";
const PEER_PATH: &str = "/com/example/ChatPeer";
const PEER_INTERFACE: &str = "com.example.ChatPeer1";
const SAY: MemberName<'static> = MemberName::literal("Say");
const SEARCH: MemberName<'static> = MemberName::literal("Search");
const WHISPER: MemberName<'static> = MemberName::literal("Whisper");

/// Those whom the demonstration starts.
const PEERS: [&str; 3] = ["anna", "ben", "cleo"];

/// So long that the name of the process is not cut.
const NAME_LEN_MAX: usize = 10;

/// One line in so many is whispered, or asks somebody something.
const WHISPER_EVERY: usize = 5;
const QUESTION_EVERY: usize = 4;

/// Before one line in so many the archive is asked.
const SEARCH_EVERY: usize = 7;

const LINES: [&str; 6] = [
    "the coach is late again",
    "has anybody seen the mail",
    "the horses need a rest",
    "it will rain before the next post",
    "that was a heavy parcel",
    "somebody should answer",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_the_room_or_a_name() {
        assert_eq!(Role::parse("room"), Ok(Role::Room));
        assert_eq!(Role::parse("anna"), Ok(Role::Peer("anna".into())));
        for word in ["", "Anna", "a b", "abcdefghijk"] {
            assert!(Role::parse(word).is_err(), "{word:?}");
        }
        assert_eq!(peer_name("anna"), "com.example.Chat.Anna");
        assert_eq!(
            (neighbour("anna"), neighbour("cleo"), neighbour("dora")),
            ("ben", "anna", "ben")
        );
    }

    #[test]
    fn a_room_knows_who_is_in_it() {
        let mut room = Room::default();
        assert_eq!(room.join(":1.1", "anna").unwrap(), ["anna"]);
        assert_eq!(room.join(":1.2", "ben").unwrap(), ["anna", "ben"]);
        assert!(room.join(":1.3", "ben").is_err());
        assert_eq!(room.join(":1.1", "ann").unwrap(), ["ben", "ann"]);
        assert_eq!(room.name_of(":1.1").unwrap(), "ann");
        assert_eq!(room.leave(":1.1").as_deref(), Some("ann"));
        assert_eq!(room.leave(":1.1"), None);
        assert!(room.name_of(":1.1").is_err());
    }

    #[test]
    fn the_interfaces_are_sound() {
        room_interface().unwrap();
        peer_interface().unwrap();
    }
}
