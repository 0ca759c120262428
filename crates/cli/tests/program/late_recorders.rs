//! Recorders that are stopped for a while. The reported lateness of messages is compared with time
//! stamps that the sender puts into its signals.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use capture::Capture;
use capture::model::MessageBuffer;
use capture::model::{LateEvidence, Lateness};
use client::Connection;
use rustix::process::Signal;

use crate::recorder::{DbusDaemon, OurBus, read, start, start_dbus_monitor, wait_until};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// Emits signals with time stamps at a steady rate, and returns their number.
fn emit(sender: &Connection, time: Duration) -> usize {
    let end = Instant::now() + time;
    let mut count = 0;
    while Instant::now() < end {
        let now = SystemTime::UNIX_EPOCH.elapsed().expect("a time after 1970");
        let stamp = u64::try_from(now.as_nanos()).expect("a time before 2554");
        sender.emit("/", "com.example.Clock", "Stamp", &(stamp,)).expect("a valid message");
        sender.flush().expect("the bus is there");
        count += 1;
        thread::sleep(Duration::from_millis(2));
    }
    count
}

/// Returns the lateness of each signal: its recorded time minus its stamp.
fn true_lateness(capture: &Capture) -> Vec<Duration> {
    let mut buffer = MessageBuffer::default();
    let stamped = capture.messages().filter(|message| message.member() == "Stamp");
    let late = stamped.map(|signal| {
        let message = capture.read_message(signal.id(), &mut buffer).expect("a readable file");
        let (stamp,) = message.expect("a complete message").read::<(u64,)>().expect("a number");
        let at = u64::try_from(signal.at().0).expect("a time after 1970");
        Duration::from_nanos(at.saturating_sub(stamp))
    });
    late.collect()
}

/// Records a sender while the recorder is stopped for some time.
fn record(
    address: &str,
    file: &Path,
    stopped: Duration,
    recorder: SpawnedProgram,
    end: fn(SpawnedProgram),
) {
    let sender = Connection::open(address).expect("the bus is there");
    let mut count = emit(&sender, STEADY);
    if !stopped.is_zero() {
        recorder.signal(Signal::STOP);
        count += emit(&sender, stopped);
        recorder.signal(Signal::CONT);
    }
    count += emit(&sender, STEADY);
    wait_until("all signals are recorded", || true_lateness(&read(file)).len() == count);
    end(recorder);
}

fn end_ours(recorder: SpawnedProgram) {
    let output = recorder.end(Signal::INT);
    assert!(output.status.success());
    let report = text(&output.stderr);
    assert!(report.contains("recorded"), "{report}");
}

fn end_dbus_monitor(monitor: SpawnedProgram) {
    monitor.end(Signal::TERM);
}

/// Compares the reported lateness with the stamps.
fn check_late(file: &Path, evidence: LateEvidence) {
    let capture = read(file);
    let truth = true_lateness(&capture);
    let longest = truth.iter().max().copied().expect("at least one signal");
    assert!(longest >= STOPPED.mul_f64(0.9), "it was stopped: {longest:?}");
    let found = capture.lateness();
    let [Lateness { late, evidence: found_by, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(*found_by, evidence);
    assert!(late.by().abs_diff(longest) <= TOLERANCE, "{late:?}, in truth {longest:?}");
    let number = truth.iter().filter(|it| **it >= LATE).count() as f64;
    let reported = late.messages as f64;
    assert!((reported - number).abs() <= number * 0.2, "{late:?}, in truth {number}");
    for (signal, truth) in
        capture.messages().filter(|message| message.member() == "Stamp").zip(&truth)
    {
        let is_in = late.resumed <= signal.at() && signal.at() <= late.until;
        assert!(is_in || *truth <= TOLERANCE, "{truth:?} late, and not report to be: {late:?}");
    }
}

fn printed(folder: &ProgramFolder, command: &str, file: &Path) -> String {
    let output = folder.diligence().arg(command).arg(file).output().expect("the program exists");
    text(&output.stdout) + &text(&output.stderr)
}

/// Checks that all commands print the same about late messages.
fn check_late_is_printed(folder: &ProgramFolder, file: &Path, expected: &str) {
    for command in ["stats", "timeline", "show", "lint"] {
        let printed = printed(folder, command, file);
        let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(printed.contains(expected), "{command} does not say {expected:?}: {printed:.3000}");
        assert!(printed.contains(" s late"), "{command} does not say how late: {printed:.3000}");
    }
}

fn check_nothing_is_late(folder: &ProgramFolder, file: &Path) {
    assert!(read(file).lateness().is_empty(), "{:?}", read(file).lateness());
    for command in ["stats", "timeline", "lint"] {
        let printed = printed(folder, command, file);
        assert!(!printed.contains(" late"), "{command}: {printed}");
    }
}

#[test]
fn late_messages_are_reported_by_our_recorder_on_dbus_daemon() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    record(&bus.address, &file, STOPPED, recorder, |recorder| {
        let output = recorder.end(Signal::INT);
        let report = text(&output.stderr);
        assert!(report.contains(" s late, because the recorder was stopped"), "{report}");
    });
    check_late(&file, LateEvidence::Reported);
    check_late_is_printed(&folder, &file, "were read");
    let on_time = folder.join("b.pcapng");
    let recorder = start(&folder, &bus.address, &on_time, &[]);
    record(&bus.address, &on_time, Duration::ZERO, recorder, end_ours);
    check_nothing_is_late(&folder, &on_time);
}

#[test]
fn trace_times_are_exact_even_if_the_recorder_is_late() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    record(&bus.address, &file, STOPPED, recorder, end_ours);
    let capture = read(&file);
    let longest = true_lateness(&capture).into_iter().max().expect("at least one signal");
    assert!(longest <= TOLERANCE, "{longest:?}");
    check_nothing_is_late(&folder, &file);
}

fn check_dbus_monitor(folder: &ProgramFolder, address: &str) {
    let late = folder.join("late.pcap");
    record(address, &late, STOPPED, start_dbus_monitor(address, &late), end_dbus_monitor);
    check_late(&late, LateEvidence::Numbers);
    check_late_is_printed(folder, &late, "were possibly read");
    let on_time = folder.join("on_time.pcap");
    record(
        address,
        &on_time,
        Duration::ZERO,
        start_dbus_monitor(address, &on_time),
        end_dbus_monitor,
    );
    check_nothing_is_late(folder, &on_time);
}

#[test]
fn dbus_monitor_backlogs_are_detected_on_dbus_daemon() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    check_dbus_monitor(&folder, &bus.address);
}

#[test]
fn dbus_monitor_backlogs_are_detected_on_our_bus() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    check_dbus_monitor(&folder, &bus.address);
}

/// How long a recorder is stopped.
const STOPPED: Duration = Duration::from_secs(2);

/// How long the sender emits before and after the stop.
const STEADY: Duration = Duration::from_millis(2500);

/// Maximum difference between the reported and the true lateness.
const TOLERANCE: Duration = Duration::from_millis(300);

/// A signal counts as late from this delay on.
const LATE: Duration = Duration::from_millis(100);
