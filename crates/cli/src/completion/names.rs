//! Completions for names on a bus.

use std::collections::HashSet;

use inspector::{Inspector, Name};
use wire::names::BusName;

use super::meaning::OfferedNames;
use super::offers::Offer;

/// Returns the names to offer. Unique names are offered only if the written part begins with a
/// colon.
pub(super) fn offers(inspector: &Inspector, which: OfferedNames, written: &str) -> Vec<Offer> {
    let is_unique = written.starts_with(':');
    let own = inspector.connection().unique_name();
    let names = inspector.names().unwrap_or_default().into_iter();
    let names = names.filter(|name| match which {
        OfferedNames::All => name.name.starts_with(':') == is_unique && name.name != own.as_str(),
        OfferedNames::Activatable => name.is_activatable && name.name != BUS,
    });
    let names = names.filter(|name| BusName::new(&name.name).is_ok());
    names.map(|name| Offer::whole(name.name.as_str(), about(&name))).collect()
}

/// Returns running services except the bus, each with one of its names.
pub(super) fn running(inspector: &Inspector) -> Vec<String> {
    let mut owners = HashSet::new();
    let names = inspector.names().unwrap_or_default().into_iter();
    let services = names.filter(|name| !name.name.starts_with(':'));
    let services = services.filter(|name| match &name.owner {
        Some(owner) => owners.insert(owner.clone()),
        None => false,
    });
    services.map(|name| name.name).take(SERVICES_MAX).collect()
}

fn about(name: &Name) -> String {
    let Some(owner) = &name.owner_process else {
        return String::from(if name.is_activatable { "can be started" } else { "" });
    };
    let comm = owner.process.comm.clone().unwrap_or_default();
    match owner.process.pid {
        Some(pid) => format!("{comm} {pid}"),
        None => comm,
    }
}

/// The name of the bus, which is listed as activatable.
const BUS: &str = "org.freedesktop.DBus";

/// The maximum number of services that are asked if the service is not known.
const SERVICES_MAX: usize = 64;
