//! Runs each target with its corpus, and with thousands of mutations of it.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fuzzing::{FuzzTarget, TARGETS};
use testkit::random::Random;

#[test]
fn targets_accept_mutations_of_their_corpus() {
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
            (target.mutate)(&mut input, &mut random);
            check(target, &input);
            runs += 1;
        }
        println!("{}: {} in the corpus, {runs} mutations", target.name, corpus.len());
    }
}

/// Checks that each target has a libFuzzer program, and that its seeds are in its corpus.
#[test]
fn every_target_has_a_program_and_a_corpus() {
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

/// Runs a target; if it panics, prints the input as a literal.
fn check(target: &FuzzTarget, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(input))) {
        println!("{} fails with b\"{}\"", target.name, input.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

/// The seeds and the files in the corpus.
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

/// Maximum time per target, for slow or busy machines.
const TIME_MAX: Duration = Duration::from_secs(2);
