//! The user ids of user namespaces (user_namespaces(7)).

use std::fs;
use std::io;

/// Which user ids of a user namespace stand for which ids of the namespace of the reader
/// (`/proc/PID/uid_map`).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UidMap {
    ranges: Vec<UidRange>,
}

/// Successive ids that stand for successive ids.
#[derive(Debug, PartialEq, Eq)]
struct UidRange {
    inside: u32,
    outside: u32,
    count: u32,
}

impl UidMap {
    /// Reads the map of a process. Without a map, it has no ids.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if the process has ended.
    pub(crate) fn of_process(pid: u32) -> io::Result<Self> {
        fs::read_to_string(format!("/proc/{pid}/uid_map")).map(|text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let range = |line: &str| {
            let mut numbers = line.split_ascii_whitespace().map_while(|word| word.parse().ok());
            let [inside, outside, count] = [numbers.next()?, numbers.next()?, numbers.next()?];
            Some(UidRange { inside, outside, count })
        };
        Self { ranges: text.lines().filter_map(range).collect() }
    }

    /// The id outside of the namespace for an id inside of it.
    pub(crate) fn outside(&self, inside: u32) -> Option<u32> {
        self.ranges.iter().find_map(|range| {
            let offset = inside.checked_sub(range.inside)?;
            if offset < range.count { range.outside.checked_add(offset) } else { None }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_translated_within_their_ranges() {
        let map =
            UidMap::parse("         0       1000          1\n         1     100000      65536\n");
        for (inside, outside) in [
            (0, Some(1000)),
            (1, Some(100_000)),
            (65536, Some(165_535)),
            (65537, None),
            (u32::MAX, None),
        ] {
            assert_eq!(map.outside(inside), outside, "{inside}");
        }
        assert_eq!(UidMap::parse("").outside(0), None);
        assert_eq!(UidMap::parse("0 1000\nx y z\n5 4294967295 2").outside(6), None);
    }

    #[test]
    fn the_map_of_this_process_can_be_read() {
        assert!(!UidMap::of_process(std::process::id()).unwrap().ranges.is_empty());
        assert_eq!(UidMap::of_process(0).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
