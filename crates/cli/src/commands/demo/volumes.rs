//! A volume manager: a thousand objects, of which some change all the time, and at times many.

use std::collections::VecDeque;
use std::time::Duration;

use client::{Connection, Interface, InterfaceError, MethodError, Object};

use super::{DOC, DemoError, serve, take_name};

/// Serves the volumes.
pub(super) fn play(bus: &Connection) -> Result<(), DemoError> {
    let interface = interface()?;
    let mut pool = Pool { bus, interface: &interface, volumes: VecDeque::new(), added: 0, turn: 0 };
    for _ in 0..VOLUMES {
        pool.add()?;
    }
    // From now on it is told who comes and goes.
    bus.add_object_manager(PATH)?;
    take_name(bus, NAME)?;
    let mut beat = 0_u64;
    serve(
        bus,
        BEAT,
        || Ok(()),
        || {
            beat += 1;
            let changes = if beat.is_multiple_of(BURST_EVERY) { BURST } else { CHANGES_PER_BEAT };
            (0..changes).try_for_each(|_| pool.change_next())?;
            if beat.is_multiple_of(REPLACED_EVERY) {
                pool.replace_oldest()?;
            }
            Ok(())
        },
    )
}

/// All volumes, the oldest first.
struct Pool<'b> {
    bus: &'b Connection,
    interface: &'b Interface<Volume>,
    volumes: VecDeque<Object<Volume>>,
    /// How many were ever added.
    added: u64,
    /// Who changes next.
    turn: usize,
}

/// One volume.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Volume {
    name: String,
    /// In bytes.
    capacity: u64,
    /// In bytes, at most the capacity.
    used: u64,
}

impl Pool<'_> {
    fn add(&mut self) -> Result<(), DemoError> {
        let path = volume_path(self.added);
        let volume = Volume::new(self.added);
        self.volumes.push_back(self.bus.add_object(&path, self.interface, volume)?);
        self.added += 1;
        Ok(())
    }

    fn change_next(&mut self) -> Result<(), DemoError> {
        // Neighbours do not change one after the other.
        self.turn = (self.turn + STRIDE) % self.volumes.len();
        let object = &self.volumes[self.turn];
        object.state().write(EXTENT);
        object.properties_changed(&["Used"]);
        Ok(())
    }

    fn replace_oldest(&mut self) -> Result<(), DemoError> {
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

    /// Writes so much; a volume that is full is emptied first.
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

fn interface() -> Result<Interface<Volume>, InterfaceError> {
    Interface::<Volume>::builder("com.example.Volume1")
        .annotate(DOC, "A volume; /com/example/Volumes lists all of them.")
        .property("Name", |volume| volume.name.clone())
        .annotate(DOC, "The name for people.")
        .writable_property("Capacity", |volume| volume.capacity, Volume::resize)
        .annotate(DOC, "In bytes; not less than what is used.")
        .property("Used", |volume| volume.used)
        .annotate(DOC, "In bytes.")
        .build()
}

/// Where the volume with this number is.
pub(super) fn volume_path(number: u64) -> String {
    format!("{PATH}/v{number:04}")
}

pub(super) const NAME: &str = "com.example.Volumes";
pub(super) const PATH: &str = "/com/example/Volumes";

/// How many there are at any time.
pub(super) const VOLUMES: u64 = 1000;

/// Every so often some of them change: 50 a second.
const BEAT: Duration = Duration::from_millis(100);
const CHANGES_PER_BEAT: usize = 5;

/// Every 10 seconds, so many at once.
const BURST_EVERY: u64 = 100;
const BURST: usize = 500;

/// Every 2 seconds one goes and another comes.
const REPLACED_EVERY: u64 = 20;

/// A number that has no divisor in common with the number of volumes.
const STRIDE: usize = 377;

const GIB: u64 = 1 << 30;
const EXTENT: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_never_fuller_than_full() {
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
    fn every_volume_has_its_turn() {
        let mut turns: Vec<u64> = (0..VOLUMES).map(|n| n * STRIDE as u64 % VOLUMES).collect();
        turns.sort_unstable();
        turns.dedup();
        assert_eq!(turns.len() as u64, VOLUMES);
    }

    #[test]
    fn the_interface_is_sound() {
        interface().unwrap();
    }
}
