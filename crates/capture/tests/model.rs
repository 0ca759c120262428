//! The model of captures, tested with known recordings.

use std::time::Duration;

use capture::Capture;
use capture::model::{Health, Strings, TextId};
use capture::record::{BusId, MessageContent, RecordedBus};
use testkit::recording::{DRIVER, TestRecording};
use wire::message::MessageType;

/// A text longer than the bytes kept of a cut message.
const TEXT: &str = "a message about something that happened to somebody, somewhere";

const MAIL: &str = "org.example.Mail";

fn call(recording: &mut TestRecording, from: &str, to: &str) -> testkit::recording::RecordedCall {
    recording.call(from, to, "/ org.example.Mail.Count", &("inbox",))
}

#[test]
fn replies_are_paired_with_calls() {
    let mut recording = TestRecording::new();
    let first = call(&mut recording, ":1.1", MAIL);
    let second = call(recording.wait_us(10), ":1.1", MAIL);
    recording.wait_us(5).reply(&second, ":1.2", &(2_u32,));
    recording.wait_us(5).error(&first, ":1.2", "org.example.Full", "no room");
    let capture = recording.capture();
    let [one, two, answer, error] = all(&capture);
    assert_eq!(two.partner().map(|m| m.id()), Some(answer.id()));
    assert_eq!(error.partner().map(|m| m.id()), Some(one.id()));
    assert_eq!(two.duration(), Some(Duration::from_micros(5)));
    assert_eq!(error.duration(), Some(Duration::from_micros(20)));
    assert_eq!(error.kind(), MessageType::Error);
    assert_eq!(error.member(), "org.example.Full");
    assert_eq!(one.to(), answer.from(), "the replying connection owned the name");
}

#[test]
fn replies_from_other_connections_are_not_paired() {
    let mut recording = TestRecording::new();
    let to_one = call(&mut recording, ":1.1", ":1.2");
    recording.reply(&to_one, ":1.3", &(1_u32,)).reply(&to_one, DRIVER, &(1_u32,));
    let capture = recording.capture();
    let [call, forged, answer] = all(&capture);
    assert!(forged.partner().is_none());
    assert_eq!(call.partner().map(|m| m.id()), Some(answer.id()));
}

#[test]
fn durations_are_unknown_if_the_clock_goes_back() {
    let mut recording = TestRecording::new();
    let to_one = call(&mut recording, ":1.1", ":1.2");
    recording.wait_us(-10).reply(&to_one, ":1.2", &(1_u32,));
    let capture = recording.capture();
    let [call, answer] = all(&capture);
    assert!(call.partner().is_some());
    assert_eq!((call.duration(), answer.duration()), (None, None));
}

#[test]
fn names_have_owners_through_time() {
    let mut recording = TestRecording::new();
    recording.owner_changed(":1.7", "", ":1.7").wait_ms(1).owner_changed(MAIL, "", ":1.7");
    call(recording.wait_ms(1), ":1.1", MAIL);
    recording.wait_ms(1).owner_changed(MAIL, ":1.7", ":1.8");
    call(recording.wait_ms(1), ":1.1", MAIL);
    recording.wait_ms(1).owner_changed(MAIL, ":1.8", "").owner_changed(":1.7", ":1.7", "");
    call(recording.wait_ms(1), ":1.1", MAIL);
    let capture = recording.capture();
    let callees: Vec<_> = capture
        .messages()
        .filter(|message| message.kind() == MessageType::MethodCall)
        .map(|call| call.to().map(|peer| capture.directory().peer(peer).unique))
        .map(|unique| unique.map(|unique| capture.strings().get(unique)))
        .collect();
    assert_eq!(callees, [Some(":1.7"), Some(":1.8"), None]);
    let seven = capture
        .strings()
        .find(":1.7")
        .and_then(|name| capture.directory().by_unique(BusId(0), name));
    let seven = capture.directory().peer(seven.expect("it came"));
    assert!(seven.arrived < seven.left);
}

#[test]
fn cut_and_invalid_messages_are_kept_and_marked() {
    let mut recording = TestRecording::new();
    recording.signal(":1.1", "/ org.example.Mail.New", &(TEXT, 1_u32));
    recording.signal(":1.1", "/ org.example.Mail.New", &(TEXT, 1_u32)).cut(120);
    recording.signal(":1.1", "/ org.example.Mail.New", &(TEXT, 1_u32)).cut(40);
    recording.raw(b"not a message, but long enough to be one");
    let capture = recording.capture();
    let healths: Vec<_> = capture.messages().map(|message| message.health()).collect();
    let expected = [Health::Whole, Health::BodyCut, Health::HeaderCut, Health::HeaderInvalid];
    assert_eq!(healths, expected);
    let lens: Vec<_> = capture.messages().map(|message| message.len()).collect();
    assert_eq!(lens[0], lens[1], "the length of the message, not of the kept bytes");
    assert_eq!(capture.invalid().len(), 1);
}

/// Replies of the bus are redacted, but its broadcast signals are not.
#[test]
fn names_are_not_learned_from_redacted_bodies() {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus { content: MessageContent::Redacted, ..RecordedBus::default() });
    recording.ask_bus(":1.1", "GetNameOwner", &("xxx.xxxx",), &("xxxxx",));
    recording.ask_bus(":1.1", "GetConnectionUnixProcessID", &("xxxx",), &(0_u32,));
    recording.owner_changed(":1.2", "", ":1.2").owner_changed("org.example.Mail", "", ":1.2");
    recording.signal(":1.2", "/ org.example.Mail.New", &());
    let capture = recording.capture();
    let uniques = capture.directory().peers().map(|(_, peer)| capture.strings().get(peer.unique));
    let mut uniques: Vec<_> = uniques.collect();
    uniques.sort_unstable();
    assert_eq!(uniques, [":1.1", ":1.2", "org.freedesktop.DBus"]);
    assert!(capture.directory().peers().all(|(_, peer)| peer.process.is_none()));
    let two = capture.directory().by_unique(BusId(0), capture.strings().find(":1.2").unwrap());
    assert_eq!(capture.directory().peer(two.unwrap()).names.len(), 1);
    let masked = capture.messages().filter(|one| one.health() == Health::BodyRedacted);
    assert_eq!(masked.count(), 4, "calls and replies with a body, and no signal");
    let mut buffer = capture::model::MessageBuffer::default();
    let first = capture.messages().next().expect("a call").id();
    assert!(capture.read_message(first, &mut buffer).expect("it is there").is_none());
}

#[test]
fn pcap_files_give_the_same_capture() {
    let mut recording = TestRecording::new();
    let to_one = call(&mut recording, ":1.1", ":1.2");
    recording.wait_us(7).reply(&to_one, ":1.2", &(1_u32,));
    let path = std::env::temp_dir().join(format!("diligence-model-{}.pcap", std::process::id()));
    std::fs::write(&path, recording.pcap()).expect("a file");
    let capture = Capture::open(&path).expect("a recording");
    std::fs::remove_file(&path).expect("the file is there");
    let [call, answer] = all(&capture);
    assert_eq!(call.duration(), Some(Duration::from_micros(7)));
    let mut buffer = capture::model::MessageBuffer::default();
    let message = capture.read_message(answer.id(), &mut buffer).expect("the file is open");
    assert_eq!(message.expect("a valid message").read::<(u32,)>(), Ok((1,)));
}

fn all<const N: usize>(capture: &Capture) -> [capture::model::CapturedMessage<'_>; N] {
    let messages: Vec<_> = capture.messages().collect();
    messages.try_into().expect("as many messages as were made")
}

#[test]
fn texts_are_stored_once() {
    let mut strings = Strings::default();
    let ids: Vec<_> = ["a", "b", "a", "", "b"].map(|text| strings.intern(text)).into();
    assert_eq!(ids[0], ids[2]);
    assert_eq!(ids[1], ids[4]);
    assert_eq!(ids[3], TextId::NONE);
    assert_eq!(strings.len(), 3);
    assert_eq!(strings.get(ids[1]), "b");
    assert_eq!(strings.find("a"), Some(ids[0]));
    assert_eq!(strings.find("c"), None);
}

#[test]
fn texts_are_found_among_many() {
    let mut strings = Strings::default();
    let ids: Vec<_> = (0..10_000).map(|n| strings.intern(&n.to_string())).collect();
    for (n, id) in ids.into_iter().enumerate() {
        assert_eq!(strings.get(id), n.to_string());
        assert_eq!(strings.find(&n.to_string()), Some(id));
    }
}
