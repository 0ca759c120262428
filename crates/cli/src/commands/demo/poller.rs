//! A program that asks all the time where it could listen, as too many do; and one time in twenty
//! for an object that is not there.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use client::wire::body::Value;
use client::{CallError, Connection};

use super::{DemoError, volumes, wait_for_owner};

/// Asks for ever.
pub(super) fn play(bus: &Connection) -> Result<(), DemoError> {
    wait_for_owner(bus, BATTERY)?;
    wait_for_owner(bus, volumes::NAME)?;
    for round in 0_u64.. {
        match ask(bus, round) {
            // That a service says no, or has gone, is what is to be seen.
            Ok(()) | Err(CallError::Remote { .. } | CallError::TimedOut) => {}
            Err(error) => return Err(error.into()),
        }
        thread::sleep(INTERVAL);
    }
    Ok(())
}

fn ask(bus: &Connection, round: u64) -> Result<(), CallError> {
    match round % ROUNDS {
        ABSENT => all_properties(bus, volumes::NAME, "/com/example/Volumes/absent", VOLUME),
        EVERYTHING => {
            let manager = "org.freedesktop.DBus.ObjectManager";
            bus.call(volumes::NAME, volumes::PATH, manager, "GetManagedObjects", &()).map(drop)
        }
        even if even % 2 == 0 => all_properties(bus, BATTERY, BATTERY_PATH, "com.example.Battery1"),
        _ => {
            // The oldest volumes go with time; these stay for most of an hour.
            let number = volumes::VOLUMES - 1 - round % 100;
            all_properties(bus, volumes::NAME, &volumes::volume_path(number), VOLUME)
        }
    }
}

fn all_properties(
    bus: &Connection,
    name: &str,
    path: &str,
    interface: &str,
) -> Result<(), CallError> {
    bus.proxy(name, path, interface)?.get_all::<BTreeMap<String, Value>>().map(drop)
}

const BATTERY: &str = "com.example.Battery";
const BATTERY_PATH: &str = "/com/example/Battery";
const VOLUME: &str = "com.example.Volume1";

/// Ten times a second.
const INTERVAL: Duration = Duration::from_millis(100);

/// After so many rounds it begins anew; two of them are special.
const ROUNDS: u64 = 20;
const EVERYTHING: u64 = 9;
const ABSENT: u64 = 19;
