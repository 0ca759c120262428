//! Formats numbers for people.

/// Formats a number with three significant digits and grouped thousands: `26.1`, `8,020`, `0.0123`.
/// A whole number has no decimals: `12`.
pub(crate) fn significant(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    // Round first, so that 99.96 is formatted like 100.
    let rounded = round(value);
    if rounded.fract() == 0.0 {
        return grouped(rounded);
    }
    let decimals = DIGITS - 1 - magnitude(rounded);
    format!("{rounded:.0$}", usize::try_from(decimals).unwrap_or(0))
}

/// Formats a share as whole percent: `8 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Formats a share as percent with one decimal: `0.4 %`.
pub(crate) fn fine_percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Formats a ratio with two decimals, or fewer if it is large: `0.83`, `12.4`, `∞`.
pub(crate) fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio.is_infinite() => "∞".to_owned(),
        ratio if ratio < 10.0 => format!("{ratio:.2}"),
        ratio if ratio < 100.0 => format!("{ratio:.1}"),
        ratio => significant(ratio),
    }
}

/// Formats a number in few characters, for the ticks of an axis: `20k`, `1.5M`, `0.25`.
pub(crate) fn short(value: f64) -> String {
    let (scaled, sign) = match value.abs() {
        size if size >= 1e9 => (value / 1e9, "G"),
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = significant(scaled);
    match text.contains('.') {
        true => format!("{}{sign}", text.trim_end_matches('0')),
        false => format!("{text}{sign}"),
    }
}

fn round(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powi(DIGITS - 1 - magnitude(value));
    // Above a thousand the scale is less than one and inexact; its inverse is exact.
    if scale < 1.0 {
        let scale = 10_f64.powi(magnitude(value) + 1 - DIGITS);
        return (value / scale).round() * scale;
    }
    (value * scale).round() / scale
}

/// Returns the position of the first digit: 0 for ones, 1 for tens, -1 for tenths.
fn magnitude(value: f64) -> i32 {
    // The exponent of an `f64` fits in an `i32`.
    value.abs().log10().floor() as i32
}

/// Formats a whole number with all digits and grouped thousands: `8,021`.
pub(crate) fn grouped(whole: f64) -> String {
    let digits = format!("{:.0}", whole.abs());
    let mut text = if whole < 0.0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The text in place of a missing figure.
pub(crate) const ABSENT: &str = "-";

/// The number of significant digits of a figure.
const DIGITS: i32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        let cases = [
            (0.0, "0"),
            (26.14, "26.1"),
            (26.0, "26"),
            (9.999, "10"),
            (99.96, "100"),
            (0.012_345, "0.0123"),
            (915.2, "915"),
            (999.6, "1,000"),
            (8015.0, "8,020"),
            (515_432.0, "515,000"),
            (1_234_567.0, "1,230,000"),
            (-26.14, "-26.1"),
            (-8015.0, "-8,020"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text, "{value}");
        }
    }

    #[test]
    fn shares_and_ratios() {
        assert_eq!(percent(0.078), "8 %");
        assert_eq!(fine_percent(0.004_24), "0.4 %");
        for (value, text) in
            [(0.834, "0.83"), (1.0, "1.00"), (12.41, "12.4"), (240.3, "240"), (f64::INFINITY, "∞")]
        {
            assert_eq!(ratio(value), text);
        }
    }

    #[test]
    fn ticks_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (1000.0, "1,000"),
            (20_000.0, "20k"),
            (100_000.0, "100k"),
            (1_500_000.0, "1.5M"),
            (2e9, "2G"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
