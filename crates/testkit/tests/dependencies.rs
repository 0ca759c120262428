//! The dependencies of the programs: the packages that each links to, and the rules of `deny.toml`
//! that can be checked without cargo-deny and without the network. `make prove` runs cargo-deny for
//! the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use testkit::source_tree::{read, root};

/// The only allowed source of packages.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn licenses_are_allowed() {
    let allowed = listed("allow");
    assert!(allowed.contains("MIT"), "deny.toml allows {allowed:?}");
    for Package { name, license, .. } in packages() {
        assert!(permits(&license, &allowed), "{name}: {license:?} is not allowed by deny.toml");
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
    let lock = read(&root().join("Cargo.lock"));
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    let mut count = 0;
    for source in sources {
        assert_eq!(source.trim_matches('"'), REGISTRY);
        count += 1;
    }
    assert!(count > 50, "{count}");
}

/// The crates of this workspace that the daemon may link to. The instruments are not in this list.
const DAEMON_CRATES: [&str; 13] = [
    "diligence-broker",
    "diligence-bus-core",
    "diligence-client",
    "diligence-daemon",
    "diligence-daemon-command",
    "diligence-lane",
    "diligence-proxy",
    "diligence-sandbox",
    "diligence-services",
    "diligence-sys",
    "diligence-trace",
    "diligence-unix",
    "diligence-wire",
];

/// The maximum number of packages that the daemon links to, including crates of this workspace. The
/// daemon can start as root, so each further package needs a good reason. Macros do not count,
/// because they only run when the daemon is built. Three packages encode the state for the program
/// that replaces the daemon: rmp-serde, rmp and num-traits. The client and its thiserror serve the
/// proxy, which asks a bus to do its work; the client contains our own crate for lanes.
const DAEMON_PACKAGES_MAX: usize = 37;

#[test]
fn the_daemon_links_to_few_packages_and_no_instrument() {
    let linked = linked_by("diligence-daemon", "normal,no-proc-macro");
    assert!(linked.len() <= DAEMON_PACKAGES_MAX, "{} packages: {linked:?}", linked.len());
    let ours: Vec<_> = linked.iter().filter(|name| name.starts_with("diligence-")).collect();
    assert_eq!(ours, DAEMON_CRATES.iter().collect::<Vec<_>>());
}

#[test]
fn the_daemon_needs_no_c_compiler() {
    let built = linked_by("diligence-daemon", "normal,build");
    assert!(built.contains("libc"), "{built:?}");
    for name in ["bindgen", "cc", "cmake", "pkg-config"] {
        assert!(!built.contains(name), "{name} is in {built:?}");
    }
}

#[test]
fn the_instruments_do_not_link_to_the_bus() {
    let linked = linked_by("diligence-cli", "normal");
    assert!(linked.contains("diligence-daemon-command"), "{linked:?}");
    for name in ["diligence-broker", "diligence-bus-core", "diligence-daemon"] {
        assert!(!linked.contains(name), "diligence-cli links to {name}");
    }
}

/// Returns the names of the packages that a package needs along these edges, including itself.
fn linked_by(package: &str, edges: &str) -> BTreeSet<String> {
    let tree = cargo_tree(&["--package", package, "--edges", edges, "--format", "{p}"]);
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn expressions_of_licenses_are_understood() {
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
    license: String,
}

/// Returns all packages, including the packages of this workspace.
fn packages() -> Vec<Package> {
    let selection = ["--workspace", "--all-features", "--edges", "normal,build"];
    let tree = cargo_tree(&[&selection[..], &["--format", "{p}|{l}"]].concat());
    let lines: BTreeSet<&str> = tree.lines().filter(|line| !line.is_empty()).collect();
    let packages: Vec<_> = lines.into_iter().map(Package::parse).collect();
    assert!(packages.len() > 50, "{}", packages.len());
    packages
}

/// Returns the output of `cargo tree`, with one package per line.
fn cargo_tree(words: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").expect("tests are run by cargo");
    let tree = Command::new(cargo)
        .current_dir(root())
        .args(["tree", "--locked", "--prefix", "none", "--no-dedupe"])
        .args(words)
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    String::from_utf8(tree.stdout).expect("UTF-8")
}

impl Package {
    fn parse(line: &str) -> Self {
        let (package, license) = line.split_once('|').expect("as the format says");
        let mut words = package.split(' ');
        let name = words.next().expect("a name").to_owned();
        let version = words.next().and_then(|word| word.strip_prefix('v')).expect("a version");
        Self { name, version: version.to_owned(), license: license.to_owned() }
    }
}

/// Returns true if the allowed licenses satisfy an SPDX expression, or an older expression with a
/// slash instead of "OR".
fn permits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    let permitted = any(&mut words, allowed);
    permitted && words.is_empty()
}

/// Evaluates alternatives separated by "OR". The next word is the last of the list.
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
        Some(license) if words.pop_if(|word| *word == "WITH").is_some() => {
            let exception = words.pop().unwrap_or_default();
            allowed.contains(&format!("{license} WITH {exception}"))
        }
        Some(license) => allowed.contains(license),
        None => false,
    }
}

/// Returns the strings in a list of `deny.toml`.
fn listed(key: &str) -> BTreeSet<String> {
    let text = read(&root().join("deny.toml"));
    let (_, list) = text.split_once(&format!("\n{key} = [")).expect("deny.toml has such a list");
    let (list, _) = list.split_once(']').expect("a list ends");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}
