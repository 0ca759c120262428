//! Calls of the bus, and the readable form of messages.

use testkit::world::{build, driver_method, interface, member, name, path};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;

use crate::oracle::DRIVER;

/// Describes a message in one line.
pub(super) fn shown(bytes: &[u8]) -> String {
    let Ok(one) = Message::parse(bytes) else { return format!("{bytes:?}") };
    let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
    format!(
        "{} {} -> {} serial {} reply to {} {} {} {} body {} bytes",
        one.message_type(),
        text(one.sender().map(|name| name.as_str())),
        text(one.destination().map(|name| name.as_str())),
        one.serial(),
        one.reply_serial().map_or(0, core::num::NonZero::get),
        text(one.path().map(|path| path.as_str())),
        text(one.interface().map(|name| name.as_str())),
        text(one.member().map(|name| name.as_str()).or(one.error_name().map(|name| name.as_str()))),
        one.body().len(),
    )
}

pub(crate) fn hello(serial: u32) -> Vec<u8> {
    call_bus("Hello", serial, &[])
}

/// Builds a call of a method of the bus.
pub(crate) fn call_bus(method: &str, serial: u32, args: &[Value]) -> Vec<u8> {
    let (interface_name, method) = driver_method(method);
    let call = Builder::method_call(path("/org/freedesktop/DBus"), member(method));
    build(call.interface(interface(&interface_name)).destination(name(DRIVER)), serial, args)
}

pub(crate) fn strings(texts: &[&str]) -> Value {
    let items = texts.iter().map(|text| Value::from(*text)).collect();
    let element = wire::signature::Signature::new("s").expect("`s` is a valid signature");
    Value::Array { element: element.into(), items }
}
