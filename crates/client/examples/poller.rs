//! A client that polls the properties of the `battery` and `volumes` examples.
//!
//! Shows how to wait for a service, call methods, read properties, and distinguish the errors of a
//! service from the errors of the connection. It is also an example of polling, which the linter
//! reports: a well-behaved client reads the properties once and then listens to
//! `PropertiesChanged`.
//!
//! ```sh
//! cargo run -p diligence-client --example poller
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::thread;
use std::time::Duration;

use diligence_client::wire::body::Value;
use diligence_client::{CallError, Connection};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let bus = Connection::session()?;
    // A call without a reply within this time fails with `CallError::TimedOut`.
    bus.set_call_timeout(Some(Duration::from_secs(10)));

    for service in [BATTERY, VOLUMES] {
        // `None` waits forever.
        bus.wait_for_owner(service, None)?;
    }
    for round in 0_u64.. {
        match poll(&bus, round) {
            // The service replied with an error, has exited, or was too slow: continue polling.
            Ok(()) | Err(CallError::Remote { .. } | CallError::TimedOut { .. }) => {}
            // The bus closed the connection, which ends this program.
            Err(CallError::Disconnected(_)) => break,
            // The call could not be sent, or its reply could not be decoded: a bug in this program.
            Err(error) => return Err(error.into()),
        }
        thread::sleep(INTERVAL);
    }
    Ok(())
}

fn poll(bus: &Connection, round: u64) -> Result<(), CallError> {
    match round % ROUNDS {
        ABSENT => read_properties(bus, VOLUMES, "/com/example/Volumes/absent", VOLUME_INTERFACE),
        EVERYTHING => {
            let manager = "org.freedesktop.DBus.ObjectManager";
            bus.call(VOLUMES, VOLUMES_PATH, manager, "GetManagedObjects", &())?;
            Ok(())
        }
        even if even % 2 == 0 => read_properties(bus, BATTERY, BATTERY_PATH, BATTERY_INTERFACE),
        _ => {
            // Old volumes are replaced over time; these are replaced only after about half an hour.
            let path = format!("{VOLUMES_PATH}/v{:04}", 999 - round % 100);
            read_properties(bus, VOLUMES, &path, VOLUME_INTERFACE)
        }
    }
}

/// Reads all properties of an interface with one call of `GetAll`. The syntax of the names is
/// checked when the proxy is created; a missing object is reported only in the reply.
fn read_properties(
    bus: &Connection,
    service: &str,
    path: &str,
    interface: &str,
) -> Result<(), CallError> {
    let object = bus.proxy(service, path, interface)?;
    let _properties: BTreeMap<String, Value> = object.get_all()?;
    Ok(())
}

const BATTERY: &str = "com.example.Battery";
const BATTERY_PATH: &str = "/com/example/Battery";
const BATTERY_INTERFACE: &str = "com.example.Battery1";
const VOLUMES: &str = "com.example.Volumes";
const VOLUMES_PATH: &str = "/com/example/Volumes";
const VOLUME_INTERFACE: &str = "com.example.Volume1";

/// Time between two calls.
const INTERVAL: Duration = Duration::from_millis(100);

/// The calls repeat after this many rounds. One round reads all volumes, and one reads an object
/// that does not exist.
const ROUNDS: u64 = 20;
const EVERYTHING: u64 = 9;
const ABSENT: u64 = 19;
