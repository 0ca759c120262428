//! A minimal test harness that runs all tests in the main thread.

use std::env;

/// A test and its name.
pub(crate) type RunnerTest = (&'static str, fn());

/// Runs the `tests` whose names contain one of the words of the command line, or all.
pub(crate) fn run(tests: &[RunnerTest]) {
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    for (name, test) in tests.iter().filter(|(name, _)| is_wanted(name)) {
        println!("test {name} ...");
        test();
    }
}
