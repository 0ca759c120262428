//! Type names are unique in the workspace, so that a search for a type name finds one definition.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, Ident, ItemEnum, ItemStruct, ItemTrait, ItemType, ItemUnion};
use testkit::source_tree::{read, root, rust_files};

/// Names with several definitions for good reasons.
const SHARED: &[(&str, &str)] = &[
    ("Connection", "one end of a connection, in the bus and in a client"),
    (
        "CountingAllocator",
        "the allocator of each test that counts allocations; such a test is a program of its own",
    ),
    ("PeerListener", BOTH_FRONT_ENDS),
    ("Proxy", BOTH_FRONT_ENDS),
    ("SignalSubscription", BOTH_FRONT_ENDS),
    ("StartedCall", BOTH_FRONT_ENDS),
    ("StartedSubscription", BOTH_FRONT_ENDS),
    ("Subscription", BOTH_FRONT_ENDS),
];

const BOTH_FRONT_ENDS: &str = "in the blocking and in the asynchronous front end of the client";

/// The simulated kernel replaces the crate `sys`, which contains `unix`, file by file, so its types
/// have the names of the originals.
const MIRROR: &str = "simulation/kernel/src/";
const ORIGINALS: [&str; 2] = ["crates/sys/src/", "crates/unix/src/"];

#[test]
fn a_type_name_stands_for_one_thing() {
    let definitions = definitions();
    assert!(definitions.len() > 1000, "only {} names were found", definitions.len());
    let shared: BTreeSet<_> = SHARED.iter().map(|(name, _)| *name).collect();
    for name in &shared {
        let files = definitions.get(*name).map_or(0, Vec::len);
        assert!(files > 1, "{name} is in SHARED and has {files} definitions");
    }
    let several = definitions.into_iter().filter(|(_, files)| files.len() > 1);
    let clashes: Vec<_> = several.filter(|(name, _)| !shared.contains(name.as_str())).collect();
    assert!(clashes.is_empty(), "type names with several definitions: {clashes:#?}");
}

#[test]
fn definitions_are_found_everywhere_and_alternatives_count_once() {
    let code = r#"
        struct Alone;
        pub enum Kind { A }
        union Bits { a: u8 }
        trait Speaks { type Word; fn speak(&self) -> Self::Word; }
        impl Speaks for Alone { type Word = u8; fn speak(&self) -> u8 { struct Inner; 0 } }
        type Alias = u8;
        mod inside { struct Alone; }
        #[cfg(unix)] struct Place;
        #[cfg(not(unix))] struct Place(u8);
        #[cfg(test)] mod tests { #[derive(Debug)] struct OfTest; }
        // struct Comment;
        const TEXT: &str = "struct Text;";
    "#;
    let names = names_in(code).unwrap();
    let expected =
        ["Alias", "Alone", "Alone", "Bits", "Inner", "Kind", "OfTest", "Place", "Speaks"];
    assert_eq!(names, expected);
}

/// Returns the files that define each name. A file appears once for each of its definitions.
fn definitions() -> BTreeMap<String, Vec<String>> {
    let mut definitions = BTreeMap::<_, Vec<_>>::new();
    for path in rust_files() {
        let file = path.strip_prefix(root()).expect("below the root");
        let file = file.display().to_string();
        let names = names_in(&read(&path)).unwrap_or_else(|error| panic!("{file}: {error}"));
        for name in names {
            definitions.entry(name).or_default().push(file.clone());
        }
    }
    for files in definitions.values_mut() {
        let all = files.clone();
        let is_mirrored = |file: &str| {
            let Some(file) = file.strip_prefix(MIRROR) else { return false };
            ORIGINALS.iter().any(|folder| all.contains(&[folder, file].concat()))
        };
        files.retain(|file| !is_mirrored(file));
    }
    definitions
}

/// Returns the names of types that a file defines, sorted. Types that macros define are not
/// included, nor are associated types. Alternative definitions selected by `cfg` count once.
fn names_in(code: &str) -> syn::Result<Vec<String>> {
    let mut finder = DefinitionFinder::default();
    finder.visit_file(&syn::parse_file(code)?);
    let DefinitionFinder { mut names, alternatives } = finder;
    names.extend(alternatives);
    names.sort();
    Ok(names)
}

#[derive(Default)]
struct DefinitionFinder {
    names: Vec<String>,
    alternatives: BTreeSet<String>,
}

impl DefinitionFinder {
    fn add(&mut self, name: &Ident, attributes: &[Attribute]) {
        if attributes.iter().any(|attribute| attribute.path().is_ident("cfg")) {
            self.alternatives.insert(name.to_string());
        } else {
            self.names.push(name.to_string());
        }
    }
}

macro_rules! visit_definitions {
    ($($visit:ident: $item:ty;)*) => {
        impl<'ast> Visit<'ast> for DefinitionFinder {
            $(
                fn $visit(&mut self, item: &'ast $item) {
                    self.add(&item.ident, &item.attrs);
                    visit::$visit(self, item);
                }
            )*
        }
    };
}

visit_definitions! {
    visit_item_enum: ItemEnum;
    visit_item_struct: ItemStruct;
    visit_item_trait: ItemTrait;
    visit_item_type: ItemType;
    visit_item_union: ItemUnion;
}
