//! The hook `scripts/hooks/commit-msg`, which CONTRIBUTING.md tells contributors to enable.

use std::process::{Command, Output};
use std::{env, fs, process};

use testkit::source_tree::root;

#[test]
fn commit_hook_accepts_subjects_of_up_to_72_characters() {
    for message in [
        "bus: Count dropped signals".to_owned(),
        "x".repeat(72),
        "é".repeat(72),
        format!("Subject\n\nA body.\n# {}", "comment ".repeat(20)),
        format!("Merge branch {}", "x".repeat(72)),
        format!("amend! {}", "x".repeat(72)),
    ] {
        let output = run_hook(&message);
        assert!(output.status.success(), "{message:?}: {output:?}");
    }
}

#[test]
fn commit_hook_rejects_long_subjects_and_bodies_without_an_empty_line() {
    for (message, expected) in [
        ("x".repeat(73), "has 73 characters; at most 72 are allowed"),
        ("é".repeat(73), "has 73 characters"),
        (format!("# a comment\n\n{}", "x".repeat(80)), "has 80 characters"),
        ("Subject\nbody".to_owned(), "An empty line must separate"),
    ] {
        let output = run_hook(&message);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{message:?} was accepted");
        assert!(stderr.contains(expected), "{message:?}: {stderr}");
    }
}

/// Runs the hook on a file with this message, as git does.
fn run_hook(message: &str) -> Output {
    let unique = format!("commit-message-{}-{:?}", process::id(), std::thread::current().id());
    let file = env::temp_dir().join(unique);
    fs::write(&file, message).expect("a file for the message");
    let output = Command::new(root().join("scripts/hooks/commit-msg")).arg(&file).output();
    fs::remove_file(&file).expect("the file exists");
    output.expect("the hook runs")
}
