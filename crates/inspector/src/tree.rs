//! The objects of a service.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use capture::introspection::Introspection;
use capture::record::nanos;
use client::{CallError, Connection, IntoName, ReceivedMessage, StartedCall};
use serde::Serialize;
use wire::names::{BusName, ObjectPath};

use crate::asking::{Asking, InspectorQuestion, introspect};
use crate::{InspectionBound, Inspector, InspectorFailure, InspectorPatience, Starting};

/// The objects of a service, as far as they tell of each other.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The service.
    pub service: String,
    /// The objects, each before those below it, which follow in the order of their names.
    pub nodes: Vec<TreeNode>,
    /// Objects that are not among them, as there are too many.
    pub left_out: usize,
    /// Nanoseconds that it took.
    pub took_ns: u64,
}

/// An object of a service.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TreeNode"))]
pub struct TreeNode {
    /// Its path. If it failed by [`InspectorFailure::Name`] it is what its parent tells, and no path.
    pub path: String,
    /// What it told.
    #[serde(flatten)]
    pub told: NodeContent,
}

/// What an object told of itself.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NodeContent {
    /// The names of its interfaces.
    Interfaces(Vec<String>),
    /// Nothing, and why. Of what is below it nothing is known.
    Failure(InspectorFailure),
}

/// Which objects are asked, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeOptions {
    /// Where to begin.
    pub root: String,
    /// Whether the service may be started.
    pub starting: Starting,
    /// How long is waited.
    pub patience: InspectorPatience,
    /// Questions under way at once.
    pub at_once: usize,
    /// How many objects may be below each other.
    pub depth: usize,
    /// Objects at most.
    pub nodes: usize,
    /// Bytes of paths and names at most.
    pub bytes: usize,
}

impl Default for TreeOptions {
    /// All objects, within what a hostile service must not exceed.
    fn default() -> Self {
        Self {
            root: ObjectPath::ROOT.as_str().into(),
            starting: Starting::Never,
            patience: InspectorPatience::default(),
            at_once: 32,
            depth: 64,
            nodes: 10_000,
            bytes: 16 << 20,
        }
    }
}

impl Inspector {
    /// The objects of a service, found by asking each for those below it, many at once. One that
    /// does not answer tells why, and the others are still there.
    ///
    /// # Errors
    ///
    /// If the name or the path to begin with is none.
    pub fn tree(&self, service: &str, options: &TreeOptions) -> Result<Tree, InspectorFailure> {
        let begun = Instant::now();
        let service: BusName<'_> = service.into_name()?;
        let root: ObjectPath<'_> = options.root.as_str().into_name()?;
        let mut asking = Asking::new(&self.connection, options.patience, options.at_once);
        let mut growth = TreeGrowth::new(service, options);
        asking.push(growth.ask(root.as_str(), 0));
        while let Some((question, answer)) = asking.next() {
            for child in growth.answered(&question, answer) {
                asking.push(child);
            }
        }
        for question in asking.unasked() {
            growth.failed(question.path, InspectorFailure::LeftOut(InspectionBound::Time));
        }
        Ok(growth.finish(begun.elapsed()))
    }
}

/// An object to be asked, so deep below the first one.
struct NodeQuestion<'a> {
    service: BusName<'a>,
    path: String,
    depth: usize,
    starting: Starting,
}

impl InspectorQuestion for NodeQuestion<'_> {
    fn ask(&self, connection: &Connection, patience: Duration) -> Result<StartedCall, CallError> {
        let path = self.path.as_str().into_name()?;
        introspect(connection, self.service, path, self.starting, patience)
    }
}

/// A tree that is not whole yet.
struct TreeGrowth<'a> {
    service: BusName<'a>,
    options: &'a TreeOptions,
    /// All that were or will be asked, or are not to be.
    seen: HashSet<String>,
    nodes: Vec<TreeNode>,
    left_out: usize,
    /// What is remembered.
    bytes: usize,
}

impl<'a> TreeGrowth<'a> {
    fn new(service: BusName<'a>, options: &'a TreeOptions) -> Self {
        let (seen, nodes) = (HashSet::new(), Vec::new());
        Self { service, options, seen, nodes, left_out: 0, bytes: 0 }
    }

    fn ask(&mut self, path: &str, depth: usize) -> NodeQuestion<'a> {
        self.seen.insert(path.to_owned());
        let (service, starting) = (self.service, self.options.starting);
        NodeQuestion { service, path: path.to_owned(), depth, starting }
    }

    /// Takes what an object told, and gives those below it that are to be asked.
    fn answered(
        &mut self,
        question: &NodeQuestion<'a>,
        answer: Result<ReceivedMessage, InspectorFailure>,
    ) -> Vec<NodeQuestion<'a>> {
        match answer.and_then(|reply| read(&reply)) {
            Ok(found) => {
                let interfaces = found.interfaces.into_iter().map(|one| one.name).collect();
                self.add(question.path.clone(), NodeContent::Interfaces(interfaces));
                let children = found.children.iter();
                children.filter_map(|child| self.child(question, child)).collect()
            }
            Err(failure) => {
                self.failed(question.path.clone(), failure);
                Vec::new()
            }
        }
    }

    /// The question for an object below another, unless it is not to be asked.
    fn child(&mut self, parent: &NodeQuestion<'a>, name: &str) -> Option<NodeQuestion<'a>> {
        let path = format!("{}/{name}", parent.path.trim_end_matches('/'));
        if self.seen.contains(&path) {
            return None;
        }
        if self.seen.len() >= self.options.nodes {
            self.left_out += 1;
            return None;
        }
        let depth = parent.depth + name.split('/').count();
        let ask = self.ask(&path, depth);
        if depth <= self.options.depth && self.bytes < self.options.bytes {
            return Some(ask);
        }
        let bound =
            if depth > self.options.depth { InspectionBound::Depth } else { InspectionBound::Size };
        self.failed(path, InspectorFailure::LeftOut(bound));
        None
    }

    fn failed(&mut self, path: String, failure: InspectorFailure) {
        self.add(path, NodeContent::Failure(failure));
    }

    fn add(&mut self, path: String, told: NodeContent) {
        self.bytes += 2 * path.len();
        if let NodeContent::Interfaces(names) = &told {
            self.bytes += names.iter().map(String::len).sum::<usize>();
        }
        self.nodes.push(TreeNode { path, told });
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

/// What an object says it has.
pub(crate) fn read(reply: &ReceivedMessage) -> Result<Introspection, InspectorFailure> {
    let (document,): (&str,) = reply.read()?;
    Ok(Introspection::parse(document)?)
}
