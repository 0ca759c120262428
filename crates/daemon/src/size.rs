//! Numbers of bytes on the command line: `65536`, `64KiB`, `1.5M`.

/// Reads a number of bytes, with or without a unit. As in IEC 80000-13, `kB` is 1000 bytes and `KiB`
/// 1024; a single letter means the latter. Fractions of a byte are cut off.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let is_unit = |c: char| !c.is_ascii_digit() && c != '.';
    let (number, unit) = text.split_at(text.find(is_unit).unwrap_or(text.len()));
    let unit = unit.trim();
    let (_, scale) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    // Further digits are worth less than a byte.
    let fraction = fraction.get(..fraction.len().min(DECIMALS_MAX))?;
    let divisor = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let part = u128::from(digits(fraction)?) * u128::from(*scale) / divisor;
    digits(whole)?.checked_mul(*scale)?.checked_add(u64::try_from(part).ok()?)
}

/// The units, in any case.
const UNITS: [(&str, u64); 14] = [
    ("", 1),
    ("B", 1),
    ("kB", 1000),
    ("KiB", 1 << 10),
    ("K", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("M", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("G", 1 << 30),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
    ("T", 1 << 40),
];

const DECIMALS_MAX: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_fractions() {
        let check = |text: &str, expected| assert_eq!(bytes(text), expected, "{text:?}");
        check("0", Some(0));
        check("65536", Some(65_536));
        check("64KiB", Some(65_536));
        check("64 kib", Some(65_536));
        check("1.5M", Some(1_572_864));
        check(".5kB", Some(500));
        check("1.KiB", Some(1024));
        check("1.0009765625KiB", Some(1025));
        check("0.00000000000000000000001T", Some(0));
        check("2TB", Some(2_000_000_000_000));
        for text in ["", ".", "KiB", "-1", "+1", "1.2.3", "1x", "1 2", "1KiBB", "99999999999G"] {
            check(text, None);
        }
        check("18446744073709551615", Some(u64::MAX));
        check("18446744073709551616", None);
    }
}
