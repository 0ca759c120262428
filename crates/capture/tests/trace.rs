//! Converting the trace of a bus to records with the times of each copy.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::time::Duration;

use capture::record::{
    BusId, CaptureMethod, Fact, GapCause, RecordedProcess, RecordedTime, RecordingGap,
    RecordingRecord,
};
use capture::trace::{Assembler, AssemblerLimits};
use capture::{Capture, file};
use trace::layout::RING_MIN;
use trace::record::{Entry, FirstRecipient, MessageRecord, Parts, Party, Recipients};
use trace::{Delivered, Participant, RingWriter, TracedProgram};

/// Assembles a trace that is written as text: `5 msg A 7:100 8:40` is a message with body `A`
/// received at 5 us, with copies to 7 and 8 that end at those bytes; `9 out 7:100`, `9 left 7`, `9
/// gap 3`, `9 idle`, `end`.
fn assemble(happening: &str) -> String {
    let limits = AssemblerLimits { time: Duration::from_micros(100), bytes: 1 << 20 };
    let mut assembler = Assembler::new(BusId(0), 0, limits);
    let mut out = String::new();
    for line in happening.split(", ") {
        let words: Vec<&str> = line.split(' ').collect();
        apply(&mut assembler, &words);
        while let Some(record) = assembler.next_record() {
            describe(&record, &mut out);
        }
        out.push('|');
    }
    out
}

fn apply(assembler: &mut Assembler, words: &[&str]) {
    let at = || Duration::from_micros(words[0].parse().expect("a time"));
    match words {
        ["end"] => assembler.finish(),
        [_, "idle"] => assembler.idle(at()),
        [_, "gap", count] => assembler.missed(count.parse().expect("a number")),
        [_, "left", peer] => {
            let peer = peer.parse().expect("a number");
            assembler.push(at(), &Entry::Left { peer, why: "" });
        }
        [_, "out", copy] => {
            let Delivered { to, end } = delivered(copy);
            assembler.push(at(), &Entry::Written { to, total: end });
        }
        [_, "msg", body, copies @ ..] => {
            let copies: Vec<_> = copies.iter().map(|copy| delivered(copy)).collect();
            assembler.push(at(), &Entry::Message(message(body.as_bytes(), &copies)));
        }
        other => panic!("{other:?}"),
    }
}

fn delivered(text: &str) -> Delivered {
    let (to, end) = text.split_once(':').expect("a connection and an end");
    Delivered { to: to.parse().expect("a number"), end: end.parse().expect("a number") }
}

fn message<'a>(bytes: &'a [u8], copies: &'a [Delivered]) -> MessageRecord<'a> {
    MessageRecord {
        routed_after: Duration::from_micros(1),
        stages: None,
        from: Party::Peer(1),
        len: bytes.len() as u32,
        bytes: Parts(bytes, b""),
        recipients: Recipients::List(copies),
        first: FirstRecipient::Addressee,
    }
}

fn describe(record: &RecordingRecord<'_>, out: &mut String) {
    match record {
        RecordingRecord::Message(message) => {
            out.push_str(std::str::from_utf8(message.bytes).expect("text"));
            for delivery in message.trace.expect("a trace").deliveries {
                let micros = |after: Option<Duration>| after.map_or(-1, |it| it.as_micros() as i64);
                let after = micros(delivery.written_after);
                write!(out, " {}+{after}", delivery.recipient).expect("a text grows");
                if delivery.begun_after != delivery.written_after {
                    write!(out, "({})", micros(delivery.begun_after)).expect("a text grows");
                }
            }
        }
        RecordingRecord::Fact { fact: Fact::Left { unique, .. }, .. } => {
            write!(out, "left {unique}").expect("a text grows");
        }
        RecordingRecord::Gap(gap) => {
            assert_eq!(gap.cause, GapCause::Overrun);
            write!(out, "gap {:?}", gap.lost).expect("a text grows");
        }
        other => panic!("{other:?}"),
    }
    out.push(';');
}

#[test]
fn traced_messages_are_returned_when_their_copies_are_written() {
    let check = |happening: &str, expected: &str| {
        assert_eq!(assemble(happening), expected, "{happening}");
    };
    check("5 msg A", "A;|");
    check("5 msg A 7:100, 9 out 7:100", "|A 7+4;|");
    check("5 msg A 7:100, 9 out 7:99, 10 out 7:100", "||A 7+5;|");
    check("5 msg A 7:100 8:40, 6 out 8:40, 9 out 7:500", "||A 7+4 8+1;|");
    // One write can complete several copies. Later messages wait for earlier ones.
    check("5 msg A 7:10, 6 msg B 7:20, 7 msg C, 9 out 7:20", "|||A 7+4;B 7+3;C;|");
    check("5 msg A 7:10, 6 msg B 8:20, 7 out 8:20, 9 out 7:10", "|||A 7+4;B 8+1;|");
    // Waiting is limited in time.
    check("5 msg A 7:10, 6 msg B, 200 idle, 300 out 7:10", "||A 7+-1;B;||");
    check("5 msg A 7:10 8:9, 6 out 8:9, 7 left 7", "||A 7+-1 8+1;left :1.7;|");
    check("5 msg A 7:10, 6 gap 3, 7 out 7:10", "|A 7+-1;gap Some(3);||");
    check("5 msg A 7:10, end", "|A 7+-1;|");
    // The first bytes of a copy may be written before the last ones.
    let long = "x".repeat(40);
    let happening = format!("5 msg A 7:10, 6 msg {long} 7:50, 8 out 7:10, 9 out 7:11, 12 out 7:50");
    check(&happening, &format!("||A 7+3;||{long} 7+6(3);|"));
    check(&format!("6 msg {long} 7:50, 9 out 7:49, end"), &format!("||{long} 7+-1(3);|"));
}

#[test]
fn waiting_traced_messages_are_limited() {
    let limits = AssemblerLimits { time: Duration::from_secs(3600), bytes: 100_000 };
    let mut assembler = Assembler::new(BusId(0), 0, limits);
    let (mut count, bytes) = (0, [7; 1000]);
    for number in 0..1000 {
        let copies = [Delivered { to: 7, end: number }];
        assembler.push(Duration::from_micros(number), &Entry::Message(message(&bytes, &copies)));
        while assembler.next_record().is_some() {
            count += 1;
        }
    }
    assert!((900..1000).contains(&count), "{count}");
    assembler.push(Duration::from_secs(1), &Entry::Written { to: 7, total: 1 << 30 });
    while let Some(RecordingRecord::Message(message)) = assembler.next_record() {
        let trace = message.trace.expect("it is traced");
        assert!(trace.deliveries[0].written_after.is_some());
        count += 1;
    }
    assert_eq!(count, 1000);
}

#[test]
fn flight_recorder_files_are_recordings() {
    let path = std::env::temp_dir().join(format!("diligence-flight-{}", std::process::id()));
    fs::write(&path, flight(100)).expect("a file");
    let capture = Capture::open(&path).expect("a recording");
    fs::remove_file(&path).expect("it is there");
    assert_eq!(capture.buses()[0].method, CaptureMethod::Trace);
    assert_eq!(capture.len(), 100);
    for message in capture.messages() {
        let deliveries = message.deliveries().expect("it is traced");
        assert_eq!(deliveries[0].written_after, Some(Duration::from_micros(3)));
    }
    assert!(file::RecordingReader::new(&b"DLGTRACE with something else behind it"[..]).is_err());
}

#[test]
fn truncated_flight_recorder_files_are_reported() {
    let (messages, participants) = (flight(2000), participants());
    let whole = [&messages[..], &participants].concat();
    let all = read(&whole).expect("a recording");
    assert_eq!((all.gaps().len(), all.damage().len()), (0, 0));
    for len in [4096, 5000, 20_000, 40_000, 60_000, messages.len() - 2000] {
        let cut = read(&whole[..len]).expect("a recording");
        let is_cut = |gap: &RecordingGap| gap.cause == GapCause::CutFile;
        assert!(!cut.gaps().is_empty() && cut.gaps().iter().all(is_cut), "{len}: {:?}", cut.gaps());
        assert_eq!(cut.damage().len(), 0, "{len}");
        if let [RecordingGap { lost: Some(lost), .. }] = cut.gaps() {
            assert_eq!(cut.len() as u64 + lost, all.len() as u64, "{len}");
        }
    }
    // The file has all messages, but lacks descriptions of connections.
    for len in [messages.len() + 1, messages.len() + 4100] {
        let cut = read(&whole[..len]).expect("a recording");
        assert_eq!((cut.len(), cut.gaps().len()), (all.len(), 0), "{len}");
        let [damage] = cut.damage() else { panic!("{len}: {:?}", cut.damage()) };
        assert_eq!(
            (damage.at, damage.what.starts_with("the file is truncated")),
            (len as u64, true)
        );
    }
    let error = read(&whole[..4000]).expect_err("it has no whole header");
    assert!(error.to_string().contains("the file is cut"), "{error}");
}

fn read(bytes: &[u8]) -> io::Result<Capture> {
    Capture::from_bytes(bytes.to_vec())
}

#[test]
fn flight_recorder_files_have_participants_after_messages() {
    let mut bytes = flight(1);
    bytes.extend(participants());
    let process = RecordedProcess {
        pid: Some(70),
        uid: Some(1),
        comm: Some("send".into()),
        exe: Some("/usr/bin/send".into()),
        command: vec!["send".into(), "--now".into(), String::new()],
        unit: Some("a.service".into()),
        cgroup: Some("/system.slice/a.service".into()),
        started: Some(RecordedTime(600)),
    };
    let unique = || ":1.7".to_owned();
    let owner = |unique, since| Fact::Owner { name: NAME.to_owned(), unique, since };
    let expected = [
        Fact::Bus { process: process.clone() },
        Fact::Peer { unique: unique(), process: Some(process) },
        owner(Some(unique()), Some(RecordedTime(1003))),
        owner(None, None),
        Fact::Left { unique: unique(), why: Some("it has sent something invalid".into()) },
    ];
    assert_eq!(facts(&bytes), expected);

    // A damaged record does not affect others.
    let place = bytes.len() - RING_MIN + 48;
    bytes[place..][..8].fill(0xff);
    assert_eq!(facts(&bytes).len(), expected.len() - 1);
}

/// The facts in a file.
fn facts(bytes: &[u8]) -> Vec<Fact> {
    let reader = file::RecordingReader::new(bytes).expect("memory can be read");
    let mut reader = reader.expect("a recording");
    let mut facts = Vec::new();
    while let Some(record) = reader.next_record().expect("memory can be read") {
        if let RecordingRecord::Fact { fact, .. } = record {
            facts.push(fact);
        }
    }
    facts
}

#[test]
#[cfg(target_endian = "little")]
fn files_without_participants_are_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/file/flight-1.trace.gz");
    let capture = Capture::open(path.as_ref()).expect("a recording");
    assert_eq!(capture.damage().len() + capture.gaps().len(), 0);
    assert_eq!(capture.len(), 16);
    let is_there = |name: &str| capture.messages().any(|message| message.member() == name);
    assert!(is_there("Hello") && is_there("RequestName"));
    let pids = capture.directory().peers().filter_map(|(_, peer)| peer.process.as_ref()?.pid);
    assert_eq!(pids.collect::<Vec<_>>(), [13700, 13707]);
}

/// The bytes of a ring of participants.
fn participants() -> Vec<u8> {
    let program = TracedProgram {
        comm: "send",
        executable: "/usr/bin/send",
        unit: "a.service",
        control_group: "/system.slice/a.service",
        command: "send\0--now\0",
    };
    let text = program.to_text();
    let (mut writer, descriptor) = RingWriter::new(RING_MIN, 1000, 0).expect("a ring");
    let participant = |who| {
        let started = Some(-400);
        Entry::Participant(Participant { who, pid: 70, uid: 1, started, program: &text })
    };
    for (at, entry) in [
        (1, participant(Party::Bus)),
        (2, participant(Party::Peer(7))),
        (3, Entry::OwnerChanged { name: NAME, old: None, new: Some(7) }),
        (4, participant(Party::Peer(7))),
        (5, Entry::Owned { name: NAME, peer: 7 }),
        (6, Entry::OwnerChanged { name: NAME, old: Some(7), new: None }),
        (7, Entry::Left { peer: 7, why: "it has sent something invalid" }),
    ] {
        writer.write(Duration::from_nanos(at), entry);
    }
    let mut bytes = Vec::new();
    File::from(descriptor).read_to_end(&mut bytes).expect("the ring");
    bytes
}

/// The name that a participant owns.
const NAME: &str = "org.example.Name";

/// The bytes of a ring with this number of messages.
fn flight(count: u64) -> Vec<u8> {
    let (mut writer, descriptor) = RingWriter::new(RING_MIN, 0, u32::MAX).expect("a ring");
    for number in 1..=count {
        let at = Duration::from_micros(10 * number);
        let copies = [Delivered { to: 7, end: 10 * number }];
        writer.write(at, Entry::Message(message(b"l\x01", &copies)));
        let written = Entry::Written { to: 7, total: 10 * number };
        writer.write(at + Duration::from_micros(3), written);
    }
    let mut bytes = Vec::new();
    File::from(descriptor).read_to_end(&mut bytes).expect("the ring");
    bytes
}
