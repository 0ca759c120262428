//! Tests of `diligence monitor`, next to `busctl monitor` and while a subscriber does not read.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use client::Connection;
use client::wire::names::BusName;
use rustix::process::Signal;
use serde_json::Value;

use crate::recorder::{DbusDaemon, OurBus, read, start};
use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};

/// Runs programs that monitor a bus while signals are emitted, until both have printed some.
/// Returns the printed signals.
fn monitored(folder: &ProgramFolder, address: &str, commands: [Command; 2]) -> [Vec<Value>; 2] {
    let files = ["first.json", "second.json"].map(|name| folder.join(name));
    let running = commands.into_iter().zip(&files).map(|(mut command, file)| {
        let out = fs::File::create(file).expect("a writable folder");
        SpawnedProgram::start_into(command.stdin(Stdio::null()), out)
    });
    let running: Vec<_> = running.collect();
    let signals = |file: &PathBuf| -> Vec<Value> {
        let printed = fs::read(file).expect("a readable file");
        let values = serde_json::Deserializer::from_slice(&printed).into_iter();
        let values = values.map_while(Result::ok);
        values.filter(|value: &Value| value["member"] == "Tick").collect()
    };
    let emitter = Connection::open(address).expect("the bus is there");
    let mut number = 0_u32;
    // There is no sign that the programs are ready.
    eventually("both programs print signals", || {
        let values = (number, "text \"with\" quotes", vec![(1_u8, true)], -0.5_f64);
        emitter.emit("/a", "com.example.Clock", "Tick", &values).expect("a valid message");
        emitter.flush().expect("the bus is there");
        number += 1;
        files.iter().all(|file| signals(file).len() > 20).then_some(())
    });
    running.into_iter().for_each(|program| drop(program.end(Signal::TERM)));
    files.each_ref().map(signals)
}

#[test]
fn json_has_the_keys_of_busctl() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    for mode in ["--json=short", "--json=pretty"] {
        let mut theirs = Command::new("busctl");
        theirs.args(["--address", &bus.address, mode, "monitor"]);
        let mut ours = folder.diligence();
        ours.args(["monitor", "--address", &bus.address, mode]);
        let [theirs, ours] = monitored(&folder, &bus.address, [theirs, ours]);
        let mut compared = 0;
        for expected in &theirs {
            let same = |value: &&Value| value["cookie"] == expected["cookie"];
            let Some(found) = ours.iter().find(same) else { continue };
            for (key, value) in expected.as_object().expect("an object") {
                // Each program received its own copy of the message.
                let is_time = key.starts_with("timestamp");
                assert!(is_time || found.get(key) == Some(value), "{key}: {expected} {found}");
            }
            compared += 1;
        }
        assert!(compared > 5, "{mode}: busctl printed {}, diligence {}", theirs.len(), ours.len());
    }
}

#[test]
fn flags_of_busctl_have_the_same_meaning() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let emitter = Connection::open(&bus.address).expect("the bus is there");
    for (words, shown) in [
        (&["--user", "-j", "-l", "--no-pager", "-N", "2", "--match", "member='Tick'"][..], 2),
        (&["--user", "--full", "--no-legend", "--timeout", "0.3", "--match", "member='No'"], 0),
        (&["--user", "--json=short", "--limit-messages=1", ":1.0", "member:Tick"], 1),
    ] {
        let mut command = folder.diligence();
        command.arg("monitor").args(words).env("DBUS_SESSION_BUS_ADDRESS", &bus.address);
        let program = SpawnedProgram::start(&mut command);
        let is_done = thread::spawn(move || program.ended());
        while !is_done.is_finished() {
            emitter.emit("/", "com.example.Clock", "Tick", &()).expect("a valid message");
            emitter.flush().expect("the bus is there");
            // The rate of the signals; the program exits by itself.
            thread::sleep(Duration::from_millis(20));
        }
        let output = is_done.join().expect("the thread does not panic");
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert_eq!(text(&output.stdout).lines().count(), shown, "{words:?}: {output:?}");
    }
}

/// A bus with a subscriber that does not read its socket.
struct JammedBus {
    bus: OurBus,
    emitter: Connection,
    stopped: Connection,
}

impl JammedBus {
    fn new(folder: &ProgramFolder) -> Self {
        let bus = OurBus::start(folder);
        let [emitter, stopped] =
            [(), ()].map(|()| Connection::open(&bus.address).expect("the bus is there"));
        let rule = ("type='signal',interface='com.example.Flood'",);
        let name = "org.freedesktop.DBus";
        stopped.call(name, "/", name, "AddMatch", &rule).expect("a rule");
        let jam = Self { bus, emitter, stopped };
        // The socket is full, so further messages stay in the bus's queue.
        (0..20).for_each(|_| jam.flood("Flood"));
        jam
    }

    fn flood(&self, member: &str) {
        let body = (vec![7_u8; 64 << 10],);
        self.emitter.emit("/", "com.example.Flood", member, &body).expect("a valid message");
        self.emitter.flush().expect("the bus is there");
    }
}

#[test]
fn slow_readers_do_not_delay_monitors() {
    let folder = ProgramFolder::new();
    let jam = JammedBus::new(&folder);
    let mut command = folder.diligence();
    command.args(["monitor", "--address", &jam.bus.address, "--format", "gdbus"]);
    command.args(["--match", "type='signal'", "member:Now"]);
    let mut monitor = SpawnedProgram::start(&mut command);
    let emit = || {
        // The bus cannot write this copy yet, and the next signal is queued behind it.
        jam.flood("Flood");
        jam.emitter.emit("/", "com.example.Clock", "Now", &()).expect("a valid message");
        jam.emitter.flush().expect("the bus is there");
        Instant::now()
    };
    let (sender, lines) = std::sync::mpsc::channel();
    thread::spawn(move || while sender.send((monitor.line(), Instant::now())).is_ok() {});
    // Repeats the signal until the monitor is ready.
    while lines.recv_timeout(Duration::from_millis(100)).is_err() {
        emit();
    }
    // Until the monitor has printed all signals so far.
    while lines.recv_timeout(Duration::from_millis(1500)).is_ok() {}
    let delays = (0..8).map(|_| {
        let sent = emit();
        let (_, shown) = lines.recv_timeout(Duration::from_secs(10)).expect("a line");
        shown.saturating_duration_since(sent)
    });
    let best = delays.min().expect("at least one value");
    // The delay is 30 ms on an idle machine. It was a second when the monitor waited for the
    // copies.
    assert!(best < Duration::from_millis(250), "{best:?}");
}

#[test]
fn recordings_wait_for_late_readers() {
    let folder = ProgramFolder::new();
    let jam = JammedBus::new(&folder);
    let file = folder.join("a.pcapng");
    let recorder = start(&folder, &jam.bus.address, &file, &[]);
    jam.flood("Last");
    // The time for which the reader is late.
    thread::sleep(Duration::from_millis(300));
    while jam
        .stopped
        .process(Some(Duration::from_millis(200)))
        .is_ok_and(|got| got != client::Processed::Nothing)
    {}
    let stopped: BusName<'_> = jam.stopped.unique_name();
    let written_after = || {
        let capture = read(&file);
        let last = capture.messages().find(|message| message.member() == "Last")?;
        let is_stopped = |peer| stopped == *format!(":1.{peer}");
        last.deliveries()?.iter().find(|copy| is_stopped(copy.recipient))?.written_after
    };
    let after = eventually("the copy for the late reader", written_after);
    assert!(recorder.end(Signal::INT).status.success());
    assert!(after >= Duration::from_millis(250), "{after:?}");
}

/// dbus-monitor shows messages that match any of its rules. Here the words form a query, which must
/// match as a whole.
#[test]
fn several_rules_without_options_print_a_note() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    for (words, is_noted) in [
        (&["type='signal',member='A'", "type='signal',member='B'"][..], true),
        (&["type='signal'", "number>7"], false),
        (&["--match", "type='signal'", "--match", "type='error'"], false),
    ] {
        let mut command = folder.diligence();
        command.args(["monitor", "--address", &bus.address, "--timeout", "50ms"]).args(words);
        let output = command.output().expect("the program can be started");
        assert!(output.status.success(), "{words:?}: {output:?}");
        let sent = text(&output.stderr);
        assert_eq!(
            sent.contains("match all 2 rules are shown; with --match"),
            is_noted,
            "{words:?}: {sent}"
        );
    }
}
