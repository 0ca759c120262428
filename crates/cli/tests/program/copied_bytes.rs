//! The copies and validations of messages in `stats`, compared with the system calls that strace(1)
//! counts on our bus, and with the model for dbus-daemon.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use client::Connection;
use client::wire::message::Builder;
use client::wire::names::{InterfaceName, MemberName, ObjectPath};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::recorder::{end_after, start};
use crate::support::{ProgramFolder, SpawnedProgram, text};

const RECIPIENTS: usize = 3;
const SIGNALS: usize = 100;

/// Counts the bytes that a process reads from and writes to sockets, with strace.
struct SocketBytes {
    strace: Child,
    /// strace exits if it cannot write its remarks, so the pipe stays open.
    _remarks: BufReader<ChildStderr>,
    table: PathBuf,
}

impl SocketBytes {
    fn count(folder: &ProgramFolder, process: u32) -> Self {
        let table = folder.join("strace.txt");
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=recvmsg,recvfrom,sendmsg,sendto", "-o"]).arg(&table);
        command.args(["-p", &process.to_string()]).stderr(Stdio::piped());
        let mut strace = command.spawn().expect("strace is installed");
        let mut line = String::new();
        let mut remarks = BufReader::new(strace.stderr.take().expect("a pipe"));
        remarks.read_line(&mut line).expect("strace says that it is attached");
        assert!(line.contains("attached"), "{line}");
        Self { strace, _remarks: remarks, table }
    }

    /// Ends strace, and returns the number of bytes received and sent.
    fn end(mut self) -> [u64; 2] {
        kill_process(Pid::from_child(&self.strace), Signal::INT).expect("a child process");
        self.strace.wait().expect("strace exits");
        let lines = fs::read_to_string(&self.table).expect("the output of strace");
        ["recv", "send"].map(|call| {
            let bytes = |line: &str| {
                let (call_text, result) = line.rsplit_once(" = ")?;
                let is_call = call_text.split_whitespace().nth(1)?.starts_with(call)
                    || call_text.contains(&format!("<... {call}"));
                result.split_whitespace().next()?.parse::<u64>().ok().filter(|_| is_call)
            };
            lines.lines().filter_map(bytes).sum()
        })
    }
}

/// Sends signals with this many bytes, and waits until all listeners have received each.
fn send(address: &str, size: usize) {
    let listeners: Vec<_> = (0..RECIPIENTS)
        .map(|_| {
            let connection = Connection::open(address).expect("the bus listens");
            let signals = connection.subscribe("member='Copied'").expect("a match rule");
            (connection, signals)
        })
        .collect();
    let sender = Connection::open(address).expect("the bus listens");
    let path = ObjectPath::literal("/org/example");
    let interface = InterfaceName::literal("org.example.Copies");
    let signal = Builder::signal(path, interface, MemberName::literal("Copied"));
    for _ in 0..SIGNALS {
        sender.send(&signal, &("x".repeat(size),), Vec::new()).expect("the bus is there");
        sender.flush().expect("the bus is there");
        for (_, signals) in &listeners {
            let received = signals.next(Some(Duration::from_secs(20))).expect("the bus is there");
            assert!(received.is_some(), "the signal does not come");
        }
    }
}

fn stats(folder: &ProgramFolder, query: &str) -> Value {
    let mut command = folder.diligence();
    let output = command.args(["stats", "copies.pcapng", query, "--json"]).output();
    let output = output.expect("the program exists");
    assert!(output.status.success(), "{output:?}");
    serde_json::from_str(&text(&output.stdout)).expect("JSON")
}

fn record(folder: &ProgramFolder, address: &str, size: usize) {
    let file = folder.join("copies.pcapng");
    let recorder = start(folder, address, &file, &[]);
    send(address, size);
    assert!(end_after(recorder, &file, "Copied", SIGNALS).status.success());
}

fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found}, expected {expected}");
}

#[test]
fn copies_of_our_bus_match_the_counts_of_strace() {
    for size in [100, 20_000] {
        let folder = ProgramFolder::new();
        let mut command = folder.dbus_daemon();
        command.args(["--nofork", "--print-address=1", "--config-file"]);
        let mut bus = SpawnedProgram::start(command.arg(folder.config("")).stdin(Stdio::null()));
        let address = bus.line();
        let counted = SocketBytes::count(&folder, bus.id());
        record(&folder, &address, size);
        let [received, sent] = counted.end();
        bus.end(Signal::TERM);

        let copies = &stats(&folder, "member:Copied")["copies"];
        assert_eq!(copies["messages"], SIGNALS, "{copies}");
        assert_eq!(copies["deliveries"], SIGNALS * RECIPIENTS, "{copies}");
        assert_eq!(copies["measured"], Value::Null, "{copies}");
        let copies = &stats(&folder, "")["copies"];
        let measured = &copies["measured"];
        let number =
            |key: &str| measured[key].as_f64().unwrap_or_else(|| panic!("{key}: {copies}"));
        // Connections authenticate and the recorder requests its trace before the recording begins.
        let start = (4_000 / size) as f64 / 100.0;
        assert_close("received", number("bytes"), received as f64, 0.05 + start);
        assert_close("sent", number("written_bytes"), sent as f64, 0.05 + start);
        assert!(number("validated_messages") <= number("messages"), "{copies}");
        assert_close("validations", number("validations_per_message"), 1.0, 0.001);
        // The bus writes a body of 20,000 bytes from the buffer into which it was read.
        let (received, sent, copied) =
            (number("bytes"), number("written_bytes"), number("copied_bytes"));
        let marshalled = received + number("own_bytes");
        let all = marshalled + 2.0 * (received + sent) + copied;
        assert_close("copies", number("copies_per_message"), all / marshalled, 0.001);
        let model = 4.0 * received + number("own_bytes") + 2.0 * sent;
        assert_close("model", number("model_copies_per_message"), model / marshalled, 0.001);
        let most = if size == 100 { 3.0 } else { 0.2 };
        assert!(copied / sent < most, "{size}: {copies}");
    }
}

#[test]
fn copies_of_dbus_daemon_match_the_model() {
    let folder = ProgramFolder::new();
    let mut command = Command::new("dbus-daemon");
    command.args(["--nofork", "--print-address=1", "--config-file"]);
    let mut bus = SpawnedProgram::start(command.arg(folder.config("")).stdin(Stdio::null()));
    let address = bus.line();
    record(&folder, &address, 100);
    bus.end(Signal::TERM);

    let copies = &stats(&folder, "member:Copied")["copies"];
    assert_eq!(copies["messages"], SIGNALS, "{copies}");
    assert_eq!(copies["measured"], Value::Null, "{copies}");
    let model = &copies["model"];
    assert_eq!(model["copies_per_message"], 4.0 + 2.0 * RECIPIENTS as f64, "{copies}");
    assert_eq!(model["validations_per_message"], 1.0 + 2.0 * RECIPIENTS as f64, "{copies}");
    // dbus-daemon copies a call to the bus 4 times. Its reply, which the bus builds, is copied 1 +
    // 2 times.
    let copies = &stats(&folder, "member:Hello")["copies"];
    let calls = copies["messages"].as_u64().expect("a number") / 2;
    assert_eq!(copies["deliveries"], calls, "{copies}");
    assert_eq!(copies["model"]["copies_per_message"], 3.5, "{copies}");
}
