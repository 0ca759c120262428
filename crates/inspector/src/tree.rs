//! Lists the objects of a service.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use capture::introspection::Introspection;
use capture::record::nanos;
use client::{CallError, Connection, IntoName, ReceivedMessage, StartedCall};
use serde::Serialize;
use wire::names::{BusName, ObjectPath};

use crate::requests::{InspectorRequest, RequestBatch, introspect};
use crate::{InspectionBound, Inspector, InspectorFailure, InspectorTimeouts, Starting};

/// The objects of a service, from the introspection data of each parent.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The bus name of the service.
    pub service: String,
    /// The objects. Each comes before its children, which are sorted by name.
    pub nodes: Vec<TreeNode>,
    /// The number of objects that were omitted because of the limit on nodes.
    pub left_out: usize,
    /// Nanoseconds that the requests took.
    pub took_ns: u64,
}

/// An object of a service.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TreeNode"))]
pub struct TreeNode {
    /// The path of the object. If the failure is an [`InspectorFailure::Name`], this is an invalid
    /// path from the introspection data of its parent.
    pub path: String,
    /// The interfaces of the object, or why they are unknown.
    #[serde(flatten)]
    pub content: NodeContent,
}

/// The result of introspecting an object of a tree.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NodeContent {
    /// The names of its interfaces.
    Interfaces(Vec<String>),
    /// Why the introspection failed. The children of the object are unknown.
    Failure(InspectorFailure),
}

/// Which objects a tree has, and the limits for requesting them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeOptions {
    /// The path of the first object.
    pub root: String,
    /// Controls whether the bus may start the service.
    pub starting: Starting,
    /// The timeouts of the requests.
    pub timeouts: InspectorTimeouts,
    /// Maximum number of requests in flight.
    pub at_once: usize,
    /// Maximum depth of objects below the first one.
    pub depth: usize,
    /// Maximum number of objects.
    pub nodes: usize,
    /// Maximum total size of paths and interface names, in bytes.
    pub bytes: usize,
}

impl Default for TreeOptions {
    /// All objects, within limits that bound the cost of a hostile service.
    fn default() -> Self {
        Self {
            root: ObjectPath::ROOT.as_str().into(),
            starting: Starting::Never,
            timeouts: InspectorTimeouts::default(),
            at_once: 32,
            depth: 64,
            nodes: 10_000,
            bytes: 16 << 20,
        }
    }
}

impl Inspector {
    /// Introspects an object and all objects below it, many at the same time. An object that does
    /// not reply has a [`NodeContent::Failure`].
    ///
    /// # Errors
    ///
    /// If the service name or the path of the first object is invalid.
    pub fn tree(&self, service: &str, options: &TreeOptions) -> Result<Tree, InspectorFailure> {
        let begun = Instant::now();
        let service: BusName<'_> = service.into_name()?;
        let root: ObjectPath<'_> = options.root.as_str().into_name()?;
        let mut batch = RequestBatch::new(&self.connection, options.timeouts, options.at_once);
        let mut builder = TreeBuilder::new(service, options);
        batch.push(builder.request(root.as_str(), 0));
        while let Some((request, reply)) = batch.next() {
            for child in builder.store(&request, reply) {
                batch.push(child);
            }
        }
        for request in batch.unsent() {
            builder.failed(request.path, InspectorFailure::LeftOut(InspectionBound::Time));
        }
        Ok(builder.finish(begun.elapsed()))
    }
}

/// A request to introspect an object; `depth` counts from the first object.
struct NodeRequest<'a> {
    service: BusName<'a>,
    path: String,
    depth: usize,
    starting: Starting,
}

impl InspectorRequest for NodeRequest<'_> {
    fn start(&self, connection: &Connection, timeout: Duration) -> Result<StartedCall, CallError> {
        let path = self.path.as_str().into_name()?;
        introspect(connection, self.service, path, self.starting, timeout)
    }
}

/// The results of a tree so far.
struct TreeBuilder<'a> {
    service: BusName<'a>,
    options: &'a TreeOptions,
    /// The paths of all objects that were requested, will be, or exceed a limit.
    seen: HashSet<String>,
    nodes: Vec<TreeNode>,
    left_out: usize,
    /// Total size of the stored paths and interface names.
    bytes: usize,
}

impl<'a> TreeBuilder<'a> {
    fn new(service: BusName<'a>, options: &'a TreeOptions) -> Self {
        let (seen, nodes) = (HashSet::new(), Vec::new());
        Self { service, options, seen, nodes, left_out: 0, bytes: 0 }
    }

    fn request(&mut self, path: &str, depth: usize) -> NodeRequest<'a> {
        self.seen.insert(path.to_owned());
        let (service, starting) = (self.service, self.options.starting);
        NodeRequest { service, path: path.to_owned(), depth, starting }
    }

    /// Stores a reply, and returns the requests for the child objects.
    fn store(
        &mut self,
        request: &NodeRequest<'a>,
        reply: Result<ReceivedMessage, InspectorFailure>,
    ) -> Vec<NodeRequest<'a>> {
        match reply.and_then(|reply| read(&reply)) {
            Ok(found) => {
                let interfaces = found.interfaces.into_iter().map(|one| one.name).collect();
                self.add(request.path.clone(), NodeContent::Interfaces(interfaces));
                let children = found.children.iter();
                children.filter_map(|child| self.child(request, child)).collect()
            }
            Err(failure) => {
                self.failed(request.path.clone(), failure);
                Vec::new()
            }
        }
    }

    /// Returns the request for a child object, unless the child is known or exceeds a limit.
    fn child(&mut self, parent: &NodeRequest<'a>, name: &str) -> Option<NodeRequest<'a>> {
        let path = format!("{}/{name}", parent.path.trim_end_matches('/'));
        if self.seen.contains(&path) {
            return None;
        }
        if self.seen.len() >= self.options.nodes {
            self.left_out += 1;
            return None;
        }
        let depth = parent.depth + name.split('/').count();
        let request = self.request(&path, depth);
        if depth <= self.options.depth && self.bytes < self.options.bytes {
            return Some(request);
        }
        let bound =
            if depth > self.options.depth { InspectionBound::Depth } else { InspectionBound::Size };
        self.failed(path, InspectorFailure::LeftOut(bound));
        None
    }

    fn failed(&mut self, path: String, failure: InspectorFailure) {
        self.add(path, NodeContent::Failure(failure));
    }

    fn add(&mut self, path: String, content: NodeContent) {
        self.bytes += 2 * path.len();
        if let NodeContent::Interfaces(names) = &content {
            self.bytes += names.iter().map(String::len).sum::<usize>();
        }
        self.nodes.push(TreeNode { path, content });
    }

    fn finish(mut self, took: Duration) -> Tree {
        self.nodes.sort_by(|one, other| one.path.split('/').cmp(other.path.split('/')));
        Tree {
            service: self.service.as_str().to_owned(),
            nodes: self.nodes,
            left_out: self.left_out,
            took_ns: nanos(took),
        }
    }
}

/// Decodes the reply to `Introspect`.
pub(crate) fn read(reply: &ReceivedMessage) -> Result<Introspection, InspectorFailure> {
    let (document,): (&str,) = reply.read()?;
    Ok(Introspection::parse(document)?)
}
