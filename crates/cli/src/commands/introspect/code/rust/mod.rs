//! Traits of zbus 6.
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
use std::fmt::Write as _;

use inspector::introspection::EmitsChange;
use wire::signature::Type;

use super::model::{
    About, Answer, ArgumentModel, MethodModel, PropertyModel, Proxy, SignalModel, Source,
};
use super::names::{has_word, snake};
use super::text;
use lines::Lines;
use rules::KEYWORDS;
use types::{carried, owned, taken};

pub(super) use rules::RULES;

/// The file.
pub(super) fn file(source: &Source<'_>, proxies: &[Proxy<'_>]) -> String {
    let mut text = String::new();
    source.heading().for_each(|line| comment(&mut text, "", "//", &line));
    text.push_str("// For zbus 6.\n");
    if are_apart(proxies) {
        let bodies: Vec<_> = proxies.iter().map(|proxy| body(source, proxy, 0)).collect();
        let imports = imports(&bodies.concat());
        let parts = imports.into_iter().chain(bodies.iter().map(String::as_str));
        parts.for_each(|part| text.extend(["\n", part]));
        return text;
    }
    for proxy in proxies {
        let body = body(source, proxy, 1);
        let _ = write!(text, "\n/// `{}`\npub mod {} {{\n", proxy.interface, module(proxy));
        let imports = imports(&body).map(|imports| format!("{imports}\n"));
        for line in (imports.unwrap_or_default() + &body).lines() {
            let indent = if line.is_empty() { "" } else { INDENT };
            let _ = writeln!(text, "{indent}{line}");
        }
        text.push_str("}\n");
    }
    text
}

/// What the traits need of the standard library.
fn imports(body: &str) -> Option<&'static str> {
    body.contains("HashMap<").then_some("use std::collections::HashMap;\n")
}

fn module(proxy: &Proxy<'_>) -> String {
    let name = snake(&proxy.name, "unnamed");
    if has_word(KEYWORDS, &name) { name + "_" } else { name }
}

/// Whether no two interfaces have zbus make types of the same name.
fn are_apart(proxies: &[Proxy<'_>]) -> bool {
    let mut seen = HashSet::new();
    let mut names = proxies.iter().flat_map(|proxy| {
        let own = [proxy.name.clone(), format!("{}Proxy", proxy.name)];
        let of_signals = proxy.signals.iter().flat_map(|signal| types_of_signal(signal.member));
        own.into_iter().chain(of_signals)
    });
    names.all(|name| seen.insert(name))
}

fn types_of_signal(member: &str) -> [String; 3] {
    ["", "Stream", "Args"].map(|end| format!("{member}{end}"))
}

/// A trait, that will stand in so many others.
fn body(source: &Source<'_>, proxy: &Proxy<'_>, level: usize) -> String {
    let text = &mut String::new();
    let lines = Lines { width: WIDTH - level * INDENT.len() };
    match &proxy.about.documentation {
        Some(lines) => lines.iter().for_each(|line| comment(text, "", "///", line)),
        None => comment(text, "", "///", proxy.interface),
    }
    if proxy.about.is_deprecated {
        text.push_str("///\n/// Deprecated.\n");
    }
    attribute(text, source, proxy);
    let methods = proxy.methods.iter().map(|one| method(one, lines));
    let properties = proxy.properties.iter().flat_map(|one| property(one, lines));
    let signals = proxy.signals.iter().map(|one| signal(one, lines));
    let members: Vec<_> = methods.chain(properties).chain(signals).collect();
    if members.is_empty() && proxy.left_out.is_empty() {
        let _ = writeln!(text, "pub trait {} {{}}", proxy.name);
        return std::mem::take(text);
    }
    let _ = writeln!(text, "pub trait {} {{", proxy.name);
    text.push_str(&members.join("\n"));
    let mut gap = if members.is_empty() { "" } else { "\n" };
    for line in &proxy.left_out {
        text.push_str(std::mem::take(&mut gap));
        comment(text, INDENT, "//", &format!("Left out: {line}"));
    }
    text.push_str("}\n");
    std::mem::take(text)
}

/// On one line if there is room, as rustfmt has it.
fn attribute(text: &mut String, source: &Source<'_>, proxy: &Proxy<'_>) {
    let parts = [
        format!("interface = \"{}\"", proxy.interface),
        format!("default_service = \"{}\"", source.service),
        format!("default_path = \"{}\"", source.path),
    ];
    let line = parts.join(", ");
    let _ = match line.len() <= ATTRIBUTE_WIDTH {
        true => writeln!(text, "#[zbus::proxy({line})]"),
        false => writeln!(text, "#[zbus::proxy(\n    {}\n)]", parts.join(",\n    ")),
    };
}

fn method(method: &MethodModel<'_>, lines: Lines) -> String {
    let no_reply = (method.answer == Answer::None).then(|| String::from("no_reply"));
    let attributes: Vec<_> =
        named(&method.name, method.member).into_iter().chain(no_reply).collect();
    let result = match (method.answer, method.results.as_slice()) {
        (Answer::None, _) | (_, []) => String::from("()"),
        // What is one struct is told from what are several results by one more pair of brackets.
        (_, [one]) if matches!(one.kind, Type::Struct(_)) => format!("({},)", owned(one.kind)),
        (_, [one]) => owned(one.kind),
        (_, several) => {
            let types: Vec<_> = several.iter().map(|one| owned(one.kind)).collect();
            format!("({})", types.join(", "))
        }
    };
    let arguments: Vec<_> = method.arguments.iter().map(|one| argument(one, taken)).collect();
    let mut text = head(&method.about, &attributes);
    lines.function(&mut text, &method.name, &arguments, &format!("zbus::Result<{result}>"));
    text
}

fn property(property: &PropertyModel<'_>, lines: Lines) -> Vec<String> {
    let PropertyModel { member, name, setter, kind, access, emits_change, about, .. } = property;
    let mut functions = Vec::new();
    if access.is_readable() {
        let changes = match emits_change {
            EmitsChange::Value => String::from("property"),
            EmitsChange::Invalidates => emits("invalidates"),
            EmitsChange::Const => emits("const"),
            EmitsChange::No => emits("false"),
        };
        let attributes: Vec<_> = [changes].into_iter().chain(named(name, member)).collect();
        let mut text = head(about, &attributes);
        lines.function(&mut text, name, &[], &format!("zbus::Result<{}>", owned(*kind)));
        functions.push(text);
    }
    if access.is_writable() {
        let word = [String::from("property")];
        let attributes: Vec<_> = word.into_iter().chain(named(setter, member)).collect();
        let mut text = head(about, &attributes);
        let value = format!("value: {}", taken(*kind));
        lines.function(&mut text, &format!("set_{setter}"), &[value], "zbus::Result<()>");
        functions.push(text);
    }
    functions
}

fn signal(signal: &SignalModel<'_>, lines: Lines) -> String {
    let word = [String::from("signal")];
    let attributes: Vec<_> = word.into_iter().chain(named(&signal.name, signal.member)).collect();
    let arguments: Vec<_> = match signal.arguments.as_slice() {
        [one] if matches!(one.kind, Type::Struct(_)) => {
            vec![format!("{}: ({},)", one.name, carried(one.kind))]
        }
        arguments => arguments.iter().map(|one| argument(one, carried)).collect(),
    };
    let mut text = head(&signal.about, &attributes);
    lines.function(&mut text, &signal.name, &arguments, "zbus::Result<()>");
    text
}

/// The attribute that names a member, if zbus would make another name of that of Rust.
fn named(name: &str, member: &str) -> Option<String> {
    (pascal_of_zbus(name) != member).then(|| format!("name = \"{member}\""))
}

fn emits(word: &str) -> String {
    format!("property(emits_changed_signal = \"{word}\")")
}

/// As zbus makes a name of D-Bus from one of Rust.
fn pascal_of_zbus(name: &str) -> String {
    let words = name.split('_').map(|word| match word.is_empty() {
        true => String::new(),
        false => word[..1].to_ascii_uppercase() + &word[1..],
    });
    words.collect()
}

fn argument(argument: &ArgumentModel<'_>, shown: fn(Type<'_>) -> String) -> String {
    format!("{}: {}", argument.name, shown(argument.kind))
}

/// What stands above a function: documentation and attributes.
fn head(about: &About, attributes: &[String]) -> String {
    let mut text = String::new();
    let lines = about.documentation.iter().flatten();
    lines.for_each(|line| comment(&mut text, INDENT, "///", line));
    if about.is_deprecated {
        text.push_str("    #[deprecated]\n");
    }
    if !attributes.is_empty() {
        let _ = writeln!(text, "    #[zbus({})]", attributes.join(", "));
    }
    text
}

fn comment(text: &mut String, indent: &str, mark: &str, line: &str) {
    let gap = if line.is_empty() { "" } else { " " };
    let _ = writeln!(text, "{indent}{mark}{gap}{}", text::clean(line));
}

/// What rustfmt leaves on one line.
const WIDTH: usize = 100;
const ATTRIBUTE_WIDTH: usize = 70;

const INDENT: &str = "    ";
