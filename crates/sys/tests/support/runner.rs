//! A minimal test harness that runs all tests in the main thread.

use std::env;
use std::io::{self, Write as _};

/// A test and its name.
pub(crate) type RunnerTest = (&'static str, fn());

/// The name of a test that cannot run here, and the reason.
pub(crate) type IgnoredTest = (&'static str, &'static str);

/// Runs the `tests` whose names contain one of the words of the command line, or all. Reports those
/// in `ignored` without running them.
pub(crate) fn run(tests: &[RunnerTest], ignored: &[IgnoredTest]) {
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    for (name, test) in tests.iter().filter(|(name, _)| is_wanted(name)) {
        if let Some((_, reason)) = ignored.iter().find(|(other, _)| other == name) {
            println!("test {name} ... ignored, {reason}");
            continue;
        }
        print!("test {name} ... ");
        // Otherwise a forked child would print its copy of the buffer, too.
        io::stdout().flush().expect("standard output is open");
        test();
        println!("ok");
    }
}
