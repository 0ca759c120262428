//! Asking an object what it has, and what is said if it does not tell.

use std::time::Duration;

use capture::text::nearest::{nearest, suggestion};
use inspector::introspection::IntrospectionDocument;
use inspector::{Inspector, InspectorFailure, NodeContent, Starting, TreeOptions};

use crate::bus_choice::BusChoice;
use crate::commands::tree::paths;
use crate::inspection::{LookError, is_nobody, no_such_name, patience};

/// A service whose objects are asked.
pub(super) struct AskedPeer<'a> {
    pub(super) inspector: &'a Inspector,
    pub(super) choice: &'a BusChoice,
    pub(super) name: &'a str,
    /// How long an answer is waited for.
    pub(super) timeout: Duration,
}

impl AskedPeer<'_> {
    /// What an object says it has, as it says it.
    pub(super) fn text(&self, path: &str) -> Result<String, InspectorFailure> {
        self.inspector.document(self.name, path, Starting::Allowed)
    }

    /// The same, read.
    pub(super) fn document(&self, path: &str) -> Result<IntrospectionDocument, InspectorFailure> {
        Ok(IntrospectionDocument::parse(&self.text(path)?)?)
    }

    /// The paths of all objects.
    pub(super) fn known_paths(&self) -> Result<Vec<String>, LookError> {
        let (patience, starting) = (patience(self.timeout), Starting::Allowed);
        let options = TreeOptions { timeouts: patience, starting, ..TreeOptions::default() };
        let failed = |failure| self.failed("/", failure);
        let tree = self.inspector.tree(self.name, &options).map_err(failed)?;
        match tree.nodes.as_slice() {
            [inspector::TreeNode { content: NodeContent::Failure(failure), .. }] => {
                Err(self.failed("/", failure.clone()))
            }
            _ => Ok(paths(&tree).map(str::to_owned).collect()),
        }
    }

    /// Whether the objects of the service lead to a path.
    pub(super) fn is_listed(&self, path: &str) -> bool {
        self.known_paths().is_ok_and(|known| known.iter().any(|one| one == path))
    }

    /// Why an object does not tell, with the paths that may have been meant.
    pub(super) fn failed(&self, path: &str, failure: InspectorFailure) -> LookError {
        if is_nobody(&failure) {
            return no_such_name(self.inspector, self.choice, self.name);
        }
        let suggestion = match failure {
            InspectorFailure::Name(_) => return LookError::Word { failure },
            InspectorFailure::Refused { .. } if path != "/" => self.nearest_paths(path),
            _ => String::new(),
        };
        let what = format!("{path} of {} does not tell what it has", self.name);
        LookError::Asked { what, failure, suggestion }
    }

    /// That there is nothing at a path, which some services say by telling of nothing.
    pub(super) fn nothing(&self, path: &str) -> LookError {
        let suggestion = self.nearest_paths(path);
        LookError::NoSuchObject { path: path.to_owned(), name: self.name.to_owned(), suggestion }
    }

    fn nearest_paths(&self, path: &str) -> String {
        let known = self.known_paths().unwrap_or_default();
        let others =
            known.iter().map(String::as_str).filter(|known| *known != path && *known != "/");
        suggestion(&nearest(path, others))
    }
}

/// That an object has no such interface, with those of its own that may have been meant.
pub(super) fn no_such_interface<'n>(
    interface: &str,
    path: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> LookError {
    LookError::NoSuchInterface {
        interface: interface.to_owned(),
        path: path.to_owned(),
        suggestion: suggestion(&nearest(interface, known)),
    }
}
