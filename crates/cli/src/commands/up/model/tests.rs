//! Stories of a bus, told to a model, and what it makes of them.

use std::num::NonZeroU32;

use wire::message::Builder;
use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};

use super::*;

const MONITOR: &str = ":1.0";
const ASKER: &str = ":1.1";

/// A model to which things happen, one after the other.
struct Story {
    model: Model,
    now: Duration,
}

impl Story {
    fn new() -> Self {
        let bus = Program { pid: 7, label: "the bus".into(), command: "the bus".into() };
        let mut model = Model::new(Duration::from_secs(100), bus);
        model.set_own(MONITOR, ASKER, Duration::from_secs(100));
        Self { model, now: Duration::from_secs(100) }
    }

    fn at(&mut self, seconds: u64) -> &mut Self {
        self.now = Duration::from_secs(100 + seconds);
        self
    }

    fn saw(&mut self, message: Builder<'_>, serial: u32) -> &mut Self {
        self.saw_with(message, serial, &())
    }

    fn saw_with(
        &mut self,
        message: Builder<'_>,
        serial: u32,
        body: &impl wire::body::EncodeArgs,
    ) -> &mut Self {
        let mut bytes = Vec::new();
        message.write(&mut bytes, NonZeroU32::new(serial).unwrap(), body).unwrap();
        self.model.observe(self.now, &Message::parse(&bytes).unwrap());
        self
    }

    /// The bus says that a name has another owner.
    fn owner(&mut self, name: &str, old: &str, new: &str) -> &mut Self {
        let signal = signal(BUS, BUS, "NameOwnerChanged");
        self.saw_with(signal, 1, &(name, old, new))
    }

    fn program(&mut self, unique: &str, label: &str) -> &mut Self {
        let program = Program { pid: 42, label: label.into(), command: label.into() };
        self.model.set_program(unique, Some(program), self.now);
        self
    }

    fn step(&mut self) -> Snapshot {
        self.model.step(self.now);
        self.model.snapshot(self.now)
    }

    fn notes(&self) -> Vec<String> {
        let (notes, _) = self.model.notes().since(NoteId::default());
        notes.map(|note| format!("{} {} x{}", note.kind.word(), note.text, note.times)).collect()
    }
}

fn call<'a>(from: &'a str, to: &'a str, member: &'a str) -> Builder<'a> {
    Builder::method_call(ObjectPath::ROOT, MemberName::new(member).unwrap())
        .interface(InterfaceName::new("org.a.B").unwrap())
        .sender(BusName::new(from).unwrap())
        .destination(BusName::new(to).unwrap())
}

fn signal<'a>(from: &'a str, interface: &'a str, member: &'a str) -> Builder<'a> {
    let (interface, member) = (InterfaceName::new(interface), MemberName::new(member));
    Builder::signal(ObjectPath::ROOT, interface.unwrap(), member.unwrap())
        .sender(BusName::new(from).unwrap())
}

fn reply<'a>(from: &'a str, to: &'a str, serial: u32) -> Builder<'a> {
    Builder::method_return(NonZeroU32::new(serial).unwrap())
        .sender(BusName::new(from).unwrap())
        .destination(BusName::new(to).unwrap())
}

fn error<'a>(from: &'a str, to: &'a str, serial: u32, name: &'a str) -> Builder<'a> {
    Builder::error(ErrorName::new(name).unwrap(), NonZeroU32::new(serial).unwrap())
        .sender(BusName::new(from).unwrap())
        .destination(BusName::new(to).unwrap())
}

#[test]
fn who_comes_and_goes_is_noted_with_all_that_is_known() {
    let mut story = Story::new();
    story.owner(":1.5", "", ":1.5").owner("org.a", "", ":1.5");
    assert_eq!(story.model.newcomers(), [":1.5".into()]);
    assert_eq!(story.model.newcomers(), []);
    story.program(":1.5", "service").owner("org.b", "", ":1.5");
    story.at(10).owner("org.b", ":1.5", "").owner(":1.5", ":1.5", "");
    assert_eq!(
        story.notes(),
        [
            "came :1.5 service came, pid 42, is org.a x1",
            "name org.b is :1.5 service x1",
            "name org.b is nobody, was :1.5 service x1",
            "left :1.5 service left x1",
        ]
    );
    let snapshot = story.step();
    assert_eq!((snapshot.connection_count(), snapshot.names), (0, 0));
}

#[test]
fn a_short_visit_is_one_note() {
    let mut story = Story::new();
    story.owner(":1.5", "", ":1.5").program(":1.5", "gdbus").at(1).owner(":1.5", ":1.5", "");
    story.owner(":1.6", "", ":1.6").owner(":1.6", ":1.6", "").program(":1.6", "late");
    assert_eq!(story.notes(), ["left :1.5 gdbus came and left x1", "left :1.6 came and left x1"]);
}

#[test]
fn a_call_and_its_answer_are_one_use_of_a_method() {
    let mut story = Story::new();
    story.owner(":1.5", "", ":1.5").owner("org.a", "", ":1.5").program(":1.5", "service");
    story.owner(":1.6", "", ":1.6").program(":1.6", "client").step();
    for serial in 1..=6 {
        story.saw(call(":1.6", "org.a", "Get"), serial).saw(reply(":1.5", ":1.6", serial), 9);
    }
    let snapshot = story.at(1).step();
    let row = snapshot.members.iter().find(|row| &*row.member == "Get").unwrap();
    assert_eq!(row.ends(), ("client (:1.6)".into(), "org.a".into()));
    assert_eq!((row.count, row.rate.messages, row.errors), (6, 6.0, 0.0));
    let both = snapshot.connections.iter().filter(|row| row.owner == Owner::Peer);
    let sent: u64 = both.map(|row| row.total.bytes).sum();
    assert_eq!(row.len, sent as f64 / 6.0);
}

#[test]
fn errors_are_counted_with_what_was_called() {
    let mut story = Story::new();
    story.owner(":1.5", "", ":1.5").program(":1.5", "service");
    story.owner(":1.6", "", ":1.6").program(":1.6", "client");
    for serial in 1..=3 {
        let failed = error(":1.5", ":1.6", serial, "org.freedesktop.DBus.Error.UnknownObject");
        story.saw(call(":1.6", ":1.5", "Get"), serial).saw(failed, 9);
    }
    // An answer to what nobody saw being called, and a second answer, say nothing.
    story.saw(error(":1.5", ":1.6", 3, "org.a.Error"), 9).saw(reply(":1.5", ":1.9", 3), 9);
    assert_eq!(
        story.notes()[2..],
        ["error client (:1.6) called Get of service (:1.5): UnknownObject x3"]
    );
    let snapshot = story.at(1).step();
    let row = snapshot.members.iter().find(|row| &*row.member == "Get").unwrap();
    assert_eq!(row.errors, 3.0);
}

#[test]
fn our_own_traffic_is_counted_for_us_alone() {
    let mut story = Story::new();
    story.saw(call(ASKER, BUS, "GetStats"), 1).saw(reply(BUS, ASKER, 1), 1);
    story.saw(signal(BUS, BUS, "NameLost").destination(BusName::new(MONITOR).unwrap()), 2);
    let snapshot = story.at(1).step();
    assert_eq!((snapshot.rate, snapshot.members.len()), (Rate::default(), 0));
    let sent = |owner| {
        let row = snapshot.connections.iter().find(|row| row.owner == owner).unwrap();
        row.total.messages
    };
    assert_eq!((sent(Owner::View), sent(Owner::Bus)), (1, 0));
    assert_eq!(snapshot.connection_count(), 0);
}

#[test]
fn who_was_there_before_is_found_by_asking() {
    let mut story = Story::new();
    let now = story.now;
    for name in [":1.5", ASKER] {
        story.model.exists(name, now);
    }
    story.model.is_owned("org.a", ":1.6", now);
    story.model.is_owned("org.a", ":1.6", now);
    assert_eq!(story.model.newcomers(), [":1.5".into(), ":1.6".into()]);
    // One that the bus can tell nothing of is noted all the same.
    story.model.set_program(":1.5", None, now);
    assert_eq!(story.notes(), ["came :1.5 came x1"]);
    let snapshot = story.step();
    assert_eq!((snapshot.connection_count(), snapshot.names), (2, 1));
}

#[test]
fn signals_go_to_all_or_to_those_they_are_addressed_to() {
    let mut story = Story::new();
    story.saw(signal(":1.5", "org.a", "Changed"), 1);
    let one = BusName::new(":1.6").unwrap();
    story.saw(signal(":1.5", "org.a", "Told").destination(one), 2);
    let snapshot = story.at(1).step();
    let to = |member: &str| {
        let row = snapshot.members.iter().find(|row| &*row.member == member).unwrap();
        row.ends()
    };
    assert_eq!(to("Changed"), (":1.5".into(), "*".into()));
    assert_eq!(to("Told"), (":1.5".into(), ":1.6".into()));
}

#[test]
fn the_history_is_in_messages_a_second() {
    let mut story = Story::new();
    story.step();
    for (second, messages) in [(1, 3), (3, 8), (4, 0)] {
        for serial in 0..messages {
            story.saw(signal(":1.5", "org.a", "Changed"), serial + 1);
        }
        story.at(second).step();
    }
    assert_eq!(story.model.snapshot(story.now).history, [0, 4, 3, 0]);
}
