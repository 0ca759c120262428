//! Generates client code for an object from its introspection data.
//!
//! ```text
//! interfaces ─▶ model ─▶ template of rust (for two libraries) | python | c
//! ```
//!
//! [`names`] converts D-Bus names to identifiers. [`model`] gives each member an identifier by the
//! rules of a language, and omits members that the language cannot express, with a comment that has
//! the reason. The text of the generated code is a template (`*.j2`); a language adds filters for
//! its types. Introspection data is untrusted: it is checked before it becomes an identifier, a
//! type, or the text of a comment.

mod c;
mod model;
mod names;
mod python;
mod rust;
mod template;
mod text;

use clap::ValueEnum;
use inspector::introspection::Interface;

use super::ask::{InspectedService, no_such_interface};
use crate::inspection::InspectionError;
use model::{LanguageRules, ProxySource};
use rust::RustLibrary;

/// The language of generated code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Language {
    /// Proxy traits for diligence-client
    Rust,
    /// Proxy traits for zbus
    Zbus,
    /// Classes over GLib's connection, with python3-gi
    Python,
    /// A header with functions over sd-bus
    C,
}

/// Generates the code for one interface of an object, or for all interfaces except the standard
/// ones.
pub(super) fn of(
    subject: &InspectedService<'_>,
    path: &str,
    interface: Option<&str>,
    language: Language,
) -> Result<String, InspectionError> {
    let failed = |failure| subject.failed(path, failure);
    let mut interfaces = subject.document(path).map_err(failed)?.interfaces;
    let known: Vec<_> = interfaces.iter().map(|one| one.name.clone()).collect();
    if known.is_empty() {
        return Err(subject.no_such_object(path));
    }
    interfaces.retain(|one| match interface {
        Some(wanted) => one.name == wanted,
        None => !STANDARD.contains(&one.name.as_str()),
    });
    match (interfaces.is_empty(), interface) {
        (false, _) => Ok(code(ProxySource { service: subject.name, path }, &interfaces, language)),
        (true, Some(wanted)) => {
            Err(no_such_interface(wanted, path, known.iter().map(String::as_str)))
        }
        (true, None) => Err(InspectionError::OnlyStandard { path: path.to_owned(), known }),
    }
}

fn code(source: ProxySource<'_>, interfaces: &[Interface], language: Language) -> String {
    let (proxies, left_out) = model::proxies(interfaces, language.rules());
    let (mark, end) = match language {
        Language::Rust | Language::Zbus => ("// ", ""),
        Language::Python => ("# ", ""),
        Language::C => ("/* ", " */"),
    };
    let mut text = match language {
        Language::Rust => rust::file(RustLibrary::Diligence, &source, &proxies),
        Language::Zbus => rust::file(RustLibrary::Zbus, &source, &proxies),
        Language::Python => python::file(&source, &proxies),
        Language::C => c::file(&source, &proxies),
    };
    for line in left_out {
        let line = text::clean(&line).replace("*/", "* /");
        text += &format!("\n{mark}Left out: {line}{end}\n");
    }
    text
}

impl Language {
    const fn rules(self) -> &'static LanguageRules {
        match self {
            Self::Rust => rust::rules(RustLibrary::Diligence),
            Self::Zbus => rust::rules(RustLibrary::Zbus),
            Self::Python => &python::RULES,
            Self::C => &c::RULES,
        }
    }
}

/// Standard interfaces, which libraries already support.
const STANDARD: [&str; 4] = [
    "org.freedesktop.DBus.Introspectable",
    "org.freedesktop.DBus.ObjectManager",
    "org.freedesktop.DBus.Peer",
    "org.freedesktop.DBus.Properties",
];

#[cfg(test)]
mod tests;
