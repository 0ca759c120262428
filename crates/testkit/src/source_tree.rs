//! The files of this project, for tests that check the source itself.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root folder of the project.
///
/// # Panics
///
/// Panics if this crate is not two folders below it.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("crates/testkit is two folders below the root").to_owned()
}

/// Returns the text of a file.
///
/// # Panics
///
/// Panics if the file cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folders in `crates` that have a manifest, sorted.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn crate_folders() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).expect("the folder of crates");
    let mut folders: Vec<_> = crates.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|folder| folder.join("Cargo.toml").exists());
    folders.sort();
    folders
}

/// All files with Rust code, sorted: crates, tests, benches, examples, build scripts, the simulation
/// and the fuzzers.
///
/// # Panics
///
/// If a folder cannot be read, or if there is no file of one of these kinds.
pub fn rust_files() -> Vec<PathBuf> {
    let mut files = files_below(&root(), |file| file.extension().is_some_and(|its| its == "rs"));
    files.sort();
    for part in [
        "conformance",
        "crates/bench/clients",
        "crates/bus/benches",
        "crates/client/examples",
        "crates/client/tests",
        "crates/viewer/build.rs",
        "fuzz/fuzz_targets",
        "simulation/kernel",
    ] {
        let part = root().join(part);
        assert!(files.iter().any(|file| file.starts_with(&part)), "{}", part.display());
    }
    files
}

/// The files below a folder, without hidden, built, generated and downloaded ones.
///
/// # Panics
///
/// If a folder cannot be read.
pub fn files_below(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                let is_source = !name.starts_with('.') && !NOT_SOURCE.contains(&name);
                folders.extend(is_source.then_some(path));
            } else if is_wanted(&path) {
                files.push(path);
            }
        }
    }
    files
}

/// Folders with generated, downloaded or expected files.
const NOT_SOURCE: [&str; 5] = ["node_modules", "dist", "target", "generated", "golden"];
