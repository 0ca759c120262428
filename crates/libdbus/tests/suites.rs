//! Test suites of other projects, whose programs run with this library.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use common::{folder, link_library, package, reference, succeed};

/// The folder of dbus-daemon's tests in Debian.
const DBUS_TESTS: &str = "/usr/lib/dbus-1.0/installed-tests/dbus";

/// The programs of dbus-daemon's tests that use only public functions of the library.
///
/// `test-header-fields`, `test-loopback`, `test-refs` and `test-variant` read the memory of
/// messages and connections. All other programs test code that is not in the library.
const DBUS_PROGRAMS: [&str; 14] = [
    "test-assertions",
    "test-containers",
    "test-corrupt",
    "test-dbus-daemon",
    "test-dbus-daemon-eavesdrop",
    "test-fdpass",
    "test-marshal",
    "test-message",
    "test-monitor",
    "test-printf",
    "test-relay",
    "test-sd-activation",
    "test-server-oom",
    "test-syntax",
];

/// The libraries that the tests of dbus-daemon need.
struct PreloadedLibraries {
    /// Our library, with all public functions.
    public: PathBuf,
    /// A copy of Debian's library under another name, for private functions.
    private: PathBuf,
    /// A library that initializes the copy.
    initializer: PathBuf,
}

/// The name of the copy, which is as long as the name of the original.
const COPY: &str = "libdbus-9.so.9";

impl PreloadedLibraries {
    fn create(folder: &Path) -> Self {
        link_library(folder);
        let mut content = fs::read(reference()).expect("libdbus is installed");
        let original = b"libdbus-1.so.3";
        let places: Vec<_> = content.windows(original.len()).enumerate().collect();
        let places: Vec<_> =
            places.iter().filter(|(_, name)| name == original).map(|(at, _)| *at).collect();
        for at in places {
            content[at..at + COPY.len()].copy_from_slice(COPY.as_bytes());
        }
        let private = folder.join(COPY);
        fs::write(&private, content).expect("the folder can be written");
        let initializer = folder.join("initializer.so");
        let source = package().join("tests/programs/private.c");
        let mut command = Command::new("cc");
        succeed(command.args(["-shared", "-fPIC", "-o"]).arg(&initializer).arg(source));
        Self { public: folder.join("libdbus-1.so.3"), private, initializer }
    }

    fn run(&self, name: &str) {
        let preloaded = [&self.public, &self.private, &self.initializer];
        let preloaded: Vec<_> = preloaded.iter().map(|path| path.display().to_string()).collect();
        let home = tempfile::tempdir().expect("the folder can be created");
        let mut command = Command::new("timeout");
        command.args(["--foreground", "300"]).arg("env");
        command.arg(format!("LD_PRELOAD={}", preloaded.join(":")));
        command.arg(format!("{DBUS_TESTS}/{name}")).arg("--tap");
        command
            .env("PUBLIC_LIBRARY", &self.public)
            .env("PRIVATE_LIBRARY", &self.private)
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", home.path())
            .env("DBUS_TEST_DAEMON", "/usr/bin/dbus-daemon")
            .env("DBUS_TEST_DBUS_SEND", "/usr/bin/dbus-send")
            .env("DBUS_TEST_DBUS_UUIDGEN", "/usr/bin/dbus-uuidgen")
            .env("DBUS_TEST_EXEC", DBUS_TESTS)
            .env("DBUS_TEST_DATA", format!("{DBUS_TESTS}/data"));
        assert_complete(name, &succeed(&mut command).stdout);
    }
}

/// Checks that a report in the format TAP has as many results as it announces, and no failure.
fn assert_complete(name: &str, report: &[u8]) {
    let report = String::from_utf8_lossy(report);
    let announced = report.lines().find_map(|line| line.strip_prefix("1..")?.parse().ok());
    let results = report.lines().filter(|line| line.starts_with("ok ")).count();
    assert_eq!(Some(results), announced, "{name}:\n{report}");
    assert!(!report.contains("\nnot ok "), "{name}:\n{report}");
}

#[test]
fn tests_of_dbus_daemon_pass() {
    let folder = folder();
    let libraries = PreloadedLibraries::create(folder.path());
    for half in DBUS_PROGRAMS.chunks(7) {
        thread::scope(|scope| {
            for name in half {
                scope.spawn(|| libraries.run(name));
            }
        });
    }
}

#[test]
fn tests_of_dbus_python_pass() {
    run_tests_of_dbus_python("dbus-run-session", "0");
}

#[test]
fn tests_of_dbus_python_pass_with_lanes() {
    let test = std::env::current_exe().expect("the path of this test");
    let bus = test.parent().expect("a folder").join("../diligence-bus");
    assert!(bus.exists(), "cargo build -p diligence-daemon makes {bus:?}");
    run_tests_of_dbus_python(&format!("dbus-run-session --dbus-daemon={}", bus.display()), "1");
}

/// Runs the tests on buses that this command starts.
fn run_tests_of_dbus_python(session: &str, lanes: &str) {
    let folder = folder();
    link_library(folder.path());
    let found = Path::new("/usr/share/installed-tests/dbus-python");
    let versions = fs::read_dir(found).expect("python3-dbus-tests is installed");
    let mut count = 0;
    for version in versions {
        for file in fs::read_dir(version.expect("an entry").path()).expect("a folder") {
            let file = file.expect("an entry").path();
            let description = fs::read_to_string(&file).expect("text");
            let line = description.lines().find_map(|line| line.strip_prefix("Exec="));
            let (starting, program) =
                line.and_then(|line| line.split_once(" -- env ")).expect("a command on a bus");
            let starting = starting.replace("dbus-run-session", session);
            let variables =
                format!("LD_LIBRARY_PATH={} DILIGENCE_LANES={lanes}", folder.path().display());
            let script = format!("{starting} -- env {variables} {program}");
            let mut command = Command::new("timeout");
            let output = succeed(command.args(["300", "sh", "-c"]).arg(script));
            assert_complete(&file.display().to_string(), &output.stdout);
            count += 1;
        }
    }
    assert!(count >= 8, "{count} programs");
}
