//! The files that a recording writer creates.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use capture::Capture;
use capture::bodies::Bodies;
use capture::model::Health;
use capture::record::{
    BusId, EndCause, Fact, MessageContent, RecordedBus, RecordedTime, RecordingOrigin,
    RecordingRecord,
};
use recorder::{RecordingDestination, RecordingNotice, RecordingWriteError, RecordingWriter};
use tempfile::TempDir;
use testkit::recording::TestRecording;

/// A folder that is removed at the end of the test.
struct RecordingFolder(TempDir);

impl RecordingFolder {
    fn new() -> Self {
        Self(TempDir::new().expect("the temporary folder is writable"))
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn writer(destination: RecordingDestination, bodies: Bodies) -> RecordingWriter {
    RecordingWriter::open(destination, bodies, RecordingOrigin::default())
        .expect("the folder is ours")
}

fn put_all(writer: &mut RecordingWriter, recording: &TestRecording) -> Vec<RecordingNotice> {
    let mut notices = Vec::new();
    recording.each(|record| notices.extend(writer.put(record)));
    notices
}

fn read(path: &Path) -> Capture {
    Capture::open(path).expect("a recording")
}

/// A bus, a connection, and `calls` calls that are answered after a millisecond each.
fn busy(calls: usize) -> TestRecording {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus { name: "session".into(), ..RecordedBus::default() });
    recording.process(":1.5", 42, "caller").process(":1.6", 43, "mail");
    recording.owner("org.example.Mail", ":1.6").wait_ms(1);
    for _ in 0..calls {
        let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &("x",));
        recording.wait_ms(1).reply(&call, ":1.6", &(vec![7_u8; 400],)).wait_ms(1);
    }
    recording
}

#[test]
fn rings_hold_the_last_messages_and_all_facts() {
    let folder = RecordingFolder::new();
    let path = folder.join("ring.pcapng");
    let size = 20_000;
    let mut writer = writer(RecordingDestination::Ring { path: path.clone(), size }, Bodies::Whole);
    put_all(&mut writer, &busy(200));
    let tally = writer.finish().expect("there is room");
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
        assert!(0 < len && len < 2 * all.len(), "{len} messages are not a part of {}", all.len());
        let names: Vec<_> = capture.directory().peers().map(|(id, _)| capture.label(id)).collect();
        assert!(names.iter().any(|name| name == "org.example.Mail"), "{names:?}");
        assert!(names.iter().any(|name| name.starts_with("caller")), "{names:?}");
    }
}

#[test]
fn parts_of_earlier_recordings_are_not_read() {
    let folder = RecordingFolder::new();
    let path = folder.join("a.pcapng");
    let before = folder.join("a.pcapng.1");
    for (there, stays) in [(&b"\x0a\x0d\x0d\x0a and more"[..], false), (b".TH A 1", true)] {
        fs::write(&before, there).expect("the folder is ours");
        let writer = writer(RecordingDestination::File(path.clone()), Bodies::Whole);
        writer.finish().expect("there is room");
        assert_eq!(before.exists(), stays, "{there:?}");
    }
}

/// The names of the files in the folder.
fn names(folder: &RecordingFolder) -> Vec<String> {
    let entries = fs::read_dir(&folder.0).expect("the folder is ours");
    let name = |entry: io::Result<fs::DirEntry>| entry.expect("it can be read").file_name();
    let mut names: Vec<_> =
        entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The file that will replace `target`.
fn unfinished(folder: &RecordingFolder, target: &str) -> PathBuf {
    let mut found = names(folder).into_iter().filter(|name| name.ends_with(".unfinished"));
    let name = found.next().expect("it is next to the target");
    assert!(name.starts_with(&format!("{target}.")) && found.next().is_none(), "{name}");
    folder.join(&name)
}

#[test]
fn new_recordings_are_written_at_their_target() {
    let folder = RecordingFolder::new();
    let path = folder.join("a.pcapng");
    let mut writer = writer(RecordingDestination::File(path.clone()), Bodies::Whole);
    put_all(&mut writer, &busy(10));
    assert_eq!(writer.flush(Duration::ZERO), None);
    assert_eq!(read(&path).len(), 20);
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
    writer.finish().expect("there is room");
    assert_eq!(names(&folder), ["a.pcapng"]);
}

#[test]
fn existing_recordings_are_kept_until_the_new_one_is_complete() {
    let folder = RecordingFolder::new();
    let path = folder.join("a.pcapng");
    let first = writer(RecordingDestination::File(path.clone()), Bodies::Whole);
    first.finish().expect("there is room");
    let old = fs::read(&path).expect("it is there");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");

    let mut second = writer(RecordingDestination::File(path.clone()), Bodies::Whole);
    put_all(&mut second, &busy(10));
    assert_eq!(second.flush(Duration::ZERO), None);
    assert_eq!(fs::read(&path).expect("it is there"), old);
    let growing = unfinished(&folder, "a.pcapng");
    assert_eq!(read(&growing).len(), 20);
    // Simulates a recorder that was killed.
    drop(second);
    assert_eq!((fs::read(&path).expect("it is there"), read(&growing).len()), (old, 20));

    let mut third = writer(RecordingDestination::File(path.clone()), Bodies::Whole);
    put_all(&mut third, &busy(5));
    let files = third.finish().expect("there is room").files;
    assert_eq!(files, std::slice::from_ref(&path));
    assert_eq!(read(&path).len(), 10);
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
    assert_eq!(unfinished(&folder, "a.pcapng"), growing, "the next recording leaves it alone");
}

#[test]
fn existing_rings_are_kept_until_the_new_one_is_complete() {
    let folder = RecordingFolder::new();
    let path = folder.join("ring.pcapng");
    let destination = || RecordingDestination::Ring { path: path.clone(), size: 20_000 };
    let mut first = writer(destination(), Bodies::Whole);
    put_all(&mut first, &busy(200));
    first.finish().expect("there is room");
    let part = folder.join("ring.pcapng.1");
    let both = || [&part, &path].map(|path| fs::read(path).expect("it is there"));
    let old = both();

    let mut second = writer(destination(), Bodies::Whole);
    put_all(&mut second, &busy(300));
    assert_eq!(second.flush(Duration::ZERO), None);
    assert_eq!(both(), old);
    let tally = second.finish().expect("there is room");
    assert_eq!(tally.files, [part.clone(), path.clone()]);
    assert!(both().iter().zip(&old).all(|(new, old)| new != old));
    let lens = [&part, &path].map(|path| fs::metadata(path).expect("it is there").len());
    assert!(tally.written.abs_diff(lens.iter().sum()) < 500, "{} of {lens:?}", tally.written);
    assert_eq!(names(&folder), ["ring.pcapng", "ring.pcapng.1"]);

    // A ring that fits into one part has no previous part.
    writer(destination(), Bodies::Whole).finish().expect("there is room");
    assert_eq!(names(&folder), ["ring.pcapng"]);
}

#[test]
fn rings_replace_only_recordings() {
    let folder = RecordingFolder::new();
    let path = folder.join("ring");
    fs::write(folder.join("ring.1"), ".TH A 1").expect("the folder is ours");
    let open = |path| {
        let destination = RecordingDestination::Ring { path, size: 20_000 };
        RecordingWriter::open(destination, Bodies::Whole, RecordingOrigin::default()).map(drop)
    };
    let error = open(path).expect_err("it is a manual page").to_string();
    assert!(error.contains("ring.1, which is not a recording"), "{error}");
    assert_eq!(names(&folder), ["ring.1"]);
    let error = open("/dev/null".into()).expect_err("it cannot be renamed").to_string();
    assert!(error.contains("/dev/null is not one"), "{error}");
}

#[test]
fn recordings_follow_links_of_their_user() {
    let folder = RecordingFolder::new();
    let precious = folder.join("precious");
    let path = folder.join("a.pcapng");
    for content in [Some("precious"), None] {
        let _ = fs::remove_file(&precious);
        if let Some(content) = content {
            fs::write(&precious, content).expect("the folder is ours");
        }
        let _ = fs::remove_file(&path);
        symlink(&precious, &path).expect("the folder is ours");
        let writer = writer(RecordingDestination::File(path.clone()), Bodies::Whole);
        assert_eq!(
            fs::read_to_string(&precious).is_ok_and(|text| text == "precious"),
            content.is_some()
        );
        writer.finish().expect("there is room");
        assert!(path.is_symlink() && precious.symlink_metadata().expect("it is there").is_file());
        read(&precious);
    }
    // Both parts of a ring are at the target of the link, and are found through it.
    let mut ring =
        writer(RecordingDestination::Ring { path: path.clone(), size: 20_000 }, Bodies::Whole);
    put_all(&mut ring, &busy(200));
    let part = folder.join("precious.1");
    assert_eq!(ring.finish().expect("there is room").files, [part, precious]);
    assert_eq!(names(&folder), ["a.pcapng", "precious", "precious.1"]);
    assert_eq!(Capture::open(&path).expect("a recording").files_read().len(), 2);
}

#[test]
fn pipes_are_written_directly() {
    let folder = RecordingFolder::new();
    let path = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().expect("coreutils").success());
    // Opened for reading and writing, so that neither end blocks.
    let mut pipe = File::options().read(true).write(true).open(&path).expect("it is ours");
    let writer = writer(RecordingDestination::File(path), Bodies::Whole);
    let written = writer.finish().expect("there is room").written;
    let mut start = vec![0; usize::try_from(written).expect("a few bytes")];
    pipe.read_exact(&mut start).expect("it was written");
    assert_eq!(start[..4], [0x0A, 0x0D, 0x0D, 0x0A]);
    assert_eq!(names(&folder), ["pipe"]);
}

#[test]
fn discarded_recordings_leave_no_file_and_keep_the_old_one() {
    let folder = RecordingFolder::new();
    let path = folder.join("a.pcapng");
    let record = || {
        let mut writer = writer(RecordingDestination::File(path.clone()), Bodies::Whole);
        put_all(&mut writer, &busy(1));
        writer.flush(Duration::ZERO);
        writer.discard();
    };
    record();
    assert_eq!(names(&folder), [""; 0]);
    fs::write(&path, "old").expect("the folder is ours");
    record();
    assert_eq!(fs::read(&path).expect("it is there"), b"old");
    assert_eq!(names(&folder), ["a.pcapng"]);
}

#[test]
fn limited_files_never_exceed_their_limit() {
    let mut refused = 0;
    for max in (2000..30_000).step_by(997) {
        let folder = RecordingFolder::new();
        let path = folder.join("a.pcapng");
        let mut writer =
            writer(RecordingDestination::File(path.clone()), Bodies::Whole).limited(Some(max));
        put_all(&mut writer, &busy(20));
        let is_complete = writer.is_complete();
        refused += usize::from(is_complete);
        let cause = EndCause::Size;
        writer.put(RecordingRecord::Fact {
            at: RecordedTime(0),
            bus: BusId(0),
            fact: Fact::Ended { cause },
        });
        let tally = writer.finish().expect("there is room");
        let len = fs::metadata(&path).expect("it is there").len();
        assert!(len <= max, "{len} bytes are more than {max}");
        let capture = read(&path);
        assert_eq!(capture.len() as u64, tally.messages);
        assert_eq!(capture.len() < 40, is_complete, "{max}");
        // The next pair of messages would not have fitted.
        assert!(!is_complete || len + 2500 > max, "{len} bytes, and {max} are allowed");
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn triggers_write_messages_before_and_shortly_after_the_match() {
    let folder = RecordingFolder::new();
    let path = folder.join("slow.pcapng");
    let query = "dur>50ms".parse().expect("a query");
    let destination = RecordingDestination::Trigger { path: path.clone(), size: 1 << 20, query };
    let mut writer = writer(destination, Bodies::Whole);
    let mut recording = busy(20);
    put_all(&mut writer, &recording);
    assert_eq!(writer.flush(Duration::from_secs(1)), None);
    assert!(!path.exists(), "nothing was slow");

    recording = TestRecording::new();
    recording.at_ms(500);
    let call = recording.call(":1.7", "org.example.Mail", "/ org.example.Mail.Slow", &());
    recording.wait_ms(80).reply(&call, ":1.6", &());
    put_all(&mut writer, &recording);
    assert_eq!(writer.flush(Duration::from_secs(2)), None, "what follows is of interest");
    assert_eq!(
        writer.flush(Duration::from_secs(4)),
        Some(RecordingNotice::Triggered(path.clone()))
    );

    let capture = read(&path);
    assert_eq!(capture.len(), 42);
    assert_eq!(capture.buses().len(), 1);
    let slow = capture.messages().last().expect("it is there");
    assert_eq!(slow.duration(), Some(Duration::from_millis(80)));
    assert_eq!(capture.label(slow.from().expect("it is known")), "org.example.Mail");

    let mut again = TestRecording::new();
    again.at_ms(700);
    let call = again.call(":1.8", "org.example.Mail", "/ org.example.Mail.Slow", &());
    again.wait_ms(90).reply(&call, ":1.6", &());
    put_all(&mut writer, &again);
    let tally = writer.finish().expect("there is room");
    let second = folder.join("slow-2.pcapng");
    assert_eq!(tally.files, [path, second.clone()]);
    assert_eq!(read(&second).len(), 2, "no message is in two files");
}

/// The query of the trigger may match values that are not kept.
#[test]
fn triggers_match_values_that_are_redacted() {
    for bodies in [Bodies::Whole, Bodies::Cut(100), Bodies::Redacted] {
        let folder = RecordingFolder::new();
        let path = folder.join("met.pcapng");
        let query = "arg0:secret".parse().expect("a query");
        let mut writer = writer(
            RecordingDestination::Trigger { path: path.clone(), size: 1 << 20, query },
            bodies,
        );
        let mut recording = TestRecording::new();
        recording.bus(RecordedBus::default()).signal(
            ":1.6",
            "/ org.example.Mail.New",
            &("secret",),
        );
        put_all(&mut writer, &recording);
        let files = writer.finish().expect("there is room").files;
        assert_eq!(files, std::slice::from_ref(&path), "{bodies:?}");
        let bytes = fs::read(&path).expect("it was written");
        let is_there = bytes.windows(6).any(|window| window == b"secret");
        assert_eq!(is_there, bodies == Bodies::Whole, "{bodies:?}");
    }
}

#[test]
fn triggers_replace_only_the_given_file() {
    let folder = RecordingFolder::new();
    let path = folder.join("met.pcapng");
    let second = folder.join("met-2.pcapng");
    fs::write(&path, "old").expect("the folder is ours");
    fs::write(&second, "of another day").expect("the folder is ours");
    let query = "member:New".parse().expect("a query");
    let mut writer = writer(
        RecordingDestination::Trigger { path: path.clone(), size: 4096, query },
        Bodies::Whole,
    );
    writer.put(RecordingRecord::Bus(RecordedBus::default()));
    for second in [1_u32, 10] {
        let mut recording = TestRecording::new();
        recording.at_ms(1000 * i64::from(second)).signal(":1.6", "/ org.example.Mail.New", &());
        put_all(&mut writer, &recording);
        assert_eq!(writer.flush(Duration::from_secs(second.into())), None);
        writer.flush(Duration::from_secs(u64::from(second) + 2)).expect("it is time");
    }
    let endings = |path: &Path| Capture::open(path).expect("a recording").endings();
    assert_eq!(endings(&path), [EndCause::Trigger]);
    let third = folder.join("met-3.pcapng");
    assert_eq!(writer.finish().expect("there is room").files, [path.clone(), third.clone()]);
    assert_eq!((read(&path).len(), read(&third).len()), (1, 1));
    assert_eq!(fs::read(&second).expect("it is there"), b"of another day");
    assert_eq!(names(&folder), ["met-2.pcapng", "met-3.pcapng", "met.pcapng"]);
}

#[test]
fn triggers_without_match_leave_no_file() {
    let folder = RecordingFolder::new();
    let path = folder.join("slow.pcapng");
    let query = "dur>50ms".parse().expect("a query");
    let mut writer = writer(
        RecordingDestination::Trigger { path: path.clone(), size: 4096, query },
        Bodies::Whole,
    );
    put_all(&mut writer, &busy(500));
    let tally = writer.finish().expect("there is room");
    assert_eq!((tally.messages, tally.written), (1000, 0));
    assert!(tally.files.is_empty() && !path.exists());
}

#[test]
fn redacted_values_are_not_in_the_file() {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus::default()).process(":1.5", 42, "caller");
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
        let folder = RecordingFolder::new();
        let path = folder.join("a.pcapng");
        let mut writer = writer(RecordingDestination::File(path.clone()), bodies);
        put_all(&mut writer, &recording);
        writer.finish().expect("there is room");
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
        assert_eq!(capture.buses()[0].content == MessageContent::Redacted, is_redacted);
        assert_eq!(signal.health() == Health::BodyRedacted, is_redacted);
        if is_redacted {
            assert!(capture.invalid().is_empty(), "{:?}", capture.invalid());
        }
    }
}

#[test]
fn full_disks_are_reported_and_losses_counted() {
    let full = File::options().write(true).open("/dev/full").expect("every Linux has it");
    let mut writer = writer(RecordingDestination::Open(full), Bodies::Whole);
    put_all(&mut writer, &busy(10));
    assert_eq!(writer.flush(Duration::from_secs(1)), Some(RecordingNotice::Full));
    assert_eq!(put_all(&mut writer, &busy(15)), []);
    assert_eq!(writer.flush(Duration::from_secs(2)), None, "there is still no room");
    assert_eq!(writer.tally().losses.messages, 30);
    match writer.finish() {
        Err(RecordingWriteError::Full { tally, unfinished: None }) => {
            assert_eq!((tally.messages, tally.losses.messages), (50, 30))
        }
        other => panic!("it cannot be written: {other:?}"),
    }
}

#[test]
fn files_that_cannot_be_created_are_named() {
    let path = PathBuf::from("/nonexistent/a.pcapng");
    let made = RecordingWriter::open(
        RecordingDestination::File(path),
        Bodies::Whole,
        RecordingOrigin::default(),
    );
    let text = made.expect_err("there is no such folder").to_string();
    assert!(text.starts_with("cannot create /nonexistent/a.pcapng: "), "{text}");
}

#[test]
fn messages_of_the_recorder_are_counted_apart() {
    let folder = RecordingFolder::new();
    let path = folder.join("a.pcapng");
    let mut recording = TestRecording::new();
    recording.fact(Fact::Recorder { unique: ":1.90".into() });
    recording.signal(":1.5", "/ org.x.Y.Changed", &());
    let call = recording.call(":1.90", "org.freedesktop.DBus", "/ org.freedesktop.DBus.GetId", &());
    recording.reply(&call, "org.freedesktop.DBus", &("x",));
    let mut writer = writer(RecordingDestination::File(path.clone()), Bodies::Whole);
    put_all(&mut writer, &recording);
    let tally = writer.finish().expect("there is room");
    assert_eq!((tally.messages, tally.of_recorder), (1, 2));
    let capture = read(&path);
    assert_eq!(capture.len(), 3, "the file has all messages");
    let hidden = capture::query::Query::default().of_recorder(&capture);
    assert_eq!(hidden.messages(), tally.of_recorder);
}
