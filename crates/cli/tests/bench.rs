//! Tests of `diligence bench` as a process.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::iter;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bench::result::{self, BenchRecord, CaseSetting, Metric};
use bench::scenario::INFOS;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

#[test]
fn results_are_lines_of_json() {
    let words = ["ping-pong", "--quick", "--sizes", "1,1000", "--bus", "diligence,dbus-daemon"];
    let output = bench(&[&words[..], &["--rounds", "2", "--json"]].concat());
    let records = records(&output);
    let Some(BenchRecord::Run(run)) = records.first() else { panic!("{records:?}") };
    assert_eq!(run.rounds, 2);
    let subjects: Vec<_> = run.subjects.iter().map(|subject| subject.name.as_str()).collect();
    assert_eq!(subjects[..3], ["direct", "floor", "diligence"]);
    let is_complete = absent(&records).is_empty();
    assert_eq!(output.status.code(), Some(i32::from(!is_complete)));
    for subject in subjects {
        for (size, round) in [("1 B", 1), ("1 kB", 1), ("1 B", 2), ("1 kB", 2)] {
            let found = records.iter().find_map(|record| match record {
                BenchRecord::Sample(sample) if sample.subject == subject => {
                    (sample.case.label == size && sample.round == round).then_some(sample)
                }
                _ => None,
            });
            let sample = found.unwrap_or_else(|| panic!("{subject} has no {size}"));
            assert!(sample.figures[&Metric::RoundTripUs] > 0.0, "{sample:?}");
        }
    }
}

/// Counts messages with dbus-monitor: the reply has the payload of the call, and the sizes in the
/// results match the captured messages.
#[test]
fn ping_pongs_carry_their_payload_both_ways() {
    for bus in ["ours", "dbus-daemon"] {
        for reply in ["echo", "empty"] {
            let folder = BenchFolder::new();
            let mut running = RunningBench::start(&mut bus_at(bus, folder.0.path()));
            let address = running.line().trim().to_owned();
            let pcap = folder.0.path().join("monitor.pcap");
            let mut monitor = Command::new("dbus-monitor");
            monitor.args(["--address", &address, "--pcap"]);
            monitor.stdout(fs::File::create(&pcap).expect("a file"));
            let mut monitor = Killed(monitor.spawn().expect("dbus-monitor is installed"));
            wait_for(|| fs::read(&pcap).is_ok_and(|file| packets(&file).next().is_some()));
            let words = ["ping-pong", "--sizes", "1000,300000", "--read-buffers", "2048", "--json"];
            let rest = ["--rounds", "1", "--count", "20", "--reply", reply, "--bus", &address];
            let records = records(&bench(&[&words[..], &rest].concat()));
            for payload in [1000, 300_000] {
                // 20 calls are measured after 3 warm-up calls. The monitor writes the last reply later.
                wait_for(|| {
                    let file = fs::read(&pcap).expect("the file exists");
                    let mut packets = packets(&file);
                    let calls = packets.by_ref().filter(|it| carries(it, CALL, payload));
                    calls.take(23).count() == 23 && packets.any(|it| it[1] == RETURN)
                });
                let file = fs::read(&pcap).expect("the file exists");
                let carried = if reply == "echo" { payload } else { 0 };
                let reported = |metric| figure(&records, &address, payload, metric) as usize;
                let sizes = |kind, payload| -> Vec<usize> {
                    let found = packets(&file).filter(|it| carries(it, kind, payload));
                    found.map(<[u8]>::len).collect()
                };
                assert_eq!(
                    sizes(CALL, payload),
                    [reported(Metric::CallBytes); 23],
                    "{bus} {reply}"
                );
                let replies = sizes(RETURN, carried);
                let expected = [reported(Metric::ReplyBytes); 23];
                let is_all = replies.windows(23).any(|replies| *replies == expected);
                assert!(is_all, "{bus} {reply}: {expected:?} in {replies:?}");
            }
            monitor.0.kill().expect("a running process");
        }
    }
}

/// Checks the numbers of copies in the notes below a table: counters for our bus, a model for other
/// buses.
#[test]
fn copies_and_validations_are_counted_or_modeled() {
    let words = ["fan-out", "--quick", "--signals", "1", "--bursts", "5"];
    let output = bench(&[&words[..], &["--bus", "diligence,dbus-daemon", "--json"]].concat());
    let records = records(&output);
    let found = |subject: &str, metric| {
        let figures = records.iter().filter_map(|record| match record {
            BenchRecord::Sample(sample) if sample.subject == subject => sample.figures.get(&metric),
            _ => None,
        });
        figures.copied().next()
    };
    // Ten recipients: the kernel copies twice on receipt, and twice per recipient.
    assert_eq!(found("diligence", Metric::KernelCopies), Some(22.0));
    // The message is copied once for all queues, and the header one more time.
    let copies = found("diligence", Metric::BusCopies).expect("our bus reports counters");
    assert!((1.0..2.0).contains(&copies), "{copies}");
    assert_eq!(found("diligence", Metric::Validations), Some(1.0));
    assert_eq!(found("diligence", Metric::ModelCopies), None);
    assert_eq!(found("dbus-daemon", Metric::KernelCopies), None);
    assert_eq!(found("dbus-daemon", Metric::ModelCopies), Some(24.0));
    assert_eq!(found("dbus-daemon", Metric::ModelValidations), Some(21.0));
    assert_eq!(found("floor", Metric::ModelCopies), None);

    let output = bench(&["validation", "--quick", "--bus", "diligence", "--json"]);
    let records = self::records(&output);
    let validations: Vec<f64> = records
        .iter()
        .filter_map(|record| match record {
            BenchRecord::Sample(sample) => sample.figures.get(&Metric::Validations).copied(),
            _ => None,
        })
        .collect();
    // Validation in bus and clients, in the clients only, in the bus only, and nowhere.
    assert_eq!(validations, [2.0, 1.0, 1.0, 0.0]);
}

#[test]
fn every_scenario_runs() {
    let output = bench(&["all", "--quick", "--bus", "diligence", "--json"]);
    let records = records(&output);
    let done: BTreeSet<&str> = records.iter().filter_map(scenario_of_sample).collect();
    let all: BTreeSet<&str> = INFOS.iter().map(|info| info.name).collect();
    let added = |record: &BenchRecord| match record {
        BenchRecord::Sample(sample) => sample.figures.get(&Metric::LibraryUs).copied(),
        _ => None,
    };
    // Each front end of our library, as the caller and as the service.
    assert!(records.iter().filter_map(added).count() >= 4, "{records:?}");
    // The scenario `priority` needs CAP_SYS_NICE.
    let failed: Vec<_> = failures(&records)
        .filter(|(scenario, reason)| *scenario != "priority" || !reason.contains("CAP_SYS_NICE"))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(done.is_superset(&all), "{:?} have no result", all.difference(&done));
}

#[test]
fn a_missing_bus_is_named_and_the_rest_runs() {
    let mut command = command(&["connect", "--quick", "--bus", "dbus-broker,diligence"]);
    let output = command.env("PATH", "/nonexistent").output().expect("the program can be started");
    let text = text(&output.stdout);
    let absence = "dbus-broker is left out: dbus-broker is not installed; get it with: apt install";
    assert!(text.contains(absence), "{text}");
    let row = text.lines().find(|line| line.starts_with("connect ")).expect("a row");
    let figure = row.split_whitespace().nth(1).expect("a figure");
    assert!(figure.parse::<f64>().is_ok_and(|figure| figure > 0.0), "{row}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_killed_bus_ends_its_row() {
    let folder = BenchFolder::new();
    let address = format!("unix:path={}", folder.0.path().join("bus").display());
    let mut bus = Command::new(PROGRAM);
    bus.args(["bus", "--session", "--nofork", "--print-address"])
        .arg(["--address=", &address].concat());
    let mut bus = RunningBench::start(&mut bus);
    bus.line();
    let buses = format!("{address},diligence");
    let words = ["names", "--bystanders", "0", "--count", "30000", "--rounds", "2", "--json"];
    let mut bench = RunningBench::start(&mut command(&[&words[..], &["--bus", &buses]].concat()));
    // The header is written just before the first measurement.
    bench.line();
    // A measurement prints nothing before it ends, so its start cannot be observed.
    thread::sleep(Duration::from_millis(300));
    bus.signal(Signal::KILL);
    drop(bus);
    let output = bench.output();
    let records = records(&output);
    let failures: Vec<_> = failures(&records).collect();
    // The connections close just before the process exits, so either may be noticed first.
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
    assert!(text.contains("¹ not finished within 1 s"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_interrupted_run_shows_its_results() {
    let folder = BenchFolder::new();
    let page = folder.0.path().join("page.html");
    let sizes = ["signals", "--sizes", "32,64", "--rounds", "1", "--count", "2000"];
    let report = ["--bus", "diligence", "--report", page.to_str().expect("a plain path")];
    let mut command = command(&[&sizes[..], &report].concat());
    // Output into a pipe has whole lines only, so the first row is complete when it appears.
    let mut bench = RunningBench::start(&mut command);
    bench.find("32 B");
    bench.signal(Signal::INT);
    let output = bench.output();
    let errors = text(&output.stderr);
    // The run may finish before the signal arrives.
    if output.status.code() == Some(1) {
        assert!(
            errors.contains("diligence bench: interrupted; these are the results so far"),
            "{errors}"
        );
    }
    assert!(fs::read_to_string(&page).expect("a page").contains("32 B"));
}

#[test]
fn saved_results_are_rendered() {
    let folder = BenchFolder::new();
    let path = |name: &str| folder.0.path().join(name).to_str().expect("a plain path").to_owned();
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
    check(&[&document], "document.md is not a results file: line 1 is not a record");
    let results = path("results.json");
    check(&[&results, "--readme", &document], "expected a line <!-- benchmark:SCENARIO -->");
    let readme = path("readme.md");
    let table_of = |scenario: &str| {
        let text = format!("<!-- benchmark:{scenario} --><!-- benchmark:end -->");
        fs::write(&readme, text).expect("a file");
    };
    table_of("compare");
    check(
        &[&results, "--readme", &readme],
        "the results have no figures of `bench compare` for its table",
    );
    table_of("connect");
    let made = bench(&["render", &results, "--readme", &readme]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let table = fs::read_to_string(&readme).expect("a document");
    assert!(table.contains("| connect, µs ↓ |"), "{table}");
}

#[test]
fn wrong_options_are_reported_in_a_line() {
    let check = |words: &[&str], expected: &str| {
        let output = bench(words);
        let errors = text(&output.stderr);
        let first = errors.lines().next().unwrap_or_default();
        assert!(first.contains(expected), "{words:?}: {errors}");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty(), "{words:?}");
    };
    check(
        &["ping-pong", "--sizes", "1,many"],
        "'many' for '--sizes <BYTES>': expected a number of",
    );
    check(&["ping-pong", "--sizes", "100000000"], "from 0 to 67108864");
    check(&["ping-pong", "--read-buffers", "0"], "expected `ours`, or a number of bytes");
    check(&["ping-pong", "--reply", "none"], "invalid value 'none' for '--reply <WHAT>'");
    check(&["signals", "--count", "0"], "expected a whole number from 1 to");
    check(&["signals", "--bus", "kdbus"], "unknown bus \"kdbus\"; expected diligence, ");
    check(&["signals", "--bus", "busd,busd"], "busd is named twice");
    check(&["signals", "--bus", "unix:tcp"], "is not an address");
    check(&["signals", "--placement", "two"], "invalid value 'two' for '--placement <WHERE>'");
    check(&["signals", "--rounds", "0"], "0 is not in 1..=1000");
    check(&["priority", "--nice", "-21"], "expected a whole number from -20 to 19");
    check(&["priority", "--slices", "0"], "expected a number of milliseconds from 0.1 to 100");
    check(&["clients", "--libraries", "qt"], "invalid value 'qt' for '--libraries <LIBRARY>'");
    check(&["speed"], "unrecognized subcommand 'speed'");
    check(&["render"], "required arguments were not provided");
}

/// Returns a command for a bus that prints its address.
fn bus_at(bus: &str, folder: &Path) -> Command {
    let address = format!("unix:path={}", folder.join("bus").display());
    let mut command = match bus {
        "ours" => {
            let mut command = Command::new(PROGRAM);
            command.arg("bus");
            command
        }
        other => Command::new(other),
    };
    command.args(["--session", "--nofork", "--print-address"]).arg(format!("--address={address}"));
    command
}

/// Returns the packets of a classic pcap file.
fn packets(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = file.get(24..).unwrap_or_default();
    iter::from_fn(move || {
        let len = rest.get(8..12)?.try_into().map(u32::from_ne_bytes).ok()? as usize;
        let packet = rest.get(16..16 + len)?;
        rest = &rest[16 + len..];
        Some(packet)
    })
}

/// Returns true if a message has this type, and a body that is a byte array of this length, or no
/// body.
fn carries(message: &[u8], kind: u8, payload: usize) -> bool {
    let body_len = if payload == 0 { 0 } else { payload as u32 + 4 };
    message[1] == kind && message[4..8] == body_len.to_ne_bytes()
}

/// Returns a figure of the only sample of a subject with this payload.
fn figure(records: &[BenchRecord], subject: &str, payload: usize, metric: Metric) -> f64 {
    let size = CaseSetting::Number(payload as i64);
    let sample = records.iter().find_map(|record| match record {
        BenchRecord::Sample(sample) if sample.subject == subject => {
            (sample.case.at["size"] == size).then_some(sample)
        }
        _ => None,
    });
    sample.unwrap_or_else(|| panic!("{subject} has no {payload}: {records:#?}")).figures[&metric]
}

fn wait_for(is_done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_done() {
        assert!(Instant::now() < deadline, "it did not come");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A child process that is killed on drop.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `diligence bench` until it exits.
fn bench(words: &[&str]) -> Output {
    command(words).output().expect("the program can be started")
}

/// Returns a command for `diligence bench`. All tests share the cache of built library clients.
fn command(words: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("bench").args(words).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null());
    command
}

fn records(output: &Output) -> Vec<BenchRecord> {
    let read = result::read(&output.stdout[..]);
    read.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

fn scenario_of_sample(record: &BenchRecord) -> Option<&str> {
    match record {
        BenchRecord::Sample(sample) => Some(&sample.scenario),
        _ => None,
    }
}

fn failures(records: &[BenchRecord]) -> impl Iterator<Item = (&str, &str)> {
    records.iter().filter_map(|record| match record {
        BenchRecord::Failure(failure) => Some((failure.scenario.as_str(), failure.reason.as_str())),
        _ => None,
    })
}

fn absent(records: &[BenchRecord]) -> Vec<&str> {
    let absences = records.iter().filter_map(|record| match record {
        BenchRecord::Absence(absence) => Some(absence.subject.as_str()),
        _ => None,
    });
    absences.collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A process whose output is read while it runs. It is killed on drop.
struct RunningBench {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    /// The output that was read so far.
    read: Vec<u8>,
}

impl RunningBench {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program exists");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, stdout, read: Vec::new() }
    }

    /// Reads the next line of output.
    fn line(&mut self) -> String {
        let start = self.read.len();
        self.stdout.read_until(b'\n', &mut self.read).expect("a readable pipe");
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
        kill_process(Pid::from_child(&self.child), signal).expect("a child process");
    }

    /// Reads the remaining output, and waits until the process exits.
    fn output(mut self) -> Output {
        while !self.line().is_empty() {}
        let mut stderr = Vec::new();
        let mut errors = self.child.stderr.take().expect("a pipe");
        std::io::Read::read_to_end(&mut errors, &mut stderr).expect("a readable pipe");
        let status = self.child.wait().expect("a child process");
        Output { status, stdout: std::mem::take(&mut self.read), stderr }
    }
}

impl Drop for RunningBench {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A temporary directory that is removed on drop.
struct BenchFolder(TempDir);

impl BenchFolder {
    fn new() -> Self {
        Self(TempDir::new().expect("the temporary folder is writable"))
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_diligence");

/// Message types of the D-Bus specification.
const CALL: u8 = 1;
const RETURN: u8 = 2;
