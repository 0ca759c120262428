//! How a recording ends, or does not: the file says it, and standard error with counts.

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

use crate::recorder::{OurBus, end, ends, read, recorders, start, wait_for_recorder, wait_until};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// A bus, a program that emits, and a folder for what is recorded.
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

    /// Emits so many signals, with so many bytes in each.
    fn emit(&self, member: &str, count: usize, bytes: usize) {
        for _ in 0..count {
            let body = (vec![7_u8; bytes],);
            self.emitter.emit("/", "com.example.Clock", member, &body).expect("it is valid");
        }
        self.emitter.flush().expect("the bus is there");
    }

    fn start(&self, words: &[&str]) -> SpawnedProgram {
        start(&self.folder, &self.bus.address, &self.file, words)
    }
}

/// How many signals of this name are in a recording.
fn count(capture: &Capture, member: &str) -> usize {
    capture.messages().filter(|message| message.member() == member).count()
}

/// How many messages are neither from nor to the recorder.
fn traffic(capture: &Capture) -> u64 {
    capture.messages().filter(|message| !message.is_of_recorder()).count() as u64
}

#[test]
fn a_file_does_not_grow_beyond_its_size() {
    let scene = RecordingScene::new();
    let recorder = scene.start(&["--max-size", "64K"]);
    scene.emit("Tick", 100, 1000);
    let output = recorder.ended();
    assert!(output.status.success(), "{output:?}");
    let capture = read(&scene.file);
    assert_eq!(ends(&capture), [EndCause::Size]);
    let len = fs::metadata(&scene.file).expect("it is there").len();
    assert!((60 << 10..=64 << 10).contains(&len), "{len} bytes");
    let told = text(&output.stderr);
    assert_eq!(heard(&told), traffic(&capture), "{told}");
}

#[test]
fn a_recording_that_is_over_leaves_its_command_alone() {
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
fn a_ring_keeps_the_last_part() {
    let scene = RecordingScene::new();
    let recorder = scene.start(&["--ring", "64K"]);
    scene.emit("Early", 200, 1000);
    scene.emit("Late", 20, 1000);
    let output = end(recorder);
    assert!(output.status.success(), "{output:?}");
    let told = text(&output.stderr);
    // Of what was written, this much is there.
    let amount = told.lines().find(|line| line.contains("a.pcapng.1, ")).expect("a report");
    let kib: f64 = amount.split(' ').next().expect("a number").parse().expect("a number");
    assert!((64.0..140.0).contains(&kib), "{told}");
    let capture = read(&scene.file);
    assert_eq!((count(&capture, "Late"), ends(&capture)), (20, vec![EndCause::Asked]));
    assert!((20..120).contains(&count(&capture, "Early")), "{}", count(&capture, "Early"));
    let before = scene.folder.join("a.pcapng.1");
    for path in [&before, &scene.file] {
        let len = fs::metadata(path).expect("it is there").len();
        assert!(len < 70_000, "{} has {len} bytes", path.display());
    }
    let told = text(&output.stderr);
    assert!(told.contains("a.pcapng.1, ") && told.contains("nothing lost"), "{told}");
}

/// However a recording ends regularly, its last fact says so.
#[test]
fn every_regular_end_is_in_the_file() {
    let scene = RecordingScene::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut command = scene.folder.diligence();
        command.args(["record", "--address", &scene.bus.address, "-o"]).arg(&scene.file);
        let recorder = SpawnedProgram::start(&mut scene.folder.with_usual_signals(&command));
        wait_for_recorder(&scene.file, 1);
        let output = recorder.end(signal);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(ends(&read(&scene.file)), [EndCause::Asked], "{signal:?}");
        fs::remove_file(&scene.file).expect("it is ours");
    }
    for signal in ["TERM", "HUP"] {
        // With a command, a signal ends that, and the recording with it.
        let script = format!("kill -{signal} $PPID; sleep 20");
        let mut command = scene.folder.diligence();
        command.args(["record", "--address", &scene.bus.address, "-o"]).arg(&scene.file);
        command.args(["--", "sh", "-c", &script]);
        let output = SpawnedProgram::start(&mut scene.folder.with_usual_signals(&command)).ended();
        assert!(!output.status.success(), "{output:?}");
        assert_eq!(ends(&read(&scene.file)), [EndCause::Asked], "{signal:?}");
        fs::remove_file(&scene.file).expect("it is ours");
    }
}

#[test]
fn a_trigger_writes_when_it_happens() {
    let scene = RecordingScene::new();
    let file = scene.file.display().to_string();
    let mut command = scene.folder.diligence();
    command.args(["record", "--address", &scene.bus.address, "-o", &file]);
    let recorder = SpawnedProgram::start(command.args(["--trigger", "member:Boom"]));
    // Nothing tells when it listens, so it is heard at some time.
    let is_there = || scene.file.exists();
    for _ in 0..100 {
        scene.emit("Tick", 3, 10);
        scene.emit("Boom", 1, 10);
        thread::sleep(Duration::from_millis(100));
        if is_there() {
            break;
        }
    }
    assert!(is_there(), "it has happened often");
    let output = end(recorder);
    let told = text(&output.stderr);
    assert!(output.status.success() && told.contains("trigger matched: wrote "), "{output:?}");
    let capture = read(&scene.file);
    let all: Vec<_> = capture.messages().map(|message| message.member()).collect();
    let first = all.iter().position(|member| *member == "Boom").expect("it is there");
    assert!(all[..first].contains(&"Tick"), "what was before it: {all:?}");
    assert!(recorders(&capture).len() == 2 && capture.gaps().is_empty());
}

/// The command of docs/recording.md does what the page says.
#[test]
fn the_trigger_of_the_page_writes_files_for_failed_calls() {
    let page = fs::read_to_string(PAGE).expect("there is a page");
    let (_, block) = page.split_once("```sh\n").expect("a command");
    let (command, rest) = block.split_once("```\n\n```text\n").expect("its output");
    let (shown, _) = rest.split_once("```").expect("the output ends");
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
        assert!(!output.expect("it is among the packages for tests").status.success());
    };
    let file = |name: &str| scene.folder.join(name);
    // Nothing tells when it listens, so a call fails again and again.
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
    let output = end(recorder);
    let told = text(&output.stderr);
    assert!(output.status.success() && told.contains(shown), "{told}");
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
    assert!(times[0].last() < times[1].first(), "no message is in both");
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/recording.md");

/// Starts a recorder whose files may have 32 KiB.
fn start_limited(scene: &RecordingScene) -> SpawnedProgram {
    let mut command = scene.folder.diligence();
    command.args(["record", "--address", &scene.bus.address, "-o"]).arg(&scene.file);
    let mut shell = scene.folder.shell("ulimit -S -f 64; exec \"$0\" \"$@\"", &command);
    let recorder = SpawnedProgram::start(&mut shell);
    wait_for_recorder(&scene.file, 1);
    recorder
}

/// How many messages a recorder says it has heard.
fn heard(told: &str) -> u64 {
    let line = told.lines().find_map(|line| line.strip_prefix("recorded "));
    let number = line.and_then(|line| line.split(' ').next()).expect("a report");
    number.replace(',', "").parse().expect("a number")
}

#[test]
fn a_bus_that_may_not_have_large_files_is_recorded_as_a_monitor_sees_it() {
    let folder = ProgramFolder::new();
    let file = folder.join("a.pcapng");
    let mut command = folder.diligence();
    command.arg("run").arg(format!("--record={}", file.display())).args(["--", "true"]);
    // The memory of a trace counts as a file.
    let output = folder.shell("ulimit -S -f 64; exec \"$0\" \"$@\"", &command).output();
    let output = output.expect("a shell can be started");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(read(&file).buses()[0].method, CaptureMethod::Monitor, "{output:?}");
}

#[test]
fn what_has_no_room_is_counted_and_then_it_goes_on() {
    let scene = RecordingScene::new();
    let recorder = start_limited(&scene);
    scene.emit("Tick", 100, 1000);
    // Long enough that it has been tried to write them; they wait, and what comes then is counted.
    thread::sleep(Duration::from_millis(500));
    scene.emit("Lost", 20, 1000);
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
    let output = end(recorder);
    let told = text(&output.stderr);
    assert!(output.status.success(), "{told}");
    for expected in ["the disk is full", "the disk has space again", " lost"] {
        assert!(told.contains(expected), "{told}");
    }
    let capture = read(&scene.file);
    let lost: u64 = capture.gaps().iter().filter_map(|gap| gap.lost).sum();
    let causes: Vec<_> = capture.gaps().iter().map(|gap| gap.cause).collect();
    assert_eq!(causes, [GapCause::DiskFull]);
    assert_eq!((traffic(&capture) + lost, capture.damage_count()), (heard(&told), 0));
    assert_eq!((count(&capture, "Tick"), count(&capture, "Late")), (100, 5));
    assert_eq!((lost, ends(&capture)), (20, vec![EndCause::Asked]));
}

#[test]
fn a_disk_that_stays_full_is_a_failure() {
    let scene = RecordingScene::new();
    let recorder = start_limited(&scene);
    scene.emit("Tick", 100, 1000);
    // What does not fit is counted when it was tried to write it.
    thread::sleep(Duration::from_millis(500));
    scene.emit("Lost", 20, 1000);
    let output = end(recorder);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let capture = read(&scene.file);
    let ticks = count(&capture, "Tick");
    assert!((1..100).contains(&ticks) && count(&capture, "Lost") == 0, "{ticks} of 100");
    // The end of the file says how it ended, and what is missing.
    assert_eq!(ends(&capture), [EndCause::Asked], "{told}");
    let gaps: Vec<_> = capture.gaps().iter().map(|gap| (gap.cause, gap.lost)).collect();
    let [(GapCause::DiskFull, Some(lost))] = gaps[..] else { panic!("{gaps:?}") };
    assert!(lost >= 120 - ticks as u64, "{lost} lost, and {ticks} of 100 there");
    assert!(told.contains(&format!("the last {lost} messages are not in the file")), "{told}");
    assert_eq!(capture.damage_count(), 0);
    assert!(fs::metadata(&scene.file).expect("it is there").len() <= 32 << 10);
}

/// A full disk fails what succeeded, and hides no other failure; the command goes on in any case.
#[test]
fn a_command_keeps_its_status_unless_it_succeeded() {
    let scene = RecordingScene::new();
    for (end, expected) in [("exit 0", 1), ("exit 3", 3)] {
        // The file of who records us may have 32 KiB from now on.
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
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(expected), "{told}");
            assert!(told.contains("not in the file"), "{told}");
            assert_eq!(text(&output.stdout), "done\n", "{told}");
        }
    }
}

#[test]
fn what_the_bus_has_overwritten_is_counted() {
    let scene = RecordingScene::new();
    let recorder = scene.start(&[]);
    recorder.signal(Signal::STOP);
    // More than the ring in memory has room for.
    scene.emit("Large", 80, 1 << 20);
    scene.emit("Late", 1, 10);
    recorder.signal(Signal::CONT);
    wait_until("the last one", || count(&read(&scene.file), "Late") == 1);
    let output = end(recorder);
    let capture = read(&scene.file);
    let gaps: Vec<_> = capture.gaps().iter().map(|gap| (gap.cause, gap.lost > Some(0))).collect();
    assert_eq!(gaps, [(GapCause::Overrun, true)], "{output:?}");
    assert!(text(&output.stderr).contains(" lost"), "{output:?}");
    fs::remove_file(Path::new(&scene.file)).expect("it is there");
}
