//! Implementations of the methods of the standard interfaces.

use std::fs;
use std::sync::Arc;

use wire::body::Writer;
use wire::guid::Guid;
use wire::introspection::PropertyAccess;

use super::error::{MethodError, error_name};
use super::served::DynInterface;
use super::signals::{announce, signature};
use super::standard::Standard;
use super::tree::{ChangedProperties, unknown_interface, unknown_object};
use crate::blocking::connection::Connection;
use crate::blocking::request::IncomingCall;
use crate::core::EncodedBody;

impl Standard {
    /// Runs the method and replies to the call.
    pub(super) fn run(self, request: &IncomingCall) {
        match self {
            Self::Ping => request.answer(request.read::<()>().map_err(MethodError::from)),
            Self::GetMachineId => request.answer(machine_id().map(|id| (id.to_string(),))),
            Self::Introspect => request.answer(introspect(request)),
            Self::Set => request.answer(set(request)),
            Self::Get => answer_error(request, get(request)),
            Self::GetAll => answer_error(request, get_all(request)),
            Self::GetManagedObjects => answer_error(request, managed_objects(request)),
        }
    }
}

/// Replies with the error, if there is one; otherwise the call has been answered.
fn answer_error(request: &IncomingCall, answered: Result<(), MethodError>) {
    if let Err(error) = answered {
        request.answer(Err::<(), _>(error));
    }
}

fn introspect(request: &IncomingCall) -> Result<(String,), MethodError> {
    let path = path(request);
    let objects = request.connection().objects();
    let text = objects.introspect(path).ok_or_else(|| unknown_object(path))?;
    Ok((text,))
}

fn get(request: &IncomingCall) -> Result<(), MethodError> {
    let (interface, property) = request.read::<(&str, &str)>()?;
    let (served, access) = find_property(request, interface, property)?;
    if access == PropertyAccess::Write {
        let text = format!("the property {property} cannot be read");
        return Err(MethodError::new(error_name::ACCESS_DENIED, text));
    }
    served.check_free()?;
    let write = |writer: &mut Writer<'_>| served.write_property(property, writer);
    request.answer(Ok(EncodedBody::new(signature("v"), write)));
    Ok(())
}

fn get_all(request: &IncomingCall) -> Result<(), MethodError> {
    let (interface,) = request.read::<(&str,)>()?;
    let interfaces = interfaces(request.connection(), path(request));
    let selected: Vec<_> = match interface {
        "" => interfaces,
        name => interfaces.into_iter().filter(|served| served.name() == name).collect(),
    };
    if selected.is_empty() && !interface.is_empty() && !Standard::is_interface(interface) {
        return Err(unknown_interface(interface, path(request)));
    }
    selected.iter().try_for_each(|served| served.check_free())?;
    let write = |writer: &mut Writer<'_>| {
        writer.array(8, |writer| {
            selected.iter().for_each(|served| served.write_properties(writer));
        });
    };
    request.answer(Ok(EncodedBody::new(signature("a{sv}"), write)));
    Ok(())
}

fn set(request: &IncomingCall) -> Result<(), MethodError> {
    let (interface, property) = property_to_set(request)?;
    let (served, _) = find_property(request, interface, property)?;
    served.set(property, request)?;
    announce(request.connection(), ChangedProperties::new(path(request), served, &[property]));
    Ok(())
}

/// The first two arguments of `Set`. The third can have any type; the property decodes it.
fn property_to_set(request: &IncomingCall) -> Result<(&str, &str), MethodError> {
    if request.message().signature().as_str() != "ssv" {
        request.read::<(&str, &str, wire::body::Value)>()?;
    }
    let mut reader = request.message().reader();
    let mut text = || reader.string().map_err(wire::body::ReadError::from);
    Ok((text()?, text()?))
}

fn managed_objects(request: &IncomingCall) -> Result<(), MethodError> {
    let mut managed = Vec::new();
    for (path, node) in request.connection().objects().below(path(request)) {
        managed.push((path.to_owned(), node.interfaces.clone()));
    }
    let mut all = managed.iter().flat_map(|(_, interfaces)| interfaces);
    all.try_for_each(|served| served.check_free())?;
    let write = |writer: &mut Writer<'_>| {
        writer.array(8, |writer| {
            for (path, interfaces) in &managed {
                writer.structure(|writer| {
                    // Object paths have the same encoding as strings.
                    writer.string(path);
                    write_interfaces(interfaces, writer);
                });
            }
        });
    };
    request.answer(Ok(EncodedBody::new(signature("a{oa{sa{sv}}}"), write)));
    Ok(())
}

/// Writes interfaces with their properties, as `a{sa{sv}}`.
pub(super) fn write_interfaces(interfaces: &[Arc<dyn DynInterface>], writer: &mut Writer<'_>) {
    writer.array(8, |writer| {
        for served in interfaces {
            writer.structure(|writer| {
                writer.string(served.name());
                writer.array(8, |writer| served.write_properties(writer));
            });
        }
    });
}

/// Finds a property. An empty interface name matches any interface.
fn find_property(
    request: &IncomingCall,
    interface: &str,
    property: &str,
) -> Result<(Arc<dyn DynInterface>, PropertyAccess), MethodError> {
    let path = path(request);
    let mut known = interface.is_empty() || Standard::is_interface(interface);
    let objects = request.connection().objects();
    let interfaces = objects.node(path).map(|node| &node.interfaces[..]).unwrap_or_default();
    for served in interfaces {
        if !interface.is_empty() && served.name() != interface {
            continue;
        }
        known = true;
        if let Some((access, _)) = served.property(property) {
            return Ok((served.clone(), access));
        }
    }
    if !known {
        return Err(unknown_interface(interface, path));
    }
    let text = format!("there is no property {property}");
    Err(MethodError::new(error_name::UNKNOWN_PROPERTY, text))
}

fn interfaces(connection: &Connection, path: &str) -> Vec<Arc<dyn DynInterface>> {
    let objects = connection.objects();
    objects.node(path).map(|node| node.interfaces.clone()).unwrap_or_default()
}

fn path(request: &IncomingCall) -> &str {
    request.message().path().unwrap_or("/")
}

/// The ID of this machine (machine-id(5)).
fn machine_id() -> Result<Guid, MethodError> {
    let read = |file: &&str| Guid::parse(fs::read_to_string(file).ok()?.trim_end()).ok();
    let found = MACHINE_ID_FILES.iter().find_map(read);
    found.ok_or_else(|| MethodError::failed("this machine has no valid machine id"))
}

/// Files with the machine ID; the first is the one in the specification.
const MACHINE_ID_FILES: [&str; 2] = ["/var/lib/dbus/machine-id", "/etc/machine-id"];
