//! What there is to call: services, their objects, and the members of these.

use std::fmt::Write as _;
use std::process::ExitCode;

use capture::text::units::printable;
use inspector::introspection::{Access, Argument, Interface};
use inspector::{Inspector, Patience, Starting, Told, TreeOptions};

use crate::output::print;
use crate::poke::error::PokeError;
use crate::poke::member::Object;

/// The names of services, those too that can be started.
pub(super) fn services(inspector: &Inspector) -> Result<ExitCode, PokeError> {
    let names = inspector.names()?.into_iter().map(|name| name.name);
    Ok(lines(names.filter(|name| !name.starts_with(':'))))
}

/// The paths of the objects of a service that have an interface.
pub(super) fn paths(
    inspector: &Inspector,
    service: &str,
    starting: Starting,
    patience: Patience,
) -> Result<ExitCode, PokeError> {
    let options = TreeOptions { starting, patience, ..TreeOptions::default() };
    let tree = inspector.tree(service, &options)?;
    if let [node] = tree.nodes.as_slice()
        && let Told::Failure(failure) = &node.told
    {
        let object = Object::unasked(service, &node.path, patience.whole);
        return Err(object.failed(failure.clone(), inspector, ""));
    }
    let has_something = |told: &Told| !matches!(told, Told::Interfaces(names) if names.is_empty());
    let nodes = tree.nodes.into_iter().filter(|node| has_something(&node.told));
    Ok(lines(nodes.map(|node| node.path)))
}

/// The members of an object, or those of one interface.
pub(super) fn members(object: &Object<'_>, only: Option<&str>) -> ExitCode {
    let interfaces = object.told.interfaces.iter();
    let interfaces = interfaces.filter(|one| only.is_none_or(|name| one.name == name));
    let mut text = String::new();
    interfaces.for_each(|interface| push(&mut text, interface));
    print(&text)
}

fn push(text: &mut String, interface: &Interface) {
    let full = |member: &str| printable(&format!("{}.{member}", interface.name)).into_owned();
    for property in &interface.properties {
        let access = match property.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "readwrite",
        };
        let _ = writeln!(
            text,
            "property {access} {} {}",
            printable(&property.types),
            full(&property.name)
        );
    }
    for signal in &interface.signals {
        let _ = writeln!(text, "signal {}({})", full(&signal.name), listed(&signal.arguments));
    }
    for method in &interface.methods {
        let _ = write!(text, "method {}({})", full(&method.name), listed(&method.arguments));
        match method.results.as_slice() {
            [] => text.push('\n'),
            results => {
                let _ = writeln!(text, " -> ({})", listed(results));
            }
        }
    }
}

/// `s name, u number`
fn listed(arguments: &[Argument]) -> String {
    let one = |argument: &Argument| {
        let name = argument.name.as_deref().unwrap_or_default();
        printable(format!("{} {name}", argument.types).trim_end()).into_owned()
    };
    arguments.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn lines(lines: impl Iterator<Item = String>) -> ExitCode {
    let text: String = lines.map(|line| format!("{}\n", printable(&line))).collect();
    print(&text)
}
