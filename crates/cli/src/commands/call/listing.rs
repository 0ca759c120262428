//! Lists of services, objects and members, for calls with too few words.

use std::fmt::Write as _;
use std::process::ExitCode;

use capture::text::Style;
use capture::text::visible::printable;
use inspector::introspection::{Interface, Property, PropertyAccess};
use inspector::{Inspector, InspectorTimeouts, NodeContent, Starting, TreeOptions};

use crate::output::print;
use crate::poke::error::PokeError;
use crate::poke::member::{TargetObject, form, listed};
use crate::style;

/// Prints the names of all services, including activatable ones.
pub(super) fn services(inspector: &Inspector) -> Result<ExitCode, PokeError> {
    let names = inspector.names()?.into_iter().map(|name| name.name);
    Ok(lines(names.filter(|name| !name.starts_with(':'))))
}

/// Prints the paths of the objects of a service that have an interface.
pub(super) fn paths(
    inspector: &Inspector,
    service: &str,
    starting: Starting,
    timeouts: InspectorTimeouts,
) -> Result<ExitCode, PokeError> {
    let options = TreeOptions { starting, timeouts, ..TreeOptions::default() };
    let tree = inspector.tree(service, &options)?;
    if let [node] = tree.nodes.as_slice()
        && let NodeContent::Failure(failure) = &node.content
    {
        let object = TargetObject::new(service, &node.path, timeouts.total);
        return Err(object.failed(failure.clone(), inspector, ""));
    }
    let has_something = |content: &NodeContent| !matches!(content, NodeContent::Interfaces(names) if names.is_empty());
    let nodes = tree.nodes.into_iter().filter(|node| has_something(&node.content));
    Ok(lines(nodes.map(|node| node.path)))
}

/// Prints the members of an object, or only the members of one interface.
pub(super) fn members(object: &TargetObject<'_>, only: Option<&str>) -> ExitCode {
    let interfaces = object.introspection.interfaces.iter();
    let interfaces = interfaces.filter(|one| only.is_none_or(|name| one.name == name));
    let mut members = MemberListing { text: String::new(), style: style::of_stdout() };
    interfaces.for_each(|interface| members.push(interface));
    print(&members.text)
}

/// A line for each member: kind, name, arguments and results.
struct MemberListing {
    text: String,
    style: Style,
}

impl MemberListing {
    fn push(&mut self, interface: &Interface) {
        for Property { name, types, access, .. } in &interface.properties {
            let access = match access {
                PropertyAccess::Read => "read",
                PropertyAccess::Write => "write",
                PropertyAccess::ReadWrite => "readwrite",
            };
            let kind = format!("property {access} {}", printable(types));
            self.line(&kind, interface, name, "");
        }
        for signal in &interface.signals {
            let arguments = format!("({})", listed(&signal.arguments));
            self.line("signal", interface, &signal.name, &arguments);
        }
        for method in &interface.methods {
            self.line("method", interface, &method.name, &form(method));
        }
    }

    fn line(&mut self, kind: &str, interface: &Interface, member: &str, arguments: &str) {
        let (interface, member) = (printable(&interface.name), printable(member));
        let (kind, member) = (self.style.pale(kind), self.style.strong(member));
        let _ = writeln!(self.text, "{kind} {interface}.{member}{arguments}");
    }
}

fn lines(lines: impl Iterator<Item = String>) -> ExitCode {
    let text: String = lines.map(|line| format!("{}\n", printable(&line))).collect();
    print(&text)
}
