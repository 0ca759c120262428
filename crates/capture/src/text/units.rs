//! Formats numbers for people: short and with a unit.

use std::time::Duration;

use chrono::DateTime;

use crate::record::RecordedTime;

/// Formats a number of items, or a number per second: `0`, `0.3`, `12`, `1234`, `12.3k`.
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

/// Formats a whole number in full, with thousands separators: `1,234,567`.
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

/// Formats a number of bytes: `512 B`, `1.2 KiB`, `34 MiB`.
pub fn bytes(number: f64) -> String {
    let (value, unit) = scaled(number);
    format!("{value} {unit}")
}

/// Formats a number of bytes for a right-aligned column: units are padded to equal widths.
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
    // A value that would have four digits is written in the next unit.
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        (value, unit) = (value / 1024.0, next);
    }
    let text = if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") };
    (text, unit)
}

/// Formats a duration with three digits: `950 ns`, `1.20 ms`, `12.3 s`. Longer durations are in
/// whole seconds.
pub fn duration(time: Duration) -> String {
    let (value, unit) = scaled_time(time);
    format!("{value} {unit}")
}

/// Formats a duration for a right-aligned column: units are padded to equal widths.
pub fn duration_aligned(time: Duration) -> String {
    let (value, unit) = scaled_time(time);
    format!("{value} {unit:<2}")
}

fn scaled_time(time: Duration) -> (String, &'static str) {
    let nanos = time.as_nanos();
    if nanos < 1000 {
        return (nanos.to_string(), "ns");
    }
    // A value that would have four digits is written in the next unit.
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

/// Formats a fraction of 1 as a percentage: `0.4 %`, `12.3 %`.
pub fn share(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.000_5 => String::from("<0.1 %"),
        share => format!("{:.1} %", share * 100.0),
    }
}

/// Formats a duration as hours, minutes and seconds: `0:01:23`.
pub fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Formats a time with its day, in UTC: `Sat 2026-11-21 13:19:28.184651 UTC`.
pub fn date_and_time(time: RecordedTime) -> String {
    DateTime::from_timestamp_nanos(time.0).format("%a %F %T%.6f UTC").to_string()
}

/// Formats the time of day in UTC, in nanoseconds: `13:19:28.184651999`.
pub fn clock_time(time: RecordedTime) -> String {
    DateTime::from_timestamp_nanos(time.0).format("%T%.9f").to_string()
}

/// Formats the time of day in UTC, given the time since 1970: `12:00:01Z`.
pub fn time_of_day(since_1970: Duration) -> String {
    (DateTime::UNIX_EPOCH + since_1970).format("%TZ").to_string()
}

/// Formats a number with its noun: `1 name`, `2 names`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// The units of time with their nanoseconds.
const TIME_UNITS: [(f64, &str); 3] = [(1e3, "\u{b5}s"), (1e6, "ms"), (1e9, "s")];

const BYTE_UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
