//! The main function of test programs whose tests have requirements. A test whose requirement is
//! missing is reported as ignored, with the reason; a test of the standard harness could only pass.

use std::cell::RefCell;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::thread;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::{ExternalProgram, Flavour, RunAs, ScratchFolder, text_of_panic};

/// Creates a [`TestCase`] from a function, with the path of the function as its name.
#[macro_export]
macro_rules! test_case {
    ($test:path) => {
        $crate::TestCase::new(stringify!($test), $test)
    };
}

/// A test and the reason for which it must be ignored, if any.
pub struct TestCase {
    name: &'static str,
    test: fn(),
    missing: Option<String>,
}

impl TestCase {
    /// Creates a test without requirements. See [`test_case!`](crate::test_case).
    #[must_use]
    pub const fn new(name: &'static str, test: fn()) -> Self {
        Self { name, test, missing: None }
    }

    /// Adds a requirement. If it is an error, the test is ignored, with the error as the reason.
    #[must_use]
    pub fn requires(mut self, requirement: Result<(), String>) -> Self {
        self.missing = self.missing.or(requirement.err());
        self
    }

    fn trial(self, prints_notes: bool) -> Trial {
        let Self { name, test, missing } = self;
        let trial = Trial::test(name, move || run(name, test, prints_notes));
        match missing {
            Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
            None => trial,
        }
    }
}

/// Runs tests according to the arguments of the program, like the standard harness.
pub fn run_tests(tests: impl IntoIterator<Item = TestCase>) -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = tests.into_iter().map(|test| test.trial(arguments.nocapture)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs a test in a thread of its own: child processes that end with the thread end with the test,
/// and a panic names the test.
fn run(name: &str, test: fn(), prints_notes: bool) -> Result<(), Failed> {
    let body = move || {
        NOTES.set((!prints_notes).then(Vec::new));
        let outcome = catch_unwind(test);
        outcome.map_err(|panic| (text_of_panic(&*panic), NOTES.take().unwrap_or_default()))
    };
    let thread = thread::Builder::new().name(name.to_owned()).spawn(body)?;
    let outcome = thread.join().map_err(|panic| text_of_panic(&*panic))?;
    outcome.map_err(|(panic, notes)| format!("{}{panic}", notes.concat()).into())
}

thread_local! {
    /// The notes of the test that runs in this thread; `None` if they are printed immediately.
    static NOTES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Prints a line if the test fails or the option `--nocapture` is present. Only for the thread of
/// the test itself.
pub fn note(line: &str) {
    NOTES.with_borrow_mut(|notes| match notes {
        Some(notes) => notes.push(format!("{line}\n")),
        None => println!("{line}"),
    });
}

/// The requirement that the tests run as root, because they act as several users.
///
/// # Errors
///
/// Fails if another user runs the tests.
pub fn root() -> Result<(), String> {
    RunAs::is_root().then_some(()).ok_or_else(|| "needs root".to_owned())
}

/// The requirement that the bus under test is Diligence.
///
/// # Errors
///
/// Fails if it is dbus-daemon.
pub fn diligence() -> Result<(), String> {
    let is_diligence = Flavour::under_test() == Flavour::Diligence;
    is_diligence.then_some(()).ok_or_else(|| "only for Diligence".to_owned())
}

/// The requirement that this process can create a mount namespace and mount a folder in it.
///
/// # Errors
///
/// Fails if the kernel does not allow it.
pub fn mounts() -> Result<(), String> {
    static ALLOWED: OnceLock<bool> = OnceLock::new();
    let is_allowed = *ALLOWED.get_or_init(|| {
        let folder = ScratchFolder::new();
        let mount = ["--mount", "mount", "-t", "tmpfs", "tmpfs"];
        let unshare = ExternalProgram::named("unshare", "util-linux").args(mount);
        unshare.arg(folder.path()).run().succeeded()
    });
    is_allowed.then_some(()).ok_or_else(|| "needs a mount namespace".to_owned())
}
