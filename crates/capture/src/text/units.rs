//! Numbers as people read them: short, with a unit, and as wide as the column allows.

use std::time::Duration;

use chrono::DateTime;

use crate::record::Time;

/// How many, or how many in a second: `0`, `0.3`, `12`, `1234`, `12.3k`.
pub fn count(number: f64) -> String {
    match number {
        n if n < 0.05 => String::from("0"),
        n if n < 9.95 => format!("{n:.1}"),
        n if n < 9_999.5 => format!("{n:.0}"),
        n if n < 99_950.0 => format!("{:.1}k", n / 1e3),
        n if n < 999_500.0 => format!("{:.0}k", n / 1e3),
        n => format!("{:.1}M", n / 1e6),
    }
}

/// A whole number in full, with its thousands apart: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An amount of bytes: `512 B`, `1.2 KiB`, `34 MiB`.
pub fn bytes(number: f64) -> String {
    let (value, unit) = scaled(number);
    format!("{value} {unit}")
}

/// The same for a column that is aligned at its right: all units are equally wide.
pub fn bytes_aligned(number: f64) -> String {
    let (value, unit) = scaled(number);
    format!("{value} {unit:<3}")
}

fn scaled(number: f64) -> (String, &'static str) {
    if number < 999.5 {
        return (format!("{number:.0}"), "B");
    }
    let mut value = number / 1024.0;
    let mut units = BYTE_UNITS.iter();
    let mut unit = units.next().expect("there is one unit at least");
    // What would be written with four digits is written in the next unit.
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        (value, unit) = (value / 1024.0, next);
    }
    let text = if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") };
    (text, unit)
}

/// A length of time in three digits: `950 ns`, `1.20 ms`, `12.3 s`; all of its whole seconds if it
/// is longer.
pub fn duration(time: Duration) -> String {
    let (value, unit) = scaled_time(time);
    format!("{value} {unit}")
}

/// The same for a column that is aligned at its right: all units are equally wide.
pub fn duration_aligned(time: Duration) -> String {
    let (value, unit) = scaled_time(time);
    format!("{value} {unit:<2}")
}

fn scaled_time(time: Duration) -> (String, &'static str) {
    let nanos = time.as_nanos();
    if nanos < 1000 {
        return (nanos.to_string(), "ns");
    }
    // What would be written with four digits is written in the next unit.
    let number = nanos as f64;
    let unit = TIME_UNITS.iter().find(|(worth, _)| number / worth < 999.5);
    let Some((worth, unit)) = unit else { return (grouped(time.as_secs()), "s") };
    let value = number / worth;
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    (format!("{value:.digits$}"), unit)
}

/// A share of one as percent: `0.4 %`, `12.3 %`.
pub fn share(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.000_5 => String::from("<0.1 %"),
        share => format!("{:.1} %", share * 100.0),
    }
}

/// A length of time as on a clock: `0:01:23`.
pub fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// A time in UTC with its day: `Sat 2026-11-21 13:19:28.184651 UTC`.
pub fn date_and_time(time: Time) -> String {
    DateTime::from_timestamp_nanos(time.0).format("%a %F %T%.6f UTC").to_string()
}

/// The time of day in UTC, to the nanosecond: `13:19:28.184651999`.
pub fn clock_time(time: Time) -> String {
    DateTime::from_timestamp_nanos(time.0).format("%T%.9f").to_string()
}

/// The time of day in UTC, for a time since 1970: `12:00:01Z`.
pub fn time_of_day(since_1970: Duration) -> String {
    (DateTime::UNIX_EPOCH + since_1970).format("%TZ").to_string()
}

/// A number with its noun: `1 name`, `2 names`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// What a unit is worth in nanoseconds, and its sign.
const TIME_UNITS: [(f64, &str); 3] = [(1e3, "\u{b5}s"), (1e6, "ms"), (1e9, "s")];

const BYTE_UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_short() {
        for (number, expected) in [
            (0.0, "0"),
            (0.04, "0"),
            (0.05, "0.1"),
            (1.0, "1.0"),
            (9.94, "9.9"),
            (9.96, "10"),
            (999.6, "1000"),
            (9_999.4, "9999"),
            (9_999.6, "10.0k"),
            (12_345.0, "12.3k"),
            (99_960.0, "100k"),
            (999_400.0, "999k"),
            (999_600.0, "1.0M"),
            (12_345_678.0, "12.3M"),
        ] {
            assert_eq!(count(number), expected, "{number}");
        }
    }

    #[test]
    fn thousands_are_apart() {
        for (number, expected) in
            [(0, "0"), (12, "12"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), expected);
        }
    }

    #[test]
    fn bytes_have_a_unit_and_at_most_three_digits() {
        for (number, expected) in [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (1_000.0, "1.0 KiB"),
            (1_536.0, "1.5 KiB"),
            (10_240.0, "10 KiB"),
            (1_022_976.0, "999 KiB"),
            (1_024_000.0, "1.0 MiB"),
            (5e9, "4.7 GiB"),
            (5e15, "4547 TiB"),
        ] {
            assert_eq!(bytes(number), expected, "{number}");
        }
        assert_eq!(bytes_aligned(7.0), "7 B  ");
        assert_eq!(bytes_aligned(2048.0), "2.0 KiB");
    }

    #[test]
    fn durations_have_three_digits() {
        for (nanos, expected) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 \u{b5}s"),
            (9_996, "10.0 \u{b5}s"),
            (999_400, "999 \u{b5}s"),
            (999_600, "1.00 ms"),
            (41_000_000, "41.0 ms"),
            (25_000_000_000, "25.0 s"),
            (99_000_000_000, "99.0 s"),
            (120_000_000_000, "120 s"),
            (7_200_000_000_000, "7,200 s"),
        ] {
            assert_eq!(duration(Duration::from_nanos(nanos)), expected, "{nanos}");
        }
        assert_eq!(duration_aligned(Duration::from_secs(1)), "1.00 s ");
    }

    #[test]
    fn shares_are_percent() {
        for (number, expected) in
            [(0.0, "0.0 %"), (0.000_1, "<0.1 %"), (0.123_4, "12.3 %"), (1.0, "100.0 %")]
        {
            assert_eq!(share(number), expected);
        }
    }

    #[test]
    fn times_read_as_on_a_clock() {
        assert_eq!(elapsed(Duration::from_secs(83)), "0:01:23");
        assert_eq!(elapsed(Duration::from_secs(360_000)), "100:00:00");
        assert_eq!(time_of_day(Duration::from_secs(1_700_000_000)), "22:13:20Z");
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (nanos, expected) in [
            (0, "Thu 1970-01-01 00:00:00.000000 UTC"),
            (1_795_267_168_184_651_999, "Sat 2026-11-21 13:19:28.184651 UTC"),
            (951_782_400_000_000_000, "Tue 2000-02-29 00:00:00.000000 UTC"),
            (-1, "Wed 1969-12-31 23:59:59.999999 UTC"),
            (i64::MIN, "Tue 1677-09-21 00:12:43.145224 UTC"),
        ] {
            assert_eq!(date_and_time(Time(nanos)), expected);
        }
        assert_eq!(clock_time(Time(1_795_267_168_184_651_999)), "13:19:28.184651999");
    }

    #[test]
    fn nouns_follow_their_numbers() {
        assert_eq!(counted(0, "name", "names"), "0 names");
        assert_eq!(counted(1, "name", "names"), "1 name");
        assert_eq!(counted(1234, "name", "names"), "1,234 names");
    }
}
