//! Calls a service and listens to signals at the same time, in async tasks of one thread.
//!
//! ```sh
//! cargo run -p diligence-client --example asynchronous
//! ```

use std::error::Error;

use diligence_client::asynchronous::{Connection, LocalRuntime};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = LocalRuntime::new()?;
    runtime.block_on(async {
        let bus = Connection::session(&runtime).await?;
        let driver =
            bus.proxy("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")?;
        // Both calls are under way before the first reply is awaited.
        let (names, id) = (driver.call("ListNames", &()), driver.call("GetId", &()));
        let (names,): (Vec<String>,) = names.await?.read()?;
        let (id,): (String,) = id.await?.read()?;
        println!("the bus {id} has {} names", names.len());

        // Subscribed before the name is requested, so that its signal is not missed.
        let changes = driver.signals("NameOwnerChanged").await?;
        bus.request_name("org.example.Asynchronous", diligence_client::NameFlags::NONE).await?;
        loop {
            let signal = changes.next().await?;
            let (name, _, owner): (&str, &str, &str) = signal.read()?;
            if name == "org.example.Asynchronous" {
                println!("{name} belongs to {owner} now");
                return Ok(());
            }
        }
    })
}
