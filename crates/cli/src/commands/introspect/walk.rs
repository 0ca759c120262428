//! Introspection of an object with its values, and of its child objects.

use std::time::Instant;

use inspector::introspection::{Introspection, IntrospectionDocument};
use inspector::{
    InspectedObject, InspectionBound, InspectorFailure, InspectorTimeouts, PropertyReading,
    TreeOptions,
};

use super::ask::{InspectedService, no_such_interface};
use super::gdbus::{DeclarationPart, GdbusText, STEP};
use crate::inspection::InspectionError;

/// An object that replied.
pub(super) struct WalkedObject {
    pub(super) object: InspectedObject,
    document: IntrospectionDocument,
    /// The child objects, if they were requested.
    below: Vec<Self>,
}

/// The scope of the introspection.
pub(super) struct ObjectWalk<'a> {
    pub(super) subject: &'a InspectedService<'a>,
    /// The only interface to include; `None` for all.
    pub(super) interface: Option<&'a str>,
    pub(super) part: DeclarationPart,
}

/// The errors so far, and the remaining budget.
struct WalkState {
    options: TreeOptions,
    errors: Vec<String>,
    objects: usize,
    silence: InspectorTimeouts,
}

impl ObjectWalk<'_> {
    /// Returns one object. Only properties of the selected interface are read.
    pub(super) fn one(&self, path: &str) -> Result<WalkedObject, InspectionError> {
        let mut document = self.document(path)?;
        self.narrow(path, &mut document)?;
        self.read(path, document).map_err(|failure| self.subject.failed(path, failure))
    }

    /// Returns an object and its descendants, and a line for each object that failed.
    pub(super) fn all(
        &self,
        path: &str,
        options: TreeOptions,
    ) -> Result<(WalkedObject, Vec<String>), InspectionError> {
        let silence = options.timeouts;
        let mut state = WalkState { options, errors: Vec::new(), objects: 0, silence };
        let document = self.document(path)?;
        let failed = |failure| self.subject.failed(path, failure);
        let found = self.visit(path, document, 0, &mut state).map_err(failed)?;
        match self.interface {
            Some(wanted) if !found.has_interfaces() => Err(no_such_interface(wanted, path, [])),
            _ => Ok((found, state.errors)),
        }
    }

    fn visit(
        &self,
        path: &str,
        mut document: IntrospectionDocument,
        depth: usize,
        state: &mut WalkState,
    ) -> Result<WalkedObject, InspectorFailure> {
        state.objects += 1;
        document.interfaces.retain(|one| self.interface.is_none_or(|wanted| one.name == wanted));
        let mut found = self.read(path, document)?;
        for (name, _) in &found.document.nodes {
            let path = below(path, name);
            match self.visit_child(&path, depth + 1, state) {
                Ok(child) => found.below.push(child),
                Err(failure) => {
                    state.errors.push(format!("{path} of {}: {failure}", self.subject.name));
                }
            }
        }
        Ok(found)
    }

    fn visit_child(
        &self,
        path: &str,
        depth: usize,
        state: &mut WalkState,
    ) -> Result<WalkedObject, InspectorFailure> {
        if depth > state.options.depth {
            return Err(InspectorFailure::LeftOut(InspectionBound::Depth));
        }
        if state.objects >= state.options.nodes {
            return Err(InspectorFailure::LeftOut(InspectionBound::Size));
        }
        if state.silence.total.is_zero() {
            return Err(InspectorFailure::LeftOut(InspectionBound::Time));
        }
        let start = Instant::now();
        let document = self.subject.document(path);
        if document.is_err() {
            state.silence.total = state.silence.total.saturating_sub(start.elapsed());
        }
        self.visit(path, document?, depth, state)
    }

    /// Returns the document of an object that exists. Some services reply for every path, so an
    /// empty document counts only if a parent object lists the path.
    fn document(&self, path: &str) -> Result<IntrospectionDocument, InspectionError> {
        let document = self.subject.document(path);
        let document = document.map_err(|failure| self.subject.failed(path, failure))?;
        let is_empty = document.interfaces.is_empty() && document.nodes.is_empty();
        match is_empty && !self.subject.is_listed(path) {
            true => Err(self.subject.no_such_object(path)),
            false => Ok(document),
        }
    }

    fn narrow(
        &self,
        path: &str,
        document: &mut IntrospectionDocument,
    ) -> Result<(), InspectionError> {
        let Some(wanted) = self.interface else { return Ok(()) };
        let known: Vec<_> = document.interfaces.iter().map(|one| one.name.as_str()).collect();
        if !known.contains(&wanted) {
            return Err(no_such_interface(wanted, path, known));
        }
        document.interfaces.retain(|one| one.name == wanted);
        Ok(())
    }

    fn read(
        &self,
        path: &str,
        document: IntrospectionDocument,
    ) -> Result<WalkedObject, InspectorFailure> {
        let introspection = Introspection {
            interfaces: document.interfaces.clone(),
            children: document.nodes.iter().map(|(name, _)| name.clone()).collect(),
        };
        let InspectedService { inspector, name, .. } = self.subject;
        let mut object = inspector.object_with(name, path, introspection)?;
        if self.part == DeclarationPart::Properties {
            object.interfaces.retain(|interface| !interface.properties.is_empty());
            for interface in &mut object.interfaces {
                interface.methods.clear();
                interface.signals.clear();
            }
        }
        Ok(WalkedObject { object, document, below: Vec::new() })
    }
}

impl WalkedObject {
    fn has_interfaces(&self) -> bool {
        !self.object.interfaces.is_empty() || self.below.iter().any(Self::has_interfaces)
    }

    /// Returns the object and its descendants; parents come before their children.
    pub(super) fn objects(&self) -> Vec<&InspectedObject> {
        let below = self.below.iter().flat_map(Self::objects);
        [&self.object].into_iter().chain(below).collect()
    }

    /// Formats the object like gdbus without --recurse: child nodes come from the document of the
    /// object.
    pub(super) fn as_gdbus(&self, part: DeclarationPart) -> String {
        let mut text = GdbusText::new(part);
        text.open(0, &self.object.path, &self.document, &self.object);
        for (name, inside) in &self.document.nodes {
            text.inside(STEP, name, inside);
        }
        text.close(0);
        text.text
    }

    /// Formats the object like gdbus with --recurse.
    pub(super) fn as_gdbus_with_all(&self, part: DeclarationPart) -> String {
        let mut text = GdbusText::new(part);
        self.push(0, &mut text);
        text.text
    }

    fn push(&self, indent: usize, text: &mut GdbusText) {
        text.open(indent, &self.object.path, &self.document, &self.object);
        self.below.iter().for_each(|child| child.push(indent + STEP, text));
        text.close(indent);
    }

    /// Returns a line for each property that could not be read, because the format of gdbus cannot
    /// show errors.
    pub(super) fn unreadable_properties(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for object in self.objects() {
            for interface in &object.interfaces {
                for property in &interface.properties {
                    if let Some(PropertyReading::Failure(failure)) = &property.reading {
                        let (interface, name) = (&interface.name, &property.description.name);
                        lines.push(format!("{interface}.{name} of {}: {failure}", object.path));
                    }
                }
            }
        }
        lines
    }
}

/// The path of a child object. Some services list absolute paths instead of names.
fn below(path: &str, name: &str) -> String {
    match name.starts_with('/') {
        true if name.starts_with(path) && name != path => name.to_owned(),
        _ => format!("{}/{name}", path.trim_end_matches('/')),
    }
}
