//! The modules inside crates: which files use each other, and in which direction.
//!
//! Dependencies inside a crate point one way. Files that use each other in a cycle must be read
//! together, so cycles must stay small. ARCHITECTURE.md lists the layers of some crates; a module
//! may use only the layers below its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, UseTree, Visibility};
use testkit::source_tree::{crate_folders, files_below, read, root};

/// The maximum number of files in a cycle.
const CYCLE_FILES_MAX: usize = 4;

#[test]
fn files_of_a_crate_use_each_other_in_small_cycles_only() {
    for folder in crate_folders() {
        let cycle = Modules::read(&folder.join("src")).largest_cycle();
        let files = cycle.len();
        assert!(files <= CYCLE_FILES_MAX, "{}: {files} files: {cycle:#?}", folder.display());
    }
}

#[test]
fn modules_with_submodules_are_in_mod_rs() {
    let files = files_below(&root(), |file| file.extension().is_some_and(|end| end == "rs"));
    assert!(files.len() > 500, "{} files", files.len());
    let misplaced: Vec<_> = files
        .iter()
        .filter(|file| file.file_stem().is_some_and(|stem| stem != "mod"))
        .filter(|file| files.iter().any(|other| other.parent() == Some(&file.with_extension(""))))
        .collect();
    assert!(misplaced.is_empty(), "move each into mod.rs of its folder: {misplaced:#?}");
}

#[test]
fn modules_of_layered_crates_use_only_lower_layers() {
    for (name, chapter) in [("bus", "Layers of the core"), ("capture", "Layers of capture")] {
        let layers = layers(chapter);
        let modules = Modules::read(&root().join("crates").join(name).join("src"));
        let layer_of = |file: &str| {
            let module = file.split(['/', '.']).next().expect("a module");
            layers.iter().position(|layer| layer == module)
        };
        let mut edges = 0;
        for (from, used) in &modules.edges {
            for to in used.iter().filter(|to| *to != "lib.rs") {
                if from == "lib.rs" {
                    continue;
                }
                let layers = layer_of(from).zip(layer_of(to));
                let (from_layer, to_layer) = layers.unwrap_or_else(|| {
                    panic!("ARCHITECTURE.md, {chapter:?}, lacks the module of {from} or {to}")
                });
                assert!(to_layer <= from_layer, "{from} uses {to}, which is in a higher layer");
                edges += 1;
            }
        }
        assert!(edges > 100, "only {edges} uses were found in {name}");
    }
}

#[test]
fn cycles_are_found_through_reexports_and_nested_imports() {
    let sources = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a/mod.rs", "mod inner; pub(crate) use inner::{Thing, Other as Renamed};"),
        ("a/inner.rs", "use crate::b::B; pub struct Thing; pub struct Other;"),
        (
            "b.rs",
            "use crate::{a::{Renamed}, c}; struct B; #[cfg(test)] mod tests { use crate::d::D; }",
        ),
        ("c.rs", "fn f() { crate::b::g() }"),
    ];
    let sources = sources.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let modules = Modules::of(sources.into_iter().collect());
    let uses = |from: &str| modules.edges[from].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(uses("a/inner.rs"), ["b.rs"]);
    assert_eq!(uses("b.rs"), ["a/inner.rs", "c.rs"]);
    assert_eq!(modules.largest_cycle(), ["a/inner.rs", "b.rs", "c.rs"]);
}

/// The source files of a crate, and the files that each of them uses.
struct Modules {
    /// Files by module path: `a::b` is `["a", "b"]`, and the root of the crate is empty.
    files: BTreeMap<Vec<String>, SourceFile>,
    edges: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Default)]
struct SourceFile {
    path: String,
    /// Absolute paths that the file uses.
    used: Vec<Vec<String>>,
    /// The names that the file exports from other files.
    reexports: BTreeMap<String, Vec<String>>,
}

impl Modules {
    fn read(folder: &Path) -> Self {
        let files = files_below(folder, |file| file.extension().is_some_and(|its| its == "rs"));
        let sources = files.into_iter().map(|path| {
            let name = path.strip_prefix(folder).expect("below the folder");
            (name.display().to_string(), read(&path))
        });
        Self::of(sources.collect())
    }

    fn of(sources: BTreeMap<String, String>) -> Self {
        let mut files = BTreeMap::new();
        let paths: BTreeSet<_> = sources.keys().map(|path| module_path(path)).collect();
        for (path, text) in sources {
            let module = module_path(&path);
            let mut finder =
                UseFinder { module: &module, paths: &paths, source: SourceFile::default() };
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
            finder.visit_file(&file);
            let source = SourceFile { path: path.clone(), ..finder.source };
            files.insert(module, source);
        }
        let mut modules = Self { files, edges: BTreeMap::new() };
        modules.edges = modules.files.values().map(|source| modules.edges_of(source)).collect();
        modules
    }

    fn edges_of(&self, source: &SourceFile) -> (String, BTreeSet<String>) {
        let used = source.used.iter().filter_map(|path| self.resolve(path, REEXPORTS_MAX));
        let others = used.filter(|path| *path != source.path);
        (source.path.clone(), others.collect())
    }

    /// Returns the file that defines the target of a path.
    fn resolve(&self, path: &[String], reexports: usize) -> Option<String> {
        let len = (0..=path.len()).rev().find(|len| self.files.contains_key(&path[..*len]))?;
        let file = &self.files[&path[..len]];
        let exported = path.get(len).and_then(|item| file.reexports.get(item));
        match exported {
            Some(origin) if reexports > 0 => {
                let whole = [origin, &path[len + 1..]].concat();
                self.resolve(&whole, reexports - 1)
            }
            _ => Some(file.path.clone()),
        }
    }

    /// The files of the largest cycle, sorted.
    fn largest_cycle(&self) -> Vec<String> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.edges.keys().map(|file| (file.as_str(), self.reached_from(file))).collect();
        let cycle_of = |file: &str| {
            let others = reached[file].iter().filter(|other| reached[*other].contains(file));
            others.map(|&other| other.to_owned()).collect::<Vec<_>>()
        };
        self.edges.keys().map(|file| cycle_of(file)).max_by_key(Vec::len).unwrap_or_default()
    }

    fn reached_from<'m>(&'m self, file: &'m str) -> BTreeSet<&'m str> {
        let mut reached = BTreeSet::new();
        let mut next = vec![file];
        while let Some(file) = next.pop() {
            for used in self.edges.get(file).into_iter().flatten() {
                if reached.insert(used.as_str()) {
                    next.push(used);
                }
            }
        }
        reached
    }
}

/// The maximum number of re-exports that are followed to a definition.
const REEXPORTS_MAX: usize = 8;

/// Collects the paths that a file uses.
struct UseFinder<'f> {
    module: &'f [String],
    paths: &'f BTreeSet<Vec<String>>,
    source: SourceFile,
}

impl UseFinder<'_> {
    /// Makes a path absolute, if it is a path of this crate.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let mut absolute = match first.as_str() {
            "crate" => Vec::new(),
            "self" => self.module.to_vec(),
            "super" => self.module[..self.module.len().checked_sub(1)?].to_vec(),
            child => {
                let absolute = [self.module, &[child.to_owned()]].concat();
                self.paths.contains(&absolute).then_some(absolute)?
            }
        };
        for segment in rest {
            match segment.as_str() {
                "super" => drop(absolute.pop()),
                "self" => {}
                _ => absolute.push(segment.clone()),
            }
        }
        Some(absolute)
    }

    fn add_tree(&mut self, tree: &UseTree, prefix: &[String], is_exported: bool) {
        let with = |name: String| [prefix, &[name]].concat();
        let (path, name) = match tree {
            UseTree::Path(path) => {
                let prefix = with(path.ident.to_string());
                return self.add_tree(&path.tree, &prefix, is_exported);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|it| self.add_tree(it, prefix, is_exported));
            }
            UseTree::Name(name) => (with(name.ident.to_string()), name.ident.to_string()),
            UseTree::Rename(renamed) => {
                (with(renamed.ident.to_string()), renamed.rename.to_string())
            }
            UseTree::Glob(_) => (prefix.to_vec(), String::new()),
        };
        let Some(path) = self.absolute(&path) else { return };
        if is_exported {
            self.source.reexports.insert(name, path);
        } else {
            self.source.used.push(path);
        }
    }
}

impl<'ast> Visit<'ast> for UseFinder<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_for_tests(&item.attrs) {
            let is_exported = !matches!(item.vis, Visibility::Inherited);
            self.add_tree(&item.tree, &[], is_exported);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        if segments.len() > 1
            && let Some(path) = self.absolute(&segments)
        {
            self.source.used.push(path);
        }
        visit::visit_path(self, path);
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

/// `a/mod.rs` and `a.rs` are the module `a`; the root is empty.
fn module_path(file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    let is_root = ["lib", "main"].contains(&stem);
    if is_root { Vec::new() } else { stem.split('/').map(str::to_owned).collect() }
}

/// Returns the layers in a chapter of ARCHITECTURE.md, from the lowest to the highest.
fn layers(chapter: &str) -> Vec<String> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let heading = format!("### {chapter}\n");
    let chapter = text.split(&heading).nth(1).expect("the chapter on layers");
    let rows = chapter.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let name = |row: &str| row.split('`').nth(1).expect("a module in the row").to_owned();
    let mut layers: Vec<_> = rows.map(name).collect();
    layers.reverse();
    assert!(layers.len() > 10, "{layers:?}");
    layers
}
