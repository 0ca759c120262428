//! `diligence bench`, as a user runs it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bench::result::{self, Metric, Record};
use bench::scenario::INFOS;
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn results_are_lines_of_json() {
    let words = ["ping-pong", "--quick", "--sizes", "1,1000", "--bus", "diligence,dbus-daemon"];
    let output = bench(&[&words[..], &["--rounds", "2", "--json"]].concat());
    let records = records(&output);
    let Some(Record::Run(run)) = records.first() else { panic!("{records:?}") };
    assert_eq!(run.rounds, 2);
    let subjects: Vec<_> = run.subjects.iter().map(|subject| subject.name.as_str()).collect();
    assert_eq!(subjects[..3], ["direct", "floor", "diligence"]);
    let is_complete = absent(&records).is_empty();
    assert_eq!(output.status.code(), Some(i32::from(!is_complete)));
    for subject in subjects {
        for (size, round) in [("1 B", 1), ("1 kB", 1), ("1 B", 2), ("1 kB", 2)] {
            let found = records.iter().find_map(|record| match record {
                Record::Sample(sample) if sample.subject == subject => {
                    (sample.case.label == size && sample.round == round).then_some(sample)
                }
                _ => None,
            });
            let sample = found.unwrap_or_else(|| panic!("{subject} has no {size}"));
            assert!(sample.figures[&Metric::RoundTripUs] > 0.0, "{sample:?}");
        }
    }
}

#[test]
fn every_scenario_runs() {
    let output = bench(&["all", "--quick", "--bus", "diligence", "--json"]);
    let records = records(&output);
    let done: BTreeSet<&str> = records.iter().filter_map(scenario_of_sample).collect();
    let all: BTreeSet<&str> = INFOS.iter().map(|info| info.name).collect();
    // Only who may raise priorities can measure what that brings.
    let failed: Vec<_> = failures(&records)
        .filter(|(scenario, reason)| *scenario != "priority" || !reason.contains("CAP_SYS_NICE"))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(done.is_superset(&all), "{:?} have no result", all.difference(&done));
}

#[test]
fn a_missing_bus_is_named_and_the_rest_runs() {
    let mut command = command(&["connect", "--quick", "--bus", "dbus-broker,diligence"]);
    let output = command.env("PATH", "/nonexistent").output().expect("it runs");
    let text = text(&output.stdout);
    let absence = "dbus-broker is left out: dbus-broker is not installed; get it with: apt install";
    assert!(text.contains(absence), "{text}");
    let row = text.lines().find(|line| line.starts_with("connect ")).expect("a row");
    let figure = row.split_whitespace().nth(1).expect("a figure");
    assert!(figure.parse::<f64>().is_ok_and(|figure| figure > 0.0), "{row}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_bus_that_dies_ends_its_row() {
    let folder = Folder::new();
    let address = format!("unix:path={}", folder.0.join("bus").display());
    let mut bus = Command::new(PROGRAM);
    bus.args(["bus", "--session", "--nofork", "--print-address"])
        .arg(["--address=", &address].concat());
    let mut bus = Running::start(&mut bus);
    bus.line();
    let lineup = format!("{address},diligence");
    let words = ["names", "--bystanders", "0", "--count", "30000", "--rounds", "2", "--json"];
    let mut bench = Running::start(&mut command(&[&words[..], &["--bus", &lineup]].concat()));
    // The head is written just before the first measurement.
    bench.line();
    thread::sleep(Duration::from_millis(300));
    bus.signal(Signal::KILL);
    drop(bus);
    let output = bench.output();
    let records = records(&output);
    let failures: Vec<_> = failures(&records).collect();
    // Its connections close a moment before its process is gone, and either may be noticed first.
    let [("names", "the bus ended" | "the bus closed the connection")] = failures[..] else {
        panic!("{failures:?}");
    };
    let others = records.iter().filter_map(scenario_of_sample).count();
    assert_eq!(others, 2, "{records:#?}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_measurement_has_a_deadline() {
    let words = ["names", "--bystanders", "0", "--count", "100000000", "--deadline", "1"];
    let output = bench(&[&words[..], &["--rounds", "1", "--bus", "diligence"]].concat());
    let text = text(&output.stdout);
    assert!(text.contains("failed¹"), "{text}");
    assert!(text.contains("¹ it was not done within 1 s"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_interrupted_run_shows_what_it_has() {
    let folder = Folder::new();
    let page = folder.0.join("page.html");
    let sizes = ["signals", "--sizes", "32,64", "--rounds", "1", "--count", "2000"];
    let report = ["--bus", "diligence", "--report", page.to_str().expect("a plain path")];
    let mut command = command(&[&sizes[..], &report].concat());
    // Whole lines only, so that the first row is there when it shows.
    let mut bench = Running::start(&mut command);
    bench.find("32 B");
    bench.signal(Signal::INT);
    let output = bench.output();
    let errors = text(&output.stderr);
    // It may have been faster than we.
    if output.status.code() == Some(1) {
        assert!(errors.contains("diligence bench: interrupted; this is what was"), "{errors}");
    }
    assert!(fs::read_to_string(&page).expect("a page").contains("32 B"));
}

#[test]
fn saved_results_are_rendered() {
    let folder = Folder::new();
    let path = |name: &str| folder.0.join(name).to_str().expect("a plain path").to_owned();
    let json = format!("--json={}", path("results.json"));
    let output = bench(&["connect", "--quick", "--bus", "diligence", &json]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("connection set-up"));

    let shown = bench(&["render", &path("results.json")]);
    assert!(text(&shown.stdout).starts_with("connect: Connecting"), "{}", text(&shown.stdout));
    let (page, document) = (path("page.html"), path("document.md"));
    let made =
        bench(&["render", &path("results.json"), "--report", &page, "--document", &document]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(fs::read_to_string(page).expect("a page").contains("</html>"));
    assert!(fs::read_to_string(&document).expect("a document").contains("## Connecting"));

    let check = |words: &[&str], expected: &str| {
        let output = bench(&[&["render"], words].concat());
        let errors = text(&output.stderr);
        assert!(errors.contains(expected), "{errors}");
        assert_eq!(output.status.code(), Some(1));
    };
    check(&[&path("none.json")], "none.json: No such file or directory");
    check(&[&document], "document.md is no file of results: line 1 is no record");
    let results = path("results.json");
    check(&[&results, "--readme", &document], "not of `bench compare`, so there is no headline");
}

#[test]
fn wrong_words_are_told_in_a_line() {
    let check = |words: &[&str], expected: &str| {
        let output = bench(words);
        let errors = text(&output.stderr);
        let first = errors.lines().next().unwrap_or_default();
        assert!(first.contains(expected), "{words:?}: {errors}");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty(), "{words:?}");
    };
    check(&["ping-pong", "--sizes", "1,many"], "'many' for '--sizes <BYTES>': it is a number of");
    check(&["ping-pong", "--sizes", "100000000"], "from 0 to 67108864");
    check(&["ping-pong", "--read-buffers", "0"], "it is `ours`, or a number of bytes");
    check(&["signals", "--count", "0"], "it is a whole number from 1 to");
    check(&["signals", "--bus", "kdbus"], "there is no bus \"kdbus\"; there are diligence, ");
    check(&["signals", "--bus", "busd,busd"], "busd is named twice");
    check(&["signals", "--bus", "unix:tcp"], "is no address");
    check(&["signals", "--placement", "two"], "it is one, split or free");
    check(&["signals", "--rounds", "0"], "0 is not in 1..=1000");
    check(&["priority", "--nice", "-21"], "it is a whole number from -20 to 19");
    check(&["priority", "--slices", "0"], "it is a number of milliseconds from 0.1 to 100");
    check(&["clients", "--libraries", "qt"], "\"qt\" is none of the libraries");
    check(&["speed"], "unrecognized subcommand 'speed'");
    check(&["render"], "required arguments were not provided");
}

/// Runs it to its end.
fn bench(words: &[&str]) -> Output {
    command(words).output().expect("it runs")
}

/// The programs of libraries are kept from one test to the next.
fn command(words: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("bench").args(words).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null());
    command
}

fn records(output: &Output) -> Vec<Record> {
    let read = result::read(&output.stdout[..]);
    read.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

fn scenario_of_sample(record: &Record) -> Option<&str> {
    match record {
        Record::Sample(sample) => Some(&sample.scenario),
        _ => None,
    }
}

fn failures(records: &[Record]) -> impl Iterator<Item = (&str, &str)> {
    records.iter().filter_map(|record| match record {
        Record::Failure(failure) => Some((failure.scenario.as_str(), failure.reason.as_str())),
        _ => None,
    })
}

fn absent(records: &[Record]) -> Vec<&str> {
    let absences = records.iter().filter_map(|record| match record {
        Record::Absence(absence) => Some(absence.subject.as_str()),
        _ => None,
    });
    absences.collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A process whose output is read while it runs; killed if the test ends before it.
struct Running {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    /// What was read already.
    read: Vec<u8>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program exists");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, stdout, read: Vec::new() }
    }

    /// The next line that it prints.
    fn line(&mut self) -> String {
        let start = self.read.len();
        self.stdout.read_until(b'\n', &mut self.read).expect("it is readable");
        text(&self.read[start..])
    }

    /// Reads lines until one begins with `start`.
    fn find(&mut self, start: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.line().starts_with(start) {
            assert!(Instant::now() < deadline, "{}", text(&self.read));
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is our child");
    }

    /// Waits for its end.
    fn output(mut self) -> Output {
        while !self.line().is_empty() {}
        let mut stderr = Vec::new();
        let mut errors = self.child.stderr.take().expect("it is piped");
        std::io::Read::read_to_end(&mut errors, &mut stderr).expect("it is readable");
        let status = self.child.wait().expect("it is our child");
        Output { status, stdout: std::mem::take(&mut self.read), stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("diligence-bench-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("the temporary folder is writable");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_diligence");
