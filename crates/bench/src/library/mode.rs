//! Modes of the library programs.

use std::ops::RangeInclusive;

/// The mode of a library program; [the module](super) describes the modes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProgramMode {
    /// Serves the echo method.
    Serve {
        /// The address of the bus.
        address: String,
    },
    /// Calls the echo method.
    Call {
        /// The address of the bus.
        address: String,
        /// The name of the service.
        destination: String,
        /// The number of calls, from 1 to 10^8.
        count: u64,
        /// The length of the text in bytes; at most 64 MiB.
        length: usize,
    },
    /// Emits the benchmark signals.
    Emit {
        /// The address of the bus.
        address: String,
        /// The number of signals, from 1 to 10^8.
        count: u64,
        /// The size of the payload in bytes; at most 64 MiB.
        size: usize,
    },
    /// Receives the benchmark signals.
    Listen {
        /// The address of the bus.
        address: String,
        /// The name of the emitter.
        sender: String,
        /// The number of signals, from 1 to 10^8.
        count: u64,
    },
}

impl ProgramMode {
    /// Returns the command-line arguments, without the name of the program.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let own = |word: &str| word.to_owned();
        match self {
            Self::Serve { address } => vec![own("serve"), own(address)],
            Self::Call { address, destination, count, length } => {
                let numbers = [count.to_string(), length.to_string()];
                [vec![own("call"), own(address), own(destination)], numbers.into()].concat()
            }
            Self::Emit { address, count, size } => {
                vec![own("emit"), own(address), count.to_string(), size.to_string()]
            }
            Self::Listen { address, sender, count } => {
                vec![own("listen"), own(address), own(sender), count.to_string()]
            }
        }
    }

    /// Parses command-line arguments.
    ///
    /// # Errors
    ///
    /// Fails if the mode is unknown, the number of arguments is wrong, or a number is out of range.
    pub fn parse(words: &[impl AsRef<str>]) -> Result<Self, ModeError> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        match words[..] {
            ["serve", address] => Ok(Self::Serve { address: address.into() }),
            ["call", address, destination, count, length] => Ok(Self::Call {
                address: address.into(),
                destination: destination.into(),
                count: number(count, COUNT)?,
                length: number(length, BYTES)? as usize,
            }),
            ["emit", address, count, size] => Ok(Self::Emit {
                address: address.into(),
                count: number(count, COUNT)?,
                size: number(size, BYTES)? as usize,
            }),
            ["listen", address, sender, count] => Ok(Self::Listen {
                address: address.into(),
                sender: sender.into(),
                count: number(count, COUNT)?,
            }),
            _ => Err(ModeError::Usage),
        }
    }
}

/// Command-line arguments are not a [`ProgramMode`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ModeError {
    /// The mode is unknown, or the number of arguments is wrong.
    #[error(
        "usage: serve ADDRESS | call ADDRESS DESTINATION COUNT LENGTH | emit ADDRESS COUNT SIZE \
         | listen ADDRESS SENDER COUNT"
    )]
    Usage,
    /// A word is not a number in the allowed range.
    #[error("{word} is not a number from {} to {}", .range.start(), .range.end())]
    Number {
        /// The word on the command line.
        word: String,
        /// The range of allowed numbers.
        range: RangeInclusive<u64>,
    },
}

fn number(word: &str, range: RangeInclusive<u64>) -> Result<u64, ModeError> {
    let number = word.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| ModeError::Number { word: word.to_owned(), range })
}

/// More than any measurement needs, and few enough to store a duration for each.
const COUNT: RangeInclusive<u64> = 1..=100_000_000;
/// The maximum length of a D-Bus array, 64 MiB.
const BYTES: RangeInclusive<u64> = 0..=64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_modes_round_trip_through_their_words() {
        let lines = ["serve unix:path=/a", "call a :1.2 100 11", "emit a 1 0", "listen a :1.7 5"];
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(ProgramMode::parse(&words).expect(line).words(), words);
        }
    }

    #[test]
    fn invalid_program_modes_are_rejected() {
        let number = |word: &str, range| ModeError::Number { word: word.into(), range };
        let cases = [
            ("", ModeError::Usage),
            ("serve", ModeError::Usage),
            ("play a", ModeError::Usage),
            ("listen a :1.2 0", number("0", COUNT)),
            ("emit a x 1", number("x", COUNT)),
            ("call a b 1 67108865", number("67108865", BYTES)),
        ];
        for (line, error) in cases {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(ProgramMode::parse(&words), Err(error), "{line}");
        }
    }
}
