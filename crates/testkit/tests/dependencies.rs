//! What the program is made of, against `deny.toml`: what of it can be known without the tool that
//! the file is for, and without the network. `make prove` has the tool look at the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The only place from which packages come.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn licences_are_allowed() {
    let allowed = listed("allow");
    assert!(allowed.contains("MIT"), "deny.toml allows {allowed:?}");
    for Package { name, licence, .. } in packages() {
        assert!(permits(&licence, &allowed), "{name}: {licence:?} is not allowed by deny.toml");
    }
}

#[test]
fn there_is_one_version_of_everything() {
    let skipped = listed("skip");
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Package { name, version, .. } in packages() {
        let is_of =
            |skipped: &String| format!("{name}@{version}.").starts_with(&format!("{skipped}."));
        if !skipped.iter().any(is_of) {
            versions.entry(name).or_default().insert(version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    assert!(versions.is_empty(), "several versions: {versions:?}; see cargo tree --duplicates");
}

#[test]
fn everything_comes_from_the_registry() {
    let lock = read("Cargo.lock");
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    let mut count = 0;
    for source in sources {
        assert_eq!(source.trim_matches('"'), REGISTRY);
        count += 1;
    }
    assert!(count > 50, "{count}");
}

#[test]
fn expressions_of_licences_are_understood() {
    let allowed = BTreeSet::from(["MIT", "Zlib", "X WITH Y"].map(str::to_owned));
    let yes = ["MIT", "A OR MIT", "A/MIT", "MIT AND Zlib", "(A OR MIT) AND Zlib", "X WITH Y OR A"];
    let no = ["", "A", "MIT AND A", "(A OR B) AND MIT", "A AND MIT OR B", "X", "MIT WITH Y"];
    for text in yes {
        assert!(permits(text, &allowed), "{text:?}");
    }
    for text in no {
        assert!(!permits(text, &allowed), "{text:?}");
    }
}

/// A package that the program or its build needs.
struct Package {
    name: String,
    version: String,
    licence: String,
}

/// All of them, ours too.
fn packages() -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").expect("tests are run by cargo");
    let tree = Command::new(cargo)
        .current_dir(root())
        .args(["tree", "--workspace", "--locked", "--all-features", "--edges", "normal,build"])
        .args(["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"])
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).expect("UTF-8");
    let lines: BTreeSet<&str> = tree.lines().filter(|line| !line.is_empty()).collect();
    let packages: Vec<_> = lines.into_iter().map(Package::parse).collect();
    assert!(packages.len() > 50, "{}", packages.len());
    packages
}

impl Package {
    fn parse(line: &str) -> Self {
        let (package, licence) = line.split_once('|').expect("as the format says");
        let mut words = package.split(' ');
        let name = words.next().expect("a name").to_owned();
        let version = words.next().and_then(|word| word.strip_prefix('v')).expect("a version");
        Self { name, version: version.to_owned(), licence: licence.to_owned() }
    }
}

/// Whether who may use what is under these licences may use what is under `expression`: such of SPDX,
/// and those with a slash from before.
fn permits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    let permitted = any(&mut words, allowed);
    permitted && words.is_empty()
}

/// What stands between "OR"; the next word is the last.
fn any(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    let mut permitted = all(words, allowed);
    while words.pop_if(|word| *word == "OR").is_some() {
        permitted |= all(words, allowed);
    }
    permitted
}

fn all(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    let mut permitted = one(words, allowed);
    while words.pop_if(|word| *word == "AND").is_some() {
        permitted &= one(words, allowed);
    }
    permitted
}

fn one(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    match words.pop() {
        Some("(") => any(words, allowed) & (words.pop() == Some(")")),
        Some(licence) if words.pop_if(|word| *word == "WITH").is_some() => {
            let exception = words.pop().unwrap_or_default();
            allowed.contains(&format!("{licence} WITH {exception}"))
        }
        Some(licence) => allowed.contains(licence),
        None => false,
    }
}

/// The texts in a list of `deny.toml`.
fn listed(key: &str) -> BTreeSet<String> {
    let text = read("deny.toml");
    let (_, list) = text.split_once(&format!("\n{key} = [")).expect("deny.toml has such a list");
    let (list, _) = list.split_once(']').expect("a list ends");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("crates/testkit is two folders below the root")
}
