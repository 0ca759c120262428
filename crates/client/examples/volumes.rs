//! A volume manager: a thousand objects, some of which change continuously.
//!
//! Shows how to export many objects of one interface, how to list them and announce new and removed
//! ones with `org.freedesktop.DBus.ObjectManager`, and how to change objects later.
//!
//! ```sh
//! cargo run -p diligence-client --example volumes
//! busctl --user tree com.example.Volumes
//! ```

use std::collections::VecDeque;
use std::error::Error;
use std::time::Duration;

use diligence_client::{
    Connection, InterfaceError, MethodError, NameFlags, Object, ServeError, ServedInterface,
};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let bus = Connection::session()?;
    let interface = interface()?;
    let mut pool =
        StoragePool { bus: &bus, interface, volumes: VecDeque::new(), added: 0, turn: 0 };
    for _ in 0..VOLUMES {
        pool.add()?;
    }
    // Clients get all objects with one call, and a signal for each object added or removed later.
    bus.add_object_manager(PATH)?;
    if !bus.request_name(NAME, NameFlags::DO_NOT_QUEUE)?.is_owner() {
        return Err(format!("{NAME} is already owned; another instance may be running").into());
    }

    let mut beat = 0_u64;
    while bus.serve_for(BEAT).is_ok() {
        beat += 1;
        let changes = if beat.is_multiple_of(BURST_EVERY) { BURST } else { CHANGES_PER_BEAT };
        for _ in 0..changes {
            pool.change_next();
        }
        if beat.is_multiple_of(REPLACED_EVERY) {
            pool.replace_oldest()?;
        }
    }
    Ok(())
}

/// All volumes, the oldest first.
struct StoragePool<'b> {
    bus: &'b Connection,
    /// One definition serves all objects.
    interface: ServedInterface<Volume>,
    /// Handles of the exported objects. Dropping a handle does not remove the object.
    volumes: VecDeque<Object<Volume>>,
    /// Number of volumes added since the start.
    added: u64,
    /// Index of the volume that changed last.
    turn: usize,
}

/// The state of one object.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Volume {
    name: String,
    /// Capacity of the volume in bytes.
    capacity: u64,
    /// Used bytes, at most the capacity.
    used: u64,
}

impl StoragePool<'_> {
    fn add(&mut self) -> Result<(), ServeError> {
        // Numbers of removed volumes are not reused.
        let path = format!("{PATH}/v{:04}", self.added);
        let volume = Volume::new(self.added);
        self.volumes.push_back(self.bus.add_object(path.as_str(), &self.interface, volume)?);
        self.added += 1;
        Ok(())
    }

    fn change_next(&mut self) {
        // A stride, so that neighboring volumes do not change one after the other.
        self.turn = (self.turn + STRIDE) % self.volumes.len();
        let volume = &self.volumes[self.turn];
        volume.state().write(EXTENT);
        volume.properties_changed(&["Used"]);
    }

    fn replace_oldest(&mut self) -> Result<(), ServeError> {
        if let Some(oldest) = self.volumes.pop_front() {
            oldest.remove();
        }
        self.add()
    }
}

impl Volume {
    fn new(number: u64) -> Self {
        let capacity = (1 + number % 16) * GIB;
        Self { name: format!("volume-{number:04}"), capacity, used: capacity / (2 + number % 7) }
    }

    /// Writes this many bytes; a full volume is emptied first.
    const fn write(&mut self, amount: u64) {
        self.used += amount;
        if self.used > self.capacity {
            self.used = amount;
        }
    }

    fn resize(&mut self, capacity: u64) -> Result<(), MethodError> {
        if capacity < self.used {
            let used = self.used;
            return Err(MethodError::invalid_args(format!("{used} bytes are in use")));
        }
        self.capacity = capacity;
        Ok(())
    }
}

fn interface() -> Result<ServedInterface<Volume>, InterfaceError> {
    ServedInterface::<Volume>::builder("com.example.Volume1")
        .annotate(DOC, "A volume; /com/example/Volumes lists all volumes.")
        .property("Name", |volume| volume.name.clone())
        .annotate(DOC, "The display name.")
        .writable_property("Capacity", |volume| volume.capacity, Volume::resize)
        .annotate(DOC, "Capacity in bytes; at least the number of used bytes.")
        .property("Used", |volume| volume.used)
        .annotate(DOC, "Number of used bytes.")
        .build()
}

const NAME: &str = "com.example.Volumes";
const PATH: &str = "/com/example/Volumes";

/// The number of objects at any time.
const VOLUMES: u64 = 1000;

/// Each beat changes some volumes: 50 per second.
const BEAT: Duration = Duration::from_millis(100);
const CHANGES_PER_BEAT: usize = 5;

/// Every 10 seconds, this many change at once.
const BURST_EVERY: u64 = 100;
const BURST: usize = 500;

/// Every 2 seconds, a new volume replaces the oldest one.
const REPLACED_EVERY: u64 = 20;

/// Coprime to the number of volumes, so that all volumes change in turn.
const STRIDE: usize = 377;

const GIB: u64 = 1 << 30;
const EXTENT: u64 = 4 << 20;

/// The annotation that tools show as documentation.
const DOC: &str = "org.gtk.GDBus.DocString";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_resizes_keep_used_bytes_within_the_capacity() {
        let mut volume = Volume { name: "x".into(), capacity: 10, used: 0 };
        let used: Vec<u64> = (0..4)
            .map(|_| {
                volume.write(4);
                volume.used
            })
            .collect();
        assert_eq!(used, [4, 8, 4, 8]);
        assert!(volume.resize(7).is_err());
        volume.resize(8).unwrap();
        assert_eq!(volume.capacity, 8);
    }

    #[test]
    fn the_stride_reaches_every_volume() {
        let mut turns: Vec<u64> = (0..VOLUMES).map(|n| n * STRIDE as u64 % VOLUMES).collect();
        turns.sort_unstable();
        turns.dedup();
        assert_eq!(turns.len() as u64, VOLUMES);
    }

    #[test]
    fn the_interface_definition_is_valid() {
        interface().unwrap();
    }
}
