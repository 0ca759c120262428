//! Introspection of the bus, generated from the table of its interfaces.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

use wire::names::ObjectPath;

use super::call::{Call, Driver};
use super::table::{DriverArgument, DriverInterface, INTERFACES, PathRule};
use crate::types::{Effects, RefusalReason};
use crate::well_known::DRIVER_PATH;

pub(super) fn introspect(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let path = call.message.path().unwrap_or(DRIVER_PATH);
    let xml = introspection_xml(path);
    driver.reply(call, &(xml,), fx)
}

/// The introspection data of the object at `path`: at the path of the bus all interfaces; at other
/// paths the interfaces that every path has, and the child that leads to the path of the bus
/// ("Introspection Data Format").
pub fn introspection_xml(path: ObjectPath<'_>) -> String {
    let mut xml = String::from(HEAD);
    write_node(&mut xml, path).expect("a string takes everything");
    xml
}

fn write_node(xml: &mut String, path: ObjectPath<'_>) -> fmt::Result {
    xml.write_str("<node>\n")?;
    let here =
        |interface: &&DriverInterface| path == DRIVER_PATH || interface.path == PathRule::Any;
    for interface in INTERFACES.iter().filter(here) {
        write_interface(xml, interface)?;
    }
    if let Some(child) = child_towards_driver(path) {
        writeln!(xml, "  <node name=\"{child}\"/>")?;
    }
    xml.write_str("</node>\n")
}

fn write_interface(xml: &mut String, interface: &DriverInterface) -> fmt::Result {
    writeln!(xml, "  <interface name=\"{}\">", interface.name)?;
    for method in interface.methods {
        writeln!(xml, "    <method name=\"{}\">", method.name)?;
        write_args(xml, method.input, " direction=\"in\"")?;
        write_args(xml, method.output, " direction=\"out\"")?;
        writeln!(xml, "    </method>")?;
    }
    for property in interface.properties {
        let (name, signature) = (property.name, property.signature);
        writeln!(xml, "    <property name=\"{name}\" type=\"{signature}\" access=\"read\">")?;
        let annotation = "org.freedesktop.DBus.Property.EmitsChangedSignal";
        writeln!(xml, "      <annotation name=\"{annotation}\" value=\"const\"/>")?;
        writeln!(xml, "    </property>")?;
    }
    for signal in interface.signals {
        writeln!(xml, "    <signal name=\"{}\">", signal.name)?;
        write_args(xml, signal.args, "")?;
        writeln!(xml, "    </signal>")?;
    }
    writeln!(xml, "  </interface>")
}

fn write_args(xml: &mut String, args: &[DriverArgument], direction: &str) -> fmt::Result {
    for DriverArgument { name, signature } in args {
        writeln!(xml, "      <arg name=\"{name}\" type=\"{signature}\"{direction}/>")?;
    }
    Ok(())
}

/// The next element of the path of the bus, below `path`.
fn child_towards_driver(path: ObjectPath<'_>) -> Option<&'static str> {
    let prefix = if path == ObjectPath::ROOT { String::from("/") } else { format!("{path}/") };
    DRIVER_PATH.as_str().strip_prefix(&*prefix)
}

const HEAD: &str = "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n\
\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n";
