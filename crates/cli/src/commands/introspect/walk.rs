//! An object with its values, and on to those below it.

use std::time::Instant;

use inspector::introspection::{Document, Introspection};
use inspector::{Bound, Failure, Object, Patience, Reading, TreeOptions};

use super::ask::{Subject, no_such_interface};
use super::gdbus::{Part, STEP, Text};
use crate::inspection::LookError;

/// An object that has answered.
pub(super) struct Found {
    pub(super) object: Object,
    document: Document,
    /// Those below it, if it was gone on to them.
    below: Vec<Self>,
}

/// What is asked, and how far.
pub(super) struct Walk<'a> {
    pub(super) subject: &'a Subject<'a>,
    /// The interface that is wanted; else all.
    pub(super) interface: Option<&'a str>,
    pub(super) part: Part,
}

/// What was met on the way, and what is left of what it may cost.
struct Way {
    options: TreeOptions,
    complaints: Vec<String>,
    objects: usize,
    silence: Patience,
}

impl Walk<'_> {
    /// One object. Nothing is read of interfaces that are not wanted.
    pub(super) fn one(&self, path: &str) -> Result<Found, LookError> {
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
    ) -> Result<(Found, Vec<String>), LookError> {
        let silence = options.patience;
        let mut way = Way { options, complaints: Vec::new(), objects: 0, silence };
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
        mut document: Document,
        depth: usize,
        way: &mut Way,
    ) -> Result<Found, Failure> {
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

    fn step(&self, path: &str, depth: usize, way: &mut Way) -> Result<Found, Failure> {
        if depth > way.options.depth {
            return Err(Failure::LeftOut(Bound::Depth));
        }
        if way.objects >= way.options.nodes {
            return Err(Failure::LeftOut(Bound::Size));
        }
        if way.silence.whole.is_zero() {
            return Err(Failure::LeftOut(Bound::Time));
        }
        let begun = Instant::now();
        let document = self.subject.document(path);
        if document.is_err() {
            way.silence.whole = way.silence.whole.saturating_sub(begun.elapsed());
        }
        self.go(path, document?, depth, way)
    }

    /// The document of an object that exists. Some services answer for every path; an empty document
    /// counts if another object lists the path.
    fn document(&self, path: &str) -> Result<Document, LookError> {
        let document = self.subject.document(path);
        let document = document.map_err(|failure| self.subject.failed(path, failure))?;
        let is_empty = document.interfaces.is_empty() && document.nodes.is_empty();
        match is_empty && !self.subject.is_listed(path) {
            true => Err(self.subject.nothing(path)),
            false => Ok(document),
        }
    }

    fn narrow(&self, path: &str, document: &mut Document) -> Result<(), LookError> {
        let Some(wanted) = self.interface else { return Ok(()) };
        let known: Vec<_> = document.interfaces.iter().map(|one| one.name.as_str()).collect();
        if !known.contains(&wanted) {
            return Err(no_such_interface(wanted, path, known));
        }
        document.interfaces.retain(|one| one.name == wanted);
        Ok(())
    }

    fn read(&self, path: &str, document: Document) -> Result<Found, Failure> {
        let told = Introspection {
            interfaces: document.interfaces.clone(),
            children: document.nodes.iter().map(|(name, _)| name.clone()).collect(),
        };
        let Subject { inspector, name, .. } = self.subject;
        let mut object = inspector.object_with(name, path, told)?;
        if self.part == Part::Properties {
            object.interfaces.retain(|interface| !interface.properties.is_empty());
            for interface in &mut object.interfaces {
                interface.methods.clear();
                interface.signals.clear();
            }
        }
        Ok(Found { object, document, below: Vec::new() })
    }
}

impl Found {
    fn has_interfaces(&self) -> bool {
        !self.object.interfaces.is_empty() || self.below.iter().any(Self::has_interfaces)
    }

    /// It and those below it, each before those below it.
    pub(super) fn objects(&self) -> Vec<&Object> {
        let below = self.below.iter().flat_map(Self::objects);
        [&self.object].into_iter().chain(below).collect()
    }

    /// As gdbus has it alone: of what is below it there is what its document tells.
    pub(super) fn as_gdbus(&self, part: Part) -> String {
        let mut text = Text::new(part);
        text.open(0, &self.object.path, &self.document, &self.object);
        for (name, inside) in &self.document.nodes {
            text.inside(STEP, name, inside);
        }
        text.close(0);
        text.text
    }

    /// As gdbus has it with what is below.
    pub(super) fn as_gdbus_with_all(&self, part: Part) -> String {
        let mut text = Text::new(part);
        self.push(0, &mut text);
        text.text
    }

    fn push(&self, indent: usize, text: &mut Text) {
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
                    if let Some(Reading::Failure(failure)) = &property.reading {
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
