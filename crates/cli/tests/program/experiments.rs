//! Runs each command of docs/experiments.md, which must print what the page shows, with other
//! figures.
//!
//! With `DILIGENCE_BLESS=1`, the commands run in full, and their output is written into the page.
//! Do that on an idle machine, with a release build in `DILIGENCE_PROGRAM`.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::support::{ProgramFolder, text};

/// A command of the page and the output that the page shows.
#[derive(Debug)]
struct Experiment<'p> {
    script: &'p str,
    shown: &'p str,
}

/// Returns the experiments of the page, in order.
fn experiments(page: &str) -> Vec<Experiment<'_>> {
    let blocks = page.split("```sh\n").skip(1);
    let experiments = blocks.map(|block| {
        let (script, rest) = block.split_once("```\n").expect("the end of the command block");
        let rest =
            rest.strip_prefix("\n```text\n").unwrap_or_else(|| panic!("no output: {script}"));
        let (shown, _) = rest.split_once("```\n").expect("the end of the output block");
        Experiment { script, shown }
    });
    experiments.collect()
}

/// Runs a script, and returns its standard output.
fn run(folder: &ProgramFolder, script: &str) -> String {
    let path = env::var("PATH").expect("PATH is set");
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(folder.join(""));
    command.env("PATH", format!("{}:{path}", folder.join("bin").display()));
    let output = command.output().expect("sh is installed");
    assert!(output.status.success(), "{script}{}", text(&output.stderr));
    text(&output.stdout)
}

/// Adds `--quick` to the benchmarks of a script.
fn shortened(script: &str) -> String {
    let shorten = |line: &str| match line.starts_with("diligence bench ") {
        true => format!("{line} --quick\n"),
        false => format!("{line}\n"),
    };
    script.lines().map(shorten).collect()
}

/// Returns the names of rows and columns of all tables: of a row the part before its first figure,
/// and a heading as a whole. Lines without columns are sentences and titles.
fn labels(output: &str) -> BTreeSet<String> {
    let label = |line: &str| {
        let line = line.trim();
        let (first, _) = line.split_once("  ")?;
        let is_heading = !line.contains(|it: char| it.is_ascii_digit());
        let label = if is_heading { line } else { first };
        let end = label.find(|it: char| it.is_ascii_digit() || it == '*').unwrap_or(label.len());
        Some(label[..end].split_whitespace().collect::<Vec<_>>().join(" "))
    };
    output.lines().filter_map(label).collect()
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiments.md")
}

#[test]
fn experiments_print_the_rows_and_columns_of_the_page() {
    let folder = ProgramFolder::new();
    fs::create_dir(folder.join("bin")).expect("a writable folder");
    let program = env::var_os("DILIGENCE_PROGRAM").map(PathBuf::from);
    let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_diligence").into());
    symlink(program, folder.join("bin/diligence")).expect("a link");
    let old = fs::read_to_string(page()).expect("the page exists");
    let mut new = old.clone();
    let is_blessed = env::var_os("DILIGENCE_BLESS").is_some_and(|value| value == "1");
    let experiments = experiments(&old);
    assert!(experiments.len() >= 10, "{experiments:?}");
    for Experiment { script, shown } in experiments {
        if is_blessed {
            let printed = run(&folder, script);
            let block = |output: &str| format!("```sh\n{script}```\n\n```text\n{output}```\n");
            new = new.replacen(&block(shown), &block(&printed), 1);
            continue;
        }
        let printed = run(&folder, &shortened(script));
        let (shown, found) = (labels(shown), labels(&printed));
        let missing: Vec<_> = shown.difference(&found).collect();
        assert!(missing.is_empty(), "{script}{missing:?} are missing in\n{printed}");
        assert!(shown.len() > 1, "the page shows nothing for {script}");
    }
    if is_blessed {
        fs::write(page(), new).expect("the page can be written");
    }
}
