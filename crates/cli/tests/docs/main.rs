//! The commands in the documentation do what it shows.
//!
//! Every block marked `console` in README.md, CONTRIBUTING.md and docs/*.md is one test case with the name
//! `FILE:LINE`. CONTRIBUTING.md describes how to write such blocks. To run one of them:
//!
//! ```text
//! cargo test -p diligence-cli --test docs -- README.md:32
//! ```

mod blocks;
mod comparison;
mod fixtures;
mod session;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::blocks::{Check, ConsoleBlock};

/// The folder of the whole project.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let blocks: Vec<ConsoleBlock> = pages().iter().flat_map(|page| blocks_of(page)).collect();
    if !arguments.list {
        println!("{}", summary(&blocks));
    }
    let mut trials: Vec<Trial> = blocks.into_iter().map(trial).collect();
    trials.push(Trial::test("comparison", || comparison::check().map_err(Failed::from)));
    trials.push(Trial::test("parser", || blocks::check().map_err(Failed::from)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The pages whose blocks are run, relative to the root, sorted.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md"), PathBuf::from("CONTRIBUTING.md")];
    let folder = fs::read_dir(Path::new(ROOT).join("docs")).expect("the folder docs exists");
    for entry in folder {
        let name = entry.expect("the folder can be read").file_name();
        if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
            pages.push(Path::new("docs").join(name));
        }
    }
    pages.sort();
    pages
}

fn blocks_of(page: &Path) -> Vec<ConsoleBlock> {
    let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("the page can be read");
    blocks::parse(&page.display().to_string(), &text)
}

fn trial(block: ConsoleBlock) -> Trial {
    match &block.check {
        Check::NotRun(reason) => {
            let name = format!("{} (not run, {reason})", block.place());
            Trial::test(name, || Ok(())).with_ignored_flag(true)
        }
        Check::Exact | Check::Varies => {
            Trial::test(block.place(), move || session::run(&block).map_err(Failed::from))
        }
        Check::Malformed(problem) => {
            let problem = format!("{}: {problem}", block.place());
            Trial::test(block.place(), || Err(Failed::from(problem)))
        }
    }
}

/// One line that counts the blocks by class.
fn summary(blocks: &[ConsoleBlock]) -> String {
    let count =
        |is_of: fn(&Check) -> bool| blocks.iter().filter(|block| is_of(&block.check)).count();
    format!(
        "{} blocks in the documentation: {} exact, {} whose output varies, {} not run",
        blocks.len(),
        count(|check| matches!(check, Check::Exact)),
        count(|check| matches!(check, Check::Varies)),
        count(|check| matches!(check, Check::NotRun(_))),
    )
}
