//! Each target with its corpus, and with some thousand inputs that are nearly the same.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fuzzing::{FuzzTarget, TARGETS};
use testkit::mutated;
use testkit::random::Random;

#[test]
fn targets_take_what_is_near_their_corpus() {
    let mut random = Random::from_env();
    for target in TARGETS {
        let corpus = corpus(target);
        for input in &corpus {
            check(target, input);
        }
        let ends = Instant::now() + TIME_MAX;
        let mut runs = 0;
        while runs < RUNS && Instant::now() < ends {
            let mut input = corpus[random.below(corpus.len())].clone();
            mutated::any(&mut input, &mut random);
            check(target, &input);
            runs += 1;
        }
        println!("{}: {} in the corpus, {runs} mutations", target.name, corpus.len());
    }
}

/// The folders of the corpora are those of the targets, with their seeds in them, and there is a
/// program for each.
#[test]
fn every_target_has_its_program_and_corpus() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).expect("a manifest");
    for target in TARGETS {
        let name = target.name;
        assert!(manifest.contains(&format!("name = \"{name}\"")), "fuzz/Cargo.toml lacks {name}");
        for (file, _) in (target.seeds)() {
            let file = fuzz().join("corpus").join(name).join(file);
            assert!(
                file.exists(),
                "{} is missing: cd fuzz && cargo run --bin seeds",
                file.display()
            );
        }
    }
}

/// Runs a target; what it does not take is shown so that it can be tried again.
fn check(target: &FuzzTarget, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(input))) {
        println!("{} does not take b\"{}\"", target.name, input.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

/// The seeds, and whatever else is in the folder.
fn corpus(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let seeds = (target.seeds)().into_iter().map(|(_, bytes)| bytes);
    let folder = fs::read_dir(fuzz().join("corpus").join(target.name));
    let files = folder.into_iter().flatten().map(|entry| entry.expect("an entry").path());
    seeds.chain(files.map(|file| fs::read(file).expect("a file"))).collect()
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

const RUNS: usize = 4_000;

/// For each target, on a machine that is slow or busy.
const TIME_MAX: Duration = Duration::from_secs(2);
