//! Numbers in the sentences of findings.

use std::time::Duration;

pub(super) use crate::text::units::grouped;

/// A number with its noun: `1 call`, `2 calls`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A length of time without digits that say nothing, since most of them are round: `25 s`.
pub(super) fn span(span: Duration) -> String {
    let nanos = span.as_nanos() as f64;
    let fitting = SPAN_UNITS.iter().rev().find(|(_, size)| nanos >= *size);
    let (unit, size) = fitting.unwrap_or(&SPAN_UNITS[0]);
    format!("{} {unit}", short(nanos / size))
}

/// An amount of bytes: `1.5 KiB`.
pub(super) fn bytes(bytes: u64) -> String {
    crate::text::units::bytes(bytes as f64)
}

/// How many in a second.
pub(super) fn rate(count: usize, span: Duration) -> String {
    format!("{}/s", short(count as f64 / span.as_secs_f64().max(1e-9)))
}

/// What part of a whole.
pub(super) fn share(part: usize, whole: usize) -> String {
    format!("{:.0} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn short(number: f64) -> String {
    let text = if number < 9.95 { format!("{number:.1}") } else { format!("{number:.0}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

const SPAN_UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(counted(1, "call"), "1 call");
        assert_eq!(counted(1000, "call"), "1,000 calls");
        for (nanos, expected) in
            [(0, "0 ns"), (999, "999 ns"), (1500, "1.5 µs"), (25_000_000_000, "25 s")]
        {
            assert_eq!(span(Duration::from_nanos(nanos)), expected);
        }
        assert_eq!(rate(30, Duration::from_secs(20)), "1.5/s");
        assert_eq!(share(1, 3), "33 %");
    }
}
