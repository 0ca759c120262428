//! What every object can do ("Standard Interfaces").

use std::fs;
use std::rc::Rc;

use wire::body::Writer;
use wire::guid::Guid;
use wire::introspection::Access;
use wire::signature::Signature;

use super::served::Served;
use super::tree::{Change, Objects, unknown_interface, unknown_object};
use super::{MethodError, announce, answer, answer_with, error_name};
use crate::blocking::{Connection, Request};
use crate::core::Written;

/// A method of a standard interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standard {
    Ping,
    GetMachineId,
    Introspect,
    Get,
    GetAll,
    Set,
    GetManagedObjects,
}

impl Standard {
    pub(super) fn find(interface: &str, member: &str) -> Option<Self> {
        Self::by_member(member).filter(|standard| standard.interface() == interface)
    }

    /// The method of this name; there are not two.
    pub(super) fn by_member(member: &str) -> Option<Self> {
        Some(match member {
            "Ping" => Self::Ping,
            "GetMachineId" => Self::GetMachineId,
            "Introspect" => Self::Introspect,
            "Get" => Self::Get,
            "GetAll" => Self::GetAll,
            "Set" => Self::Set,
            "GetManagedObjects" => Self::GetManagedObjects,
            _ => return None,
        })
    }

    pub(super) const fn interface(self) -> &'static str {
        match self {
            Self::Ping | Self::GetMachineId => PEER,
            Self::Introspect => INTROSPECTABLE,
            Self::Get | Self::GetAll | Self::Set => PROPERTIES,
            Self::GetManagedObjects => OBJECT_MANAGER,
        }
    }

    /// Whether every object has this interface.
    pub(super) fn is_interface(name: &str) -> bool {
        [PEER, INTROSPECTABLE, PROPERTIES].contains(&name)
    }

    /// Answers a call.
    pub(super) fn run(self, request: &Request) {
        match self {
            Self::Ping => answer(request, request.read::<()>().map_err(MethodError::from)),
            Self::GetMachineId => answer(request, machine_id().map(|id| (id.to_string(),))),
            Self::Introspect => answer(request, introspect(request)),
            Self::Set => answer(request, set(request)),
            Self::Get => or_error(request, get(request)),
            Self::GetAll => or_error(request, get_all(request)),
            Self::GetManagedObjects => or_error(request, managed_objects(request)),
        }
    }
}

/// Answers a call that was not answered, since it failed.
fn or_error(request: &Request, answered: Result<(), MethodError>) {
    if let Err(error) = answered {
        answer::<()>(request, Err(error));
    }
}

fn introspect(request: &Request) -> Result<(String,), MethodError> {
    let path = path(request);
    let objects = request.connection().objects();
    let text = objects.introspect(path).ok_or_else(|| unknown_object(path))?;
    Ok((text,))
}

fn get(request: &Request) -> Result<(), MethodError> {
    let (interface, property) = request.read::<(&str, &str)>()?;
    let (served, access) = find_property(request, interface, property)?;
    if access == Access::Write {
        let text = format!("the property {property} cannot be read");
        return Err(MethodError::new(error_name::ACCESS_DENIED, text));
    }
    served.check_free()?;
    let write = |writer: &mut Writer<'_>| served.write_property(property, writer);
    answer_with(request, &Written { signature: signature("v"), write });
    Ok(())
}

fn get_all(request: &Request) -> Result<(), MethodError> {
    let (interface,) = request.read::<(&str,)>()?;
    let interfaces = interfaces(request.connection(), path(request));
    let wanted: Vec<_> = match interface {
        "" => interfaces,
        name => interfaces.into_iter().filter(|served| served.name() == name).collect(),
    };
    if wanted.is_empty() && !interface.is_empty() && !Standard::is_interface(interface) {
        return Err(unknown_interface(interface, path(request)));
    }
    wanted.iter().try_for_each(|served| served.check_free())?;
    let write = |writer: &mut Writer<'_>| {
        writer.array(8, |writer| {
            wanted.iter().for_each(|served| served.write_properties(writer));
        });
    };
    answer_with(request, &Written { signature: signature("a{sv}"), write });
    Ok(())
}

fn set(request: &Request) -> Result<(), MethodError> {
    let (interface, property) = property_to_set(request)?;
    let (served, _) = find_property(request, interface, property)?;
    served.set(property, request)?;
    let properties = vec![property.into()];
    announce(request.connection(), Change { path: path(request).into(), served, properties });
    Ok(())
}

/// The first two arguments of `Set`; the third is of any type, and read by the property.
fn property_to_set(request: &Request) -> Result<(&str, &str), MethodError> {
    if request.message().signature().as_str() != "ssv" {
        request.read::<(&str, &str, wire::body::Value)>()?;
    }
    let mut reader = request.message().reader();
    let mut text = || reader.string().map_err(wire::body::ReadError::from);
    Ok((text()?, text()?))
}

fn managed_objects(request: &Request) -> Result<(), MethodError> {
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
                    // Object paths are written as strings are.
                    writer.string(path);
                    write_interfaces(interfaces, writer);
                });
            }
        });
    };
    answer_with(request, &Written { signature: signature("a{oa{sa{sv}}}"), write });
    Ok(())
}

/// Writes interfaces with their properties: `a{sa{sv}}`.
pub(super) fn write_interfaces(interfaces: &[Rc<dyn Served>], writer: &mut Writer<'_>) {
    writer.array(8, |writer| {
        for served in interfaces {
            writer.structure(|writer| {
                writer.string(served.name());
                writer.array(8, |writer| served.write_properties(writer));
            });
        }
    });
}

/// Finds a property; an empty interface stands for any.
fn find_property(
    request: &Request,
    interface: &str,
    property: &str,
) -> Result<(Rc<dyn Served>, Access), MethodError> {
    let path = path(request);
    let mut known = interface.is_empty() || Standard::is_interface(interface);
    for served in interfaces(request.connection(), path) {
        if !interface.is_empty() && served.name() != interface {
            continue;
        }
        known = true;
        if let Some((access, _)) = served.property(property) {
            return Ok((served, access));
        }
    }
    if !known {
        return Err(unknown_interface(interface, path));
    }
    let text = format!("there is no property {property}");
    Err(MethodError::new(error_name::UNKNOWN_PROPERTY, text))
}

fn interfaces(connection: &Connection, path: &str) -> Vec<Rc<dyn Served>> {
    let objects: std::cell::Ref<'_, Objects> = connection.objects();
    objects.node(path).map(|node| node.interfaces.clone()).unwrap_or_default()
}

fn path(request: &Request) -> &str {
    request.message().path().unwrap_or("/")
}

/// The identity of this machine, as the system keeps it (machine-id(5)).
fn machine_id() -> Result<Guid, MethodError> {
    let read = |file: &&str| Guid::parse(fs::read_to_string(file).ok()?.trim_end()).ok();
    let found = MACHINE_ID_FILES.iter().find_map(read);
    found.ok_or_else(|| MethodError::failed("this machine has no identity"))
}

pub(super) fn signature(text: &'static str) -> Signature<'static> {
    Signature::new(text).expect("a literal that is one")
}

const PEER: &str = "org.freedesktop.DBus.Peer";
const INTROSPECTABLE: &str = "org.freedesktop.DBus.Introspectable";
pub(super) const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
pub(super) const OBJECT_MANAGER: &str = "org.freedesktop.DBus.ObjectManager";

/// Where the identity of the machine is, the specification's place first.
const MACHINE_ID_FILES: [&str; 2] = ["/var/lib/dbus/machine-id", "/etc/machine-id"];

/// What every object can do, described.
pub(super) const STANDARD_XML: &str = r#"  <interface name="org.freedesktop.DBus.Introspectable">
    <method name="Introspect">
      <arg name="xml_data" type="s" direction="out"/>
    </method>
  </interface>
  <interface name="org.freedesktop.DBus.Peer">
    <method name="GetMachineId">
      <arg name="machine_uuid" type="s" direction="out"/>
    </method>
    <method name="Ping"/>
  </interface>
  <interface name="org.freedesktop.DBus.Properties">
    <method name="Get">
      <arg name="interface_name" type="s" direction="in"/>
      <arg name="property_name" type="s" direction="in"/>
      <arg name="value" type="v" direction="out"/>
    </method>
    <method name="GetAll">
      <arg name="interface_name" type="s" direction="in"/>
      <arg name="properties" type="a{sv}" direction="out"/>
    </method>
    <method name="Set">
      <arg name="interface_name" type="s" direction="in"/>
      <arg name="property_name" type="s" direction="in"/>
      <arg name="value" type="v" direction="in"/>
    </method>
    <signal name="PropertiesChanged">
      <arg name="interface_name" type="s"/>
      <arg name="changed_properties" type="a{sv}"/>
      <arg name="invalidated_properties" type="as"/>
    </signal>
  </interface>
"#;

/// What an object can do that lists those below it, described.
pub(super) const MANAGER_XML: &str = r#"  <interface name="org.freedesktop.DBus.ObjectManager">
    <method name="GetManagedObjects">
      <arg name="objects" type="a{oa{sa{sv}}}" direction="out"/>
    </method>
    <signal name="InterfacesAdded">
      <arg name="object" type="o"/>
      <arg name="interfaces" type="a{sa{sv}}"/>
    </signal>
    <signal name="InterfacesRemoved">
      <arg name="object" type="o"/>
      <arg name="interfaces" type="as"/>
    </signal>
  </interface>
"#;
