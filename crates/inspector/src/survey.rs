//! What several objects have, asked at once.

use std::time::Duration;

use capture::introspection::Introspection;
use client::{CallError, Connection, IntoName, StartedCall};

use crate::asking::{Asking, InspectorQuestion, introspect};
use crate::tree::read;
use crate::{InspectionBound, Inspector, InspectorFailure, Starting};

impl Inspector {
    /// What objects say they have, each a service and a path, in the order in which they were given.
    /// Nothing is started for it, and all together take no longer than the patience for all.
    pub fn introspections(
        &self,
        objects: &[(&str, &str)],
    ) -> Vec<Result<Introspection, InspectorFailure>> {
        let mut asking = Asking::new(&self.connection, self.patience, AT_ONCE);
        for (number, &(service, path)) in objects.iter().enumerate() {
            asking.push(IntrospectionQuestion { number, service, path });
        }
        let unasked = Err(InspectorFailure::LeftOut(InspectionBound::Time));
        let mut told = vec![unasked; objects.len()];
        while let Some((question, answer)) = asking.next() {
            told[question.number] = answer.and_then(|reply| read(&reply));
        }
        told
    }
}

struct IntrospectionQuestion<'a> {
    number: usize,
    service: &'a str,
    path: &'a str,
}

impl InspectorQuestion for IntrospectionQuestion<'_> {
    fn ask(&self, connection: &Connection, patience: Duration) -> Result<StartedCall, CallError> {
        let (service, path) = (self.service.into_name()?, self.path.into_name()?);
        introspect(connection, service, path, Starting::Never, patience)
    }
}

/// Questions under way at once.
const AT_ONCE: usize = 64;
