//! Reads the interfaces of an object and the values of its properties.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use capture::introspection::{Annotation, Interface, Introspection, Method, Property, Signal};
use capture::record::nanos;
use client::{CallError, Connection, IntoName, ReceivedMessage, StartedCall};
use serde::Serialize;
use wire::body::Value;
use wire::message::{Builder, Flags};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::requests::{InspectorRequest, RequestBatch, checked, introspect, with_timeout};
use crate::tree::read;
use crate::{InspectionBound, Inspector, InspectorFailure, MESSAGE_MAX, Starting, TypedValue};

/// An object: its members, and the values of its properties.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "BusObject"))]
pub struct InspectedObject {
    /// The bus name that the requests were sent to.
    pub service: String,
    /// The path of the object.
    pub path: String,
    /// The interfaces in its introspection data.
    pub interfaces: Vec<ObjectInterface>,
    /// The child objects in its introspection data, relative to its path. They are not validated.
    pub children: Vec<String>,
    /// Nanoseconds that the requests took.
    pub took_ns: u64,
}

/// An interface of an object, with property values.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObjectInterface {
    /// The name of the interface.
    pub name: String,
    /// The methods of the interface.
    pub methods: Vec<Method>,
    /// The signals of the interface.
    pub signals: Vec<Signal>,
    /// The properties of the interface, with their values.
    pub properties: Vec<ObjectProperty>,
    /// Properties that `GetAll` returned but the introspection data lacks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub undescribed: BTreeMap<String, TypedValue>,
    /// The annotations of the interface.
    pub annotations: Vec<Annotation>,
    /// The documentation of the interface, from its introspection data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// Why `GetAll` failed. In this case, each property was read on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<InspectorFailure>,
}

/// A property with its value.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObjectProperty {
    /// The declaration in the introspection data.
    #[serde(flatten)]
    pub description: Property,
    /// The value, or why it could not be read. `None` if the property is write-only.
    #[serde(flatten)]
    pub reading: Option<PropertyReading>,
}

/// The result of reading a property.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PropertyReading {
    /// The value. Its type may differ from the declared one.
    Value(TypedValue),
    /// Why there is no value.
    Failure(InspectorFailure),
}

impl Inspector {
    /// Introspects an object and reads its properties, without starting its service.
    ///
    /// # Errors
    ///
    /// If the introspection fails. If a property cannot be read, only its own reading is a
    /// [`PropertyReading::Failure`].
    pub fn object(&self, service: &str, path: &str) -> Result<InspectedObject, InspectorFailure> {
        self.object_of(service, path, Starting::Never)
    }

    /// Like [`object`](Self::object), but may start the service.
    ///
    /// # Errors
    ///
    /// Like [`object`](Self::object).
    pub fn object_of(
        &self,
        service: &str,
        path: &str,
        starting: Starting,
    ) -> Result<InspectedObject, InspectorFailure> {
        let begun = Instant::now();
        let found =
            read(&self.introspect_reply(service.into_name()?, path.into_name()?, starting)?)?;
        let object = self.object_with(service, path, found)?;
        Ok(InspectedObject { took_ns: nanos(begun.elapsed()), ..object })
    }

    /// Reads the properties that introspection data declares.
    ///
    /// # Errors
    ///
    /// If the service name or the path is invalid.
    pub fn object_with(
        &self,
        service: &str,
        path: &str,
        found: Introspection,
    ) -> Result<InspectedObject, InspectorFailure> {
        let begun = Instant::now();
        let address = ObjectAddress { service: service.into_name()?, path: path.into_name()? };
        let mut interfaces: Vec<_> = found.interfaces.into_iter().map(without_values).collect();
        self.read_properties(address, &mut interfaces);
        Ok(InspectedObject {
            service: service.to_owned(),
            path: path.to_owned(),
            interfaces,
            children: found.children,
            took_ns: nanos(begun.elapsed()),
        })
    }

    /// Returns the introspection data of an object as XML, without validating it.
    ///
    /// # Errors
    ///
    /// If the object does not reply with a string.
    pub fn document(
        &self,
        service: &str,
        path: &str,
        starting: Starting,
    ) -> Result<String, InspectorFailure> {
        let reply = self.introspect_reply(service.into_name()?, path.into_name()?, starting)?;
        let (document,) = reply.read()?;
        Ok(document)
    }

    fn introspect_reply(
        &self,
        service: BusName<'_>,
        path: ObjectPath<'_>,
        starting: Starting,
    ) -> Result<ReceivedMessage, InspectorFailure> {
        let timeout = self.timeouts.reply;
        let call = introspect(&self.connection, service, path, starting, timeout);
        checked(call.and_then(StartedCall::wait))
    }

    /// Reads the properties of each interface with `GetAll`. Properties without a value are then
    /// read one by one.
    fn read_properties(&self, address: ObjectAddress<'_>, interfaces: &mut [ObjectInterface]) {
        let mut batch = RequestBatch::new(&self.connection, self.timeouts, IN_FLIGHT_MAX);
        for (index, interface) in interfaces.iter().enumerate() {
            if interface.properties.iter().any(|one| one.description.access.is_readable()) {
                let name = interface.name.clone();
                batch.push(PropertyRequest {
                    address,
                    interface: name,
                    selection: PropertySelection::All { index },
                });
            }
        }
        let mut bytes_left = VALUES_MAX;
        while let Some((PropertyRequest { interface: name, selection, .. }, reply)) = batch.next() {
            let reply = reply.and_then(|reply| take_bytes(&mut bytes_left, reply));
            match selection {
                PropertySelection::All { index } => {
                    let interface = &mut interfaces[index];
                    match reply.and_then(|reply| decode_all(&reply)) {
                        Ok(values) => interface.set_values(values),
                        Err(failure) => interface.failure = Some(failure),
                    }
                    for selection in interface.unread_properties(index) {
                        batch.push(PropertyRequest { address, interface: name.clone(), selection });
                    }
                }
                PropertySelection::One { index, property, .. } => {
                    let value = reply.and_then(|reply| decode_one(&reply));
                    interfaces[index].properties[property].reading = Some(value.into());
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
struct ObjectAddress<'a> {
    service: BusName<'a>,
    path: ObjectPath<'a>,
}

struct PropertyRequest<'a> {
    address: ObjectAddress<'a>,
    interface: String,
    selection: PropertySelection,
}

/// The properties that a request reads; `index` is the index of the interface.
enum PropertySelection {
    All { index: usize },
    One { index: usize, property: usize, name: String },
}

impl InspectorRequest for PropertyRequest<'_> {
    fn start(&self, connection: &Connection, timeout: Duration) -> Result<StartedCall, CallError> {
        let ObjectAddress { service, path } = self.address;
        let message = |member| {
            Builder::method_call(path, member)
                .interface(PROPERTIES)
                .destination(service)
                .flags(Flags::NO_AUTO_START)
        };
        let interface = self.interface.as_str();
        match &self.selection {
            PropertySelection::All { .. } => {
                connection.start_call(&message(GET_ALL), &(interface,), with_timeout(timeout))
            }
            PropertySelection::One { name, .. } => {
                connection.start_call(&message(GET), &(interface, name), with_timeout(timeout))
            }
        }
    }
}

/// Converts introspection data to an interface without values. Each readable property begins as
/// skipped, which stays if the time limit ends before its request.
fn without_values(interface: Interface) -> ObjectInterface {
    let Interface { name, methods, signals, properties, annotations, documentation } = interface;
    let properties = properties.into_iter().map(|description| {
        let is_readable = description.access.is_readable();
        let reading = is_readable
            .then_some(PropertyReading::Failure(InspectorFailure::LeftOut(InspectionBound::Time)));
        ObjectProperty { description, reading }
    });
    ObjectInterface {
        name,
        methods,
        signals,
        properties: properties.collect(),
        undescribed: BTreeMap::new(),
        annotations,
        documentation,
        failure: None,
    }
}

impl ObjectInterface {
    /// Stores the values from `GetAll`.
    fn set_values(&mut self, mut values: BTreeMap<String, Value>) {
        for property in &mut self.properties {
            if let Some(value) = values.remove(&property.description.name) {
                property.reading = Some(PropertyReading::Value(value.into()));
            }
        }
        let values = values.into_iter().map(|(name, value)| (name, TypedValue(value)));
        self.undescribed = values.collect();
    }

    /// Returns a selection for each readable property without a value.
    fn unread_properties(&self, index: usize) -> Vec<PropertySelection> {
        let is_missing =
            |one: &ObjectProperty| matches!(one.reading, Some(PropertyReading::Failure(_)));
        let properties = self.properties.iter().enumerate();
        let missing = properties.filter(|(_, one)| is_missing(one));
        let selection = |(property, one): (usize, &ObjectProperty)| PropertySelection::One {
            index,
            property,
            name: one.description.name.clone(),
        };
        missing.map(selection).collect()
    }
}

impl From<Result<Value, InspectorFailure>> for PropertyReading {
    fn from(read: Result<Value, InspectorFailure>) -> Self {
        match read {
            Ok(value) => Self::Value(value.into()),
            Err(failure) => Self::Failure(failure),
        }
    }
}

/// Subtracts the length of a reply from the bytes that are left, and fails if they do not suffice.
fn take_bytes(
    bytes_left: &mut usize,
    reply: ReceivedMessage,
) -> Result<ReceivedMessage, InspectorFailure> {
    *bytes_left = bytes_left
        .checked_sub(reply.bytes().len())
        .ok_or(InspectorFailure::LeftOut(InspectionBound::Size))?;
    Ok(reply)
}

fn decode_all(reply: &ReceivedMessage) -> Result<BTreeMap<String, Value>, InspectorFailure> {
    let (values,) = reply.read()?;
    Ok(values)
}

/// Decodes the reply to `Get`.
pub(crate) fn decode_one(reply: &ReceivedMessage) -> Result<Value, InspectorFailure> {
    let (value,) = reply.read()?;
    Ok(value)
}

pub(crate) const PROPERTIES: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus.Properties");
pub(crate) const GET: MemberName<'static> = MemberName::literal("Get");
const GET_ALL: MemberName<'static> = MemberName::literal("GetAll");

/// Maximum total size of the replies for one object, in bytes. An object may have thousands of
/// interfaces.
const VALUES_MAX: usize = 4 * MESSAGE_MAX;

/// Maximum number of requests in flight.
const IN_FLIGHT_MAX: usize = 32;
