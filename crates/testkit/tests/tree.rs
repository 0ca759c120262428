//! The rules of the source tree: dependencies between crates, places of unsafe code, and facts that
//! the documents must mention.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use testkit::source_tree::{self, files_below, read, root, rust_files};

/// The prefix of package names of this workspace, before the name of the folder.
const PREFIX: &str = "diligence-";

/// The maximum number of lines in a source file, including its tests. A longer file surely has two
/// purposes.
const FILE_LINES_MAX: usize = 800;

/// The extensions of source files.
const LANGUAGES: [&str; 4] = ["rs", "ts", "tsx", "css"];

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let allowed = allowed_edges();
    for folder in crate_folders() {
        let name = name_of(&folder);
        let used = used_by(&folder);
        let allowed = allowed.get(&name).unwrap_or_else(|| {
            panic!("ARCHITECTURE.md, \"Allowed dependencies\", has no row for {name}")
        });
        let forbidden: Vec<_> = used.difference(allowed).collect();
        assert!(forbidden.is_empty(), "{name} uses {forbidden:?}; it may use {allowed:?}");
    }
    let folders: BTreeSet<_> = crate_folders().iter().map(|folder| name_of(folder)).collect();
    let gone: Vec<_> = allowed.keys().filter(|name| !folders.contains(*name)).collect();
    assert!(gone.is_empty(), "ARCHITECTURE.md has rows for crates that do not exist: {gone:?}");
}

/// Libraries for programs outside of the workspace. Their own tests, examples and documentation
/// import them by their package names, like such programs do, and so does the code that `derive`
/// generates.
const PUBLIC: [&str; 3] = ["client", "derive", "wire"];

/// Folders with code that `diligence introspect` generates for such programs.
const GENERATED: [&str; 2] = ["cli/src/commands/introspect/code/rust", "cli/tests/golden/code"];

#[test]
fn crates_are_imported_by_the_names_of_their_folders() {
    let texts: Vec<_> = rust_files().iter().map(|file| (file.clone(), read(file))).collect();
    let crates = root().join("crates");
    let is_public = |file: &Path| {
        let mut folders = PUBLIC.iter().chain(&GENERATED);
        folders.any(|folder| file.starts_with(crates.join(folder)))
    };
    let mut found = Vec::new();
    for folder in crate_folders() {
        let package = package_of(&folder).replace('-', "_");
        // After a character of a name, it is a part of a longer name.
        let uses =
            [" ", "(", "<", "&", "!", "[", "::"].map(|before| [before, &package, "::"].concat());
        let imports = |text: &str| uses.iter().any(|found| text.contains(found));
        if texts.iter().any(|(file, text)| imports(text) && !is_public(file)) {
            found.push(name_of(&folder));
        }
    }
    assert!(found.is_empty(), "imported by the names of their packages: {found:?}");
}

/// Returns the package name in the manifest of a crate.
fn package_of(folder: &Path) -> String {
    let manifest = read(&folder.join("Cargo.toml"));
    let name = section(&manifest, "[package]").find_map(|line| line.strip_prefix("name = "));
    name.expect("a package has a name").trim_matches('"').to_owned()
}

#[test]
fn the_pure_crates_are_no_std_and_safe() {
    for name in ["wire", "sandbox", "bus"] {
        let lib = read(&root().join("crates").join(name).join("src/lib.rs"));
        for attribute in ["#![no_std]", "#![forbid(unsafe_code)]"] {
            assert!(lib.contains(attribute), "crates/{name}/src/lib.rs lacks {attribute}");
        }
    }
}

/// The files and folders that may contain unsafe code in any form, and the reasons.
const UNSAFE: [(&str, &str); 9] = [
    ("crates/sys/src/raw", WRAPS_CALLS),
    ("crates/unix/src/raw", WRAPS_CALLS),
    ("crates/libdbus/src", "C programs call the functions, and pass pointers to them"),
    (
        "crates/analyst/src/exports.rs",
        "the page calls these functions, so they must keep their names",
    ),
    ("crates/broker/tests/allocations.rs", COUNTING_ALLOCATOR),
    ("crates/broker/tests/damaged_states.rs", COUNTING_ALLOCATOR),
    ("crates/bus/tests/allocations.rs", COUNTING_ALLOCATOR),
    ("crates/client/tests/allocations.rs", COUNTING_ALLOCATOR),
    ("crates/sys/tests/allocations.rs", COUNTING_ALLOCATOR),
];

const WRAPS_CALLS: &str = "wraps system calls and C functions";
const COUNTING_ALLOCATOR: &str = "a global allocator that counts implements an unsafe trait";

#[test]
fn unsafe_code_is_only_where_it_is_allowed() {
    let mut used = BTreeSet::new();
    for file in rust_files() {
        if !has_unsafe_code(&read(&file)) {
            continue;
        }
        let path = file.strip_prefix(root()).expect("below the root");
        let allowed = UNSAFE.iter().find(|(allowed, _)| path.starts_with(allowed));
        let (allowed, _) = allowed.unwrap_or_else(|| panic!("unsafe code in {}", path.display()));
        used.insert(*allowed);
    }
    let allowed: BTreeSet<_> = UNSAFE.iter().map(|(path, _)| *path).collect();
    assert_eq!(used, allowed, "each exception is one");
}

/// The test above does not see the code that macros of other packages generate, but the compiler
/// does. The lint denies unsafe code in every package, except in the files of [`UNSAFE`].
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
        // A macro of libfuzzer-sys generates its entry points, with unsafe attributes.
        if file == root().join("fuzz/Cargo.toml") {
            continue;
        }
        let inherits = section(&text, "[lints]").any(|line| line == "workspace = true");
        let denies = section(&text, "[lints.rust]").any(|line| line == DENIED);
        assert!(inherits || denies, "{} does not deny unsafe code", file.display());
    }
    // The parts are concatenated so that the search does not find this file.
    let lint = concat!("unsafe", "_code");
    for file in rust_files() {
        let path = file.strip_prefix(root()).expect("below the root");
        let text = read(&file);
        let lifts = |how: &str| text.contains(&format!("{how}({lint}"));
        if ["allow", "expect", "warn"].into_iter().any(lifts) {
            // The module `raw` is declared there.
            let is_parent =
                ["crates/sys/src/lib.rs", "crates/unix/src/lib.rs"].map(Path::new).contains(&path);
            let is_allowed = UNSAFE.iter().any(|(allowed, _)| path.starts_with(allowed));
            assert!(is_parent || is_allowed, "{} lifts the lint {lint}", path.display());
        }
    }
}

/// The line of a manifest that denies unsafe code.
const DENIED: &str = concat!("unsafe", "_code = \"deny\"");

/// Returns the lines of a section of a manifest.
fn section<'t>(manifest: &'t str, header: &str) -> impl Iterator<Item = &'t str> {
    let lines = manifest.lines().skip_while(move |line| *line != header).skip(1);
    lines.take_while(|line| !line.starts_with('['))
}

#[test]
fn unsafe_code_is_found_in_every_form() {
    for code in [
        "fn f() { unsafe { g() } }",
        "fn f() { let x = unsafe\n{ g() }; }",
        "fn f() { h(\"http://x\", unsafe { g() }) }",
        "fn f() { unsafe /* why */ { g() } }",
        "pub unsafe fn f() {}",
        "const unsafe extern \"C\" fn f() {}",
        "unsafe impl Send for X {}",
        "unsafe\nimpl Send for X {}",
        "unsafe extern \"C\" { fn f(); }",
        "extern \"C\" { unsafe static X: u8; }",
        "pub unsafe trait T {}",
        "pub unsafe auto trait T {}",
        "trait T { unsafe fn f(); }",
        "type F = unsafe fn();",
        "const F: &unsafe fn() = &g;",
        "#[unsafe(no_mangle)] fn f() {}",
        "#![unsafe(no_mangle)]",
        "#[cfg_attr(windows, unsafe(no_mangle))] fn f() {}",
        "#[unsafe(naked)] fn f() {}",
        "macro_rules! m { () => { unsafe { g() } }; }",
        "macro_rules! m { ($f:ident) => { unsafe fn $f() {} }; }",
        "fn f() { m!(unsafe { g() }) }",
        "fn f() -> TokenStream { quote! { unsafe impl Send for X {} } }",
        "#[cfg(test)] mod tests { #[test] fn f() { unsafe { g() } } }",
        "/// An example:\n///\n/// ```\n/// unsafe { g() }\n/// ```\nfn f() {}",
        "//! ```no_run\n//! let x = 1;\n//! unsafe { g() }\n//! ```",
    ] {
        assert!(has_unsafe_code(code), "{code}");
    }
    for code in [
        "// unsafe fn f() {}",
        "/* unsafe { g() } */",
        "/// This is not unsafe { code }.\nfn f() {}",
        "/// ```\n/// g()\n/// ```\n/// It is unsafe.\nfn f() {}",
        "/// ```text\n/// \"unsafe\" is a word\n/// ```\nfn f() {}",
        "fn is_unsafe() {}",
        "fn f() { let unsafety = 1; }",
        "const X: &str = \"unsafe { g() }\";",
        "const X: &str = r#\"unsafe fn\"#;",
        "const X: &[u8] = b\"unsafe\";",
        "#![forbid(unsafe_code)]",
        "#![deny(clippy::undocumented_unsafe_blocks)]",
        "fn f() { let r#unsafe = 1; }",
    ] {
        assert!(!has_unsafe_code(code), "{code}");
    }
}

/// Returns true if Rust code has the keyword, including its macros, its attributes and the examples
/// in its documentation.
fn has_unsafe_code(code: &str) -> bool {
    let tokens = code.parse().unwrap_or_else(|error| panic!("{error}:\n{code}"));
    // An example that is not Rust code cannot be tokenized.
    let mut examples = examples(code).into_iter().filter_map(|code| code.parse().ok());
    has_keyword(tokens) || examples.any(has_keyword)
}

fn has_keyword(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "unsafe",
        TokenTree::Group(group) => has_keyword(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Returns the fenced blocks in doc comments.
fn examples(code: &str) -> Vec<String> {
    let docs = code.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
    });
    let docs = docs.collect::<Vec<_>>().join("\n");
    docs.split("```")
        .skip(1)
        .step_by(2)
        .map(|block| {
            // The first line names the language.
            block.split_once('\n').map_or("", |(_, code)| code).to_owned()
        })
        .collect()
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
    // The parts are concatenated so that the search does not find this file.
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

/// Promises name their tests as `folder/file.rs: name`.
#[test]
fn tests_named_in_security_md_exist() {
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

/// Returns the table of ARCHITECTURE.md, by crate.
fn allowed_edges() -> BTreeMap<String, BTreeSet<String>> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let table = text.split("### Allowed dependencies").nth(1).expect("the chapter on dependencies");
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

/// Returns the crates of this workspace that a manifest lists, except for tests.
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
    let mut folders = source_tree::crate_folders();
    folders.push(root().join("conformance"));
    folders
}

fn source_files() -> Vec<PathBuf> {
    let is_source =
        |file: &Path| LANGUAGES.iter().any(|ours| file.extension().is_some_and(|its| its == *ours));
    let folders = crate_folders().into_iter().chain([root().join("simulation")]);
    folders.flat_map(|folder| files_below(&folder, is_source)).collect()
}

fn name_of(folder: &Path) -> String {
    folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned()
}
