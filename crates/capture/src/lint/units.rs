//! Formatting of numbers in findings.

use std::time::Duration;

pub(super) use crate::text::units::grouped;

/// A number with its noun, like `1 call` or `2 calls`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A duration without trailing zeros, like `25 s`.
pub(super) fn span(span: Duration) -> String {
    if span >= MINUTES_FROM {
        let seconds = (span + Duration::from_millis(500)).as_secs();
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        return match (minutes / 60, minutes % 60) {
            (0, minutes) => format!("{minutes} min {seconds} s"),
            (hours, minutes) => format!("{} h {minutes} min", grouped(hours)),
        };
    }
    let nanos = span.as_nanos() as f64;
    let fitting = SPAN_UNITS.iter().rev().find(|(_, size)| nanos >= *size);
    let (unit, size) = fitting.unwrap_or(&SPAN_UNITS[0]);
    format!("{} {unit}", short(nanos / size))
}

/// A number of bytes, like `1.5 KiB`.
pub(super) fn bytes(bytes: u64) -> String {
    crate::text::units::bytes(bytes as f64)
}

/// A fraction as a percentage without decimals.
pub(super) fn share(part: usize, whole: usize) -> String {
    format!("{:.0} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn short(number: f64) -> String {
    let text = if number < 9.95 { format!("{number:.1}") } else { format!("{number:.0}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Shorter durations are printed in seconds.
const MINUTES_FROM: Duration = Duration::from_secs(121);
const SPAN_UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_findings_are_short() {
        assert_eq!(counted(1, "call"), "1 call");
        assert_eq!(counted(1000, "call"), "1,000 calls");
        for (nanos, expected) in
            [(0, "0 ns"), (999, "999 ns"), (1500, "1.5 µs"), (25_000_000_000, "25 s")]
        {
            assert_eq!(span(Duration::from_nanos(nanos)), expected);
        }
        for (seconds, expected) in [(120, "120 s"), (1879, "31 min 19 s"), (15_234, "4 h 13 min")] {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
        assert_eq!(share(1, 3), "33 %");
    }
}
