//! Numbers, times and link types in containers.

/// The byte order of the numbers in a container. Each message in it has its own byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(super) const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    pub(super) const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    pub(super) const fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The number at an offset; `None` if the bytes end before.
    pub(super) fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(*bytes.get(at..)?.first_chunk()?))
    }

    /// The number at an offset; `None` if the bytes end before.
    #[inline]
    pub(super) fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(*bytes.get(at..)?.first_chunk()?))
    }

    /// The number at an offset; `None` if the bytes end before.
    pub(super) fn u64_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        Some(self.u64(*bytes.get(at..)?.first_chunk()?))
    }
}

/// The unit of the times in a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeUnit {
    /// The unit is this number of nanoseconds.
    Nanos(u64),
    /// A second has this number of units.
    Fraction(u64),
}

impl TimeUnit {
    pub(super) const MICROSECOND: Self = Self::Nanos(1_000);
    pub(super) const NANOSECOND: Self = Self::Nanos(1);

    /// The unit for a number of units per second; a second if the number is 0.
    pub(super) const fn of(per_second: u64) -> Self {
        match per_second {
            0 => Self::Nanos(NANOS),
            some if NANOS.is_multiple_of(some) => Self::Nanos(NANOS / some),
            some => Self::Fraction(some),
        }
    }

    /// The nanoseconds of a number of units.
    #[inline]
    pub(super) fn nanos(self, count: u64) -> i64 {
        let nanos = match self {
            Self::Nanos(each) => count.saturating_mul(each),
            Self::Fraction(per_second) => {
                let nanos = u128::from(count) * u128::from(NANOS) / u128::from(per_second);
                u64::try_from(nanos).unwrap_or(u64::MAX)
            }
        };
        i64::try_from(nanos).unwrap_or(i64::MAX)
    }
}

/// The link type of D-Bus in the registry of tcpdump.org.
pub(super) const LINK_TYPE_DBUS: u32 = 231;

/// The snap length that states that no message was cut: no message is longer.
pub(super) const SNAP_LEN_ALL: u32 = 1 << 27;

/// The number of nanoseconds in a second.
pub(super) const NANOS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_unit_are_nanoseconds() {
        let cases = [
            (1, 3, 3_000_000_000),
            (1_000, 3, 3_000_000),
            (1_000_000, 1_795_265_175_928_776, 1_795_265_175_928_776_000),
            (1_000_000_000, 7, 7),
            (1 << 10, 1 << 10, 1_000_000_000),
            (1 << 10, 512, 500_000_000),
            (1 << 63, 1 << 62, 500_000_000),
            (10_000_000_000, 25, 2),
            (u64::MAX, 5, 0),
            (1, u64::MAX, i64::MAX),
            (1 << 10, u64::MAX, i64::MAX),
        ];
        for (per_second, count, nanos) in cases {
            assert_eq!(TimeUnit::of(per_second).nanos(count), nanos, "{count} of 1/{per_second} s");
        }
    }
}
