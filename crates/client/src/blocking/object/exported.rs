//! An interface together with the state of one object.

use std::sync::Arc;

use wire::body::Writer;
use wire::introspection::{self, EmitsChange, PropertyAccess};

use super::error::{MethodError, error_name};
use super::interface::InterfaceDefinition;
use super::served::{DynInterface, MethodIndex};
use super::state::{AlreadyInside, ObjectState};
use crate::blocking::request::IncomingCall;

/// An interface together with the state of one object.
pub(super) struct ExportedInterface<S> {
    pub(super) definition: Arc<InterfaceDefinition<S>>,
    pub(super) state: ObjectState<S>,
}

impl<S: Send> DynInterface for ExportedInterface<S> {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn method(&self, member: &str) -> Option<MethodIndex> {
        self.definition.methods.get(member).copied()
    }

    fn invoke(&self, method: MethodIndex, request: IncomingCall) {
        let method = &self.definition.handlers[method.0];
        match self.state.enter() {
            Ok(mut state) => (method.run)(&mut state, request),
            // If the reply cannot be sent, the connection ended.
            Err(AlreadyInside) => drop(busy().send(&request)),
        }
    }

    fn property(&self, name: &str) -> Option<(PropertyAccess, EmitsChange)> {
        let description = &self.definition.properties.get(name)?.description;
        Some((description.access, description.emits_change))
    }

    fn check_free(&self) -> Result<(), MethodError> {
        if self.state.can_enter() { Ok(()) } else { Err(busy()) }
    }

    fn is_free(&self) -> bool {
        self.state.is_free()
    }

    fn write_property(&self, name: &str, writer: &mut Writer<'_>) {
        let property = self.definition.properties.get(name);
        if let Some(get) = property.and_then(|property| property.functions.getter()) {
            let state = self.state.enter().expect("`check_free` was called before");
            get(&state, writer);
        }
    }

    fn write_properties(&self, writer: &mut Writer<'_>) {
        let state = self.state.enter().expect("`check_free` was called before");
        for (name, property) in &self.definition.properties {
            if let Some(get) = property.functions.getter() {
                writer.structure(|writer| {
                    writer.string(name);
                    get(&state, writer);
                });
            }
        }
    }

    fn set(&self, name: &str, request: &IncomingCall) -> Result<(), MethodError> {
        let property = self.definition.properties.get(name);
        let Some(set) = property.and_then(|property| property.functions.setter()) else {
            let text = format!("the property {name} cannot be written");
            return Err(MethodError::new(error_name::PROPERTY_READ_ONLY, text));
        };
        let mut state = self.state.enter().map_err(|AlreadyInside| busy())?;
        set(&mut state, request)
    }

    fn describe(&self) -> introspection::Interface {
        self.definition.describe()
    }
}

fn busy() -> MethodError {
    MethodError::failed("the object is busy with another call")
}
