//! Parses amounts as people write them: `64MiB`, `1.5s`.

use std::fmt;

/// The units that an amount may have, and the meaning of a number without a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    units: &'static [AmountUnit],
    /// The name and value of the unit of a bare number; `None` if a unit is required.
    bare: Option<(&'static str, u64)>,
    example: &'static str,
}

/// A unit with its notations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AmountUnit {
    /// The notations, the usual one first. Case is ignored.
    signs: &'static [&'static str],
    worth: u64,
}

/// The reasons why a text is not an amount.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AmountError {
    /// The text does not begin with a decimal number.
    #[error("expected {}", .0.such_as())]
    NotANumber(Scale),
    /// The unit is missing, or it is not a unit of the scale.
    #[error("expected {0}")]
    WrongUnit(Scale),
    /// The amount does not fit into 64 bits.
    #[error("the amount is too large")]
    TooMuch,
}

impl Scale {
    /// Bytes. As defined by IEC 80000-13, `kB` is 1000 bytes and `KiB` 1024. A single letter, `K`,
    /// `M`, `G` or `T`, is binary, as in journald and the GNU core utilities.
    pub const BYTES: Self = Self { units: BYTES, bare: Some(("bytes", 1)), example: "64KiB" };

    /// Nanoseconds. A unit is required.
    pub const TIME: Self = Self { units: TIMES, bare: None, example: "50ms" };

    /// Nanoseconds. A number without a unit is in seconds.
    pub const SECONDS: Self =
        Self { units: TIMES, bare: Some(("seconds", 1_000_000_000)), example: "500ms" };

    /// Parses an amount, in bytes or nanoseconds. Fractions of these are discarded: `1.5KiB` is
    /// 1536.
    ///
    /// # Errors
    ///
    /// If the text is not an amount of this scale.
    pub fn read(self, text: &str) -> Result<u64, AmountError> {
        let is_unit = |c: char| !c.is_ascii_digit() && c != '.';
        let (number, sign) = text.split_at(text.find(is_unit).unwrap_or(text.len()));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return Err(AmountError::NotANumber(self));
        }
        let worth = self.worth(sign.trim()).ok_or(AmountError::WrongUnit(self))?;
        scaled(whole, fraction, worth).ok_or(AmountError::TooMuch)
    }

    /// Returns a description of the expected text, with an example unit.
    pub fn such_as(self) -> String {
        match self.bare {
            Some((noun, _)) => {
                format!("a number of {noun}, or one with a unit, such as {}", self.example)
            }
            None => format!("a number with a unit, such as {}", self.example),
        }
    }

    /// Returns the usual notations of the units.
    pub fn signs(self) -> impl Iterator<Item = &'static str> {
        self.units.iter().map(|unit| unit.signs[0])
    }

    /// Returns true if a text is a notation of one of the units.
    pub fn has_unit(self, sign: &str) -> bool {
        !sign.is_empty() && self.worth(sign).is_some()
    }

    fn worth(self, sign: &str) -> Option<u64> {
        if sign.is_empty() {
            return self.bare.map(|(_, worth)| worth);
        }
        let is_it =
            |unit: &&AmountUnit| unit.signs.iter().any(|known| known.eq_ignore_ascii_case(sign));
        self.units.iter().find(is_it).map(|unit| unit.worth)
    }
}

/// Multiplies a number of units, given as digits before and after the decimal point, by their
/// value.
fn scaled(whole: &str, fraction: &str, worth: u64) -> Option<u64> {
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    let fraction = &fraction[..fraction.len().min(DECIMALS_MAX)];
    let divisor = 10_u128.pow(fraction.len() as u32);
    let part = u128::from(digits(fraction)?) * u128::from(worth) / divisor;
    digits(whole)?.checked_mul(worth)?.checked_add(u64::try_from(part).ok()?)
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signs: Vec<_> = self.signs().collect();
        let (last, first) = signs.split_last().expect("a scale has units");
        match self.bare {
            Some((noun, _)) => write!(f, "a number of {noun}, or one with a unit: ")?,
            None => f.write_str("a number with a unit: ")?,
        }
        write!(f, "{} or {last}", first.join(", "))
    }
}

/// The number of decimals that are considered. Further ones are worth less than 1 in all units.
const DECIMALS_MAX: usize = 18;

const BYTES: &[AmountUnit] = &[
    AmountUnit { signs: &["B"], worth: 1 },
    AmountUnit { signs: &["kB"], worth: 1000 },
    AmountUnit { signs: &["KiB", "K"], worth: 1 << 10 },
    AmountUnit { signs: &["MB"], worth: 1_000_000 },
    AmountUnit { signs: &["MiB", "M"], worth: 1 << 20 },
    AmountUnit { signs: &["GB"], worth: 1_000_000_000 },
    AmountUnit { signs: &["GiB", "G"], worth: 1 << 30 },
    AmountUnit { signs: &["TB"], worth: 1_000_000_000_000 },
    AmountUnit { signs: &["TiB", "T"], worth: 1 << 40 },
];

const TIMES: &[AmountUnit] = &[
    AmountUnit { signs: &["ms"], worth: 1_000_000 },
    // The second is the micro sign, the third the Greek letter.
    AmountUnit { signs: &["us", "\u{b5}s", "\u{3bc}s"], worth: 1000 },
    AmountUnit { signs: &["ns"], worth: 1 },
    AmountUnit { signs: &["s"], worth: 1_000_000_000 },
    AmountUnit { signs: &["min", "m"], worth: 60_000_000_000 },
    AmountUnit { signs: &["h"], worth: 3_600_000_000_000 },
];
