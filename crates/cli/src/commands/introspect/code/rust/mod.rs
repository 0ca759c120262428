//! Traits of zbus 6, from the template `traits.j2`.
//!
//! ```text
//! #[zbus::proxy(interface = "org.example.Player1", ...)]
//! pub trait Player1 {
//!     fn play(&self, song: &str) -> zbus::Result<u32>;
//! }
//! ```

mod lines;
mod rules;
mod types;

use std::collections::HashSet;

use minijinja::value::Serde;
use wire::signature::Type;

use super::model::{InterfaceModel, ProxySource, ReplyModel};
use super::names::{has_word, snake};
use super::template::{MethodResults, Passed, environment, fill, type_of};
use lines::DeclarationLayout;
use rules::KEYWORDS;
use types::{carried, owned, taken};

pub(super) use rules::RULES;

/// The file.
pub(super) fn file(source: &ProxySource<'_>, proxies: &[InterfaceModel<'_>]) -> String {
    let mut environment = environment();
    environment.add_global("are_apart", are_apart(proxies));
    environment.add_filter("module", module);
    environment.add_filter("attribute", attribute);
    environment.add_filter("name_attribute", name_attribute);
    environment.add_filter("function", function);
    environment.add_filter("owned", |kind: &str| owned(type_of(kind)));
    environment.add_filter("result", |Serde(method): Serde<MethodResults>| result(&method));
    environment.add_filter("taken", |Serde(values): Serde<Vec<Passed>>| -> Vec<String> {
        values.iter().map(|one| format!("{}: {}", one.name, taken(one.kind()))).collect()
    });
    environment.add_filter("carried", |Serde(values): Serde<Vec<Passed>>| -> Vec<String> {
        // zbus takes one struct for several arguments.
        let end = match values.as_slice() {
            [one] if matches!(one.kind(), Type::Struct(_)) => ("(", ",)"),
            _ => ("", ""),
        };
        let shown =
            |one: &Passed| format!("{}: {}{}{}", one.name, end.0, carried(one.kind()), end.1);
        values.iter().map(shown).collect()
    });
    fill(&environment, include_str!("traits.j2"), source, proxies)
}

fn module(name: &str) -> String {
    let name = snake(name, "unnamed");
    if has_word(KEYWORDS, &name) { name + "_" } else { name }
}

/// Whether no two interfaces have zbus make types of the same name.
fn are_apart(proxies: &[InterfaceModel<'_>]) -> bool {
    let mut seen = HashSet::new();
    let mut names = proxies.iter().flat_map(|proxy| {
        let own = [proxy.name.clone(), format!("{}Proxy", proxy.name)];
        let ends = ["", "Stream", "Args"];
        let of_signals = proxy
            .signals
            .iter()
            .flat_map(move |signal| ends.map(|end| format!("{}{end}", signal.member)));
        own.into_iter().chain(of_signals)
    });
    names.all(|name| seen.insert(name))
}

/// On one line if there is room, as rustfmt has it.
fn attribute(interface: &str, service: &str, path: &str) -> String {
    let parts = [
        format!("interface = \"{interface}\""),
        format!("default_service = \"{service}\""),
        format!("default_path = \"{path}\""),
    ];
    let line = parts.join(", ");
    match line.len() <= ATTRIBUTE_WIDTH {
        true => format!("#[zbus::proxy({line})]"),
        false => format!("#[zbus::proxy(\n    {}\n)]", parts.join(",\n    ")),
    }
}

/// The attribute that names a member, if zbus would make another name of that of Rust.
fn name_attribute(name: &str, member: &str) -> Vec<String> {
    let is_other = pascal_of_zbus(name) != member;
    is_other.then(|| format!("name = \"{member}\"")).into_iter().collect()
}

/// As zbus makes a name of D-Bus from one of Rust.
fn pascal_of_zbus(name: &str) -> String {
    let words = name.split('_').map(|word| match word.is_empty() {
        true => String::new(),
        false => word[..1].to_ascii_uppercase() + &word[1..],
    });
    words.collect()
}

fn function(name: &str, arguments: Vec<String>, result: &str, width: usize) -> String {
    let mut text = String::new();
    let result = format!("zbus::Result<{result}>");
    DeclarationLayout { width }.function(&mut text, name, &arguments, &result);
    text.truncate(text.trim_end().len());
    text
}

/// The type of what a method returns.
fn result(method: &MethodResults) -> String {
    match (method.answer, method.results.as_slice()) {
        (ReplyModel::None, _) | (_, []) => String::from("()"),
        // What is one struct is told from what are several results by one more pair of brackets.
        (_, [one]) if matches!(one.kind(), Type::Struct(_)) => format!("({},)", owned(one.kind())),
        (_, [one]) => owned(one.kind()),
        (_, several) => {
            let types: Vec<_> = several.iter().map(|one| owned(one.kind())).collect();
            format!("({})", types.join(", "))
        }
    }
}

/// What rustfmt leaves on one line.
const ATTRIBUTE_WIDTH: usize = 70;
