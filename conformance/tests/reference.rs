//! The test programs of dbus-daemon, from Debian's package dbus-tests, with the bus under test.
//!
//! Debian builds them twice: as users get them, and with all assertions. Both builds run. They
//! start the bus that `DBUS_TEST_DAEMON` names; `DBUS_TEST_DATA` has the configuration files,
//! without which most cases are skipped, and `DBUS_TEST_EXEC` has the service for activation.
//!
//! `expected-failures.txt` lists each case that does not pass, with the reason; no other case may
//! fail.

use std::collections::{BTreeSet, VecDeque};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use conformance::tap::{Expectations, Listed, TapOutcome, TapPrivilege, TapReport, TapRun};
use conformance::{
    BusUnderTest, ExternalProgram, Flavour, RunAs, ScratchFolder, TestConfig, announce,
    bus_program_as, copy_bus, fail_with, installed, require,
};

/// Runs the programs as root, which has more privileges, and as an ordinary user, who has more
/// limits.
#[test]
fn test_programs_of_dbus_daemon_give_the_listed_results() {
    require_open_tmp();
    let queue = Mutex::new(jobs());
    let verdict = Mutex::new(SuiteVerdict::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(SuiteJob { program, build, caller }) = next(&queue) {
                    let started = Instant::now();
                    let cases = program.run(build, caller);
                    let mut verdict = verdict.lock().expect("no panic under the lock");
                    verdict.judge(build, program.name, &cases, started.elapsed(), caller);
                }
            });
        }
    });
    verdict.into_inner().expect("no panic under the lock").finish();
}

/// Needs a session bus in the runtime folder of a login. Its second case needs systemd as the
/// service manager of that session.
#[test]
fn transient_services() {
    require_open_tmp();
    let mut verdict = SuiteVerdict::new();
    for &caller in SuiteCaller::all() {
        for build in &BUILDS {
            let started = Instant::now();
            let cases = run_transient_services(build, caller);
            verdict.judge(build, "transient-services.sh", &cases, started.elapsed(), caller);
        }
    }
    verdict.complain();
}

fn run_transient_services(build: &Build, caller: SuiteCaller) -> Vec<(String, TapOutcome)> {
    let home = ScratchFolder::new();
    let runtime = caller.folder(&home, "run");
    let config =
        TestConfig::session().listen("unix:runtime=yes").element("<standard_session_servicedirs/>");
    let bus = BusUnderTest::start_with(&config, |bus| {
        let bus = caller.user().map_or(bus, bus_program_as);
        bus.env("XDG_RUNTIME_DIR", &runtime)
    });
    let script = require_test(build, "integration/transient-services.sh");
    let ran = caller
        .acting(ExternalProgram::at(script))
        .env("XDG_RUNTIME_DIR", &runtime)
        .env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}/bus", runtime.display()))
        .limit(LIMIT)
        .run();
    bus.stop();
    let cases = TapReport::parse(&ran.stdout).cases;
    assert_eq!(cases.len(), 2, "{ran}");
    cases
}

/// One run of a program.
struct SuiteJob {
    program: &'static TestProgram,
    build: &'static Build,
    caller: SuiteCaller,
}

/// All jobs, the longest first.
fn jobs() -> VecDeque<SuiteJob> {
    let of_program = |program: &'static TestProgram| {
        let builds = BUILDS.iter().filter(|build| program.is_in(build));
        builds.flat_map(move |build| {
            SuiteCaller::all().iter().map(move |&caller| SuiteJob { program, build, caller })
        })
    };
    PROGRAMS.iter().flat_map(of_program).collect()
}

/// One of the two builds in Debian's package.
struct Build {
    name: &'static str,
    folder: &'static str,
}

const BUILDS: [Build; 2] = [
    Build { name: "plain", folder: "/usr/lib/dbus-1.0/installed-tests/dbus" },
    Build {
        name: "debug-build",
        folder: "/usr/lib/dbus-1.0/debug-build/libexec/installed-tests/dbus",
    },
];

/// The framework that reports the cases of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SuiteStyle {
    /// GLib's test framework: cases can be listed and skipped.
    GLib,
    /// A shell script that runs once.
    Script,
    /// A shell script that only the debug build has, because only its dbus-launch has an option for
    /// the bus to start.
    DebugScript,
}

struct TestProgram {
    name: &'static str,
    style: SuiteStyle,
}

const fn glib(name: &'static str) -> TestProgram {
    TestProgram { name, style: SuiteStyle::GLib }
}

const DAEMON: TestProgram = glib("test-dbus-daemon");

/// The longest first, so that parallel runs end together.
const PROGRAMS: [TestProgram; 10] = [
    DAEMON,
    glib("test-header-fields"),
    glib("test-monitor"),
    glib("test-sd-activation"),
    glib("test-containers"),
    glib("test-dbus-daemon-eavesdrop"),
    glib("test-uid-permissions"),
    TestProgram { name: "test-dbus-daemon-fork.sh", style: SuiteStyle::Script },
    TestProgram { name: "test-apparmor-activation.sh", style: SuiteStyle::Script },
    TestProgram { name: "test-dbus-launch-eval.sh", style: SuiteStyle::DebugScript },
];

/// The user of a test program and of the bus that it starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SuiteCaller {
    /// The user of these tests.
    Ourselves,
    /// An ordinary user, if root runs these tests.
    Nobody,
}

impl SuiteCaller {
    fn all() -> &'static [Self] {
        if RunAs::is_root() { &[Self::Ourselves, Self::Nobody] } else { &[Self::Ourselves] }
    }

    fn user(self) -> Option<RunAs> {
        (self == Self::Nobody).then_some(RunAs::NOBODY)
    }

    fn privilege(self) -> TapPrivilege {
        if self == Self::Nobody { TapPrivilege::Ordinary } else { TapPrivilege::ours() }
    }

    fn acting(self, program: ExternalProgram) -> ExternalProgram {
        match self.user() {
            Some(user) => program.user(user),
            None => program,
        }
    }

    /// Creates a folder that only this user can access.
    fn folder(self, scratch: &ScratchFolder, name: &str) -> PathBuf {
        let path = scratch.folder(name, 0o700);
        if let Some(RunAs { uid, gid }) = self.user() {
            chown(&path, Some(uid), Some(gid)).expect("root may");
        }
        path
    }
}

impl TestProgram {
    fn is_in(&self, build: &Build) -> bool {
        self.style != SuiteStyle::DebugScript || build.name == "debug-build"
    }

    fn run(&self, build: &Build, caller: SuiteCaller) -> Vec<(String, TapOutcome)> {
        match self.style {
            SuiteStyle::GLib => self.run_glib(build, caller),
            SuiteStyle::Script | SuiteStyle::DebugScript => self.run_script(build, caller),
        }
    }

    fn run_script(&self, build: &Build, caller: SuiteCaller) -> Vec<(String, TapOutcome)> {
        let scratch = ScratchFolder::new();
        let program = self.program(build, caller, &scratch);
        let Some(ran) = program.arg("--tap").start().finish_with_group() else {
            return vec![("whole".to_owned(), hung())];
        };
        let report = TapReport::parse(&ran.stdout);
        if let Some(reason) = report.skipped_whole {
            return vec![("whole".to_owned(), TapOutcome::Skipped(reason))];
        }
        let mut cases = report.cases;
        if !ran.succeeded() {
            let what = format!("status {}: {}", ran.code(), last_line(&ran.stderr));
            cases.push(("whole".to_owned(), TapOutcome::Failed(what)));
        }
        cases
    }

    /// Runs all cases. A program ends at its first failure, so it runs again without the cases that
    /// have an outcome, until each has one. Cases that Diligence does not pass yet run separately,
    /// because most of them wait forever for a bus that does not start.
    fn run_glib(&self, build: &Build, caller: SuiteCaller) -> Vec<(String, TapOutcome)> {
        let scratch = ScratchFolder::new();
        let listed = self.list(build, caller);
        let not_yet = listed.iter().filter(|case| self.is_not_yet(build, case));
        let mut outcomes: Vec<_> =
            not_yet.map(|case| (case.clone(), self.run_not_yet(build, caller, case))).collect();
        while outcomes.len() < listed.len() {
            let mut program = self.program(build, caller, &scratch).arg("--tap");
            for (name, _) in &outcomes {
                program = program.arg("-s").arg(name);
            }
            let (report, ending) = observe(program);
            let fresh = |name: &str| !outcomes.iter().any(|(done, _)| done == name);
            let mut reported = report.cases;
            reported.retain(|(name, _)| fresh(name) && listed.contains(name));
            outcomes.extend(reported);
            let unfinished = listed.iter().find(|name| !outcomes.iter().any(|(n, _)| n == *name));
            if let Some(name) = unfinished {
                outcomes.push((name.clone(), ending));
            }
        }
        outcomes
    }

    fn is_not_yet(&self, build: &Build, case: &str) -> bool {
        let name = format!("{}/{}", self.name, case.trim_start_matches('/'));
        let way = Expectations::committed().way(build.name, &name);
        Flavour::under_test() == Flavour::Diligence && way == Some(Listed::NotYet)
    }

    fn run_not_yet(&self, build: &Build, caller: SuiteCaller, case: &str) -> TapOutcome {
        let program =
            self.program(build, caller, &ScratchFolder::new()).arg("--tap").arg("-p").arg(case);
        let (report, ending) = observe(program.limit(NOT_YET_LIMIT));
        let found = report.cases.into_iter().find(|(name, _)| name == case);
        found.map_or(ending, |(_, outcome)| outcome)
    }

    /// The cases of a program, in the order in which it runs them.
    fn list(&self, build: &Build, caller: SuiteCaller) -> Vec<String> {
        let listing = self.program(build, caller, &ScratchFolder::new()).arg("-l").run().success();
        let all = listing.stdout.lines().filter(|line| line.starts_with('/'));
        all.map(str::to_owned).collect()
    }

    fn program(
        &self,
        build: &Build,
        caller: SuiteCaller,
        scratch: &ScratchFolder,
    ) -> ExternalProgram {
        let folder = build.folder;
        let bus = scratch.join("dbus-daemon");
        if !bus.exists() {
            let _ = copy_bus(scratch);
        }
        caller
            .acting(ExternalProgram::at(require_test(build, self.name)))
            .env("DBUS_TEST_DAEMON", &bus)
            .env("DBUS_TEST_EXEC", folder)
            .env("DBUS_TEST_DATA", format!("{folder}/data"))
            .env("DBUS_TEST_DBUS_SEND", installed("dbus-send", "dbus-bin"))
            .env("DBUS_TEST_DBUS_UUIDGEN", installed("dbus-uuidgen", "dbus-bin"))
            .env("DBUS_TEST_DBUS_LAUNCH", "/usr/lib/dbus-1.0/debug-build/bin/dbus-launch")
            .env("HOME", caller.folder(scratch, "home"))
            .env("XDG_RUNTIME_DIR", caller.folder(scratch, "run"))
            .limit(LIMIT)
    }
}

/// Runs a program until its end or its time limit; returns its report, and the outcome of the case
/// without a result.
fn observe(program: ExternalProgram) -> (TapReport, TapOutcome) {
    let Some(ran) = program.start().finish_with_group() else {
        return (TapReport::default(), hung());
    };
    let report = TapReport::parse(&ran.stdout);
    let what = report.bailed_out.clone();
    let what = what.unwrap_or_else(|| format!("{}: {}", ran.status, last_line(&ran.stderr)));
    (report, TapOutcome::Failed(what))
}

fn hung() -> TapOutcome {
    TapOutcome::Failed(format!("still running after {LIMIT:?}"))
}

/// Collects the outcomes of all programs and compares them with the list.
struct SuiteVerdict {
    expected: Expectations,
    seen: BTreeSet<String>,
    complaints: Vec<String>,
}

impl SuiteVerdict {
    fn new() -> Self {
        let expected = Expectations::committed();
        Self { expected, seen: BTreeSet::new(), complaints: Vec::new() }
    }

    /// Judges one run of a program, and prints a summary of it.
    fn judge(
        &mut self,
        build: &Build,
        program: &str,
        cases: &[(String, TapOutcome)],
        took: Duration,
        caller: SuiteCaller,
    ) {
        let run = TapRun { bus: Flavour::under_test(), user: caller.privilege() };
        let build = build.name;
        let [mut passed, mut skipped, mut failed] = [0; 3];
        for (name, outcome) in cases {
            let case = format!("{program}/{}", name.trim_start_matches('/'));
            match outcome {
                TapOutcome::Passed => passed += 1,
                TapOutcome::Skipped(reason) => {
                    skipped += 1;
                    // Cases that cannot run on any machine are not printed each time.
                    if self.expected.way(build, &case) != Some(Listed::Skip) {
                        announce(&format!("skipped: {build}:{case}: {reason}"));
                    }
                }
                TapOutcome::Failed(_) => failed += 1,
            }
            self.complaints.extend(self.expected.complaint(build, &case, outcome, run));
            self.seen.insert(format!("{build}:{case}"));
        }
        let seconds = took.as_secs_f32();
        let user = if caller == SuiteCaller::Nobody { " as nobody" } else { "" };
        announce(&format!(
            "{build}:{program}{user}: {passed} passed, {skipped} skipped, {failed} failed ({seconds:.1} s)"
        ));
    }

    /// Fails if an outcome differs from the list.
    fn complain(&self) {
        fail_with("cases", &self.complaints);
    }

    /// Fails also if the list contains a case that no program has.
    fn finish(mut self) {
        for build in &BUILDS {
            for case in TRANSIENT_CASES {
                self.seen.insert(format!("{}:transient-services.sh/{case}", build.name));
            }
        }
        self.complaints.extend(self.expected.unknown(&self.seen));
        self.complain();
    }
}

/// Cases that have a separate test, so the list may contain them.
///
/// The first one has another name if it fails.
const TRANSIENT_CASES: [&str; 3] =
    ["attempted to run transient service directly", "no sign of having run transient service", "2"];

fn next(queue: &Mutex<VecDeque<SuiteJob>>) -> Option<SuiteJob> {
    queue.lock().expect("no panic under the lock").pop_front()
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or_default()
}

fn require_test(build: &Build, name: &str) -> PathBuf {
    let path = Path::new(build.folder).join(name);
    require(path.to_str().expect("a path of Debian's"), "dbus-tests");
    path
}

/// Fails unless all users can create files in `/tmp`. The programs listen there, also as an
/// ordinary user, and would wait 60 s for each bus that cannot.
fn require_open_tmp() {
    let mode = std::fs::metadata("/tmp").expect("every system has it").permissions().mode();
    assert!(mode & 0o002 != 0, "ordinary users cannot write to /tmp: run chmod 1777 /tmp as root");
}

/// The number of programs that run in parallel.
const AT_ONCE: usize = 4;

/// The time limit for one run of a program; the longest needs 8 s on an idle machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The time limit for a case that Diligence does not pass yet. With dbus-daemon these cases need
/// less.
const NOT_YET_LIMIT: Duration = Duration::from_secs(2);
