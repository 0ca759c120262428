//! The laws of the tree, executed: who may use whom, where unsafe code may be, what the documents
//! must name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Packages of ours, by the name of their folder.
const PREFIX: &str = "diligence-";

/// Lines in a source file, its tests included, above which it surely holds two things.
const FILE_LINES_MAX: usize = 800;

/// What source files end in.
const LANGUAGES: [&str; 4] = ["rs", "ts", "tsx", "css"];

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let allowed = allowed_edges();
    for folder in crate_folders() {
        let name = name_of(&folder);
        let used = used_by(&folder);
        let allowed = allowed.get(&name).unwrap_or_else(|| {
            panic!("ARCHITECTURE.md, \"Who may use whom\", has no row for {name}")
        });
        let forbidden: Vec<_> = used.difference(allowed).collect();
        assert!(forbidden.is_empty(), "{name} uses {forbidden:?}; it may use {allowed:?}");
    }
    let folders: BTreeSet<_> = crate_folders().iter().map(|folder| name_of(folder)).collect();
    let gone: Vec<_> = allowed.keys().filter(|name| !folders.contains(*name)).collect();
    assert!(gone.is_empty(), "ARCHITECTURE.md has rows for crates that do not exist: {gone:?}");
}

#[test]
fn the_pure_crates_are_no_std_and_safe() {
    for name in ["wire", "bus"] {
        let lib = read(&root().join("crates").join(name).join("src/lib.rs"));
        for attribute in ["#![no_std]", "#![forbid(unsafe_code)]"] {
            assert!(lib.contains(attribute), "crates/{name}/src/lib.rs lacks {attribute}");
        }
    }
}

/// The files that may contain unsafe code, in any form, besides the folder `crates/sys/src/raw`, which wraps system
/// calls: the functions that a page calls must keep their names, and a global allocator that counts is an unsafe
/// trait.
const UNSAFE: [&str; 7] = [
    "crates/sys/src/raw",
    "crates/sys/src/raw.rs",
    "crates/analyst/src/exports.rs",
    "crates/broker/tests/allocations.rs",
    "crates/bus/tests/allocations.rs",
    "crates/client/tests/allocations.rs",
    "crates/sys/tests/allocations.rs",
];

#[test]
fn unsafe_code_is_in_one_module() {
    let mut used = BTreeSet::new();
    for file in rust_files() {
        let path = file.strip_prefix(root()).expect("below the root");
        let allowed = UNSAFE.iter().find(|allowed| path.starts_with(allowed));
        for (number, line) in read(&file).lines().enumerate().filter(|(_, line)| is_unsafe(line)) {
            let allowed = allowed.unwrap_or_else(|| {
                panic!("unsafe code at {}:{}: {line}", path.display(), number + 1)
            });
            used.insert(*allowed);
        }
    }
    assert_eq!(used, BTreeSet::from(UNSAFE), "each exception is one");
}

/// The test above reads lines; the compiler reads code. The lint denies unsafe code in every package, and the lint
/// is lifted only for the files of [`UNSAFE`].
#[test]
fn the_compiler_denies_unsafe_code_everywhere_else() {
    let workspace = read(&root().join("Cargo.toml"));
    assert!(section(&workspace, "[workspace.lints.rust]").any(|line| line == DENIED));
    let manifests = files_below(&root(), |file| file.ends_with("Cargo.toml"));
    let packages: Vec<_> = manifests
        .into_iter()
        .map(|file| (read(&file), file))
        .filter(|(text, _)| text.lines().any(|line| line == "[package]"))
        .collect();
    assert!(packages.len() > 20, "{}", packages.len());
    for (text, file) in packages {
        // Its entry points are written by a macro of libfuzzer-sys, with unsafe attributes.
        if file == root().join("fuzz/Cargo.toml") {
            continue;
        }
        let inherits = section(&text, "[lints]").any(|line| line == "workspace = true");
        let denies = section(&text, "[lints.rust]").any(|line| line == DENIED);
        assert!(inherits || denies, "{} does not deny unsafe code", file.display());
    }
    // Put together here, so that this file does not find itself.
    let lint = concat!("unsafe", "_code");
    for file in rust_files() {
        let path = file.strip_prefix(root()).expect("below the root");
        let text = read(&file);
        let lifts = |how: &str| text.contains(&format!("{how}({lint}"));
        if ["allow", "expect", "warn"].into_iter().any(lifts) {
            // The module `raw` is declared there.
            let is_parent = path == Path::new("crates/sys/src/lib.rs");
            let is_allowed = UNSAFE.iter().any(|allowed| path.starts_with(allowed));
            assert!(is_parent || is_allowed, "{} lifts the lint {lint}", path.display());
        }
    }
}

/// The line of a manifest that denies unsafe code.
const DENIED: &str = concat!("unsafe", "_code = \"deny\"");

/// The lines of a section of a manifest.
fn section<'t>(manifest: &'t str, header: &str) -> impl Iterator<Item = &'t str> {
    let lines = manifest.lines().skip_while(move |line| *line != header).skip(1);
    lines.take_while(|line| !line.starts_with('['))
}

#[test]
fn unsafe_code_is_found_in_every_form() {
    // Put together here, so that this file does not find itself.
    let word = concat!("un", "safe");
    for code in [
        "{word} { x }",
        "let x = {word} { x };",
        "pub {word} fn f()",
        "const {word} extern \"C\" fn f()",
        "{word} impl Send for X {}",
        "{word} extern \"C\" {",
        "pub {word} trait T {",
        "pub {word} auto trait T {}",
        "let f: {word} fn() = g;",
        "let x = {word}",
        "#[{word}(no_mangle)]",
        "#![{word}(no_mangle)]",
        "#[cfg_attr(windows, {word}(no_mangle))]",
        "{word} static X: u8;",
        "{word} {",
        "{word}{",
        "f(\"http://x\", {word} { y })",
        "{word} /* why */ { x }",
        "const F: &{word} dyn T;",
    ] {
        let code = code.replace("{word}", word);
        assert!(is_unsafe(&code), "{code}");
    }
    for line in [
        "// {word} fn",
        "/// {word} { x }",
        "is_{word}(c)",
        "{word}ty { x }",
        "\"{word}\"",
        "forbid({word}_code)",
        "deny(undocumented_{word}_blocks)",
        "'wasm-{word}-eval'",
        "`{word} {`",
        "use x; // an {word} { block }",
        "everything {word} is escaped",
    ] {
        let line = line.replace("{word}", word);
        assert!(!is_unsafe(&line), "{line}");
    }
}

/// Whether a line has the keyword, at its end or before something that it can make unsafe.
fn is_unsafe(line: &str) -> bool {
    // A comment begins with two slashes, but those within a text, as in an address, do not begin one.
    let is_quoted = |at: usize| line[..at].matches('"').count() % 2 == 1;
    let mut slashes = line.match_indices("//").map(|(at, _)| at);
    let code = &line[..slashes.find(|&at| !is_quoted(at)).unwrap_or(line.len())];
    let word = concat!("un", "safe");
    code.match_indices(word).any(|(at, _)| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '"' | '`');
        let rest = code[at + word.len()..].trim_start();
        let forms =
            ["{", "(", "/*", "fn ", "fn(", "impl", "extern", "trait", "auto ", "static ", "dyn "];
        !code[..at].ends_with(is_part)
            && (rest.is_empty() || forms.iter().any(|form| rest.starts_with(form)))
    })
}

#[test]
fn source_files_are_not_too_long() {
    for file in source_files() {
        let lines = read(&file).lines().count();
        assert!(lines <= FILE_LINES_MAX, "{} has {lines} lines", file.display());
    }
}

#[test]
fn nothing_is_left_to_do_in_the_source() {
    // Put together here, so that this file does not find itself.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
    for file in source_files() {
        let text = read(&file);
        for mark in marks {
            assert!(!text.contains(mark), "{} says {mark}", file.display());
        }
    }
}

#[test]
fn architecture_names_every_crate() {
    let text = read(&root().join("ARCHITECTURE.md"));
    for folder in crate_folders() {
        let path = folder.strip_prefix(root()).expect("below the root").display().to_string();
        assert!(text.contains(&format!("`{path}`")), "ARCHITECTURE.md does not name `{path}`");
    }
}

/// Each as `folder/file.rs: name`.
#[test]
fn the_tests_that_keep_promises_exist() {
    let text = read(&root().join("docs/security.md"));
    let named = text.split('`').filter_map(|code| code.split_once(".rs: "));
    let mut count = 0;
    for (file, test) in named {
        let source = read(&root().join(format!("{file}.rs")));
        assert!(source.contains(&format!("fn {test}(")), "{file}.rs has no test {test}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

/// The table of ARCHITECTURE.md, by crate.
fn allowed_edges() -> BTreeMap<String, BTreeSet<String>> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let table = text.split("### Who may use whom").nth(1).expect("the chapter on dependencies");
    let rows = table.lines().skip_while(|line| !line.starts_with("| ---"));
    let rows = rows.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let name = cells.next().unwrap_or_default().to_owned();
        let used = cells.next().unwrap_or_default().split(", ").filter(|name| !name.is_empty());
        (name, used.map(str::to_owned).collect())
    })
    .collect()
}

/// Our crates that a manifest names, those only for tests not counted.
fn used_by(folder: &Path) -> BTreeSet<String> {
    let manifest = read(&folder.join("Cargo.toml"));
    let known: BTreeSet<_> = crate_folders().iter().map(|folder| name_of(folder)).collect();
    let mut section = "";
    let mut used = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        }
        let counts = section.ends_with("dependencies") && !section.starts_with("dev-");
        let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
        let name = key.strip_prefix(PREFIX).unwrap_or(key);
        if counts && known.contains(name) {
            used.insert(name.to_owned());
        }
    }
    used
}

fn crate_folders() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).expect("the folder of crates");
    let crates = crates.map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<_> = crates.chain([root().join("conformance")]).collect();
    folders.retain(|folder| folder.join("Cargo.toml").exists());
    folders.sort();
    folders
}

fn source_files() -> Vec<PathBuf> {
    let is_source =
        |file: &Path| LANGUAGES.iter().any(|ours| file.extension().is_some_and(|its| its == *ours));
    let folders = crate_folders().into_iter().chain([root().join("simulation")]);
    folders.flat_map(|folder| files_below(&folder, is_source)).collect()
}

/// All files with Rust code: of crates, tests, benches, build scripts, the simulation and the fuzzers.
fn rust_files() -> Vec<PathBuf> {
    let files = files_below(&root(), |file| file.extension().is_some_and(|its| its == "rs"));
    for part in ["crates/viewer/build.rs", "fuzz/fuzz_targets", "crates/bus/benches", "simulation"]
    {
        let part = root().join(part);
        assert!(files.iter().any(|file| file.starts_with(&part)), "{}", part.display());
    }
    files
}

/// The files below a folder, without what is hidden, built or downloaded.
fn files_below(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                // A file that a test generates is as long as its source.
                let others = ["node_modules", "dist", "target", "generated"];
                let is_ours = !name.starts_with('.') && !others.contains(&name);
                folders.extend(is_ours.then_some(path));
            } else if is_wanted(&path) {
                files.push(path);
            }
        }
    }
    files
}

fn name_of(folder: &Path) -> String {
    folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/testkit").to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
