//! What is in the files that a tape writes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use capture::Capture;
use capture::bodies::Bodies;
use capture::model::Health;
use capture::record::{Bus, Content, Origin};
use diligence_recorder::{Destination, Tape, TapeError, TapeNotice};
use diligence_testkit::recording::Recording;

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("diligence-recorder-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("the temporary folder is writable");
        Self(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn tape(destination: Destination, bodies: Bodies) -> Tape {
    Tape::open(destination, bodies, Origin::default()).expect("the folder is ours")
}

fn put_all(tape: &mut Tape, recording: &Recording) -> Vec<TapeNotice> {
    let mut notices = Vec::new();
    recording.each(|record| notices.extend(tape.put(record)));
    notices
}

fn read(path: &Path) -> Capture {
    Capture::open(path).expect("a recording")
}

/// A bus, somebody on it, and `calls` calls that are answered after a millisecond each.
fn busy(calls: usize) -> Recording {
    let mut recording = Recording::new();
    recording.bus(Bus { name: "session".into(), ..Bus::default() });
    recording.process(":1.5", 42, "caller").process(":1.6", 43, "mail");
    recording.owner("org.example.Mail", ":1.6").wait_ms(1);
    for _ in 0..calls {
        let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &("x",));
        recording.wait_ms(1).reply(&call, ":1.6", &(vec![7_u8; 400],)).wait_ms(1);
    }
    recording
}

#[test]
fn a_ring_holds_the_last_part_and_who_is_who() {
    let folder = Folder::new();
    let path = folder.join("ring.pcapng");
    let size = 20_000;
    let mut tape = tape(Destination::Ring { path: path.clone(), size }, Bodies::Whole);
    put_all(&mut tape, &busy(200));
    let tally = tape.finish().expect("there is room");
    assert_eq!(tally.messages, 400);
    let before = folder.join("ring.pcapng.1");
    assert_eq!(tally.files, [before.clone(), path.clone()]);

    let serials = |capture: &Capture| -> Vec<u32> {
        let calls = capture.messages().filter(|message| message.sender() == ":1.5");
        calls.map(|message| message.serial()).collect()
    };
    let all = serials(&read(&path));
    let start = all[0];
    assert!(start > 100, "the first part is gone, but {start} is still there");
    assert_eq!(all, (start..=200).collect::<Vec<_>>(), "the end is whole");

    let alone = folder.join("alone.pcapng");
    for path in [&before, &path] {
        let len = fs::metadata(path).expect("it is there").len();
        assert!(len <= size + 1000, "{len} bytes are more than {size} and an end");
        fs::copy(path, &alone).expect("the folder is ours");
        let capture = read(&alone);
        let len = capture.len();
        assert!(0 < len && len < 2 * all.len(), "{len} messages are no part of {}", all.len());
        let names: Vec<_> = capture.directory().peers().map(|(id, _)| capture.label(id)).collect();
        assert!(names.iter().any(|name| name == "org.example.Mail"), "{names:?}");
        assert!(names.iter().any(|name| name.starts_with("caller")), "{names:?}");
    }
}

#[test]
fn a_part_of_an_earlier_recording_is_not_taken_for_one_of_this() {
    let folder = Folder::new();
    let path = folder.join("a.pcapng");
    let before = folder.join("a.pcapng.1");
    for (there, stays) in [(&b"\x0a\x0d\x0d\x0a and more"[..], false), (b".TH A 1", true)] {
        fs::write(&before, there).expect("the folder is ours");
        let tape = tape(Destination::File(path.clone()), Bodies::Whole);
        tape.finish().expect("there is room");
        assert_eq!(before.exists(), stays, "{there:?}");
    }
}

#[test]
fn a_trigger_writes_what_came_before_it_and_a_little_after() {
    let folder = Folder::new();
    let path = folder.join("slow.pcapng");
    let query = "dur>50ms".parse().expect("a query");
    let destination = Destination::Trigger { path: path.clone(), size: 1 << 20, query };
    let mut tape = tape(destination, Bodies::Whole);
    let mut recording = busy(20);
    put_all(&mut tape, &recording);
    assert_eq!(tape.flush(Duration::from_secs(1)), None);
    assert!(!path.exists(), "nothing was slow");

    recording = Recording::new();
    recording.at_ms(500);
    let call = recording.call(":1.7", "org.example.Mail", "/ org.example.Mail.Slow", &());
    recording.wait_ms(80).reply(&call, ":1.6", &());
    put_all(&mut tape, &recording);
    assert_eq!(tape.flush(Duration::from_secs(2)), None, "what follows is of interest");
    assert_eq!(tape.flush(Duration::from_secs(4)), Some(TapeNotice::Triggered(path.clone())));

    let capture = read(&path);
    assert_eq!(capture.len(), 42);
    assert_eq!(capture.buses().len(), 1);
    let slow = capture.messages().last().expect("it is there");
    assert_eq!(slow.duration(), Some(Duration::from_millis(80)));
    assert_eq!(capture.label(slow.from().expect("it is known")), "org.example.Mail");

    let mut again = Recording::new();
    again.at_ms(700);
    let call = again.call(":1.8", "org.example.Mail", "/ org.example.Mail.Slow", &());
    again.wait_ms(90).reply(&call, ":1.6", &());
    put_all(&mut tape, &again);
    let tally = tape.finish().expect("there is room");
    let second = folder.join("slow-2.pcapng");
    assert_eq!(tally.files, [path, second.clone()]);
    assert_eq!(read(&second).len(), 2, "no message is in two files");
}

/// What is waited for may stand in what is not kept.
#[test]
fn a_trigger_sees_what_is_crossed_out() {
    for bodies in [Bodies::Whole, Bodies::Cut(100), Bodies::Redacted] {
        let folder = Folder::new();
        let path = folder.join("met.pcapng");
        let query = "arg0:secret".parse().expect("a query");
        let mut tape =
            tape(Destination::Trigger { path: path.clone(), size: 1 << 20, query }, bodies);
        let mut recording = Recording::new();
        recording.bus(Bus::default()).signal(":1.6", "/ org.example.Mail.New", &("secret",));
        put_all(&mut tape, &recording);
        let files = tape.finish().expect("there is room").files;
        assert_eq!(files, std::slice::from_ref(&path), "{bodies:?}");
        let bytes = fs::read(&path).expect("it was written");
        let is_there = bytes.windows(6).any(|window| window == b"secret");
        assert_eq!(is_there, bodies == Bodies::Whole, "{bodies:?}");
    }
}

#[test]
fn a_trigger_that_never_comes_leaves_no_file() {
    let folder = Folder::new();
    let path = folder.join("slow.pcapng");
    let query = "dur>50ms".parse().expect("a query");
    let mut tape =
        tape(Destination::Trigger { path: path.clone(), size: 4096, query }, Bodies::Whole);
    put_all(&mut tape, &busy(500));
    let tally = tape.finish().expect("there is room");
    assert_eq!((tally.messages, tally.written), (1000, 0));
    assert!(tally.files.is_empty() && !path.exists());
}

#[test]
fn what_is_not_to_be_kept_is_not_in_the_file() {
    let mut recording = Recording::new();
    recording.bus(Bus::default()).process(":1.5", 42, "caller");
    recording.rule(":1.5", "type='signal',arg0='secret'").rule(":1.5", "type='signal'");
    recording.signal(
        ":1.5",
        "/ org.example.Mail.Came",
        &("a long text, and then a secret", 0xBAD_CAFE_u32),
    );
    for (bodies, is_there, kept) in [
        (Bodies::Whole, true, None),
        (Bodies::Cut(120), false, Some(120)),
        (Bodies::Redacted, false, None),
    ] {
        let folder = Folder::new();
        let path = folder.join("a.pcapng");
        let mut tape = tape(Destination::File(path.clone()), bodies);
        put_all(&mut tape, &recording);
        tape.finish().expect("there is room");
        let bytes = fs::read(&path).expect("it was written");
        let holds = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
        assert_eq!(holds(b"then a secret"), is_there, "{bodies:?}");
        assert_eq!(holds(&0xBAD_CAFE_u32.to_le_bytes()), is_there, "{bodies:?}");
        let capture = read(&path);
        assert_eq!(capture.buses()[0].kept_max, kept);
        let signal = capture.messages().next().expect("it is there");
        assert_eq!((signal.interface(), signal.member()), ("org.example.Mail", "Came"));
        assert_eq!(holds(b"secret"), bodies != Bodies::Redacted, "a rule asks for it");
        let is_redacted = bodies == Bodies::Redacted;
        assert_eq!(capture.buses()[0].content == Content::Redacted, is_redacted);
        assert_eq!(signal.health() == Health::BodyRedacted, is_redacted);
        if is_redacted {
            assert!(capture.invalid().is_empty(), "{:?}", capture.invalid());
        }
    }
}

#[test]
fn a_full_disk_is_told_and_counted() {
    let full = File::options().write(true).open("/dev/full").expect("every Linux has it");
    let mut tape = tape(Destination::Open(full), Bodies::Whole);
    put_all(&mut tape, &busy(10));
    assert_eq!(tape.flush(Duration::from_secs(1)), Some(TapeNotice::Full));
    assert_eq!(put_all(&mut tape, &busy(15)), []);
    assert_eq!(tape.flush(Duration::from_secs(2)), None, "there is still no room");
    assert_eq!(tape.tally().losses.messages, 30);
    match tape.finish() {
        Err(TapeError::Full { tally }) => {
            assert_eq!((tally.messages, tally.losses.messages), (50, 30))
        }
        other => panic!("it cannot be written: {other:?}"),
    }
}

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let path = PathBuf::from("/nonexistent/a.pcapng");
    let made = Tape::open(Destination::File(path), Bodies::Whole, Origin::default());
    let text = made.expect_err("there is no such folder").to_string();
    assert!(text.starts_with("cannot make /nonexistent/a.pcapng: "), "{text}");
}
