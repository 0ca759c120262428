//! Floating-point numbers as C programs print them.

/// Formats like `%.{digits}g`: this many significant digits, no trailing zeros.
pub(crate) fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = split(&scientific);
    if exponent < -4 || exponent >= digits as i32 {
        return format!("{}e{}", without_zeros(mantissa), c_exponent(exponent));
    }
    let decimals = (digits as i32 - 1 - exponent) as usize;
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// The shortest text that reads back as the same number; with an exponent if there would be many
/// zeros.
pub(crate) fn shortest(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || !value.is_finite() || (1e-5..1e17).contains(&magnitude) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// Formats like `%.{digits}e` of C.
pub(crate) fn exponential(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    let scientific = format!("{value:.digits$e}");
    let (mantissa, exponent) = split(&scientific);
    format!("{mantissa}e{}", c_exponent(exponent))
}

fn not_finite(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" })
}

/// Splits the output of `{:e}` into mantissa and exponent.
fn split(scientific: &str) -> (&str, i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    (mantissa, exponent.parse().unwrap_or_default())
}

/// Formats an exponent as C does: a sign and at least two digits.
fn c_exponent(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{:02}", exponent.abs())
}

fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_like_printf() {
        for (value, short, long) in [
            (1.5, "1.5", "1.5"),
            (0.0, "0", "0"),
            (-0.0, "-0", "-0"),
            (100_000.0, "100000", "100000"),
            (1_000_000.0, "1e+06", "1000000"),
            (1e300, "1e+300", "1.0000000000000001e+300"),
            (-0.1, "-0.1", "-0.10000000000000001"),
            (std::f64::consts::PI, "3.14159", "3.1415926535897931"),
            (0.000_01, "1e-05", "1.0000000000000001e-05"),
            (0.000_1, "0.0001", "0.0001"),
            (999_999.5, "1e+06", "999999.5"),
            (f64::NAN, "nan", "nan"),
            (f64::NEG_INFINITY, "-inf", "-inf"),
        ] {
            assert_eq!(general(value, 6), short);
            assert_eq!(general(value, 17), long);
        }
        assert_eq!(exponential(1.5, 21), "1.500000000000000000000e+00");
        assert_eq!(exponential(-0.1, 21), "-1.000000000000000055511e-01");
    }
}
