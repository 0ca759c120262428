//! The recipients of signals in `stats`, compared with listeners that count for themselves: in
//! recordings of our bus, which records the recipients, and of dbus-daemon, where they follow from
//! match rules.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use client::{Connection, NameFlags};
use rustix::process::Signal;
use serde_json::Value;

use crate::recorder::{end_after, read, start, wait_until};
use crate::support::{ProgramFolder, SpawnedProgram, text};

const EMITTER: &str = "org.example.Emitter";

/// A `gdbus monitor` process, which prints each signal that it receives.
struct SignalListener {
    process: Child,
    printed: PathBuf,
}

impl SignalListener {
    /// Subscribes to the signals of an object, or of all objects.
    fn start(
        folder: &ProgramFolder,
        (emitter, address): (&Connection, &str),
        number: usize,
        object: Option<&str>,
    ) -> Self {
        let printed = folder.join(&format!("listener-{number}"));
        let mut command = Command::new("gdbus");
        command.args(["monitor", "--address", address, "--dest", EMITTER]);
        command.args(object.into_iter().flat_map(|path| ["--object-path", path]));
        command.stdout(File::create(&printed).expect("a writable folder")).stdin(Stdio::null());
        let process = command.spawn().expect("gdbus is installed");
        let listener = Self { process, printed };
        // gdbus prints the owner of the name before it adds its match rule.
        wait_until("a listener", || {
            emit(emitter, object.unwrap_or("/any"), "Probe", 1);
            listener.received("Probe") > 0
        });
        listener
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.printed).expect("valid UTF-8")
    }

    /// Returns the number of received signals with this member.
    fn received(&self, member: &str) -> u64 {
        let signal = format!("{EMITTER}.{member} (");
        self.text().lines().filter(|line| line.contains(&signal)).count() as u64
    }

    fn stop(&mut self) {
        self.process.kill().expect("a child process");
        self.process.wait().expect("a child process");
    }
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Emits a signal this many times, and waits until the bus has routed all of them.
fn emit(emitter: &Connection, path: &str, member: &str, times: usize) {
    for _ in 0..times {
        emitter.emit(path, EMITTER, member, &()).expect("the bus is there");
    }
    emitter
        .call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId", &())
        .expect("the bus answers");
}

/// Returns the rows of a table by member.
fn by_member(table: &Value) -> HashMap<String, Value> {
    let rows = table.as_array().expect("a table").iter();
    rows.map(|row| (row["member"].as_str().expect("a member").to_owned(), row.clone())).collect()
}

#[test]
fn recipients_of_members_match_the_counts_of_listeners() {
    for bus in ["ours", "dbus-daemon"] {
        let folder = ProgramFolder::new();
        let mut command = match bus {
            "ours" => folder.dbus_daemon(),
            program => Command::new(program),
        };
        command.args(["--nofork", "--print-address=1", "--config-file"]);
        let mut process =
            SpawnedProgram::start(command.arg(folder.config("")).stdin(Stdio::null()));
        let address = process.line();
        let emitter = Connection::open(&address).expect("the bus listens");
        emitter.request_name(EMITTER, NameFlags::DO_NOT_QUEUE).expect("the name is free");
        // One listener subscribes before the recorder starts. The recorder must request its match
        // rules.
        let mut listeners =
            vec![SignalListener::start(&folder, (&emitter, &address), 0, Some("/wide"))];
        let file = folder.join("signals.pcapng");
        let recorder = start(&folder, &address, &file, &[]);
        for (number, object) in [Some("/wide"), Some("/wide"), Some("/wide"), Some("/narrow"), None]
            .into_iter()
            .enumerate()
        {
            listeners.push(SignalListener::start(
                &folder,
                (&emitter, &address),
                number + 1,
                object,
            ));
        }
        emit(&emitter, "/wide", "Wide", 3);
        emit(&emitter, "/narrow", "Narrow", 2);
        let wide = [0, 1, 2, 3, 5];
        wait_until("the wide signals", || {
            wide.iter().all(|&one| listeners[one].received("Wide") == 3)
        });
        wait_until("the narrow signals", || {
            [4, 5].iter().all(|&one| listeners[one].received("Narrow") == 2)
        });
        // The listener to all objects and a listener to the first object disconnect.
        listeners[5].stop();
        listeners[1].stop();
        wait_until("the two have left", || left(&file) == 2);
        emit(&emitter, "/wide", "Wide", 2);
        emit(&emitter, "/nowhere", "Unheard", 1);
        wait_until("the wide signals of the remaining listeners", || {
            [0, 2, 3].iter().all(|&one| listeners[one].received("Wide") == 5)
        });
        assert!(end_after(recorder, &file, "Unheard", 1).status.success());
        let counted = |member: &str| listeners.iter().map(|one| one.received(member)).sum::<u64>();
        process.end(Signal::TERM);
        let found = (counted("Wide"), counted("Narrow"), counted("Unheard"));
        assert_eq!(found, (3 * 5 + 2 * 3, 2 * 2, 0), "{bus}");

        let stats = |words: &[&str]| {
            let mut command = folder.diligence();
            command.args(["stats", "signals.pcapng"]).args(words).arg("--json");
            let output = command.output().expect("the program exists");
            assert!(output.status.success(), "{bus}: {output:?}");
            let notes = text(&output.stderr);
            assert!(
                notes.lines().all(|line| line.ends_with("is:recorder shows them")),
                "{bus}: {notes}"
            );
            serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
        };
        let rows = by_member(&stats(&["--by", "member"]));
        for (member, signals, peak) in [("Wide", 5, 5), ("Narrow", 2, 2), ("Unheard", 1, 0)] {
            let row = &rows[&format!("{EMITTER}.{member}")];
            assert_eq!(row["signals"], signals, "{bus}: {row}");
            assert_eq!(
                row["recipients_mean"],
                counted(member) as f64 / f64::from(signals),
                "{bus}: {row}"
            );
            assert_eq!(row["peak_recipients"], peak, "{bus}: {row}");
        }
        assert_eq!(rows["org.freedesktop.DBus.GetId"]["recipients_mean"], Value::Null);
        let most = by_member(&stats(&[])["most_recipients"]);
        let row = &most[&format!("{EMITTER}.Wide")];
        assert_eq!(
            (&row["recipients_mean"], &row["peak_recipients"]),
            (&Value::from(4.2), &Value::from(5))
        );
        assert!(!most.contains_key(&format!("{EMITTER}.Narrow")), "{bus}: {most:?}");
    }
}

/// Returns the number of gdbus connections that have disconnected.
fn left(file: &Path) -> usize {
    let capture = read(file);
    let is_listener = |peer: &&capture::model::RecordedPeer| {
        let process = peer.process.as_ref().and_then(|process| process.comm.as_deref());
        peer.left.is_some() && process == Some("gdbus")
    };
    capture.directory().peers().map(|(_, peer)| peer).filter(is_listener).count()
}
