//! Amounts as people write them: `64MiB`, `1.5s`.

use std::fmt;

/// The units that an amount may have, and what it is without one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    units: &'static [AmountUnit],
    /// What a number without a unit counts, and what one of them is worth; `None` if there is nothing
    /// that all would expect.
    bare: Option<(&'static str, u64)>,
    example: &'static str,
}

/// A unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AmountUnit {
    /// How it is written, the usual way first; upper and lower case are the same.
    signs: &'static [&'static str],
    worth: u64,
}

/// Why a text is not an amount.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AmountError {
    /// It does not begin with a decimal number in the form that the scale has.
    #[error("expected {}", .0.such_as())]
    NotANumber(Scale),
    /// The unit is missing or is not one of the scale.
    #[error("expected {0}")]
    WrongUnit(Scale),
    /// It exceeds the largest number that can be counted.
    #[error("it is too much")]
    TooMuch,
}

impl Scale {
    /// Bytes. As IEC 80000-13 has it, `kB` is 1000 of them and `KiB` 1024; a letter alone, `K`, `M`,
    /// `G` or `T`, is the latter, as for journald and the GNU core utilities.
    pub const BYTES: Self = Self { units: BYTES, bare: Some(("bytes", 1)), example: "64KiB" };

    /// Nanoseconds, of which nobody says the number without a unit.
    pub const TIME: Self = Self { units: TIMES, bare: None, example: "50ms" };

    /// Nanoseconds; a number without a unit is one of seconds.
    pub const SECONDS: Self =
        Self { units: TIMES, bare: Some(("seconds", 1_000_000_000)), example: "500ms" };

    /// Reads an amount; what is less than a byte or a nanosecond is left out: `1.5KiB` is 1536.
    ///
    /// # Errors
    ///
    /// When the text is none of this scale.
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

    /// What is expected, with an example in place of all units.
    pub fn such_as(self) -> String {
        match self.bare {
            Some((what, _)) => {
                format!("a number of {what}, or one with a unit, such as {}", self.example)
            }
            None => format!("a number with a unit, such as {}", self.example),
        }
    }

    /// The usual signs of its units.
    pub fn signs(self) -> impl Iterator<Item = &'static str> {
        self.units.iter().map(|unit| unit.signs[0])
    }

    /// Whether a text is the sign of one of its units.
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

/// So many units, of which both parts are written in digits.
fn scaled(whole: &str, fraction: &str, worth: u64) -> Option<u64> {
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    let fraction = &fraction[..fraction.len().min(DIGITS_THAT_COUNT)];
    let divisor = 10_u128.pow(fraction.len() as u32);
    let part = u128::from(digits(fraction)?) * u128::from(worth) / divisor;
    digits(whole)?.checked_mul(worth)?.checked_add(u64::try_from(part).ok()?)
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signs: Vec<_> = self.signs().collect();
        let (last, first) = signs.split_last().expect("a scale has units");
        match self.bare {
            Some((what, _)) => write!(f, "a number of {what}, or one with a unit: ")?,
            None => f.write_str("a number with a unit: ")?,
        }
        write!(f, "{} or {last}", first.join(", "))
    }
}

/// Of a fraction: no unit is worth so much that those behind them would add one.
const DIGITS_THAT_COUNT: usize = 18;

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
    // With the sign for micro, and with the Greek letter.
    AmountUnit { signs: &["us", "\u{b5}s", "\u{3bc}s"], worth: 1000 },
    AmountUnit { signs: &["ns"], worth: 1 },
    AmountUnit { signs: &["s"], worth: 1_000_000_000 },
    AmountUnit { signs: &["min", "m"], worth: 60_000_000_000 },
    AmountUnit { signs: &["h"], worth: 3_600_000_000_000 },
];
