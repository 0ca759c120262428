//! The public items of the crates that other programs use, as golden files. A change of the interface
//! shows up in the diff of `public-api.txt`, and `scripts/compare-api` compares it with a release.
//!
//! Items that macros generate are not listed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Type, UseTree, Visibility};
use testkit::golden;
use testkit::source_tree::{read, root};

/// The crates that other programs use.
const CRATES: [&str; 5] = ["client", "derive", "lane", "unix", "wire"];

#[test]
fn public_items_are_listed() {
    for name in CRATES {
        let folder = root().join("crates").join(name);
        let listing = listing(&folder.join("src/lib.rs"));
        assert!(listing.lines().count() >= 3, "{name}: {listing}");
        golden::check(folder.join("public-api.txt"), &listing);
    }
}

#[test]
fn listings_have_what_programs_can_use() {
    let code = "
        pub struct Shown<T> { pub field: Vec<T>, hidden: u8 }
        struct Hidden;
        #[derive(Clone)] #[non_exhaustive] pub enum Kind { A, B { b: u8 }, C(u8) }
        impl<T> Shown<T> { pub fn call(&self, name: &str) -> Option<(u8, T)> { None } fn no(&self) {} }
        impl Hidden { pub fn no(&self) {} }
        impl<T> Drop for Shown<T> { fn drop(&mut self) {} }
        impl Drop for Hidden { fn drop(&mut self) {} }
        pub(crate) fn no() {}
        pub trait Act { type Out; fn act(&self) -> Self::Out; }
        pub use other::{Thing, part::Renamed as Name};
        #[cfg(test)] mod tests { pub fn no() {} }
        pub mod inside { pub const X: u8 = 1; }
        mod private { pub type Alias = u8; }
    ";
    let mut items = PublicItems::default();
    items.add_file(&syn::parse_file(code).unwrap(), Path::new("none"), "");
    let expected = [
        "enum Kind #[non_exhaustive]",
        "enum Kind: A",
        "enum Kind: B { b: u8 }",
        "enum Kind: C(u8)",
        "enum Kind: derive(Clone)",
        "impl<T> Drop for Shown<T>",
        "impl<T> Shown<T>: fn call(&self, name: &str) -> Option<(u8, T)>",
        "inside::const X: u8",
        "struct Shown<T>",
        "struct Shown<T>: field: Vec<T>",
        "trait Act",
        "trait Act: fn act(&self) -> Self::Out",
        "trait Act: type Out",
        "type Alias = u8",
        "use other::Thing",
        "use other::part::Renamed as Name",
    ];
    assert_eq!(items.finish(), expected);
}

/// The public items of a crate, sorted, one in each line.
fn listing(library: &Path) -> String {
    let mut items = PublicItems::default();
    let file = syn::parse_file(&read(library)).expect("it compiles");
    items.add_file(&file, library.parent().expect("a folder"), "");
    items.finish().iter().map(|line| format!("{line}\n")).collect()
}

/// Collects the public items of a crate. An item in a private module is exported from the closest
/// public one, because the compiler rejects public items that are unreachable.
#[derive(Default)]
struct PublicItems {
    lines: BTreeSet<String>,
    /// The public types and traits.
    names: BTreeSet<String>,
    /// Implementations: the names of their type and trait, and their lines.
    implementations: Vec<(Vec<String>, Vec<String>)>,
}

impl PublicItems {
    fn finish(mut self) -> Vec<String> {
        for (names, lines) in self.implementations {
            if names.iter().any(|name| self.names.contains(name)) {
                self.lines.extend(lines);
            }
        }
        self.lines.into_iter().collect()
    }

    fn add_file(&mut self, file: &syn::File, folder: &Path, prefix: &str) {
        file.items.iter().for_each(|item| self.add_item(item, folder, prefix));
    }

    fn add_module(&mut self, module: &syn::ItemMod, folder: &Path, prefix: &str) {
        let name = module.ident.to_string();
        let prefix = match module.vis {
            Visibility::Public(_) => format!("{prefix}{name}::"),
            _ => prefix.to_owned(),
        };
        let inner = folder.join(&name);
        if let Some((_, items)) = &module.content {
            return items.iter().for_each(|item| self.add_item(item, &inner, &prefix));
        }
        let candidates: [PathBuf; 2] = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
        let path = candidates.iter().find(|path| path.exists()).expect("the file of the module");
        let file = syn::parse_file(&read(path)).expect("it compiles");
        self.add_file(&file, &inner, &prefix);
    }

    fn add_item(&mut self, item: &Item, folder: &Path, prefix: &str) {
        let is_public = |vis: &Visibility| matches!(vis, Visibility::Public(_));
        match item {
            Item::Mod(module) if !is_for_tests(&module.attrs) => {
                self.add_module(module, folder, prefix);
            }
            Item::Struct(it) if is_public(&it.vis) => {
                let head = format!("{prefix}struct {}{}", it.ident, text(&it.generics));
                self.add_type(&it.ident, &head, &it.attrs);
                self.add_fields(&head, &it.fields);
            }
            Item::Enum(it) if is_public(&it.vis) => {
                let head = format!("{prefix}enum {}{}", it.ident, text(&it.generics));
                self.add_type(&it.ident, &head, &it.attrs);
                for variant in &it.variants {
                    let variant = syn::Variant { attrs: Vec::new(), ..variant.clone() };
                    self.lines.insert(format!("{head}: {}", text(&without_docs(variant))));
                }
            }
            Item::Trait(it) if is_public(&it.vis) => {
                let head = format!("{prefix}trait {}{}", it.ident, text(&it.generics));
                self.add_type(&it.ident, &head, &it.attrs);
                for item in &it.items {
                    let item = match item {
                        TraitItem::Fn(function) => text(&function.sig),
                        TraitItem::Type(it) => format!("type {}", it.ident),
                        TraitItem::Const(it) => format!("const {}: {}", it.ident, text(&it.ty)),
                        _ => continue,
                    };
                    self.lines.insert(format!("{head}: {item}"));
                }
            }
            Item::Type(it) if is_public(&it.vis) => {
                let (ident, generics) = (&it.ident, text(&it.generics));
                self.names.insert(ident.to_string());
                self.lines.insert(format!("{prefix}type {ident}{generics} = {}", text(&it.ty)));
            }
            Item::Fn(it) if is_public(&it.vis) => {
                let derive = it.attrs.iter().find(|it| it.path().is_ident("proc_macro_derive"));
                let derive = derive.map_or_else(String::new, |it| format!("{} ", text(&it.meta)));
                self.lines.insert(format!("{prefix}{derive}{}", text(&it.sig)));
            }
            Item::Const(it) if is_public(&it.vis) => {
                self.lines.insert(format!("{prefix}const {}: {}", it.ident, text(&it.ty)));
            }
            Item::Static(it) if is_public(&it.vis) => {
                self.lines.insert(format!("{prefix}static {}: {}", it.ident, text(&it.ty)));
            }
            Item::Use(it) if is_public(&it.vis) => self.add_use(&it.tree, prefix, ""),
            Item::Impl(it) => self.add_implementation(it, prefix),
            _ => {}
        }
    }

    fn add_type(&mut self, ident: &syn::Ident, head: &str, attributes: &[Attribute]) {
        self.names.insert(ident.to_string());
        let is_open = attributes.iter().any(|it| it.path().is_ident("non_exhaustive"));
        let mark = if is_open { " #[non_exhaustive]" } else { "" };
        self.lines.insert(format!("{head}{mark}"));
        for derive in attributes.iter().filter(|it| it.path().is_ident("derive")) {
            self.lines.insert(format!("{head}: {}", text(&derive.meta)));
        }
    }

    fn add_fields(&mut self, head: &str, fields: &Fields) {
        for (index, field) in fields.iter().enumerate() {
            if let Visibility::Public(_) = field.vis {
                let name = field.ident.as_ref().map_or_else(|| index.to_string(), text);
                self.lines.insert(format!("{head}: {name}: {}", text(&field.ty)));
            }
        }
    }

    fn add_use(&mut self, tree: &UseTree, prefix: &str, path: &str) {
        // The modules of a crate can change, so only the exported name counts.
        let is_internal = path.is_empty() || ["crate", "self", "super"].contains(&path);
        match tree {
            UseTree::Path(it) if is_internal && path.is_empty() => {
                self.add_use(&it.tree, prefix, &it.ident.to_string());
            }
            UseTree::Path(it) => self.add_use(&it.tree, prefix, &format!("{path}::{}", it.ident)),
            UseTree::Group(it) => it.items.iter().for_each(|it| self.add_use(it, prefix, path)),
            leaf => {
                let line = format!("{prefix}use {path}::{}", text(leaf));
                self.lines.insert(line.replace("use ::", "use "));
            }
        }
    }

    fn add_implementation(&mut self, it: &syn::ItemImpl, prefix: &str) {
        if is_for_tests(&it.attrs) {
            return;
        }
        let (generics, bounds) = (text(&it.generics), text(&it.generics.where_clause));
        let own = text(&it.self_ty);
        let mut names = Vec::from_iter(name_of(&it.self_ty));
        let lines = match &it.trait_ {
            Some((_, path, _)) => {
                names.extend(path.segments.last().map(|last| last.ident.to_string()));
                let line = format!("{prefix}impl{generics} {} for {own} {bounds}", text(path));
                vec![line.trim_end().to_owned()]
            }
            None => {
                let head = format!("{prefix}impl{generics} {own} {bounds}");
                let items = it.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(it) if matches!(it.vis, Visibility::Public(_)) => {
                        Some(text(&it.sig))
                    }
                    ImplItem::Const(it) if matches!(it.vis, Visibility::Public(_)) => {
                        Some(format!("const {}: {}", it.ident, text(&it.ty)))
                    }
                    _ => None,
                });
                items.map(|item| format!("{}: {item}", head.trim_end())).collect()
            }
        };
        self.implementations.push((names, lines));
    }
}

fn without_docs(mut variant: syn::Variant) -> syn::Variant {
    variant.fields.iter_mut().for_each(|field| field.attrs.clear());
    variant
}

/// The name of a type without its path, its generics and references.
fn name_of(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Type::Reference(reference) => name_of(&reference.elem),
        _ => None,
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

/// Tokens as people write them, nearly.
fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (found, replacement) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" :", ":"),
        (" ;", ";"),
        ("->(", "-> ("),
        (",(", ", ("),
        (",)", ")"),
    ] {
        text = text.replace(found, replacement);
    }
    text
}
