//! Numbers with units.

use super::field::{Field, NumberField};

/// The number that a text is, in the unit of its field: bytes, nanoseconds, or none.
pub(crate) fn number(field: NumberField, text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let units = units(Field::Number(field));
    if units.is_empty() {
        return if unit.is_empty() { number.parse().ok() } else { None };
    }
    let (_, scale) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    scaled(number, *scale)
}

/// The units of a field with what they are worth, those that are offered first.
pub(super) const fn units(field: Field) -> &'static [(&'static str, u64)] {
    match field {
        Field::Number(NumberField::Size) => SIZES,
        Field::Number(NumberField::Duration | NumberField::Time) => TIMES,
        _ => &[],
    }
}

/// A decimal number of units, exact: `1.5` of 1000 is 1500.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = match whole {
        "" if fraction.is_empty() => return None,
        "" => 0,
        digits => digits.parse().ok()?,
    };
    let divisor = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let part = part.checked_mul(scale.into())? / divisor;
    whole.checked_mul(scale)?.checked_add(u64::try_from(part).ok()?)
}

/// Without a unit, bytes.
const SIZES: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("kB", 1000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("k", 1 << 10),
    ("M", 1 << 20),
];

/// A time has a unit: there is none that all would expect.
const TIMES: &[(&str, u64)] = &[
    ("ms", 1_000_000),
    ("us", 1000),
    ("\u{b5}s", 1000),
    ("\u{3bc}s", 1000),
    ("ns", 1),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_units_of_their_field() {
        use NumberField::{Duration, Serial, Size};
        for (field, text, expected) in [
            (Duration, "50ms", Some(50_000_000)),
            (Duration, "1.5s", Some(1_500_000_000)),
            (Duration, ".5us", Some(500)),
            (Duration, "2\u{b5}s", Some(2000)),
            (Duration, "1h", Some(3_600_000_000_000)),
            (Duration, "50", None),
            (Duration, "ms", None),
            (Duration, "5 ms", None),
            (Duration, "1.2.3s", None),
            (Duration, "99999999999h", None),
            (Size, "64", Some(64)),
            (Size, "4k", Some(4096)),
            (Size, "1.5KiB", Some(1536)),
            (Size, "1MB", Some(1_000_000)),
            (Size, "1ms", None),
            (Serial, "12", Some(12)),
            (Serial, "12k", None),
            (Serial, "1.5", None),
            (Serial, "", None),
        ] {
            assert_eq!(number(field, text), expected, "{field:?} {text:?}");
        }
    }
}
