//! `org.freedesktop.DBus.Properties` of the bus.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wire::body::Value;
use wire::signature::Signature;

use super::call::{Call, Driver};
use super::container_arguments::SUPPORTED_ARGUMENTS;
use super::table::{DriverInterface, INTERFACES};
use crate::access::mediation::MediatorKind;
use crate::routing::Router;
use crate::types::{Effects, RefusalReason, ServiceManager};

pub(super) fn get(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (interface, property) = call.args::<(&str, &str)>()?;
    let value = value(driver.router, find(interface)?, property)?;
    driver.reply(call, &(value,), fx)
}

pub(super) fn get_all(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (name,) = call.args::<(&str,)>()?;
    let interface = find(name)?;
    let names = interface.properties.iter().map(|property| property.name);
    let all = names.map(|name| Ok((name, value(driver.router, interface, name)?)));
    let all = all.collect::<Result<BTreeMap<_, _>, RefusalReason>>()?;
    driver.reply(call, &(all,), fx)
}

pub(super) fn set(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    _: &mut Effects,
) -> Result<(), RefusalReason> {
    let (interface, property, _) = call.args::<(&str, &str, Value)>()?;
    value(driver.router, find(interface)?, property)?;
    Err(RefusalReason::PropertyReadOnly { interface: interface.into(), property: property.into() })
}

fn find(name: &str) -> Result<&'static DriverInterface, RefusalReason> {
    let found = INTERFACES.iter().find(|interface| interface.name == name);
    found.ok_or_else(|| RefusalReason::PropertyInterfaceUnknown { interface: name.into() })
}

fn value(
    router: &Router,
    interface: &DriverInterface,
    property: &str,
) -> Result<Value, RefusalReason> {
    match (interface.name, property) {
        ("org.freedesktop.DBus", "Features") => Ok(strings(&features(router))),
        ("org.freedesktop.DBus", "Interfaces") => Ok(strings(&optional_interfaces())),
        ("org.freedesktop.DBus.Containers1", "SupportedArguments") => {
            Ok(strings(SUPPORTED_ARGUMENTS))
        }
        (interface, property) => Err(RefusalReason::PropertyUnknown {
            interface: interface.into(),
            property: property.into(),
        }),
    }
}

/// The value of the `Features` property, in alphabetical order.
fn features(router: &Router) -> Vec<&'static str> {
    let mut features = Vec::from(["ActivatableServicesChanged", "HeaderFiltering"]);
    if router.config.services.manager == ServiceManager::Systemd {
        features.push("SystemdActivation");
    }
    features.extend(router.access.modules().map(MediatorKind::name));
    features.sort_unstable();
    features
}

/// The optional interfaces that this bus implements.
fn optional_interfaces() -> Vec<&'static str> {
    let expected = ["", ".Introspectable", ".Properties", ".Peer"];
    let is_optional = |name: &str| {
        let suffix = name.strip_prefix("org.freedesktop.DBus");
        suffix.is_none_or(|suffix| !expected.contains(&suffix))
    };
    INTERFACES.iter().map(|interface| interface.name).filter(|name| is_optional(name)).collect()
}

fn strings(texts: &[&str]) -> Value {
    let element = Signature::new("s").expect("a valid signature").into();
    Value::Array { element, items: texts.iter().map(|&text| text.into()).collect() }
}
