//! The objects of a connection, by path.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wire::introspection::XmlWriter;

use super::error::{MethodError, error_name};
use super::served::{DynInterface, MethodIndex};
use super::standard::{MANAGER_XML, STANDARD_XML, Standard};
use crate::core::KnownHeaderId;
use crate::link::ReceivedMessage;

/// All served objects, and the method that the latest call called.
#[derive(Default)]
pub(crate) struct ServedObjects {
    nodes: BTreeMap<Box<str>, ObjectNode>,
    /// The target of the latest call with a known header, until an interface is removed. Others
    /// that are added do not take its calls.
    latest: Option<(KnownHeaderId, FoundMethod)>,
}

/// Changed properties of one interface of an object.
pub(super) struct ChangedProperties {
    pub(super) path: Box<str>,
    pub(super) served: Arc<dyn DynInterface>,
    pub(super) properties: Vec<Box<str>>,
}

impl ChangedProperties {
    pub(super) fn new(path: &str, served: Arc<dyn DynInterface>, properties: &[&str]) -> Self {
        let properties = properties.iter().map(|name| (*name).into()).collect();
        Self { path: path.into(), served, properties }
    }
}

/// Changes whose signals wait until their objects are free, in order.
#[derive(Default)]
pub(in crate::blocking) struct PendingChanges {
    changes: Mutex<Vec<ChangedProperties>>,
    /// True if there are changes. It is written while the list is locked, and read without, so that
    /// a call that changes nothing locks nothing.
    has_any: AtomicBool,
}

impl PendingChanges {
    pub(super) fn add(&self, change: ChangedProperties) {
        let mut changes = self.lock();
        changes.push(change);
        self.has_any.store(true, Ordering::Relaxed);
    }

    /// True if there are changes. It can miss some that another thread adds at the moment.
    pub(super) fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Relaxed)
    }

    /// Takes the first change of an object that is free.
    pub(super) fn take_free(&self) -> Option<ChangedProperties> {
        // One thread has added a change, and another has left the object. Both call this then, and at
        // least one sees what the other has done.
        fence(Ordering::SeqCst);
        if !self.has_any() {
            return None;
        }
        let mut changes = self.lock();
        let free = changes.iter().position(|change| change.served.is_free());
        let change = free.map(|place| changes.remove(place));
        self.has_any.store(!changes.is_empty(), Ordering::Relaxed);
        change
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ChangedProperties>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An object with its interfaces.
#[derive(Default)]
pub(super) struct ObjectNode {
    /// The interfaces, in the order in which they were added.
    pub(super) interfaces: Vec<Arc<dyn DynInterface>>,
    /// Whether the object is an object manager.
    pub(super) manages: ManagedScope,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum ManagedScope {
    #[default]
    Nothing,
    ObjectsBelow,
}

/// A method of a served interface.
#[derive(Clone)]
pub(super) struct FoundMethod {
    pub(super) interface: Arc<dyn DynInterface>,
    pub(super) method: MethodIndex,
}

impl FoundMethod {
    fn find(interface: &Arc<dyn DynInterface>, member: &str) -> Option<Self> {
        let method = interface.method(member)?;
        Some(Self { interface: interface.clone(), method })
    }
}

/// The implementation that answers a call.
pub(super) enum CallTarget {
    /// A method of an interface of the program.
    Served(FoundMethod),
    /// A method of a standard interface.
    Standard(Standard),
}

impl ServedObjects {
    pub(super) fn node(&self, path: &str) -> Option<&ObjectNode> {
        self.nodes.get(path)
    }

    pub(super) fn node_or_new(&mut self, path: &str) -> &mut ObjectNode {
        self.nodes.entry(path.into()).or_default()
    }

    /// Removes an interface of an object, and the object with its last one.
    pub(super) fn remove(&mut self, path: &str, interface: &str) -> Option<Arc<dyn DynInterface>> {
        self.latest = None;
        let node = self.nodes.get_mut(path)?;
        let place = node.interfaces.iter().position(|served| served.name() == interface)?;
        let removed = node.interfaces.remove(place);
        if node.interfaces.is_empty() && node.manages == ManagedScope::Nothing {
            self.nodes.remove(path);
        }
        Some(removed)
    }

    /// The objects below `path`, at any depth.
    pub(super) fn below(&self, path: &str) -> impl Iterator<Item = (&str, &ObjectNode)> {
        let prefix = if path == "/" { "/".to_owned() } else { [path, "/"].concat() };
        let start = Bound::Excluded(prefix.clone().into_boxed_str());
        let range = self.nodes.range((start, Bound::Unbounded));
        let below = range.take_while(move |(path, _)| path.starts_with(&prefix));
        below.map(|(path, node)| (&**path, node))
    }

    /// The path of the nearest object manager above `path`.
    pub(super) fn manager_of<'p>(&self, path: &'p str) -> Option<&'p str> {
        let mut above = path;
        while let Some(at) = above.rfind('/').filter(|_| above != "/") {
            above = if at == 0 { "/" } else { &above[..at] };
            if self.node(above).is_some_and(|node| node.manages == ManagedScope::ObjectsBelow) {
                return Some(above);
            }
        }
        None
    }

    /// Finds the interface or standard method that answers a call.
    pub(super) fn find(&mut self, call: &ReceivedMessage) -> Result<CallTarget, MethodError> {
        let header = call.known_header();
        if let (Some(header), Some((latest, served))) = (header, &self.latest)
            && header == *latest
        {
            return Ok(CallTarget::Served(served.clone()));
        }
        let target = self.search(call)?;
        if let (Some(header), CallTarget::Served(served)) = (header, &target) {
            self.latest = Some((header, served.clone()));
        }
        Ok(target)
    }

    fn search(&self, call: &ReceivedMessage) -> Result<CallTarget, MethodError> {
        let (path, member) = (call.path().unwrap_or("/"), call.member().unwrap_or_default());
        if let Some(interface) = call.interface() {
            return self.find_in(path, interface, member);
        }
        let interfaces = self.node(path).map(|node| &node.interfaces[..]).unwrap_or_default();
        let served = interfaces.iter().find_map(|served| FoundMethod::find(served, member));
        match (served, Standard::by_member(member)) {
            (Some(served), _) => Ok(CallTarget::Served(served)),
            (None, Some(standard)) => self.find_in(path, standard.interface(), member),
            (None, None) => {
                self.require_node(path)?;
                Err(unknown_method(member, path))
            }
        }
    }

    /// The introspection data of the object at `path` as XML; `None` if there is no object at or
    /// below it.
    pub(super) fn introspect(&self, path: &str) -> Option<String> {
        let node = self.node(path);
        let prefix_len = if path == "/" { 1 } else { path.len() + 1 };
        let children: BTreeSet<&str> = self
            .below(path)
            .filter_map(|(below, _)| below[prefix_len..].split('/').next())
            .collect();
        if node.is_none() && children.is_empty() && path != "/" {
            return None;
        }
        let mut xml = XmlWriter::new();
        if let Some(node) = node {
            node.interfaces.iter().for_each(|served| xml.interface(&served.describe()));
            if node.manages == ManagedScope::ObjectsBelow {
                xml.raw(MANAGER_XML);
            }
        }
        xml.raw(STANDARD_XML);
        children.iter().for_each(|child| xml.child(child));
        Some(xml.finish())
    }

    fn find_in(
        &self,
        path: &str,
        interface: &str,
        member: &str,
    ) -> Result<CallTarget, MethodError> {
        if let Some(standard) = Standard::find(interface, member) {
            return self.find_standard(path, standard);
        }
        let node = self.require_node(path)?;
        let served = node.interfaces.iter().find(|served| served.name() == interface);
        match served.map(|served| FoundMethod::find(served, member)) {
            Some(Some(served)) => Ok(CallTarget::Served(served)),
            None if !Standard::is_interface(interface) => Err(unknown_interface(interface, path)),
            _ => Err(unknown_method(member, path)),
        }
    }

    fn find_standard(&self, path: &str, standard: Standard) -> Result<CallTarget, MethodError> {
        match standard {
            // `Peer` is answered for any path, because it is about the program. `introspect` checks
            // the path itself, because a path without an object can have objects below it.
            Standard::Ping | Standard::GetMachineId | Standard::Introspect => {}
            Standard::Get | Standard::GetAll | Standard::Set => drop(self.require_node(path)?),
            Standard::GetManagedObjects => {
                if self.require_node(path)?.manages == ManagedScope::Nothing {
                    return Err(unknown_interface(standard.interface(), path));
                }
            }
        }
        Ok(CallTarget::Standard(standard))
    }

    fn require_node(&self, path: &str) -> Result<&ObjectNode, MethodError> {
        self.node(path).ok_or_else(|| unknown_object(path))
    }
}

pub(super) fn unknown_object(path: &str) -> MethodError {
    MethodError::new(error_name::UNKNOWN_OBJECT, format!("there is no object {path}"))
}

pub(super) fn unknown_interface(interface: &str, path: &str) -> MethodError {
    let text = format!("the object {path} has no interface {interface}");
    MethodError::new(error_name::UNKNOWN_INTERFACE, text)
}

fn unknown_method(member: &str, path: &str) -> MethodError {
    let text = format!("the object {path} has no method {member}");
    MethodError::new(error_name::UNKNOWN_METHOD, text)
}
