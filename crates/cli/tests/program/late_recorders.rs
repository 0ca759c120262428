//! Recorders that are stopped for a while: what is said of the times that are too late then, compared with
//! stamps that the sender puts into its messages.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use capture::Capture;
use capture::model::{LateEvidence, Lateness};
use client::Connection;
use rustix::process::Signal;

use crate::recorder::{DbusDaemon, OurBus, end, read, start, start_dbus_monitor};
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// Emits stamped signals at a steady pace for some time.
fn emit(sender: &Connection, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        let now = SystemTime::UNIX_EPOCH.elapsed().expect("it is later than 1970");
        let stamp = u64::try_from(now.as_nanos()).expect("it is not yet 2554");
        sender.emit("/", "com.example.Clock", "Stamp", &(stamp,)).expect("it is valid");
        sender.flush().expect("the bus is there");
        thread::sleep(Duration::from_millis(2));
    }
}

/// By how much the time of each signal is later than its stamp.
fn true_lateness(capture: &Capture) -> Vec<Duration> {
    let mut buffer = Vec::new();
    let stamped = capture.messages().filter(|message| message.member() == "Stamp");
    let late = stamped.map(|signal| {
        let message = capture.read_message(signal.id(), &mut buffer).expect("the file is there");
        let (stamp,) = message.expect("it is whole").read::<(u64,)>().expect("a number");
        let at = u64::try_from(signal.at().0).expect("it is later than 1970");
        Duration::from_nanos(at.saturating_sub(stamp))
    });
    late.collect()
}

/// Records a sender, while the recorder is stopped for some time.
fn record(address: &str, stopped: Duration, recorder: SpawnedProgram, end: fn(SpawnedProgram)) {
    let sender = Connection::open(address).expect("the bus is there");
    emit(&sender, STEADY);
    if !stopped.is_zero() {
        recorder.signal(Signal::STOP);
        emit(&sender, stopped);
        recorder.signal(Signal::CONT);
    }
    emit(&sender, STEADY);
    end(recorder);
}

fn end_ours(recorder: SpawnedProgram) {
    let output = end(recorder);
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("recorded"), "{said}");
}

fn end_dbus_monitor(monitor: SpawnedProgram) {
    thread::sleep(Duration::from_millis(300));
    monitor.end(Signal::TERM);
}

/// Compares what is reported with the stamps.
fn check_late(file: &Path, evidence: LateEvidence) {
    let capture = read(file);
    let truth = true_lateness(&capture);
    let longest = truth.iter().max().copied().expect("there are signals");
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
        assert!(is_in || *truth <= TOLERANCE, "{truth:?} late, and not said to be: {late:?}");
    }
}

fn told(folder: &ProgramFolder, command: &str, file: &Path) -> String {
    let output = folder.diligence().arg(command).arg(file).output().expect("the program exists");
    text(&output.stdout) + &text(&output.stderr)
}

/// Says the same wherever one looks.
fn check_told(folder: &ProgramFolder, file: &Path, expected: &str) {
    for command in ["stats", "timeline", "show", "lint"] {
        let told = told(folder, command, file);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(expected), "{command} does not say {expected:?}: {told:.3000}");
        assert!(told.contains(" s late"), "{command} does not say how late: {told:.3000}");
    }
}

fn check_punctual(folder: &ProgramFolder, file: &Path) {
    assert!(read(file).lateness().is_empty(), "{:?}", read(file).lateness());
    for command in ["stats", "timeline", "lint"] {
        let told = told(folder, command, file);
        assert!(!told.contains(" late"), "{command}: {told}");
    }
}

#[test]
fn our_recorder_reports_how_late_it_was_on_dbus_daemon() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    record(&bus.address, STOPPED, recorder, |recorder| {
        let output = end(recorder);
        let said = text(&output.stderr);
        assert!(said.contains(" s late, because the recorder was stopped"), "{said}");
    });
    check_late(&file, LateEvidence::Reported);
    check_told(&folder, &file, "were read");
    let punctual = folder.join("b.pcapng");
    let recorder = start(&folder, &bus.address, &punctual, &[]);
    record(&bus.address, Duration::ZERO, recorder, end_ours);
    check_punctual(&folder, &punctual);
}

#[test]
fn times_of_our_bus_are_right_however_late_the_recorder_is() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    record(&bus.address, STOPPED, recorder, end_ours);
    let capture = read(&file);
    let longest = true_lateness(&capture).into_iter().max().expect("there are signals");
    assert!(longest <= TOLERANCE, "{longest:?}");
    check_punctual(&folder, &file);
}

fn check_dbus_monitor(folder: &ProgramFolder, address: &str) {
    let late = folder.join("late.pcap");
    record(address, STOPPED, start_dbus_monitor(address, &late), end_dbus_monitor);
    check_late(&late, LateEvidence::Numbers);
    check_told(folder, &late, "were possibly read");
    let punctual = folder.join("punctual.pcap");
    record(address, Duration::ZERO, start_dbus_monitor(address, &punctual), end_dbus_monitor);
    check_punctual(folder, &punctual);
}

#[test]
fn a_backlog_of_dbus_monitor_shows_on_dbus_daemon() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    check_dbus_monitor(&folder, &bus.address);
}

#[test]
fn a_backlog_of_dbus_monitor_shows_on_our_bus() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    check_dbus_monitor(&folder, &bus.address);
}

/// How long a recorder is stopped.
const STOPPED: Duration = Duration::from_secs(2);

/// How long it records before and after.
const STEADY: Duration = Duration::from_millis(2500);

/// What is reported differs from the truth by less.
const TOLERANCE: Duration = Duration::from_millis(300);

/// From here on a signal counts as late.
const LATE: Duration = Duration::from_millis(100);
