//! Writing captures: reading the file again yields an equivalent capture.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process;

use capture::Capture;
use capture::bodies::Bodies;
use capture::model::{Health, PeerRole};
use capture::record::{
    BusId, Damage, EndCause, Fact, GapCause, MessageContent, ProcessorUse, RecordedProcess,
    RecordedTime, RecordingGap, RecordingOrigin, RecordingRecord,
};
use testkit::findings::findings;
use testkit::recording::{DRIVER, TestRecording};

const MAIL: &str = "org.example.Mail";

/// A recording with every kind of record.
fn everything() -> TestRecording {
    let mut recording = TestRecording::traced_and_monitored();
    recording.process(":1.9", 60, "vfsd").rule(":1.9", "type='signal'").rule(":1.9", "arg0='x'");
    recording.fact(Fact::Recorder { unique: ":1.2".into() });
    recording.fact(Fact::Bus {
        process: RecordedProcess { pid: Some(1), ..RecordedProcess::default() },
    });
    recording.fact(Fact::Activatable { name: MAIL.into() });
    recording.fact(Fact::Owner { name: ":1.9".into(), unique: Some(":1.9".into()), since: None });
    names(&mut recording);
    messages(&mut recording);
    recording.on(BusId(1)).owner(MAIL, ":1.3").wait_ms(1);
    recording.signal(":1.3", "/m org.example.Mail.Came", &(7_u32,));
    recording.gap(RecordingGap {
        at: None,
        bus: BusId(1),
        cause: GapCause::Disconnected,
        lost: None,
    });
    recording.on(BusId(0)).fact(Fact::Ended { cause: EndCause::Asked });
    recording
}

/// Names that get and lose owners, with the signals about them.
fn names(recording: &mut TestRecording) {
    recording.owner_changed(":1.5", "", ":1.5").wait_ms(1);
    recording.ask_bus(":1.5", "Hello", &(), &(":1.5",));
    recording.ask_bus(":1.5", "GetNameOwner", &(MAIL,), &(":1.6",));
    recording.ask_bus(":1.5", "GetConnectionUnixProcessID", &(MAIL,), &(77_u32,));
    recording.ask_bus(":1.5", "GetConnectionUnixUser", &(":1.8",), &(1000_u32,));
    recording.wait_ms(1).owner_changed(MAIL, ":1.6", ":1.7").owner("org.example.Old", ":1.7");
    recording.wait_ms(1).owner(MAIL, ":1.6").owner(MAIL, ":1.6");
    recording.fact(Fact::Owner { name: MAIL.into(), unique: None, since: None });
    recording.wait_ms(1).owner(MAIL, ":1.5").process(":1.5", 42, "shell");
    let process =
        RecordedProcess { unit: Some("shell.service".into()), ..RecordedProcess::default() };
    recording.fact(Fact::Peer { unique: ":1.5".into(), process: Some(process) });
    recording.fact(Fact::Left { unique: ":1.7".into(), why: None });
    recording.wait_ms(1).owner_changed(":1.7", ":1.7", "");
    recording.fact(Fact::Left { unique: ":1.7".into(), why: Some("it was slow".into()) });
}

fn messages(recording: &mut TestRecording) {
    let call = recording.call(":1.5", MAIL, "/m org.example.Mail.Count", &("a secret",));
    recording.delivered(10, &[(9, 30, 0)]).staged(3, 4, None).wait_ms(3);
    recording.fact(Fact::Starting { name: MAIL.into(), by: Some(":1.5".into()) });
    recording.fact(Fact::Started { name: MAIL.into(), failure: Some("no secret".into()) });
    recording.reply(&call, ":1.9", &(vec!["secrets"],)).delivered(9, &[(5, 70, 0), (6, 80, 1)]);
    recording.staged(2, 2, Some((5, 3))).begun(1, 75);
    recording.signal(":1.9", "/m org.example.Mail.Came", &("a long secret",)).cut(110);
    recording.raw(b"no message, but secret").raw(b"");
    let (unique, path, xml) = (":1.9".to_owned(), "/m".to_owned(), DOCUMENT.to_owned());
    recording.fact(Fact::Introspection { name: unique.clone(), path, xml });
    let recipient = Some(unique);
    recording.fact(Fact::Dropped { recipient, why: "it does not read".into(), count: 3 });
    recording.fact(Fact::Ran(ProcessorUse {
        pid: 42,
        spans: vec![(1, 2)],
        ..ProcessorUse::default()
    }));
    recording.fact(Fact::Unwatched { pid: 42, why: "not allowed".into() });
    recording.gap(RecordingGap {
        at: Some(recording.now()),
        bus: BusId(0),
        cause: GapCause::Overrun,
        lost: Some(7),
    });
    let late = recording.call(":1.5", "org.example.New", "/m org.example.New.Get", &());
    recording.wait_ms(30).error(&late, ":1.10", "org.example.Failed", "secretly");
}

const DOCUMENT: &str = "<node><!-- secret --><interface name='org.example.Mail'>\
    <method name='Count'><arg name='folder' type='s'/></method></interface></node>";

fn copy(capture: &Capture, bodies: Bodies) -> Vec<u8> {
    let mut file = Vec::new();
    capture.write(&mut file, bodies).expect("memory takes all");
    file
}

fn read(file: &[u8]) -> Capture {
    Capture::from_bytes(file.to_vec()).expect("a recording")
}

/// The capture of that recording, with records that no recorder writes.
fn capture() -> Capture {
    let mut capture = Capture::default();
    let origin = |program: &str| RecordingOrigin {
        program: Some(program.to_owned()),
        comments: vec!["a secret remark".to_owned()],
        ..RecordingOrigin::default()
    };
    capture.push(RecordingRecord::Origin(origin("a converter")));
    everything().each(|record| capture.push(record));
    let mut cut = TestRecording::new();
    cut.at_ms(60).signal(":1.9", "/m org.example.Mail.Came", &("secret",)).cut(30);
    cut.each(|record| capture.push(record));
    capture.push(RecordingRecord::Origin(origin("a recorder")));
    for at in 0..10_007 {
        capture.push(RecordingRecord::Damage(Damage { at, what: "garbage".to_owned() }));
    }
    capture
}

#[test]
fn copies_are_equivalent_to_the_capture() {
    let capture = capture();
    let again = read(&copy(&capture, Bodies::Whole));
    assert_eq!(again.damage_count(), 10_007);
    let third = read(&copy(&again, Bodies::Whole));
    for copied in [again, third] {
        for (found, copied) in findings(&capture).into_iter().zip(findings(&copied)) {
            assert_eq!(found, copied);
        }
    }
}

#[test]
fn redacted_copies_lose_only_values_of_bodies() {
    let capture = capture();
    let copied = copy(&capture, Bodies::Redacted);
    for gone in ["secret", "arg0"] {
        assert!(!copied.windows(gone.len()).any(|bytes| bytes == gone.as_bytes()), "{gone}");
    }
    let redacted = read(&copied);
    assert!(redacted.buses().iter().all(|bus| bus.content == MessageContent::Redacted));
    let healths: Vec<_> = redacted.messages().map(|message| message.health()).collect();
    for health in [Health::Whole, Health::BodyRedacted, Health::BodyCut, Health::HeaderCut] {
        assert!(healths.contains(&health), "{health:?}");
    }
}

#[test]
fn redacted_copies_keep_everything_but_bodies() {
    let capture = everything().capture();
    let redacted = read(&copy(&capture, Bodies::Redacted));
    let other = [
        "rules",
        "recipients",
        "summary",
        "caveats",
        "lint",
        "facts",
        "buses",
        "origins",
        "invalid",
    ];
    let found = findings(&capture).into_iter().zip(findings(&redacted));
    let compared: Vec<_> = found.filter(|(found, _)| !other.contains(&&*found.0)).collect();
    assert!(compared.len() > 15, "{}", compared.len());
    for (found, redacted) in compared {
        assert_eq!(without_recipients(found), without_recipients(redacted));
    }
}

/// The table of members without its last columns, mean and peak of recipients: a redacted copy
/// lacks some match rules.
fn without_recipients((name, table): (String, String)) -> (String, String) {
    if name != "member" {
        return (name, table);
    }
    let row = |line: &str| line.rsplitn(3, ',').last().unwrap_or_default().to_owned();
    (name, table.lines().map(row).collect::<Vec<_>>().join("\n"))
}

#[test]
fn captures_without_facts_can_be_redacted() {
    let mut recording = TestRecording::new();
    recording.on(BusId(2)).signal(":1.9", "/m org.example.Mail.Came", &("secret",));
    let copied = copy(&recording.capture(), Bodies::Redacted);
    let redacted = read(&copied);
    let contents: Vec<_> = redacted.buses().iter().map(|bus| bus.content).collect();
    assert_eq!(contents, [MessageContent::Redacted; 3]);
    let message = redacted.messages().next().expect("it is there");
    assert_eq!((message.bus(), message.health()), (BusId(2), Health::BodyRedacted));
}

/// The sizes of messages that were rebuilt from a text are not those on the wire.
#[test]
fn redacted_copies_of_texts_keep_headers() {
    let text = "signal time=1795265174.923414 sender=:1.5 -> destination=(null destination) \
                serial=7 path=/m; interface=org.example.Mail; member=Came\n   string \"secret\"\n";
    let capture = read(text.as_bytes());
    assert_eq!(capture.buses()[0].content, MessageContent::Texts);
    let redacted = read(&copy(&capture, Bodies::Redacted));
    assert_eq!(redacted.buses()[0].content, MessageContent::Headers);
    let message = redacted.messages().next().expect("it is there");
    assert_eq!((message.member(), message.health()), ("Came", Health::BodyCut));
}

#[test]
fn copies_keep_at_most_the_requested_bytes() {
    let cut = read(&copy(&everything().capture(), Bodies::Cut(64)));
    assert!(cut.messages().all(|message| message.kept() <= 64 && message.kept() <= message.len()));
    assert_eq!(cut.buses()[0].kept_max, Some(64));
    let less = read(&copy(&cut, Bodies::Cut(100)));
    assert_eq!(less.buses()[0].kept_max, Some(64));
}

/// A file that is removed at the end of the test.
struct CopyPath(PathBuf);

impl CopyPath {
    fn new(bytes: &[u8]) -> Self {
        let name = format!("diligence-capture-copy-{}", process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).expect("the temporary folder is writable");
        Self(path)
    }
}

impl Drop for CopyPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn copying_fails_if_the_file_has_changed() {
    let whole = everything().pcapng();
    let path = CopyPath::new(&whole);
    let capture = Capture::open(&path.0).expect("a recording");
    let copied = copy(&capture, Bodies::Whole);
    assert_eq!(read(&copied).len(), capture.len());
    let mut other = TestRecording::new();
    (0..90).for_each(|_| drop(other.call(":1.5", DRIVER, "/m org.example.Mail.Get", &())));
    let file = || File::options().write(true).open(&path.0).expect("it is ours");
    for (changed, is_copied) in
        [(other.pcapng(), false), (whole[..whole.len() / 2].to_vec(), false), (whole, true)]
    {
        file().set_len(0).and_then(|()| file().write_all(&changed)).expect("it is ours");
        let written = capture.write(Vec::new(), Bodies::Whole);
        let error = written.err().map(|error| error.to_string());
        let expected = "the file has changed since it was read".to_owned();
        assert_eq!(error, (!is_copied).then_some(expected));
    }
}

#[test]
fn copies_keep_recorders_and_times_of_facts() {
    let mut recording = TestRecording::new();
    recording.at_ms(5).fact(Fact::Recorder { unique: ":1.2".into() });
    recording.fact(Fact::Recorder { unique: ":1.2".into() });
    recording.at_ms(9).fact(Fact::Ended { cause: EndCause::Size });
    let capture = read(&copy(&recording.capture(), Bodies::Whole));
    let roles: Vec<_> = capture.directory().peers().map(|(_, peer)| peer.role).collect();
    assert_eq!(roles, [PeerRole::Recorder]);
    let times: Vec<RecordedTime> = capture.facts().iter().map(|(at, ..)| *at).collect();
    assert_eq!(times, [recording.now()]);
}
