//! Introspects several objects at the same time.

use std::time::Duration;

use capture::introspection::Introspection;
use client::{CallError, Connection, IntoName, StartedCall};

use crate::requests::{InspectorRequest, RequestBatch, introspect};
use crate::tree::read;
use crate::{InspectionBound, Inspector, InspectorFailure, Starting};

impl Inspector {
    /// Introspects objects, each given by service and path, and returns the results in the same
    /// order. No service is started, and all requests share the time limit of the inspector.
    pub fn introspections(
        &self,
        objects: &[(&str, &str)],
    ) -> Vec<Result<Introspection, InspectorFailure>> {
        let mut batch = RequestBatch::new(&self.connection, self.timeouts, IN_FLIGHT_MAX);
        for (index, &(service, path)) in objects.iter().enumerate() {
            batch.push(IntrospectionRequest { index, service, path });
        }
        let skipped = Err(InspectorFailure::LeftOut(InspectionBound::Time));
        let mut results = vec![skipped; objects.len()];
        while let Some((request, reply)) = batch.next() {
            results[request.index] = reply.and_then(|reply| read(&reply));
        }
        results
    }
}

struct IntrospectionRequest<'a> {
    index: usize,
    service: &'a str,
    path: &'a str,
}

impl InspectorRequest for IntrospectionRequest<'_> {
    fn start(&self, connection: &Connection, timeout: Duration) -> Result<StartedCall, CallError> {
        let (service, path) = (self.service.into_name()?, self.path.into_name()?);
        introspect(connection, service, path, Starting::Never, timeout)
    }
}

/// Maximum index of requests in flight.
const IN_FLIGHT_MAX: usize = 64;
