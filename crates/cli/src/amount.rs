//! Amounts on the command line: bytes and times.

use std::time::Duration;

/// Reads an amount of bytes: `4096`, `64KiB`, `1.5M`. `k` and `KiB` are the same: 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err(format!("{unit:?} is no unit of bytes: KiB, MiB or GiB")),
    };
    let bytes = positive(number)? * factor as f64;
    // Longer than any file is as good as for ever.
    Ok((bytes as u64).max(1))
}

/// Reads a time: `30`, `1.5s`, `500ms`, `10min`, `2h`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "min" | "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("{unit:?} is no unit of time: ms, s, min or h")),
    };
    let time = Duration::try_from_secs_f64(positive(number)? * seconds).ok();
    time.filter(|time| *time <= TIME_MAX).ok_or_else(|| format!("{text} is too long"))
}

/// Longer than anybody waits, and short enough to be reckoned with.
const TIME_MAX: Duration = Duration::from_secs(100 * 365 * 86_400);

fn split(text: &str) -> (&str, &str) {
    let is_unit = |c: char| !c.is_ascii_digit() && c != '.';
    let (number, unit) = text.split_at(text.find(is_unit).unwrap_or(text.len()));
    (number, unit.trim())
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| *number > 0.0);
    number.ok_or_else(|| "a number above 0 was expected, such as 10".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        for (text, expected) in [
            ("1", Some(1)),
            ("64KiB", Some(64 << 10)),
            ("1.5M", Some(3 << 19)),
            ("2 GB", Some(2 << 30)),
            ("0", None),
            ("x", None),
            ("1x", None),
            ("", None),
        ] {
            assert_eq!(bytes(text).ok(), expected, "{text:?}");
        }
        for (text, expected) in [
            ("30", Some(30_000)),
            ("1.5s", Some(1500)),
            ("500ms", Some(500)),
            ("10min", Some(600_000)),
            ("2h", Some(7_200_000)),
            ("-1", None),
            ("1d", None),
        ] {
            assert_eq!(time(text).ok(), expected.map(Duration::from_millis), "{text:?}");
        }
    }
}
