//! The times that a bus measures for a signal to ten recipients, compared with the clocks of the
//! sender and the recipients.

use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use capture::model::CapturedMessage;
use capture::record::RecordedTime;
use capture::timeline::{BusPhase, BusTime};
use client::Connection;
use serde_json::Value;

use crate::recorder::{CALL, DbusDaemon, OurBus, end_after, read, start};
use crate::support::{ProgramFolder, text};

/// The signals of one size, with the times before and after sending and of each receipt.
struct FanOutScene {
    bytes: u32,
    sent: Vec<(RecordedTime, RecordedTime)>,
    received: Vec<Vec<RecordedTime>>,
}

fn now() -> RecordedTime {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    RecordedTime(since_1970.as_nanos() as i64)
}

/// Receives `count` signals, and returns when each arrived.
fn receive(address: &str, count: usize, is_ready: &Sender<()>) -> Vec<RecordedTime> {
    let connection = Connection::open(address).expect("the bus is there");
    let changed = connection.subscribe_to("/f", "org.example.Fan", "Changed").expect("a rule");
    is_ready.send(()).expect("the sender waits");
    let next = || changed.next(Some(Duration::from_secs(60))).expect("the bus is there");
    (0..count).map(|_| next().map(|_| now()).expect("a signal")).collect()
}

/// Emits signals with a text of this length, one after the other, to ten recipients.
fn fan_out(address: &str, bytes: u32, text_len: usize) -> FanOutScene {
    let (is_ready, ready): (Sender<()>, Receiver<()>) = channel();
    let recipients: Vec<_> = (0..RECIPIENTS)
        .map(|_| {
            let (address, is_ready) = (address.to_owned(), is_ready.clone());
            thread::spawn(move || receive(&address, SIGNALS, &is_ready))
        })
        .collect();
    (0..RECIPIENTS).for_each(|_| ready.recv().expect("a recipient"));
    let sender = Connection::open(address).expect("the bus is there");
    let text = "x".repeat(text_len);
    let sent = (0..SIGNALS).map(|_| {
        // Long enough for all recipients to receive the previous signal, so that no copy is queued.
        thread::sleep(Duration::from_millis(10));
        let before = now();
        sender
            .emit("/f", "org.example.Fan", "Changed", &(text.as_str(),))
            .expect("a valid message");
        sender.flush().expect("the bus is there");
        (before, now())
    });
    let sent = sent.collect();
    let received =
        recipients.into_iter().map(|one| one.join().expect("the recipient does not panic"));
    FanOutScene { bytes, sent, received: received.collect() }
}

fn check(
    signal: &CapturedMessage<'_>,
    sent: (RecordedTime, RecordedTime),
    received: &[RecordedTime],
) {
    let time = BusTime::of(signal).expect("the bus recorded the recipients");
    assert_eq!(time.is_measured(), has_cycle_counter());
    let copies = signal.deliveries().expect("the bus recorded the recipients");
    let last = copies.iter().filter_map(|copy| copy.written_after).max();
    assert_eq!((copies.len(), time.total()), (RECIPIENTS, last));
    assert_eq!(Some(time.phases().map(|(_, time)| time).sum()), last);
    assert_eq!(time.time(BusPhase::Match).is_some(), time.is_measured(), "rules were searched");
    // The bus receives a signal after it was sent, and writes no copy before routing ends. It reads
    // the clock after writing, when a recipient may have the copy already.
    let routed = signal.at().after(time.routed());
    assert!(sent.0.0 <= signal.at().0 + CLOCKS_APART, "received before it was sent");
    let first = received.iter().min().expect("a recipient");
    assert!(routed.0 <= first.0 + CLOCKS_APART, "routed after a recipient had it");
    let spent = signal.at().after(last.expect("all copies were written")).0 - sent.0.0;
    let whole = received.iter().max().expect("a recipient").0.max(sent.1.0) - sent.0.0;
    assert!(spent <= whole + WAKE_UP, "{spent} ns in the bus, {whole} ns from the sender on");
}

/// Returns true if the bus can read the cycle counter, which measuring the phases needs.
fn has_cycle_counter() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(target_arch = "x86_64") && fs::read_to_string(source).is_ok_and(|it| it.trim() == "tsc")
}

fn output(folder: &ProgramFolder, line: &str) -> (Option<i32>, String, String) {
    let mut command = folder.diligence();
    let output = command.args(line.split(' ')).output().expect("the program exists");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn phases_of_a_signal_lie_between_the_clocks_of_sender_and_recipients() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let file = folder.join("fan.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    let outs = [(277, 176), (17_001, 16_900)].map(|(bytes, len)| fan_out(&bus.address, bytes, len));
    assert!(end_after(recorder, &file, "Changed", outs.len() * SIGNALS).status.success());
    let capture = read(&file);
    let signals: Vec<_> = capture.messages().filter(|one| one.member() == "Changed").collect();
    assert_eq!(signals.len(), outs.len() * SIGNALS);
    for (out, signals) in outs.iter().zip(signals.chunks(SIGNALS)) {
        for (index, signal) in signals.iter().enumerate() {
            assert_eq!(signal.len(), out.bytes);
            let received: Vec<_> = out.received.iter().map(|all| all[index]).collect();
            check(signal, out.sent[index], &received);
        }
    }
    let (code, stdout, _) = output(&folder, "timeline fan.pcapng member:Changed --json");
    assert_eq!(code, Some(0), "{stdout}");
    let timeline: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(timeline["in_bus"]["has_stages"], has_cycle_counter());
    let rows = timeline["in_bus"]["phases"].as_array().expect("rows");
    let row = |row: &Value| {
        (row["size"].clone(), row["messages"].clone(), row["recipients_mean"].clone())
    };
    let sizes = [("up to 1 KiB", SIGNALS), ("up to 256 KiB", SIGNALS), ("all", 2 * SIGNALS)];
    let expected =
        sizes.map(|(size, count)| (size.into(), count.into(), (RECIPIENTS as f64).into()));
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
    let (code, stdout, _) = output(&folder, "stats fan.pcapng member:Changed --by dispatch --csv");
    let found = stdout.lines().nth(1).unwrap_or_default();
    let totals = signals.iter().filter_map(|signal| BusTime::of(signal)?.total());
    let total = totals.sum::<Duration>().as_nanos();
    assert_eq!(code, Some(0), "{stdout}");
    assert!(found.starts_with(&format!("(all),,,{total},{},10,", 2 * SIGNALS)), "{stdout}");
}

#[test]
fn phases_are_unknown_in_recordings_of_monitors() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    bus.send(&CALL);
    assert!(end_after(recorder, &file, "GetId", 1).status.success());
    let (code, stdout, _) = output(&folder, "timeline a.pcapng");
    let words = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(words.contains("how long the bus held signals, are unknown"), "{stdout}");
    assert!(!words.contains("Where the bus spends its time"), "{stdout}");
    let (code, _, stderr) = output(&folder, "stats a.pcapng --by dispatch");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("how long the bus took for messages is unknown"), "{stderr}");
}

const RECIPIENTS: usize = 10;
const SIGNALS: usize = 20;

/// Maximum difference between the recording's clock and the system clock, in nanoseconds (2 ms).
/// The bus reads the system clock once.
const CLOCKS_APART: i64 = 2_000_000;

/// Maximum time that the bus waits for a processor after writing, on a busy machine, in nanoseconds
/// (1 s).
const WAKE_UP: i64 = 1_000_000_000;
