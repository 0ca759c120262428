//! Introspection requests to an object, and their errors.

use std::time::Duration;

use capture::text::nearest::{nearest, suggestion};
use inspector::introspection::IntrospectionDocument;
use inspector::{Inspector, InspectorFailure, NodeContent, Starting, TreeOptions};

use crate::bus_choice::BusChoice;
use crate::commands::tree::paths;
use crate::inspection::{InspectionError, is_unknown_name, no_such_name, timeouts_of};

/// A service whose objects are introspected.
pub(super) struct InspectedService<'a> {
    pub(super) inspector: &'a Inspector,
    pub(super) choice: &'a BusChoice,
    pub(super) name: &'a str,
    /// The timeout of each reply.
    pub(super) timeout: Duration,
}

impl InspectedService<'_> {
    /// Returns the XML introspection data of an object unchanged.
    pub(super) fn text(&self, path: &str) -> Result<String, InspectorFailure> {
        self.inspector.document(self.name, path, Starting::Allowed)
    }

    /// Returns the parsed introspection data of an object.
    pub(super) fn document(&self, path: &str) -> Result<IntrospectionDocument, InspectorFailure> {
        Ok(IntrospectionDocument::parse(&self.text(path)?)?)
    }

    /// Returns the paths of all objects.
    pub(super) fn known_paths(&self) -> Result<Vec<String>, InspectionError> {
        let (timeouts, starting) = (timeouts_of(self.timeout), Starting::Allowed);
        let options = TreeOptions { timeouts, starting, ..TreeOptions::default() };
        let failed = |failure| self.failed("/", failure);
        let tree = self.inspector.tree(self.name, &options).map_err(failed)?;
        match tree.nodes.as_slice() {
            [inspector::TreeNode { content: NodeContent::Failure(failure), .. }] => {
                Err(self.failed("/", failure.clone()))
            }
            _ => Ok(paths(&tree).map(str::to_owned).collect()),
        }
    }

    /// Returns true if the path is found by introspection of the parent objects.
    pub(super) fn is_listed(&self, path: &str) -> bool {
        self.known_paths().is_ok_and(|known| known.iter().any(|one| one == path))
    }

    /// Returns the error of a failed introspection, with similar paths as suggestions.
    pub(super) fn failed(&self, path: &str, failure: InspectorFailure) -> InspectionError {
        if is_unknown_name(&failure) {
            return no_such_name(self.inspector, self.choice, self.name);
        }
        let suggestion = match failure {
            InspectorFailure::Name(_) => return InspectionError::InvalidName { failure },
            InspectorFailure::Refused { .. } if path != "/" => self.nearest_paths(path),
            _ => String::new(),
        };
        let request = format!("cannot introspect {path} of {}", self.name);
        InspectionError::Request { request, failure, suggestion }
    }

    /// Returns the error for a path without an object. Some services return empty introspection
    /// data for such paths.
    pub(super) fn no_such_object(&self, path: &str) -> InspectionError {
        let suggestion = self.nearest_paths(path);
        InspectionError::NoSuchObject {
            path: path.to_owned(),
            name: self.name.to_owned(),
            suggestion,
        }
    }

    fn nearest_paths(&self, path: &str) -> String {
        let known = self.known_paths().unwrap_or_default();
        let others =
            known.iter().map(String::as_str).filter(|known| *known != path && *known != "/");
        suggestion(&nearest(path, others))
    }
}

/// Returns the error for an interface that the object does not have, with similar names as
/// suggestions.
pub(super) fn no_such_interface<'n>(
    interface: &str,
    path: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> InspectionError {
    InspectionError::NoSuchInterface {
        interface: interface.to_owned(),
        path: path.to_owned(),
        suggestion: suggestion(&nearest(interface, known)),
    }
}
