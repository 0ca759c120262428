//! Runs every command that reads recordings on recordings of real programs by four recorders; see
//! `scripts/record-desktop`. The counts are compared with a reader of pcap and pcapng that shares
//! no code with the commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::hostile_texts::on_a_terminal;
use crate::support::{ProgramFolder, text};

/// The environment variable with a folder of existing recordings, for work on this test.
const FOLDER_VARIABLE: &str = "DILIGENCE_DESKTOP";

const FILES: [&str; 5] = [
    "session.pcapng",
    "system.pcapng",
    "dbus-daemon.pcap",
    "dbus-daemon.pcapng",
    "dbus-broker.pcapng",
];

const TABLES: [&str; 15] = [
    "member",
    "service",
    "interface",
    "path",
    "sender",
    "process",
    "unit",
    "pair",
    "type",
    "error",
    "bus",
    "size",
    "member-size",
    "rules",
    "replies",
];

/// Columns of a small terminal.
const COLUMNS: u16 = 80;

#[test]
fn commands_agree_on_recordings_of_real_programs() {
    let desktop = Desktop::new();
    thread::scope(|scope| {
        for file in FILES {
            scope.spawn(|| desktop.check(file));
        }
    });
    desktop.check_recipients();
    desktop.check_programs();
    desktop.check_failures();
    desktop.check_differences();
}

struct Desktop {
    folder: ProgramFolder,
    recordings: PathBuf,
    counts: BTreeMap<&'static str, Value>,
}

impl Desktop {
    fn new() -> Self {
        let folder = ProgramFolder::new();
        let existing = std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from);
        let recordings = existing.unwrap_or_else(|| record(&folder));
        let counts = FILES.map(|file| (file, independent_count(&recordings.join(file))));
        Self { folder, recordings, counts: counts.into() }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.folder.diligence();
        command.current_dir(&self.recordings).args(line.split(' '));
        command
    }

    /// Returns the output of a command that must succeed. It may print notes, but no errors.
    fn run(&self, line: &str) -> String {
        let output = self.command(line).output().expect("the program exists");
        let errors = text(&output.stderr);
        assert!(output.status.success(), "{line}: {}: {errors}", output.status);
        assert!(errors.lines().all(|line| line.starts_with("note: ")), "{line}: {errors}");
        text(&output.stdout)
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run(line)).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// Returns a figure of the independent count.
    fn count(&self, file: &str, pointer: &str) -> u64 {
        self.counts[file].pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn check(&self, file: &str) {
        self.check_counts(file);
        self.check_messages(file);
        self.check_exports(file);
        self.check_reports(file);
        self.check_widths(file);
    }

    fn check_counts(&self, file: &str) {
        let stats = self.json(&format!("stats {file} --json"));
        let number = |pointer: &str| stats.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        let recorder = number("/recorder_messages");
        let messages = self.count(file, "/messages");
        assert_eq!(number("/summary/messages") + recorder, messages, "{file}");
        let kinds = ["call", "return", "error", "signal"];
        let counted: u64 = kinds.iter().map(|kind| number(&format!("/summary/{kind}s"))).sum();
        assert_eq!(counted + recorder, messages, "{file}");
        if recorder == 0 {
            for kind in kinds {
                let expected = self.count(file, &format!("/types/{kind}"));
                assert_eq!(number(&format!("/summary/{kind}s")), expected, "{file}: {kind}");
            }
        }
        for table in TABLES {
            let line = format!("stats {file} --by {table} --json");
            assert!(self.json(&line).is_array(), "{line}");
        }
    }

    /// Returns the number of messages from and to the recorder, which are hidden.
    fn of_recorder(&self, file: &str) -> u64 {
        let stats = self.json(&format!("stats {file} --json"));
        stats["recorder_messages"].as_u64().unwrap_or(0)
    }

    /// Checks the messages as lines of JSON and in detail.
    fn check_messages(&self, file: &str) {
        let messages = self.count(file, "/messages");
        let traffic = messages - self.of_recorder(file);
        let shown = self.run(&format!("show {file} --format json"));
        assert_eq!(shown.lines().count() as u64, traffic, "{file}");
        for line in shown.lines() {
            let message: Value = serde_json::from_str(line).expect("a line is JSON");
            assert!(message["cookie"].as_u64().is_some_and(|serial| serial > 0), "{file}: {line}");
        }
        for number in [1, messages / 2, messages] {
            let detail = self.run(&format!("show {file} #{number}"));
            assert!(detail.contains("serial"), "{file} #{number}: {detail}");
        }
        for tool in ["busctl", "gdbus", "dbus-send"] {
            let shown = self.run(&format!("show {file} --format {tool}"));
            let signals = shown.matches("NameOwnerChanged").count() as u64;
            let member = "/members/org.freedesktop.DBus.NameOwnerChanged";
            assert!(signals >= self.count(file, member), "{file}: {tool}: {signals}");
        }
    }

    fn check_exports(&self, file: &str) {
        let messages = self.count(file, "/messages") - self.of_recorder(file);
        let lines = |format: &str| self.run(&format!("export {file} --format {format}"));
        assert_eq!(lines("json").lines().count() as u64, messages, "{file}");
        assert_eq!(lines("csv").lines().count() as u64, messages + 1, "{file}");
        assert!(lines("dot").starts_with("digraph"), "{file}");
        let trace: Value = serde_json::from_str(&lines("chrome-trace")).expect("a trace is JSON");
        let events = trace["traceEvents"].as_array().map_or(0, Vec::len) as u64;
        assert!(events > messages / 2, "{file}: {events} events");
        let whole = independent_count(&self.export(file, "pcapng"));
        for part in ["messages", "connections", "types", "members", "errors"] {
            assert_eq!(whole[part], self.counts[file][part], "{file}: {part}");
        }
        let traffic = independent_count(&self.export(file, "pcap"));
        assert_eq!(traffic["messages"].as_u64(), Some(messages), "{file}");
        assert_eq!(rows_of_database(&self.export(file, "sqlite")), messages, "{file}");
        let columns = fs::read(self.export(file, "parquet")).expect("the file was written");
        assert!(columns.starts_with(b"PAR1") && columns.ends_with(b"PAR1"), "{file}");
    }

    fn export(&self, file: &str, format: &str) -> PathBuf {
        let out = self.out(&format!("{file}.exported.{format}"));
        self.run(&format!("export {file} --format {format} -o {}", out.display()));
        out
    }

    /// Checks the output of `timeline`, `lint` and `view`.
    fn check_reports(&self, file: &str) {
        assert!(self.run(&format!("timeline {file}")).contains("Slowest calls"), "{file}");
        assert!(self.json(&format!("timeline {file} --json")).is_object(), "{file}");
        assert!(self.json(&format!("timeline {file} --perfetto -")).is_object(), "{file}");
        let connections = self.count(file, "/connections");
        let lint = self.json(&format!("lint {file} --json"));
        assert!(lint.is_object(), "{file}");
        assert!(connections >= 100, "{file}: {connections} connections");
        let page = self.out(&format!("{file}.html"));
        self.run(&format!("view {file} --export {}", page.display()));
        let page = fs::read(&page).expect("the file was written");
        assert!(page.starts_with(b"<!doctype html>"), "{file}");
    }

    /// Checks that tables fit on a terminal. Commands for copying and notes on standard error are
    /// not wrapped.
    fn check_widths(&self, file: &str) {
        let tables = TABLES.map(|table| format!("stats {file} --by {table}"));
        let reports = ["stats", "timeline", "lint"].map(|command| format!("{command} {file}"));
        for line in tables.into_iter().chain(reports) {
            let printed = plain(&on_a_terminal(self.command(&line), COLUMNS));
            assert!(!printed.is_empty() && !printed.contains("panicked"), "{line}: {printed}");
            let is_whole = |row: &&str| {
                row.trim_start().starts_with("check ") || row.starts_with("note: the recipients ")
            };
            for row in printed.lines().filter(|row| !is_whole(row)) {
                let width = row.chars().count();
                assert!(width <= usize::from(COLUMNS), "{line}: {width} columns: {row}");
            }
        }
    }

    /// The recipients of signals are known if the file has all match rules. The recording of
    /// dbus-broker lacks the rules of earlier connections. On dbus-daemon, either dbus-monitor or
    /// the first client may connect first.
    fn check_recipients(&self) {
        for file in ["session.pcapng", "dbus-daemon.pcapng"] {
            let table = self.json(&format!("stats {file} --by recipients --json"));
            let mut rows = table.as_array().into_iter().flatten();
            // Three clients of the scenario subscribe to all property changes.
            let is_watched =
                |row: &Value| row["recipients"].as_u64().is_some_and(|count| count >= 3);
            assert!(rows.any(is_watched), "{file}: {table}");
        }
        let output = self.command("stats dbus-broker.pcapng --by recipients").output();
        let output = output.expect("the program exists");
        let reason = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{reason}");
        assert!(reason.contains("the bus did not record the recipients of signals"), "{reason}");
    }

    /// Checks that tables name the programs that ran.
    fn check_programs(&self) {
        for (file, programs) in
            [("session.pcapng", &SESSION_PROGRAMS[..]), ("system.pcapng", &SYSTEM_PROGRAMS[..])]
        {
            let table = self.run(&format!("stats {file} --by process --top 0"));
            for program in programs {
                assert!(table.lines().any(|row| row.starts_with(program)), "{file}: {program}");
            }
        }
    }

    /// Checks that failures in the session are counted, and found by lint rules.
    fn check_failures(&self) {
        for file in FILES.into_iter().filter(|file| *file != "system.pcapng") {
            let stats = self.json(&format!("stats {file} --json"));
            let number = |name: &str| stats["summary"][name].as_u64().unwrap_or(0);
            // Three callers disconnect at once, and two after 50 ms. Four of these five calls get a
            // late reply.
            assert!(number("caller_left") >= 4, "{file}: {}", stats["summary"]);
            assert!(number("late") >= 3, "{file}: {}", stats["summary"]);
            let errors = self.run(&format!("stats {file} --by error --csv"));
            let locked = errors.lines().find(|row| row.starts_with("org.example.Error.Locked,"));
            assert!(locked.is_some_and(|row| row.split(',').any(|cell| cell == "5")), "{errors}");
            let lint = self.run(&format!("lint {file} --all"));
            for (rule, cause) in [("L19", "org.example.Indexer"), ("L22", "org.example.Sensors")] {
                let found = |row: &str| row.contains(rule) && row.contains(cause);
                assert!(lint.lines().any(found), "{file}: {rule}: {lint}");
            }
            // Calls to a service that is starting do not count as queued.
            let is_line = |row: &str| row.contains("L40") && row.contains("org.example.Backup");
            assert!(!lint.lines().any(is_line), "{file}: {lint}");
        }
        let starts = self.run("timeline session.pcapng --top=0");
        assert!(starts.contains("org.example.Broken"), "{starts}");
        // The start takes 3 s, and longer on a busy machine.
        let (_, length) =
            starts.split_once("Start of org.example.Backup, ").expect("the start of the service");
        let seconds = length.split_once(" s").and_then(|(seconds, _)| seconds.parse().ok());
        assert!(seconds >= Some(3.0), "{starts}");
    }

    fn check_differences(&self) {
        let same = self.run("diff session.pcapng session.pcapng");
        assert!(same.contains("no difference beyond noise"), "{same}");
        for line in
            ["diff system.pcapng session.pcapng", "diff dbus-daemon.pcap session.pcapng --json"]
        {
            let output = self.command(line).output().expect("the program exists");
            assert_eq!(output.status.code(), Some(1), "{line}: {}", text(&output.stderr));
        }
    }
}

/// Runs the scenario in its short form.
fn record(folder: &ProgramFolder) -> PathBuf {
    let out = folder.join("recordings");
    let mut script = Command::new(script("record-desktop"));
    script.arg("--short").arg(env!("CARGO_BIN_EXE_diligence")).arg(&out);
    let output = script.output().expect("the script exists");
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    out
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name)
}

/// Returns the counts of the independent reader.
fn independent_count(file: &Path) -> Value {
    let mut python = Command::new("/usr/bin/python3");
    let output = python.arg("-B").arg(script("desktop/packets.py")).arg(file).output();
    let output = output.expect("installed by scripts/debian-packages");
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn rows_of_database(file: &Path) -> u64 {
    let program = "import sqlite3, sys\n\
                   database = sqlite3.connect(sys.argv[1])\n\
                   print(*database.execute('SELECT count(*) FROM messages').fetchone())";
    let output = Command::new("/usr/bin/python3").args(["-c", program]).arg(file).output();
    let output = output.expect("installed by scripts/debian-packages");
    text(&output.stdout).trim().parse().expect("a number")
}

/// Removes colors and carriage returns from terminal output.
fn plain(printed: &str) -> String {
    let mut parts = printed.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |end| end + 1);
        plain += &part[end..];
    }
    plain.replace('\r', "")
}

/// Programs of the session, by the names that the kernel has for them.
const SESSION_PROGRAMS: [&str; 11] = [
    "at-spi-bus-launcher",
    "busctl",
    "dbus-send",
    "dconf-service",
    "gdbus",
    "gio",
    "gsettings",
    "gvfsd",
    "notify-send",
    "peers.py",
    "xdg-desktop-portal",
];

const SYSTEM_PROGRAMS: [&str; 8] =
    ["bluetoothctl", "busctl", "dbus-send", "gdbus", "nmcli", "dbusmock", "upower", "diligence"];
