//! Runs the program of each installed library as caller, service, emitter and listener.

use std::io::{self, BufRead, BufReader, PipeWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use bench::library::ours::FrontEnd;
use bench::library::{
    BuiltLibrary, Cache, CallReport, EmitReport, Library, LibraryRunError, ListenReport,
    MissingLibrary, ProgramMode, RunningProgram, ours,
};
use clap::ValueEnum as _;

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn installed_libraries_do_their_part() {
    let bus = TestDbusDaemon::start();
    let cache = cache();
    let found = Library::value_variants().iter().copied().filter_map(|library| {
        match library.find(&cache) {
            Ok(found) if found.is_built(&cache) || library != Library::Zbus => Some(found),
            Ok(_) => None,
            Err(missing) => {
                eprintln!("{library}: {missing}");
                None
            }
        }
    });
    // The program of our library is the measuring program, which this test program is not.
    let is_ours = |library| matches!(library, Library::Diligence | Library::DiligenceAsync);
    let found = found.filter(|found| !is_ours(found.library));
    let ready: Vec<_> = found.map(|found| found.prepare(&cache).expect("it is there")).collect();
    assert!(!ready.is_empty(), "none of the packages is there that the notes above name");
    for library in &ready {
        check_calls(&bus, library);
        check_signals(&bus, library);
    }
}

#[test]
#[ignore = "it fetches and compiles 60 crates, which takes minutes"]
fn zbus_does_its_part() {
    let (bus, cache) = (TestDbusDaemon::start(), cache());
    let library = Library::Zbus.find(&cache).and_then(|found| found.prepare(&cache));
    let library = library.unwrap_or_else(|missing| panic!("{missing}"));
    check_calls(&bus, &library);
    check_signals(&bus, &library);
}

#[test]
fn both_front_ends_of_our_library_complete_each_workload() {
    for front_end in [FrontEnd::Blocking, FrontEnd::Asynchronous] {
        check_our_library(front_end);
    }
}

fn check_our_library(front_end: FrontEnd) {
    let bus = TestDbusDaemon::start();
    let mut service = Ours::start(front_end, bus.serve());
    let mut caller = Ours::start(front_end, bus.call(service.line(), 100, 1000));
    assert_eq!(caller.line(), "ready");
    for _ in 0..2 {
        caller.begin();
        let report: CallReport = serde_json::from_str(&caller.line()).expect("a report");
        assert_eq!(report.calls, 100);
        assert!(report.p50_ns > 0 && report.p50_ns <= report.p99_ns);
    }

    let mut emitter = Ours::start(front_end, bus.emit(500, 10_000));
    let mut listener = Ours::start(front_end, bus.listen(emitter.line(), 500));
    assert_eq!(listener.line(), "ready");
    emitter.begin();
    let emitted: EmitReport = serde_json::from_str(&emitter.line()).expect("a report");
    let listened: ListenReport = serde_json::from_str(&listener.line()).expect("a report");
    check_reports(&emitted, &listened, 500, 10_000);
}

#[test]
fn ours_is_this_program() {
    let found = Library::Diligence.find(&cache()).expect("it is always there");
    assert!(found.is_built(&cache()));
    let ready = found.prepare(&cache()).expect("there is nothing to build");
    let command = ready.command(&ProgramMode::Serve { address: "unix:path=/a".into() });
    assert_eq!(command.get_program(), std::env::current_exe().expect("a path"));
    assert!(command.get_args().eq([ours::COMMAND, "blocking", "serve", "unix:path=/a"]));
}

#[test]
fn programs_in_c_have_no_warnings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
    for (source, package) in [("libdbus", "dbus-1"), ("sd-bus", "libsystemd"), ("gdbus", "gio-2.0")]
    {
        let flags = Command::new("pkg-config").args(["--cflags", package]).output();
        let flags = flags.ok().filter(|flags| flags.status.success());
        let Some(flags) = flags else { continue };
        let flags = String::from_utf8(flags.stdout).expect("flags");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
        compiler.args(flags.split_whitespace()).arg(folder.join(format!("{source}.c")));
        let output = compiler.output().expect("cc");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn missing_libraries_are_named() {
    let name = |missing: MissingLibrary| missing.to_string();
    let headers = MissingLibrary::Headers { package: "dbus-1", debian: "libdbus-1-dev" };
    let expected = "pkg-config does not find dbus-1; install its headers, on Debian with: \
                    apt install libdbus-1-dev";
    assert_eq!(name(headers), expected);

    let nowhere = Cache::at("/nonexistent/cache".into());
    if let Err(missing) = Library::DbusFast.find(&nowhere) {
        let expected = "no Python interpreter has dbus-fast; install it with: python3 -m venv \
                        /nonexistent/cache/venv && /nonexistent/cache/venv/bin/pip install \
                        dbus-fast==5.2.0";
        assert_eq!(name(missing), expected);
    }
}

fn check_calls(bus: &TestDbusDaemon, library: &BuiltLibrary) {
    let name = library.library;
    let service = RunningProgram::start(library.command(&bus.serve()));
    let service = service.unwrap_or_else(|error| panic!("{name} serves: {error}"));
    for length in [0, 11, 100_000] {
        let call = bus.call(service.name().into(), 20, length);
        let reports = RunningProgram::start(library.command(&call)).and_then(|mut caller| {
            let mut turn = || {
                caller.begin();
                caller.report::<CallReport>(LIMIT)
            };
            Ok([turn()?, turn()?])
        });
        let reports = reports.unwrap_or_else(|error| panic!("{name} calls: {error}"));
        for report in reports {
            assert_eq!(report.calls, 20, "{name}");
            assert!(report.p50_ns > 0 && report.p50_ns <= report.p99_ns, "{name}: {report:?}");
            assert!(report.p99_ns <= report.elapsed_ns, "{name}: {report:?}");
        }
    }
    check_failure(bus, library);
}

fn check_failure(bus: &TestDbusDaemon, library: &BuiltLibrary) {
    let name = library.library;
    let call_to_missing = bus.call("org.diligence.Nobody".into(), 1, 1);
    match RunningProgram::start(library.command(&call_to_missing)) {
        Err(LibraryRunError::Ended { status: Some(status), output }) => {
            assert_eq!(status.code(), Some(1), "{name}");
            assert!(output.contains("org.diligence.Nobody"), "{name}: {output}");
        }
        other => panic!("{name} calls a missing service: {other:?}"),
    }
}

fn check_signals(bus: &TestDbusDaemon, library: &BuiltLibrary) {
    let name = library.library;
    for (count, size) in [(1, 0), (1000, 100), (20, 300_000)] {
        let emitter = RunningProgram::start(library.command(&bus.emit(count, size)));
        let mut emitter = emitter.unwrap_or_else(|error| panic!("{name} emits: {error}"));
        let listen = bus.listen(emitter.name().into(), count);
        let listener = RunningProgram::start(library.command(&listen));
        let mut listener = listener.unwrap_or_else(|error| panic!("{name} listens: {error}"));
        emitter.begin();
        let emitted = emitter.report(LIMIT);
        let emitted = emitted.unwrap_or_else(|error| panic!("{name} emits: {error}"));
        let listened = listener.report(LIMIT);
        let listened = listened.unwrap_or_else(|error| panic!("{name} listens: {error}"));
        check_reports(&emitted, &listened, count, size);
    }
}

fn check_reports(emitted: &EmitReport, listened: &ListenReport, count: u64, size: usize) {
    assert_eq!((emitted.sent, emitted.timeouts), (count, 0));
    assert_eq!((listened.received, listened.bytes), (count, count * size as u64));
    assert!(
        listened.delay_mean_ns > 0 && listened.delay_p99_ns <= listened.elapsed_ns,
        "{listened:?}"
    );
}

/// A dbus-daemon that ends with the test.
struct TestDbusDaemon {
    daemon: Child,
    address: String,
}

impl TestDbusDaemon {
    fn start() -> Self {
        let mut command = Command::new("dbus-daemon");
        command.args(["--session", "--nofork", "--nopidfile", "--print-address"]);
        let mut daemon = command
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("dbus-daemon, a Debian package: {error}"));
        let mut address = String::new();
        let output = daemon.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut address).expect("an address");
        Self { daemon, address: address.trim_end().into() }
    }

    fn serve(&self) -> ProgramMode {
        ProgramMode::Serve { address: self.address.clone() }
    }

    fn call(&self, destination: String, count: u64, length: usize) -> ProgramMode {
        ProgramMode::Call { address: self.address.clone(), destination, count, length }
    }

    fn emit(&self, count: u64, size: usize) -> ProgramMode {
        ProgramMode::Emit { address: self.address.clone(), count, size }
    }

    fn listen(&self, sender: String, count: u64) -> ProgramMode {
        ProgramMode::Listen { address: self.address.clone(), sender, count }
    }
}

impl Drop for TestDbusDaemon {
    fn drop(&mut self) {
        self.daemon.kill().expect("it runs");
        self.daemon.wait().expect("it was started here");
    }
}

/// The program of our library, in a thread.
struct Ours {
    input: PipeWriter,
    output: BufReader<io::PipeReader>,
}

impl Ours {
    fn start(front_end: FrontEnd, mode: ProgramMode) -> Self {
        let (to_program, input) = io::pipe().expect("a pipe");
        let (output, from_program) = io::pipe().expect("a pipe");
        let streams = ours::Streams { input: BufReader::new(to_program), output: from_program };
        thread::spawn(move || match ours::run(front_end, mode, streams) {
            // A service ends with the bus, at the end of the test.
            Ok(()) | Err(ours::ProgramError::Ended(_)) => {}
            Err(failure) => panic!("{failure}"),
        });
        Self { input, output: BufReader::new(output) }
    }

    fn begin(&mut self) {
        self.input.write_all(b"\n").expect("it reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it writes");
        line.trim_end().to_owned()
    }
}

/// The cache remains after the test, so that the next run is fast.
fn cache() -> Cache {
    Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries"))
}
