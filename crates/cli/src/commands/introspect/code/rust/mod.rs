//! Rust traits for zbus 6, from the template `traits.j2`.
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
use super::template::{MethodResults, TemplateValue, environment, fill, type_of};
use lines::DeclarationLayout;
use rules::KEYWORDS;
use types::{borrowed, owned, parameter};

pub(super) use rules::RULES;

/// Renders the traits for these interfaces.
pub(super) fn file(source: &ProxySource<'_>, proxies: &[InterfaceModel<'_>]) -> String {
    let mut environment = environment();
    environment.add_global("are_apart", are_apart(proxies));
    environment.add_filter("module", module);
    environment.add_filter("attribute", attribute);
    environment.add_filter("name_attribute", name_attribute);
    environment.add_filter("function", function);
    environment.add_filter("owned", |kind: &str| owned(type_of(kind)));
    environment.add_filter("result", |Serde(method): Serde<MethodResults>| result(&method));
    environment.add_filter(
        "parameters",
        |Serde(values): Serde<Vec<TemplateValue>>| -> Vec<String> {
            values.iter().map(|one| format!("{}: {}", one.name, parameter(one.kind()))).collect()
        },
    );
    environment.add_filter(
        "signal_arguments",
        |Serde(values): Serde<Vec<TemplateValue>>| -> Vec<String> {
            // zbus treats a single struct as several arguments, so it is wrapped in a tuple.
            let end = match values.as_slice() {
                [one] if matches!(one.kind(), Type::Struct(_)) => ("(", ",)"),
                _ => ("", ""),
            };
            let shown = |one: &TemplateValue| {
                format!("{}: {}{}{}", one.name, end.0, borrowed(one.kind()), end.1)
            };
            values.iter().map(shown).collect()
        },
    );
    fill(&environment, include_str!("traits.j2"), source, proxies)
}

fn module(name: &str) -> String {
    let name = snake(name, "unnamed");
    if has_word(KEYWORDS, &name) { name + "_" } else { name }
}

/// Returns true if zbus generates no two types of the same name for these interfaces.
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

/// Returns the attribute of a trait, wrapped like rustfmt does.
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

/// Returns an attribute with the name of a member, if zbus would derive another name from the
/// identifier.
fn name_attribute(name: &str, member: &str) -> Vec<String> {
    let is_other = pascal_of_zbus(name) != member;
    is_other.then(|| format!("name = \"{member}\"")).into_iter().collect()
}

/// Converts an identifier to a D-Bus name like zbus does.
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

/// The return type of a method.
fn result(method: &MethodResults) -> String {
    match (method.answer, method.results.as_slice()) {
        (ReplyModel::None, _) | (_, []) => String::from("()"),
        // zbus treats a single struct as several results, so it is wrapped in a tuple.
        (_, [one]) if matches!(one.kind(), Type::Struct(_)) => format!("({},)", owned(one.kind())),
        (_, [one]) => owned(one.kind()),
        (_, several) => {
            let types: Vec<_> = several.iter().map(|one| owned(one.kind())).collect();
            format!("({})", types.join(", "))
        }
    }
}

/// The maximum length of an attribute that rustfmt keeps on one line.
const ATTRIBUTE_WIDTH: usize = 70;
