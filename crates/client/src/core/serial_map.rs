//! A map whose keys are serials of messages.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU32;

/// A map from the serials of messages to values. The latest value has its own place, so that a
/// program that waits for each reply before the next call does not search.
pub(super) struct SerialMap<T> {
    latest: Option<(NonZeroU32, T)>,
    earlier: HashMap<NonZeroU32, T, SerialHash>,
}

impl<T> SerialMap<T> {
    pub(super) fn new() -> Self {
        Self { latest: None, earlier: HashMap::default() }
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.latest.is_some()) + self.earlier.len()
    }

    pub(super) fn contains(&self, serial: NonZeroU32) -> bool {
        self.get(serial).is_some()
    }

    pub(super) fn get(&self, serial: NonZeroU32) -> Option<&T> {
        match &self.latest {
            Some((latest, value)) if *latest == serial => Some(value),
            _ => self.earlier.get(&serial),
        }
    }

    pub(super) fn get_mut(&mut self, serial: NonZeroU32) -> Option<&mut T> {
        match &mut self.latest {
            Some((latest, value)) if *latest == serial => Some(value),
            _ => self.earlier.get_mut(&serial),
        }
    }

    /// Adds a value. The map must not have the serial.
    pub(super) fn insert(&mut self, serial: NonZeroU32, value: T) {
        if let Some((before, value)) = self.latest.replace((serial, value)) {
            self.earlier.insert(before, value);
        }
    }

    pub(super) fn remove(&mut self, serial: NonZeroU32) -> Option<T> {
        match self.latest.take_if(|(latest, _)| *latest == serial) {
            Some((_, value)) => Some(value),
            None => self.earlier.remove(&serial),
        }
    }

    /// All values with their serials, in any order.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (NonZeroU32, &mut T)> {
        let latest = self.latest.iter_mut().map(|(serial, value)| (*serial, value));
        latest.chain(self.earlier.iter_mut().map(|(serial, value)| (*serial, value)))
    }

    /// Removes the values for which `keep` returns false.
    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.latest.take_if(|(_, value)| !keep(value));
        self.earlier.retain(|_, value| keep(value));
    }
}

/// The hash of serials, which this connection chooses, so that a simple one is safe.
pub(super) type SerialHash = BuildHasherDefault<SerialHasher>;

/// Spreads consecutive serials over a table (Fibonacci hashing).
#[derive(Clone, Copy, Default)]
pub(super) struct SerialHasher(u64);

impl Hasher for SerialHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serial(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).expect("tests use no 0")
    }

    fn entries(map: &mut SerialMap<char>) -> Vec<(u32, char)> {
        let mut entries: Vec<_> = map.iter_mut().map(|(key, value)| (key.get(), *value)).collect();
        entries.sort_unstable();
        assert_eq!(entries.len(), map.len());
        entries
    }

    #[test]
    fn values_are_found_whether_or_not_they_are_the_latest() {
        let mut map = SerialMap::new();
        for (number, value) in [(1, 'a'), (2, 'b'), (3, 'c')] {
            map.insert(serial(number), value);
        }
        assert_eq!(
            [1, 2, 3, 4].map(|number| map.get(serial(number)).copied()),
            [Some('a'), Some('b'), Some('c'), None]
        );
        map.iter_mut().for_each(|(_, value)| value.make_ascii_uppercase());
        *map.get_mut(serial(3)).expect("the latest") = 'x';
        *map.get_mut(serial(1)).expect("an earlier one") = 'y';
        assert_eq!(entries(&mut map), [(1, 'y'), (2, 'B'), (3, 'x')]);
        assert_eq!(map.remove(serial(3)), Some('x'));
        assert_eq!(map.remove(serial(3)), None);
        assert_eq!(map.remove(serial(1)), Some('y'));
        map.insert(serial(4), 'd');
        assert!(map.contains(serial(2)) && map.contains(serial(4)) && !map.contains(serial(1)));
        assert_eq!(entries(&mut map), [(2, 'B'), (4, 'd')]);
    }

    #[test]
    fn the_latest_value_can_be_removed_by_a_condition() {
        let mut map = SerialMap::new();
        for (number, value) in [(1, 'a'), (2, 'b'), (3, 'b')] {
            map.insert(serial(number), value);
        }
        map.retain(|value| *value == 'a');
        assert_eq!(entries(&mut map), [(1, 'a')]);
    }
}
