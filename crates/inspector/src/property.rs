//! Getting and setting one property.

use std::time::Instant;

use client::IntoName;
use serde::{Deserialize, Serialize};
use wire::body::Value;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::call::{CallAnswer, CallPayload, Manner, MethodTarget, ObjectCallOutcome, undescribed};
use crate::json::{Json, read_value};
use crate::object::{GET, PROPERTIES};
use crate::{Inspector, InspectorFailure, TypedValue};

/// Which property of whom.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyName {
    /// The service: a name on the bus.
    pub service: String,
    /// The object.
    pub path: String,
    /// The interface.
    pub interface: String,
    /// The property.
    pub property: String,
}

impl Inspector {
    /// Reads a property. It is the one result of the answer, not inside a variant.
    ///
    /// # Errors
    ///
    /// If nothing was sent, since a name is none.
    pub fn get(
        &self,
        property: &PropertyName,
        manner: &Manner,
    ) -> Result<CallAnswer, InspectorFailure> {
        let mut answer = self.send(
            &property.target(GET)?,
            property.arguments().into(),
            manner,
            manner.timeout(),
        )?;
        if let ObjectCallOutcome::Returned { results, .. } = &mut answer.outcome
            && let [TypedValue(Value::Variant(inside))] = results.as_mut_slice()
        {
            let value = std::mem::replace(&mut **inside, Value::Byte(0));
            *results = vec![TypedValue(value)];
        }
        Ok(answer)
    }

    /// Sets a property to a value ([`json`](crate::json)) of the type `signature`; without that the
    /// object is asked first.
    ///
    /// # Errors
    ///
    /// If nothing was sent: a name is none, or the value is not of the type, or that is not known.
    pub fn set(
        &self,
        property: &PropertyName,
        signature: Option<&str>,
        value: &Json,
        manner: &Manner,
    ) -> Result<CallAnswer, InspectorFailure> {
        let begun = Instant::now();
        let target = property.target(SET)?;
        let signature = match signature {
            Some(signature) => signature.to_owned(),
            None => self.type_of(property, &target, manner)?,
        };
        // The object was asked in the same time.
        let left = manner.timeout().saturating_sub(begun.elapsed());
        let load = property.setting(vec![read_value(&signature, value)?].into());
        self.send(&target, load, manner, left)
    }

    /// Sets a property to a value, the one argument that is sent along.
    ///
    /// # Errors
    ///
    /// If nothing was sent: a name is none.
    pub fn put(
        &self,
        property: &PropertyName,
        load: CallPayload,
        manner: &Manner,
    ) -> Result<CallAnswer, InspectorFailure> {
        self.send(&property.target(SET)?, property.setting(load), manner, manner.timeout())
    }

    fn type_of(
        &self,
        property: &PropertyName,
        target: &MethodTarget<'_>,
        manner: &Manner,
    ) -> Result<String, InspectorFailure> {
        let found = self.introspect(target.service, target.path, manner)?;
        let PropertyName { interface, property, .. } = property;
        let described = found.interface(interface).and_then(|one| one.property(property));
        let undescribed = || undescribed("property", property, &Some(interface.clone()));
        Ok(described.ok_or_else(undescribed)?.types.clone())
    }
}

impl PropertyName {
    fn target<'a>(&'a self, method: MemberName<'a>) -> Result<MethodTarget<'a>, InspectorFailure> {
        // The object checks its interface and property; that they are names is checked here.
        let _: (InterfaceName<'_>, MemberName<'_>) =
            (self.interface.as_str().into_name()?, self.property.as_str().into_name()?);
        let service: BusName<'_> = self.service.as_str().into_name()?;
        let path: ObjectPath<'_> = self.path.as_str().into_name()?;
        Ok(MethodTarget { service, path, interface: Some(PROPERTIES), method })
    }

    /// The arguments of Set.
    fn setting(&self, mut load: CallPayload) -> CallPayload {
        let values = load.arguments.into_iter().map(|value| Value::Variant(Box::new(value)));
        load.arguments = self.arguments().into_iter().chain(values).collect();
        load
    }

    fn arguments(&self) -> Vec<Value> {
        vec![Value::from(self.interface.as_str()), Value::from(self.property.as_str())]
    }
}

const SET: MemberName<'static> = MemberName::literal("Set");
