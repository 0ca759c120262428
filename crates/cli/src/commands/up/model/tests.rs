//! Tests that pass records to a model and check its notes and snapshots.

use testkit::recording::{DRIVER, TestRecording};

use super::*;

const MONITOR: &str = ":1.0";
const ASKER: &str = ":1.1";

/// A model, and a recording whose records are passed to it step by step.
struct ModelTest {
    model: UpModel,
    recording: TestRecording,
    now: Duration,
}

impl ModelTest {
    fn new() -> Self {
        let now = Duration::from_secs(100);
        let mut test = Self { model: UpModel::new(now), recording: TestRecording::new(), now };
        for own in [MONITOR, ASKER] {
            test.fact(Fact::Recorder { unique: own.into() });
        }
        test
    }

    /// Sets the time in milliseconds since the start.
    fn at(&mut self, millis: u64) -> &mut Self {
        self.now = Duration::from_millis(100_000 + millis);
        self.recording.at_ms(i64::try_from(millis).expect("a short time"));
        self
    }

    /// Records something and passes the new records to the model.
    fn record(&mut self, record: impl FnOnce(&mut TestRecording)) {
        record(&mut self.recording);
        let now = self.now;
        self.recording.each(|record| self.model.push(record, now));
        self.recording.clear();
    }

    fn fact(&mut self, fact: Fact) -> &mut Self {
        self.record(|it| {
            it.fact(fact);
        });
        self
    }

    fn connects(&mut self, unique: &str) -> &mut Self {
        let process = Some(RecordedProcess { pid: Some(42), ..RecordedProcess::default() });
        self.fact(Fact::Peer { unique: unique.into(), process })
    }

    fn program(&mut self, unique: &str, label: &str) -> &mut Self {
        self.record(|it| {
            it.process(unique, 42, label);
        });
        self
    }

    fn owns(&mut self, name: &str, unique: &str) -> &mut Self {
        self.record(|it| {
            it.owner(name, unique);
        });
        self
    }

    fn releases(&mut self, name: &str) -> &mut Self {
        self.fact(Fact::Owner { name: name.into(), unique: None, since: None })
    }

    fn disconnects(&mut self, unique: &str) -> &mut Self {
        self.fact(Fact::Left { unique: unique.into(), why: None })
    }

    fn step(&mut self) -> Snapshot {
        self.model.step(self.now);
        self.model.snapshot(self.now, self.recording.now())
    }

    fn notes(&self) -> Vec<String> {
        let (notes, _) = self.model.notes().since(NoteId::default());
        notes.map(|note| format!("{} {} x{}", note.kind.word(), note.text, note.times)).collect()
    }
}

fn member<'s>(snapshot: &'s Snapshot, name: &str) -> &'s UsedMember {
    snapshot.members.iter().find(|row| &*row.member == name).expect("it was used")
}

#[test]
fn notes_on_connections_contain_process_and_names() {
    let mut test = ModelTest::new();
    test.connects(":1.5").owns("org.a", ":1.5").program(":1.5", "service").owns("org.b", ":1.5");
    test.at(10_000).releases("org.b").disconnects(":1.5");
    assert_eq!(
        test.notes(),
        [
            "connected :1.5 service connected, pid 42, is org.a x1",
            "name org.b is :1.5 service x1",
            "name org.b has no owner, was :1.5 service x1",
            "left :1.5 service left x1",
        ]
    );
    let snapshot = test.step();
    assert_eq!((snapshot.connection_count(), snapshot.names), (0, 0));
}

#[test]
fn repeated_facts_are_noted_once() {
    let mut test = ModelTest::new();
    for _ in 0..2 {
        test.connects(":1.5").program(":1.5", "service").owns("org.a", ":1.5");
    }
    test.at(5000)
        .disconnects(":1.5")
        .disconnects(":1.5")
        .program(":1.5", "late")
        .owns("org.a", ":1.5");
    assert_eq!(
        test.notes(),
        [
            "connected :1.5 service connected, pid 42 x1",
            "name org.a is :1.5 service x1",
            "left :1.5 service left x1"
        ]
    );
    assert_eq!(test.step().connection_count(), 0);
}

#[test]
fn short_connections_get_one_note() {
    let mut test = ModelTest::new();
    test.connects(":1.5").program(":1.5", "gdbus").at(1000).disconnects(":1.5");
    test.connects(":1.6").disconnects(":1.6").program(":1.6", "late");
    assert_eq!(
        test.notes(),
        [
            "left :1.5 gdbus connected and disconnected x1",
            "left :1.6 connected and disconnected x1"
        ]
    );
}

#[test]
fn a_call_and_its_reply_count_as_one_use() {
    let mut test = ModelTest::new();
    test.program(":1.5", "service").owns("org.a", ":1.5").program(":1.6", "client");
    test.at(0).step();
    for millis in 1..=6 {
        test.at(millis * 100).record(|it| {
            let call = it.call(":1.6", "org.a", "/ org.a.B.Get", &());
            it.reply(&call, ":1.5", &(7_u32,));
        });
    }
    let snapshot = test.at(1000).step();
    let row = member(&snapshot, "Get");
    assert_eq!(row.ends(), ("client (:1.6)".into(), "org.a".into()));
    assert_eq!((row.count, row.rate.messages, row.errors), (6, 6.0, 0.0));
    let peers = snapshot.connections.iter().filter(|row| row.owner == ConnectionOwner::Peer);
    let sent: u64 = peers.map(|row| row.total.bytes).sum();
    assert_eq!(row.len, sent as f64 / 6.0);
    let client = snapshot.connections.iter().find(|row| &*row.unique == ":1.6");
    assert_eq!(client.expect("it is there").rate.messages, 6.0);
}

#[test]
fn error_replies_count_for_the_called_method() {
    let mut test = ModelTest::new();
    test.program(":1.5", "service").program(":1.6", "client");
    let unknown = "org.freedesktop.DBus.Error.UnknownObject";
    test.record(|it| {
        for _ in 0..3 {
            let call = it.call(":1.6", ":1.5", "/ org.a.B.Get", &());
            it.error(&call, ":1.5", unknown, "no");
        }
        // A second reply to the same call is ignored.
        let call = it.call(":1.6", ":1.5", "/ org.a.B.Get", &());
        it.reply(&call, ":1.5", &()).error(&call, ":1.5", unknown, "no");
    });
    assert_eq!(
        test.notes()[2..],
        ["error client (:1.6) called Get of service (:1.5): UnknownObject x3"]
    );
    let snapshot = test.at(1000).step();
    assert_eq!(member(&snapshot, "Get").errors, 3.0);
}

#[test]
fn own_traffic_counts_only_for_own_connections() {
    let mut test = ModelTest::new();
    test.record(|it| {
        it.ask_bus(ASKER, "GetStats", &(), &());
        it.signal_to(DRIVER, MONITOR, "/ org.freedesktop.DBus.NameLost", &("org.a",));
    });
    let snapshot = test.at(1000).step();
    assert_eq!((snapshot.rate.messages, snapshot.members.len()), (0.0, 0));
    let sent = |unique: &str| {
        let row = snapshot.connections.iter().find(|row| &*row.unique == unique);
        let row = row.expect("it is there");
        (row.owner, row.total.messages)
    };
    assert_eq!(
        (sent(ASKER), sent(DRIVER)),
        ((ConnectionOwner::View, 1), (ConnectionOwner::Bus, 0))
    );
    assert_eq!(snapshot.connection_count(), 0);
}

#[test]
fn connections_without_a_known_program_are_noted_later() {
    let mut test = ModelTest::new();
    test.fact(Fact::Peer { unique: ":1.5".into(), process: None });
    test.connects(":1.6").owns("org.a", ":1.6");
    test.at(100).step();
    assert!(test.notes().is_empty(), "a program may still become known");
    let snapshot = test.at(1000).step();
    let mut notes = test.notes();
    notes.sort();
    assert_eq!(
        notes,
        ["connected :1.5 connected x1", "connected :1.6 org.a connected, pid 42, is org.a x1"]
    );
    assert_eq!((snapshot.connection_count(), snapshot.names), (2, 1));
}

#[test]
fn signals_show_their_recipient_or_an_asterisk() {
    let mut test = ModelTest::new();
    test.connects(":1.5").connects(":1.6").record(|it| {
        it.signal(":1.5", "/ org.a.Changed", &()).signal_to(
            ":1.5",
            ":1.6",
            "/ org.a.Addressed",
            &(),
        );
    });
    let snapshot = test.at(1000).step();
    assert_eq!(member(&snapshot, "Changed").ends(), (":1.5".into(), "*".into()));
    assert_eq!(member(&snapshot, "Addressed").ends(), (":1.5".into(), ":1.6".into()));
}

#[test]
fn members_differ_in_each_part_of_their_name() {
    let mut test = ModelTest::new();
    test.record(|it| {
        it.signal(":1.5", "/ org.a.Get", &());
        for (to, what) in [
            (":1.5", "/ org.a.Get"),
            (":1.5", "/other org.a.Get"),
            (":1.5", "/ Get"),
            (":1.5", "/ org.a.Set"),
            (":1.6", "/ org.a.Get"),
        ] {
            it.call(":1.7", to, what, &());
        }
    });
    assert_eq!(test.at(1000).step().members.len(), 5);
    test.disconnects(":1.5");
    assert_eq!(test.step().members.len(), 1, "members of a disconnected peer are removed");
}

#[test]
fn the_most_frequent_caller_is_named() {
    let mut test = ModelTest::new();
    for (caller, times) in [(":1.6", 1), (":1.7", 3), (":1.8", 2)] {
        for _ in 0..times {
            test.record(|it| {
                it.call(caller, ":1.5", "/ org.a.Get", &());
            });
        }
    }
    let from = |snapshot: &Snapshot| member(snapshot, "Get").ends().0;
    assert_eq!(from(&test.at(1000).step()), ":1.7 +2");
    test.disconnects(":1.7");
    assert_eq!(from(&test.step()), ":1.8 +1");
}

#[test]
fn members_unused_for_a_minute_are_not_listed() {
    let mut test = ModelTest::new();
    test.record(|it| {
        it.signal(":1.5", "/ org.a.Changed", &());
    });
    let row = |snapshot: &Snapshot| {
        snapshot.members.first().map(|row| (row.count, row.rate.messages > 0.0))
    };
    assert_eq!(row(&test.at(1000).step()), Some((1, true)));
    assert_eq!(row(&test.at(30_000).step()), Some((1, false)));
    assert_eq!(row(&test.at(61_000).step()), None);
}
