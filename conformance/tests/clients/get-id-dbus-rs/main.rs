//! Connects with dbus-rs to the address of the argument, and prints the id of the bus.

#![deny(warnings)]

use std::error::Error;
use std::time::Duration;

use dbus::blocking::Connection;
use dbus::channel::Channel;

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("usage: get-id-dbus-rs ADDRESS")?;
    let mut channel = Channel::open_private(&address)?;
    channel.register()?;
    let bus = Connection::from(channel);
    let driver = "org.freedesktop.DBus";
    let object = bus.with_proxy(driver, "/org/freedesktop/DBus", Duration::from_secs(10));
    let (id,): (String,) = object.method_call(driver, "GetId", ())?;
    println!("{id}");
    Ok(())
}
