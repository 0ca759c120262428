//! An object with its values, and on to those below it.

use std::time::Instant;

use inspector::introspection::{Introspection, IntrospectionDocument};
use inspector::{
    InspectedObject, InspectionBound, InspectorFailure, InspectorTimeouts, PropertyReading,
    TreeOptions,
};

use super::ask::{AskedPeer, no_such_interface};
use super::gdbus::{DeclarationPart, GdbusText, STEP};
use crate::inspection::LookError;

/// An object that has answered.
pub(super) struct WalkedObject {
    pub(super) object: InspectedObject,
    document: IntrospectionDocument,
    /// Those below it, if it was gone on to them.
    below: Vec<Self>,
}

/// What is asked, and how far.
pub(super) struct ObjectWalk<'a> {
    pub(super) subject: &'a AskedPeer<'a>,
    /// The interface that is wanted; else all.
    pub(super) interface: Option<&'a str>,
    pub(super) part: DeclarationPart,
}

/// What was met on the way, and what is left of what it may cost.
struct WalkState {
    options: TreeOptions,
    complaints: Vec<String>,
    objects: usize,
    silence: InspectorTimeouts,
}

impl ObjectWalk<'_> {
    /// One object. Nothing is read of interfaces that are not wanted.
    pub(super) fn one(&self, path: &str) -> Result<WalkedObject, LookError> {
        let mut document = self.document(path)?;
        self.narrow(path, &mut document)?;
        self.read(path, document).map_err(|failure| self.subject.failed(path, failure))
    }

    /// An object and those below it; what does not answer is told in a line, and the others are
    /// still there.
    pub(super) fn all(
        &self,
        path: &str,
        options: TreeOptions,
    ) -> Result<(WalkedObject, Vec<String>), LookError> {
        let silence = options.timeouts;
        let mut way = WalkState { options, complaints: Vec::new(), objects: 0, silence };
        let document = self.document(path)?;
        let failed = |failure| self.subject.failed(path, failure);
        let found = self.go(path, document, 0, &mut way).map_err(failed)?;
        match self.interface {
            Some(wanted) if !found.has_interfaces() => Err(no_such_interface(wanted, path, [])),
            _ => Ok((found, way.complaints)),
        }
    }

    fn go(
        &self,
        path: &str,
        mut document: IntrospectionDocument,
        depth: usize,
        way: &mut WalkState,
    ) -> Result<WalkedObject, InspectorFailure> {
        way.objects += 1;
        document.interfaces.retain(|one| self.interface.is_none_or(|wanted| one.name == wanted));
        let mut found = self.read(path, document)?;
        for (name, _) in &found.document.nodes {
            let path = below(path, name);
            match self.step(&path, depth + 1, way) {
                Ok(child) => found.below.push(child),
                Err(failure) => {
                    way.complaints.push(format!("{path} of {}: {failure}", self.subject.name));
                }
            }
        }
        Ok(found)
    }

    fn step(
        &self,
        path: &str,
        depth: usize,
        way: &mut WalkState,
    ) -> Result<WalkedObject, InspectorFailure> {
        if depth > way.options.depth {
            return Err(InspectorFailure::LeftOut(InspectionBound::Depth));
        }
        if way.objects >= way.options.nodes {
            return Err(InspectorFailure::LeftOut(InspectionBound::Size));
        }
        if way.silence.total.is_zero() {
            return Err(InspectorFailure::LeftOut(InspectionBound::Time));
        }
        let begun = Instant::now();
        let document = self.subject.document(path);
        if document.is_err() {
            way.silence.total = way.silence.total.saturating_sub(begun.elapsed());
        }
        self.go(path, document?, depth, way)
    }

    /// The document of an object that exists. Some services answer for every path; an empty document
    /// counts if another object lists the path.
    fn document(&self, path: &str) -> Result<IntrospectionDocument, LookError> {
        let document = self.subject.document(path);
        let document = document.map_err(|failure| self.subject.failed(path, failure))?;
        let is_empty = document.interfaces.is_empty() && document.nodes.is_empty();
        match is_empty && !self.subject.is_listed(path) {
            true => Err(self.subject.nothing(path)),
            false => Ok(document),
        }
    }

    fn narrow(&self, path: &str, document: &mut IntrospectionDocument) -> Result<(), LookError> {
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
        let told = Introspection {
            interfaces: document.interfaces.clone(),
            children: document.nodes.iter().map(|(name, _)| name.clone()).collect(),
        };
        let AskedPeer { inspector, name, .. } = self.subject;
        let mut object = inspector.object_with(name, path, told)?;
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

    /// It and those below it, each before those below it.
    pub(super) fn objects(&self) -> Vec<&InspectedObject> {
        let below = self.below.iter().flat_map(Self::objects);
        [&self.object].into_iter().chain(below).collect()
    }

    /// As gdbus has it alone: of what is below it there is what its document tells.
    pub(super) fn as_gdbus(&self, part: DeclarationPart) -> String {
        let mut text = GdbusText::new(part);
        text.open(0, &self.object.path, &self.document, &self.object);
        for (name, inside) in &self.document.nodes {
            text.inside(STEP, name, inside);
        }
        text.close(0);
        text.text
    }

    /// As gdbus has it with what is below.
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

    /// Which properties could not be read, and why; for the form of gdbus has no place for it.
    pub(super) fn unread(&self) -> Vec<String> {
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

/// The path of an object that another tells of; some tell it whole.
fn below(path: &str, name: &str) -> String {
    match name.starts_with('/') {
        true if name.starts_with(path) && name != path => name.to_owned(),
        _ => format!("{}/{name}", path.trim_end_matches('/')),
    }
}
