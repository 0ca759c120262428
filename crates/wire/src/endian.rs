//! The byte order of a message: the first byte of its header.

/// The byte order of one message, which applies to its header and body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Endian {
    /// `l`: least significant byte first.
    Little,
    /// `B`: most significant byte first.
    Big,
}

impl Endian {
    /// The byte order of this machine, in which programs write by default.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// The byte order for the first byte of a message.
    ///
    /// ```
    /// use diligence_wire::Endian;
    /// assert_eq!(Endian::from_mark(b'l'), Some(Endian::Little));
    /// assert_eq!(Endian::from_mark(b'x'), None);
    /// ```
    #[inline]
    pub const fn from_mark(mark: u8) -> Option<Self> {
        match mark {
            b'l' => Some(Self::Little),
            b'B' => Some(Self::Big),
            _ => None,
        }
    }

    /// The first byte of a message in this order.
    #[inline]
    pub const fn mark(self) -> u8 {
        match self {
            Self::Little => b'l',
            Self::Big => b'B',
        }
    }
}

/// `Endian::u32([..])` and `Endian::u32_bytes(n)` for each width.
macro_rules! widths {
    ($($int:ident, $read:ident, $write:ident, $len:literal;)*) => {
        impl Endian {
            $(
                #[doc = concat!("Reads a `", stringify!($int), "` of this order.")]
                #[inline]
                pub const fn $read(self, bytes: [u8; $len]) -> $int {
                    match self {
                        Self::Little => $int::from_le_bytes(bytes),
                        Self::Big => $int::from_be_bytes(bytes),
                    }
                }

                #[doc = concat!("The bytes of a `", stringify!($int), "` in this order.")]
                #[inline]
                pub const fn $write(self, value: $int) -> [u8; $len] {
                    match self {
                        Self::Little => value.to_le_bytes(),
                        Self::Big => value.to_be_bytes(),
                    }
                }
            )*
        }
    };
}

widths! {
    u16, u16, u16_bytes, 2;
    u32, u32, u32_bytes, 4;
    u64, u64, u64_bytes, 8;
}

/// The smallest multiple of `alignment`, a power of two, that is not less than `offset`.
#[inline]
pub(crate) const fn align(offset: usize, alignment: usize) -> usize {
    (offset + alignment - 1) & !(alignment - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_in_both_byte_orders() {
        for endian in [Endian::Little, Endian::Big] {
            assert_eq!(Endian::from_mark(endian.mark()), Some(endian));
            assert_eq!(endian.u32(endian.u32_bytes(0x1234_5678)), 0x1234_5678);
        }
        assert_eq!(Endian::Big.u16_bytes(0x0102), [1, 2]);
        assert_eq!(Endian::Little.u64_bytes(1), [1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn align_rounds_up_to_a_multiple() {
        assert_eq!([align(0, 8), align(1, 8), align(8, 8), align(9, 4)], [0, 8, 8, 12]);
    }
}
