//! Reads and sets a single property.

use std::time::Instant;

use client::IntoName;
use serde::{Deserialize, Serialize};
use wire::body::Value;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::call::{
    CallAnswer, CallPayload, CallSettings, MethodTarget, ObjectCallOutcome, undescribed,
};
use crate::json::{Json, read_value};
use crate::object::{GET, PROPERTIES};
use crate::{Inspector, InspectorFailure, TypedValue};

/// A property of an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyName {
    /// The bus name of the service.
    pub service: String,
    /// The path of the object.
    pub path: String,
    /// The interface of the property.
    pub interface: String,
    /// The name of the property.
    pub property: String,
}

impl Inspector {
    /// Reads a property. The result is its value, without the variant around it.
    ///
    /// # Errors
    ///
    /// If the call could not be sent, for example because a name is invalid. An error reply is an
    /// [`ObjectCallOutcome::Failed`].
    pub fn get(
        &self,
        property: &PropertyName,
        settings: &CallSettings,
    ) -> Result<CallAnswer, InspectorFailure> {
        let mut answer = self.send(
            &property.target(GET)?,
            property.arguments().into(),
            settings,
            settings.timeout(),
        )?;
        if let ObjectCallOutcome::Returned { results, .. } = &mut answer.outcome
            && let [TypedValue(Value::Variant(inside))] = results.as_mut_slice()
        {
            let value = std::mem::replace(&mut **inside, Value::Byte(0));
            *results = vec![TypedValue(value)];
        }
        Ok(answer)
    }

    /// Sets a property to a value in JSON ([`json`](crate::json)). Without `signature`, the type
    /// comes from the introspection data of the object.
    ///
    /// # Errors
    ///
    /// If the call could not be sent: a name is invalid, the type is unknown, or the value does not
    /// match it. An error reply is an [`ObjectCallOutcome::Failed`].
    pub fn set(
        &self,
        property: &PropertyName,
        signature: Option<&str>,
        value: &Json,
        settings: &CallSettings,
    ) -> Result<CallAnswer, InspectorFailure> {
        let begun = Instant::now();
        let target = property.target(SET)?;
        let signature = match signature {
            Some(signature) => signature.to_owned(),
            None => self.type_of(property, &target, settings)?,
        };
        // The introspection counts toward the timeout.
        let timeout = settings.timeout().saturating_sub(begun.elapsed());
        let payload = property.set_payload(vec![read_value(&signature, value)?].into());
        self.send(&target, payload, settings, timeout)
    }

    /// Sets a property to the value that is the only argument of the payload.
    ///
    /// # Errors
    ///
    /// If the call could not be sent, for example because a name is invalid. An error reply is an
    /// [`ObjectCallOutcome::Failed`].
    pub fn put(
        &self,
        property: &PropertyName,
        payload: CallPayload,
        settings: &CallSettings,
    ) -> Result<CallAnswer, InspectorFailure> {
        self.send(
            &property.target(SET)?,
            property.set_payload(payload),
            settings,
            settings.timeout(),
        )
    }

    fn type_of(
        &self,
        property: &PropertyName,
        target: &MethodTarget<'_>,
        settings: &CallSettings,
    ) -> Result<String, InspectorFailure> {
        let found = self.introspect(target.service, target.path, settings)?;
        let PropertyName { interface, property, .. } = property;
        let described = found.interface(interface).and_then(|one| one.property(property));
        let undescribed = || undescribed("property", property, &Some(interface.clone()));
        Ok(described.ok_or_else(undescribed)?.types.clone())
    }
}

impl PropertyName {
    fn target<'a>(&'a self, method: MemberName<'a>) -> Result<MethodTarget<'a>, InspectorFailure> {
        // The object checks that the interface and the property exist; this checks their syntax.
        let _: (InterfaceName<'_>, MemberName<'_>) =
            (self.interface.as_str().into_name()?, self.property.as_str().into_name()?);
        let service: BusName<'_> = self.service.as_str().into_name()?;
        let path: ObjectPath<'_> = self.path.as_str().into_name()?;
        Ok(MethodTarget { service, path, interface: Some(PROPERTIES), method })
    }

    /// Converts a payload with the value to the payload of `Set`.
    fn set_payload(&self, mut payload: CallPayload) -> CallPayload {
        let values = payload.arguments.into_iter().map(|value| Value::Variant(Box::new(value)));
        payload.arguments = self.arguments().into_iter().chain(values).collect();
        payload
    }

    fn arguments(&self) -> Vec<Value> {
        vec![Value::from(self.interface.as_str()), Value::from(self.property.as_str())]
    }
}

const SET: MemberName<'static> = MemberName::literal("Set");
