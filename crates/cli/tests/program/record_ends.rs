//! Tests of how recordings end: the reason in the file, the counts on standard error, and the exit
//! status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use capture::Capture;
use capture::record::{CaptureMethod, EndCause, GapCause};
use client::Connection;
use rustix::process::Signal;
use wire::message::MessageType;

use crate::recorder::{
    OurBus, end, end_after, ends, read, recorders, start, wait_for_recorder, wait_until,
};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// A bus, a connection that emits signals, and a folder for recordings.
struct RecordingScene {
    bus: OurBus,
    emitter: Connection,
    folder: ProgramFolder,
    file: PathBuf,
}

impl RecordingScene {
    fn new() -> Self {
        let folder = ProgramFolder::new();
        let bus = OurBus::start(&folder);
        let emitter = Connection::open(&bus.address).expect("the bus is there");
        let file = folder.join("a.pcapng");
        Self { bus, emitter, folder, file }
    }

    /// Emits `count` signals with `bytes` bytes each.
    fn emit(&self, member: &str, count: usize, bytes: usize) {
        for _ in 0..count {
            let body = (vec![7_u8; bytes],);
            self.emitter.emit("/", "com.example.Clock", member, &body).expect("a valid message");
        }
        self.emitter.flush().expect("the bus is there");
    }

    fn start(&self, words: &[&str]) -> SpawnedProgram {
        start(&self.folder, &self.bus.address, &self.file, words)
    }
}

/// Counts the signals with a name in a recording.
fn count(capture: &Capture, member: &str) -> usize {
    capture.messages().filter(|message| message.member() == member).count()
}

/// Counts the messages of other connections than the recorder.
fn traffic(capture: &Capture) -> u64 {
    capture.messages().filter(|message| !message.is_of_recorder()).count() as u64
}

#[test]
fn recording_stops_at_max_size() {
    let scene = RecordingScene::new();
    let recorder = scene.start(&["--max-size", "64K"]);
    scene.emit("Tick", 100, 1000);
    let output = recorder.ended();
    assert!(output.status.success(), "{output:?}");
    let capture = read(&scene.file);
    assert_eq!(ends(&capture), [EndCause::Size]);
    let len = fs::metadata(&scene.file).expect("the file exists").len();
    assert!((60 << 10..=64 << 10).contains(&len), "{len} bytes");
    let report = text(&output.stderr);
    assert_eq!(reported_count(&report), traffic(&capture), "{report}");
}

#[test]
fn the_command_status_is_returned_when_a_recording_ends() {
    let scene = RecordingScene::new();
    for (words, script, cause) in [
        (&["--max-time", "300ms"][..], "sleep 1; exit 3", EndCause::Time),
        (&[], "exit 3", EndCause::Command),
    ] {
        let mut command = scene.folder.diligence();
        command.args(["record", "--address", &scene.bus.address, "-o"]).arg(&scene.file);
        command.args(words).args(["--", "sh", "-c", script]);
        let output = SpawnedProgram::start(&mut command).ended();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert_eq!(ends(&read(&scene.file)), [cause], "{script}");
    }
}

#[test]
fn ring_files_keep_the_newest_messages() {
    let scene = RecordingScene::new();
    let recorder = scene.start(&["--ring", "64K"]);
    scene.emit("Early", 200, 1000);
    scene.emit("Late", 20, 1000);
    let output = end_after(recorder, &scene.file, "Late", 20);
    assert!(output.status.success(), "{output:?}");
    let report = text(&output.stderr);
    // The report counts only the bytes that the ring still has.
    let amount = report.lines().find(|line| line.contains("a.pcapng.1, ")).expect("a report");
    let kib: f64 = amount.split(' ').next().expect("a number").parse().expect("a number");
    assert!((64.0..140.0).contains(&kib), "{report}");
    let capture = read(&scene.file);
    assert_eq!((count(&capture, "Late"), ends(&capture)), (20, vec![EndCause::Asked]));
    assert!((20..120).contains(&count(&capture, "Early")), "{}", count(&capture, "Early"));
    let before = scene.folder.join("a.pcapng.1");
    for path in [&before, &scene.file] {
        let len = fs::metadata(path).expect("the file exists").len();
        assert!(len < 70_000, "{} has {len} bytes", path.display());
    }
    let report = text(&output.stderr);
    assert!(report.contains("a.pcapng.1, ") && report.contains("nothing lost"), "{report}");
}

/// If a signal ends a recording, the last fact in the file states why.
#[test]
fn recordings_ended_by_signals_state_the_cause() {
    let scene = RecordingScene::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut command = scene.folder.diligence();
        command.args(["record", "--address", &scene.bus.address, "-o"]).arg(&scene.file);
        let recorder = SpawnedProgram::start(&mut scene.folder.with_usual_signals(&command));
        wait_for_recorder(&scene.file, 1);
        let output = recorder.end(signal);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(ends(&read(&scene.file)), [EndCause::Asked], "{signal:?}");
        fs::remove_file(&scene.file).expect("a writable folder");
    }
    for signal in ["TERM", "HUP"] {
        // The signal ends the command, and the recording ends with it.
        let script = format!("kill -{signal} $PPID; sleep 20");
        let mut command = scene.folder.diligence();
        command.args(["record", "--address", &scene.bus.address, "-o"]).arg(&scene.file);
        command.args(["--", "sh", "-c", &script]);
        let output = SpawnedProgram::start(&mut scene.folder.with_usual_signals(&command)).ended();
        assert!(!output.status.success(), "{output:?}");
        assert_eq!(ends(&read(&scene.file)), [EndCause::Asked], "{signal:?}");
        fs::remove_file(&scene.file).expect("a writable folder");
    }
}

#[test]
fn triggers_write_the_messages_before_a_match() {
    let scene = RecordingScene::new();
    let file = scene.file.display().to_string();
    let mut command = scene.folder.diligence();
    command.args(["record", "--address", &scene.bus.address, "-o", &file]);
    let recorder = SpawnedProgram::start(command.args(["--trigger", "member:Boom"]));
    // There is no sign that the recorder is ready, so the signals are repeated.
    wait_until("the trigger matches", || {
        scene.emit("Tick", 3, 10);
        scene.emit("Boom", 1, 10);
        scene.file.exists()
    });
    let output = recorder.end(Signal::INT);
    let report = text(&output.stderr);
    assert!(output.status.success() && report.contains("trigger matched: wrote "), "{output:?}");
    let capture = read(&scene.file);
    let all: Vec<_> = capture.messages().map(|message| message.member()).collect();
    let first = all.iter().position(|member| *member == "Boom").expect("the matching signal");
    assert!(all[..first].contains(&"Tick"), "no earlier message: {all:?}");
    assert!(recorders(&capture).len() == 2 && capture.gaps().is_empty());
}

/// Runs the command of docs/recording.md.
#[test]
fn the_documented_trigger_writes_a_file_for_each_failed_call() {
    let page = fs::read_to_string(PAGE).expect("the page exists");
    let (_, block) = page.split_once("```sh\n").expect("a command");
    let (command, rest) = block.split_once("```\n\n```text\n").expect("its output");
    let (shown, _) = rest.split_once("```").expect("the end of the output block");
    let words: Vec<_> = command.split('\'').collect();
    let [before, query, after] = words[..] else { panic!("{command}") };
    let words = before.split_whitespace().skip(1).chain([query]).chain(after.split_whitespace());

    let scene = RecordingScene::new();
    let mut record = scene.folder.diligence();
    record.args(words).env("DBUS_SESSION_BUS_ADDRESS", &scene.bus.address);
    let recorder = SpawnedProgram::start(&mut record);
    let fail = || {
        let mut call = Command::new("dbus-send");
        call.arg(format!("--bus={}", scene.bus.address)).arg("--print-reply");
        let output =
            call.args(["--dest=org.example.Absent", "/", "org.example.Absent.Fail"]).output();
        assert!(!output.expect("installed by scripts/debian-packages").status.success());
    };
    let file = |name: &str| scene.folder.join(name);
    // There is no sign that the recorder is ready, so the failing calls are repeated.
    for (name, other) in
        [("trouble.pcapng", "trouble-2.pcapng"), ("trouble-2.pcapng", "trouble-3.pcapng")]
    {
        assert!(!file(name).exists());
        wait_until(name, || {
            fail();
            file(name).exists()
        });
        assert!(!file(other).exists());
    }
    let output = recorder.end(Signal::INT);
    let report = text(&output.stderr);
    assert!(output.status.success() && report.contains(shown), "{report}");
    let mut times = Vec::new();
    for name in ["trouble.pcapng", "trouble-2.pcapng"] {
        let capture = read(&file(name));
        assert_eq!(ends(&capture), [EndCause::Trigger], "{name}");
        let mut errors = capture.messages().filter(|message| message.kind() == MessageType::Error);
        let is_expected = |error: capture::model::CapturedMessage<'_>| {
            error.call().is_some_and(|call| call.member() == "Fail")
        };
        assert!(errors.any(is_expected), "{name}");
        times.push(capture.messages().map(|message| message.at()).collect::<Vec<_>>());
    }
    let (last, first) = (times[0].last(), times[1].first());
    assert!(last < first, "a message is in both files: {last:?} {first:?}");
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/recording.md");

/// Starts a recorder with a file size limit of 32 KiB.
fn start_limited(scene: &RecordingScene) -> SpawnedProgram {
    let mut command = scene.folder.diligence();
    command.args(["record", "--address", &scene.bus.address, "-o"]).arg(&scene.file);
    let mut shell = scene.folder.shell("ulimit -S -f 64; exec \"$0\" \"$@\"", &command);
    let recorder = SpawnedProgram::start(&mut shell);
    wait_for_recorder(&scene.file, 1);
    recorder
}

/// Returns the number of messages in the recorder's report.
fn reported_count(report: &str) -> u64 {
    let line = report.lines().find_map(|line| line.strip_prefix("recorded "));
    let number = line.and_then(|line| line.split(' ').next()).expect("a report");
    number.replace(',', "").parse().expect("a number")
}

#[test]
fn a_file_size_limit_disables_the_trace_and_a_monitor_records() {
    let folder = ProgramFolder::new();
    let file = folder.join("a.pcapng");
    let mut command = folder.diligence();
    command.arg("run").arg(format!("--record={}", file.display())).args(["--", "true"]);
    // The limit applies to the shared memory of a trace, too.
    let output = folder.shell("ulimit -S -f 64; exec \"$0\" \"$@\"", &command).output();
    let output = output.expect("a shell can be started");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(read(&file).buses()[0].method, CaptureMethod::Monitor, "{output:?}");
}

#[test]
fn messages_lost_to_a_full_disk_are_counted_and_recording_resumes() {
    let scene = RecordingScene::new();
    let mut recorder = start_limited(&scene);
    scene.emit("Tick", 100, 1000);
    // The recorder keeps the messages that did not fit, and counts later messages as lost.
    let early_report = recorder.errors_until("the disk is full");
    scene.emit("Lost", 20, 1000);
    // There is no sign that the recorder has counted them.
    thread::sleep(Duration::from_millis(100));
    let mut prlimit = Command::new("prlimit");
    prlimit.args(["--pid", &recorder.id().to_string(), "--fsize=unlimited:unlimited"]);
    let output = SpawnedProgram::start(&mut prlimit).ended();
    assert!(output.status.success(), "{output:?}");
    wait_until("there is room again", || {
        let capture = read(&scene.file);
        capture.gaps().iter().any(|gap| gap.cause == GapCause::DiskFull)
    });
    scene.emit("Late", 5, 1000);
    let output = end_after(recorder, &scene.file, "Late", 5);
    let report = early_report + &text(&output.stderr);
    assert!(output.status.success(), "{report}");
    for expected in ["the disk is full", "the disk has space again", " lost"] {
        assert!(report.contains(expected), "{report}");
    }
    let capture = read(&scene.file);
    let lost: u64 = capture.gaps().iter().filter_map(|gap| gap.lost).sum();
    let causes: Vec<_> = capture.gaps().iter().map(|gap| gap.cause).collect();
    assert_eq!(causes, [GapCause::DiskFull]);
    assert_eq!((traffic(&capture) + lost, capture.damage_count()), (reported_count(&report), 0));
    assert_eq!((count(&capture, "Tick"), count(&capture, "Late")), (100, 5));
    assert_eq!((lost, ends(&capture)), (20, vec![EndCause::Asked]));
}

#[test]
fn recording_fails_if_the_disk_stays_full() {
    let scene = RecordingScene::new();
    let mut recorder = start_limited(&scene);
    scene.emit("Tick", 100, 1000);
    recorder.errors_until("the disk is full");
    scene.emit("Lost", 20, 1000);
    // The file does not show that these signals were read and lost.
    let output = end(recorder);
    let report = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{report}");
    let capture = read(&scene.file);
    let ticks = count(&capture, "Tick");
    assert!((1..100).contains(&ticks) && count(&capture, "Lost") == 0, "{ticks} of 100");
    // The end of the file states the cause, and the number of lost messages.
    assert_eq!(ends(&capture), [EndCause::Asked], "{report}");
    let gaps: Vec<_> = capture.gaps().iter().map(|gap| (gap.cause, gap.lost)).collect();
    let [(GapCause::DiskFull, Some(lost))] = gaps[..] else { panic!("{gaps:?}") };
    assert!(lost >= 120 - ticks as u64, "{lost} lost, and {ticks} of 100 there");
    assert!(report.contains(&format!("the last {lost} messages are not in the file")), "{report}");
    assert_eq!(capture.damage_count(), 0);
    assert!(fs::metadata(&scene.file).expect("the file exists").len() <= 32 << 10);
}

/// A full disk turns success into failure, but does not hide another failure. The command runs to
/// its end in both cases.
#[test]
fn a_full_disk_changes_only_a_successful_command_status() {
    let scene = RecordingScene::new();
    for (end, expected) in [("exit 0", 1), ("exit 3", 3)] {
        // The parent process is the recorder. Its limit is 32 KiB from now on. The script cannot see
        // when the recorder has tried to write the message, so it sleeps.
        let script = format!(
            "prlimit --pid $PPID --fsize=32768:unlimited; \
             dbus-send $0 / a.b.C string:$(printf %070000d 1); sleep 0.5; echo done; {end}"
        );
        let bus = format!("--address={}", scene.bus.address);
        let mut record = scene.folder.diligence();
        record.args(["record", "--address", &scene.bus.address, "-o"]).arg(&scene.file);
        record.args(["--", "sh", "-c", &script, &bus]);
        let mut run = scene.folder.diligence();
        run.args(["run", "--record"]).arg(&scene.file);
        run.args(["--", "sh", "-c", &script, "--session"]);
        for mut command in [record, run] {
            let output = SpawnedProgram::start(&mut command).ended();
            let report = text(&output.stderr);
            assert_eq!(output.status.code(), Some(expected), "{report}");
            assert!(report.contains("not in the file"), "{report}");
            assert_eq!(text(&output.stdout), "done\n", "{report}");
        }
    }
}

#[test]
fn messages_overwritten_in_the_ring_are_counted() {
    let scene = RecordingScene::new();
    let recorder = scene.start(&[]);
    recorder.signal(Signal::STOP);
    // The signals exceed the size of the ring in memory.
    scene.emit("Large", 80, 1 << 20);
    scene.emit("Late", 1, 10);
    recorder.signal(Signal::CONT);
    wait_until("the last one", || count(&read(&scene.file), "Late") == 1);
    let output = recorder.end(Signal::INT);
    let capture = read(&scene.file);
    let gaps: Vec<_> = capture.gaps().iter().map(|gap| (gap.cause, gap.lost > Some(0))).collect();
    assert_eq!(gaps, [(GapCause::Overrun, true)], "{output:?}");
    assert!(text(&output.stderr).contains(" lost"), "{output:?}");
    fs::remove_file(Path::new(&scene.file)).expect("the file exists");
}
