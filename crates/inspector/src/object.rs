//! One object: its interfaces, and the values of its properties.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use capture::introspection::{Annotation, Interface, Introspection, Method, Property, Signal};
use capture::record::nanos;
use client::{CallError, Connection, IntoName, ReceivedMessage, StartedCall};
use serde::Serialize;
use wire::body::Value;
use wire::message::{Builder, Flags};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::asking::{Asking, InspectorQuestion, checked, introspect, within};
use crate::tree::read;
use crate::{InspectionBound, Inspector, InspectorFailure, MESSAGE_MAX, Starting, TypedValue};

/// What an object has.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "BusObject"))]
pub struct InspectedObject {
    /// The name by which its service was asked.
    pub service: String,
    /// Its path.
    pub path: String,
    /// Its interfaces.
    pub interfaces: Vec<ObjectInterface>,
    /// The objects below it, relative to its path, as it tells: checked by nothing.
    pub children: Vec<String>,
    /// Nanoseconds that it took to learn this.
    pub took_ns: u64,
}

/// An interface of an object.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObjectInterface {
    /// Its name.
    pub name: String,
    /// What can be called.
    pub methods: Vec<Method>,
    /// What it emits.
    pub signals: Vec<Signal>,
    /// What can be read or set, with values.
    pub properties: Vec<ObjectProperty>,
    /// Properties that have a value, and of which the object does not tell.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub undescribed: BTreeMap<String, TypedValue>,
    /// What is said of it besides.
    pub annotations: Vec<Annotation>,
    /// What it is for, in words for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// Why GetAll had no values. Each property without one was asked for by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<InspectorFailure>,
}

/// A property with its value.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObjectProperty {
    /// What the object says of it.
    #[serde(flatten)]
    pub description: Property,
    /// What came of reading it; `None` if it can only be set.
    #[serde(flatten)]
    pub reading: Option<PropertyReading>,
}

/// What came of reading a property.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PropertyReading {
    /// The value. Its type can be another than the one that the object told.
    Value(TypedValue),
    /// None, and why.
    Failure(InspectorFailure),
}

impl Inspector {
    /// What an object has, with the values of its properties. Nothing is started for it.
    ///
    /// # Errors
    ///
    /// If the object does not tell what it has. A property that cannot be read is its own
    /// [`PropertyReading::Failure`], and the others are still there.
    pub fn object(&self, service: &str, path: &str) -> Result<InspectedObject, InspectorFailure> {
        self.object_of(service, path, Starting::Never)
    }

    /// The same of a service that may be started for it.
    ///
    /// # Errors
    ///
    /// As [`object`](Self::object).
    pub fn object_of(
        &self,
        service: &str,
        path: &str,
        starting: Starting,
    ) -> Result<InspectedObject, InspectorFailure> {
        let begun = Instant::now();
        let found = read(&self.told(service.into_name()?, path.into_name()?, starting)?)?;
        let object = self.object_with(service, path, found)?;
        Ok(InspectedObject { took_ns: nanos(begun.elapsed()), ..object })
    }

    /// Reads the properties of what an object has said, or of a part of it.
    ///
    /// # Errors
    ///
    /// If the name or the path is none.
    pub fn object_with(
        &self,
        service: &str,
        path: &str,
        found: Introspection,
    ) -> Result<InspectedObject, InspectorFailure> {
        let begun = Instant::now();
        let place = InspectedPlace { service: service.into_name()?, path: path.into_name()? };
        let mut interfaces: Vec<_> = found.interfaces.into_iter().map(unread).collect();
        self.read_properties(place, &mut interfaces);
        Ok(InspectedObject {
            service: service.to_owned(),
            path: path.to_owned(),
            interfaces,
            children: found.children,
            took_ns: nanos(begun.elapsed()),
        })
    }

    /// What an object says it has, as it says it: a document of XML, checked by nothing.
    ///
    /// # Errors
    ///
    /// If it does not answer, or not with a text.
    pub fn document(
        &self,
        service: &str,
        path: &str,
        starting: Starting,
    ) -> Result<String, InspectorFailure> {
        let reply = self.told(service.into_name()?, path.into_name()?, starting)?;
        let (document,) = reply.read()?;
        Ok(document)
    }

    fn told(
        &self,
        service: BusName<'_>,
        path: ObjectPath<'_>,
        starting: Starting,
    ) -> Result<ReceivedMessage, InspectorFailure> {
        let patience = self.patience.answer;
        let call = introspect(&self.connection, service, path, starting, patience);
        checked(call.and_then(StartedCall::wait), patience)
    }

    /// Reads all at once, and one by one where that fails.
    fn read_properties(&self, place: InspectedPlace<'_>, interfaces: &mut [ObjectInterface]) {
        let mut asking = Asking::new(&self.connection, self.patience, AT_ONCE);
        for (number, interface) in interfaces.iter().enumerate() {
            if interface.properties.iter().any(|one| one.description.access.is_readable()) {
                let name = interface.name.clone();
                asking.push(PropertyQuestion {
                    place,
                    interface: name,
                    part: ObjectPart::All { number },
                });
            }
        }
        let mut room = VALUES_MAX;
        while let Some((PropertyQuestion { interface: name, part, .. }, answer)) = asking.next() {
            let answer = answer.and_then(|reply| take_room(&mut room, reply));
            match part {
                ObjectPart::All { number } => {
                    let interface = &mut interfaces[number];
                    match answer.and_then(|reply| all(&reply)) {
                        Ok(values) => interface.take_all(values),
                        Err(failure) => interface.failure = Some(failure),
                    }
                    for part in interface.one_by_one(number) {
                        asking.push(PropertyQuestion { place, interface: name.clone(), part });
                    }
                }
                ObjectPart::One { number, property, .. } => {
                    let value = answer.and_then(|reply| one(&reply));
                    interfaces[number].properties[property].reading = Some(value.into());
                }
            }
        }
    }
}

/// The object that is asked.
#[derive(Clone, Copy)]
struct InspectedPlace<'a> {
    service: BusName<'a>,
    path: ObjectPath<'a>,
}

struct PropertyQuestion<'a> {
    place: InspectedPlace<'a>,
    interface: String,
    part: ObjectPart,
}

/// What is asked of the interface with this number.
enum ObjectPart {
    All { number: usize },
    One { number: usize, property: usize, name: String },
}

impl InspectorQuestion for PropertyQuestion<'_> {
    fn ask(&self, connection: &Connection, patience: Duration) -> Result<StartedCall, CallError> {
        let InspectedPlace { service, path } = self.place;
        let message = |member| {
            Builder::method_call(path, member)
                .interface(PROPERTIES)
                .destination(service)
                .flags(Flags::NO_AUTO_START)
        };
        let interface = self.interface.as_str();
        match &self.part {
            ObjectPart::All { .. } => {
                connection.start_call(&message(GET_ALL), &(interface,), within(patience))
            }
            ObjectPart::One { name, .. } => {
                connection.start_call(&message(GET), &(interface, name), within(patience))
            }
        }
    }
}

/// An interface whose values are not known: whatever is not asked for any more was left out.
fn unread(interface: Interface) -> ObjectInterface {
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
    /// Puts values where they belong.
    fn take_all(&mut self, mut values: BTreeMap<String, Value>) {
        for property in &mut self.properties {
            if let Some(value) = values.remove(&property.description.name) {
                property.reading = Some(PropertyReading::Value(value.into()));
            }
        }
        let values = values.into_iter().map(|(name, value)| (name, TypedValue(value)));
        self.undescribed = values.collect();
    }

    /// Each property that can be read and has no value.
    fn one_by_one(&self, number: usize) -> Vec<ObjectPart> {
        let is_missing =
            |one: &ObjectProperty| matches!(one.reading, Some(PropertyReading::Failure(_)));
        let properties = self.properties.iter().enumerate();
        let missing = properties.filter(|(_, one)| is_missing(one));
        let ask = |(property, one): (usize, &ObjectProperty)| ObjectPart::One {
            number,
            property,
            name: one.description.name.clone(),
        };
        missing.map(ask).collect()
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

/// Gives the answer if there is room for it among the others.
fn take_room(
    room: &mut usize,
    reply: ReceivedMessage,
) -> Result<ReceivedMessage, InspectorFailure> {
    *room = room
        .checked_sub(reply.bytes().len())
        .ok_or(InspectorFailure::LeftOut(InspectionBound::Size))?;
    Ok(reply)
}

fn all(reply: &ReceivedMessage) -> Result<BTreeMap<String, Value>, InspectorFailure> {
    let (values,) = reply.read()?;
    Ok(values)
}

/// The value in the answer to Get.
pub(crate) fn one(reply: &ReceivedMessage) -> Result<Value, InspectorFailure> {
    let (value,) = reply.read()?;
    Ok(value)
}

pub(crate) const PROPERTIES: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus.Properties");
pub(crate) const GET: MemberName<'static> = MemberName::literal("Get");
const GET_ALL: MemberName<'static> = MemberName::literal("GetAll");

/// Bytes of the answers of one object at most: it may have thousands of interfaces.
const VALUES_MAX: usize = 4 * MESSAGE_MAX;

/// Questions under way at once.
const AT_ONCE: usize = 32;
