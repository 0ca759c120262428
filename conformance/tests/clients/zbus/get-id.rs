//! Connects with zbus to the address of the argument, and prints the id of the bus.

#![deny(warnings)]

use std::error::Error;

use zbus::connection::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("usage: get-id-zbus ADDRESS")?;
    zbus::block_on(print_id(&address))
}

async fn print_id(address: &str) -> Result<(), Box<dyn Error>> {
    let bus = Builder::address(address).build().await?;
    let driver = Some("org.freedesktop.DBus");
    let reply = bus.call_method(driver, "/org/freedesktop/DBus", driver, "GetId", &()).await?;
    println!("{}", reply.body().deserialize::<String>()?);
    Ok(())
}
