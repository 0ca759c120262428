//! Completions for object paths, one level at a time.

use std::collections::BTreeMap;
use std::time::Instant;

use inspector::Inspector;
use inspector::introspection::Introspection;
use wire::names::ObjectPath;

use super::names::running;
use super::offers::Offer;
use crate::poke::member::is_standard;

/// Returns the objects of a service, or of all running services, one level below the written path.
/// A level with only one child is followed further down, until the given time.
pub(super) fn offers(
    inspector: &Inspector,
    service: Option<&str>,
    written: &str,
    until: Instant,
) -> Vec<Offer> {
    let mut services = service.map_or_else(|| running(inspector), |service| vec![service.into()]);
    let written = if written.is_empty() { "/" } else { written };
    let Some((parent, _)) = written.rsplit_once('/').filter(|_| written.starts_with('/')) else {
        return Vec::new();
    };
    let mut nodes = Nodes::default();
    nodes.search(inspector, &mut services, parent, written);
    while let Some(only) = nodes.only_parent().filter(|_| Instant::now() < until) {
        let mut below = Nodes::default();
        below.search(inspector, &mut services, &only, written);
        if below.0.is_empty() {
            break;
        }
        nodes = below;
    }
    nodes.offers()
}

/// Objects by their paths.
#[derive(Default)]
struct Nodes(BTreeMap<String, PathNode>);

/// The known facts about an object.
#[derive(Default)]
struct PathNode {
    /// Its interfaces without the standard ones.
    interfaces: Vec<String>,
    /// True if the object has children.
    is_inner: bool,
}

impl Nodes {
    /// Adds objects whose paths begin with `written`: the root and the children of `parent`, which
    /// has no trailing slash. Services whose introspection fails are removed from `services`.
    fn search(
        &mut self,
        inspector: &Inspector,
        services: &mut Vec<String>,
        parent: &str,
        written: &str,
    ) {
        let path = if parent.is_empty() { "/" } else { parent };
        let asked: Vec<_> = services.iter().map(|service| (service.as_str(), path)).collect();
        let replies = inspector.introspections(&asked);
        let replies: Vec<_> = services
            .drain(..)
            .zip(replies)
            .filter_map(|(service, reply)| Some((service, reply.ok()?)))
            .collect();
        let mut below = Vec::new();
        for (service, introspection) in &replies {
            if path == written {
                self.add_root(introspection);
            }
            let children = introspection.children.iter().map(|child| format!("{parent}/{child}"));
            let children = children.filter(|child| child.starts_with(written));
            let children = children.filter(|child| ObjectPath::new(child).is_ok());
            below.extend(children.map(|child| (service.as_str(), child)));
        }
        for (_, child) in &below {
            self.0.entry(child.clone()).or_default();
        }
        let asked = below.iter().map(|(service, child)| (*service, child.as_str()));
        let asked: Vec<_> = asked.take(OBJECTS_MAX).collect();
        for ((_, child), reply) in asked.iter().zip(inspector.introspections(&asked)) {
            if let Ok(introspection) = reply {
                self.add_node(child, &introspection);
            }
        }
        services.extend(replies.into_iter().map(|(service, _)| service));
    }

    /// Adds the root if it has interfaces of its own or if the service has no other objects.
    fn add_root(&mut self, introspection: &Introspection) {
        let has_something = introspection.interfaces.iter().any(|one| !is_standard(&one.name));
        if has_something || introspection.children.is_empty() {
            self.add_node("/", &Introspection { children: Vec::new(), ..introspection.clone() });
        }
    }

    fn add_node(&mut self, path: &str, introspection: &Introspection) {
        let node = self.0.entry(path.to_owned()).or_default();
        node.is_inner |= !introspection.children.is_empty();
        let own = introspection.interfaces.iter().filter(|interface| !is_standard(&interface.name));
        node.interfaces.extend(own.map(|interface| interface.name.clone()));
    }

    /// The only object, if it has children and no interfaces of its own.
    fn only_parent(&self) -> Option<String> {
        let mut nodes = self.0.iter();
        let (path, node) = nodes.next()?;
        let is_only = nodes.next().is_none() && node.is_inner && node.interfaces.is_empty();
        is_only.then(|| path.clone())
    }

    fn offers(self) -> Vec<Offer> {
        let mut offers = Vec::new();
        for (path, node) in self.0 {
            if !node.interfaces.is_empty() || !node.is_inner {
                offers.push(Offer::whole(path.as_str(), node.interfaces.join(", ")));
            }
            if node.is_inner {
                offers.push(Offer::part(format!("{path}/"), "objects below it"));
            }
        }
        offers
    }
}

/// The maximum number of objects that are introspected. The rest is offered without a description.
const OBJECTS_MAX: usize = 512;
