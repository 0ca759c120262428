//! Parsers of byte counts and durations on the command line.

use std::time::Duration;

use capture::text::amount::{AmountError, Scale};

/// Parses a number of bytes: `4096`, `64KiB`, `1.5M`; see [`Scale::BYTES`].
pub(crate) fn bytes(text: &str) -> Result<u64, AmountOptionError> {
    let bytes = Scale::BYTES.read(text)?;
    if bytes == 0 { Err(AmountOptionError::Zero) } else { Ok(bytes) }
}

/// Parses the maximum size of a recording in bytes.
pub(crate) fn recording_size(text: &str) -> Result<u64, AmountOptionError> {
    match bytes(text)? {
        ..RECORDING_MIN => Err(AmountOptionError::TooSmall),
        bytes => Ok(bytes),
    }
}

/// Parses a duration: `30`, `1.5s`, `500ms`, `10min`, `2h`.
pub(crate) fn time(text: &str) -> Result<Duration, AmountOptionError> {
    match Duration::from_nanos(Scale::SECONDS.read(text)?) {
        Duration::ZERO => Err(AmountOptionError::Zero),
        time if time > TIME_MAX => Err(AmountOptionError::Amount(AmountError::TooMuch)),
        time => Ok(time),
    }
}

/// Parses a duration that may be 0, for options in which 0 has a special meaning.
pub(crate) fn time_or_zero(text: &str) -> Result<Duration, AmountOptionError> {
    match time(text) {
        Err(AmountOptionError::Zero) => Ok(Duration::ZERO),
        read => read,
    }
}

/// Why an amount is not accepted for an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum AmountOptionError {
    #[error(transparent)]
    Amount(#[from] AmountError),
    #[error("expected a value greater than 0")]
    Zero,
    #[error("expected at least {} KiB, which the header of the file and one message need", RECORDING_MIN >> 10)]
    TooSmall,
}

/// The minimum size of a recording in bytes: the header, which describes the bus and the recorder,
/// one small message with its sender, and the record that says why the recording ended.
const RECORDING_MIN: u64 = 4 << 10;

/// The maximum duration: 100 years, so that it can be added to a time without an overflow.
const TIME_MAX: Duration = Duration::from_secs(100 * 365 * 86_400);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_zero_are_rejected() {
        let too_much = Err(AmountOptionError::Amount(AmountError::TooMuch));
        for (text, expected) in [
            ("1", Ok(1)),
            ("64K", Ok(64 << 10)),
            ("64kB", Ok(64_000)),
            ("0", Err(AmountOptionError::Zero)),
        ] {
            assert_eq!(bytes(text), expected, "{text:?}");
        }
        for (text, expected) in [
            ("4K", Ok(4096)),
            ("4095", Err(AmountOptionError::TooSmall)),
            ("0", Err(AmountOptionError::Zero)),
        ] {
            assert_eq!(recording_size(text), expected, "{text:?}");
        }
        for (text, expected) in [
            ("30", Ok(30_000)),
            ("500ms", Ok(500)),
            ("2h", Ok(7_200_000)),
            ("0s", Err(AmountOptionError::Zero)),
            ("1000000h", too_much),
        ] {
            assert_eq!(time(text), expected.map(Duration::from_millis), "{text:?}");
        }
    }
}
