//! Rust traits for diligence-client and for zbus 6, from the template `traits.j2`.
//!
//! ```text
//! #[diligence_client::proxy(interface = "org.example.Player1", ...)]
//! pub trait Player1 {
//!     fn play(&self, song: &str) -> Result<u32, CallError>;
//! }
//! ```

mod imports;
mod library;
mod lines;
mod rules;
mod types;

use std::collections::HashSet;

use minijinja::value::Serde;

use super::model::{InterfaceModel, LanguageRules, ProxySource};
use super::names::{has_word, snake};
use super::template::{MethodResults, TemplateValue, environment, fill, type_of};
pub(super) use library::RustLibrary;
use lines::DeclarationLayout;
use rules::KEYWORDS;

/// Renders the traits for these interfaces.
pub(super) fn file(
    library: RustLibrary,
    source: &ProxySource<'_>,
    proxies: &[InterfaceModel<'_>],
) -> String {
    let mut environment = environment();
    environment.add_global("title", library.title());
    environment.add_global("are_apart", are_apart(library, proxies));
    environment.add_filter("module", module);
    environment.add_filter("imports", move |code: &str| library.imports(code));
    environment.add_filter("attribute", move |interface: &str, service: &str, path: &str| {
        attribute(library, interface, service, path)
    });
    environment.add_filter("name_option", name_option);
    environment.add_filter("change_option", move |emitted: &str| library.change_option(emitted));
    environment
        .add_filter("mark", move |options: Vec<String>, role: &str| library.mark(role, &options));
    let types = library.types();
    environment.add_filter("owned", |kind: &str| types.owned(type_of(kind)));
    environment.add_filter("result", move |Serde(method): Serde<MethodResults>| {
        library.returned(&library.results(&method))
    });
    environment.add_filter("returned", move |result: &str| library.returned(result));
    environment.add_filter("signal_result", move |_: &str| library.signal_result());
    environment.add_filter(
        "parameters",
        move |Serde(values): Serde<Vec<TemplateValue>>| -> Vec<String> {
            library.parameters(&values)
        },
    );
    environment.add_filter("value_parameter", move |kind: &str| {
        vec![format!("value: {}", library.property_parameter(type_of(kind)))]
    });
    environment.add_filter(
        "signal_arguments",
        move |Serde(values): Serde<Vec<TemplateValue>>| -> Vec<String> {
            library.signal_arguments(&values)
        },
    );
    environment.add_filter("function", function);
    fill(&environment, include_str!("traits.j2"), source, proxies)
}

/// The rules of Rust and a library.
pub(super) const fn rules(library: RustLibrary) -> &'static LanguageRules {
    match library {
        RustLibrary::Diligence => &rules::OF_DILIGENCE,
        RustLibrary::Zbus => &rules::OF_ZBUS,
    }
}

fn module(name: &str) -> String {
    let name = snake(name, "unnamed");
    if has_word(KEYWORDS, &name) { name + "_" } else { name }
}

/// Returns true if the library generates no two types of the same name for these interfaces.
fn are_apart(library: RustLibrary, proxies: &[InterfaceModel<'_>]) -> bool {
    let mut seen = HashSet::new();
    let mut names = proxies.iter().flat_map(|proxy| library.generated_types(proxy));
    names.all(|name| seen.insert(name))
}

/// Returns the attribute of a trait, wrapped like rustfmt does.
fn attribute(library: RustLibrary, interface: &str, service: &str, path: &str) -> String {
    let parts = [
        format!("interface = \"{interface}\""),
        format!("default_service = \"{service}\""),
        format!("default_path = \"{path}\""),
    ];
    let line = parts.join(", ");
    let name = library.crate_name();
    match line.len() <= ATTRIBUTE_WIDTH {
        true => format!("#[{name}::proxy({line})]"),
        false => format!("#[{name}::proxy(\n    {}\n)]", parts.join(",\n    ")),
    }
}

/// Returns an option with the name of a member, if the macro would derive another name from the
/// identifier.
fn name_option(name: &str, member: &str) -> Vec<String> {
    let is_other = pascal_of_macros(name) != member;
    is_other.then(|| format!("name = \"{member}\"")).into_iter().collect()
}

/// Converts an identifier in snake case to a D-Bus name like the macros of both libraries do.
fn pascal_of_macros(name: &str) -> String {
    let words = name.split('_').map(|word| match word.is_empty() {
        true => String::new(),
        false => word[..1].to_ascii_uppercase() + &word[1..],
    });
    words.collect()
}

fn function(name: &str, arguments: Vec<String>, result: &str, width: usize) -> String {
    let mut text = String::new();
    DeclarationLayout { width }.function(&mut text, name, &arguments, result);
    text.truncate(text.trim_end().len());
    text
}

/// The maximum length of an attribute that rustfmt keeps on one line.
const ATTRIBUTE_WIDTH: usize = 70;
