//! What the usual test harness does, in the main thread alone.

use std::env;

/// A test and its name.
pub(crate) type RunnerTest = (&'static str, fn());

/// Runs those of `tests` whose names contain one of the words of the command line, or all.
pub(crate) fn run(tests: &[RunnerTest]) {
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    for (name, test) in tests.iter().filter(|(name, _)| is_wanted(name)) {
        println!("test {name} ...");
        test();
    }
}
