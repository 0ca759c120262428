//! What a message of a size costs, measured on a user's machine.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead};

use serde::Deserialize;

/// What a message of a size costs on a bus, as `diligence bench ping-pong` has measured it.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The bus that was measured.
    pub subject: String,
    /// Size in bytes and round trip in nanoseconds, ascending by size; not empty.
    points: Vec<(f64, f64)>,
}

/// Why there is no sweep in a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum SweepError {
    /// The file cannot be read.
    Io(io::Error),
    /// A line is no result of a measurement.
    Line {
        /// Which, from 1.
        number: usize,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// It holds no round trips.
    NoRoundTrips,
    /// It holds none of the bus that was asked for.
    NoSubject {
        /// The bus that was asked for.
        asked: String,
        /// Those that there are.
        there: Vec<String>,
    },
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Line { number, error } => write!(f, "line {number} is no result: {error}"),
            Self::NoRoundTrips => f.write_str(
                "it has no round trips; make one with `diligence bench ping-pong --save=FILE`",
            ),
            Self::NoSubject { asked, there } => {
                write!(f, "`{asked}` was not measured; expected one of {}", there.join(", "))
            }
        }
    }
}

impl std::error::Error for SweepError {}

/// What is needed of a line of results.
#[derive(Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
enum Line {
    Sample(Sample),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Sample {
    scenario: String,
    case: Case,
    subject: String,
    figures: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Case {
    at: BTreeMap<String, serde_json::Value>,
}

impl Sweep {
    /// Reads the results of a measurement of the bus `subject`, or of the first bus in them.
    ///
    /// # Errors
    ///
    /// See [`SweepError`].
    pub fn read(file: impl BufRead, subject: Option<&str>) -> Result<Self, SweepError> {
        let mut trips: Vec<(String, u64, f64)> = Vec::new();
        for (index, line) in file.lines().enumerate() {
            let line = line.map_err(SweepError::Io)?;
            if line.trim().is_empty() {
                continue;
            }
            let line = serde_json::from_str(&line)
                .map_err(|error| SweepError::Line { number: index + 1, error })?;
            if let Line::Sample(sample) = line {
                trips.extend(sample.round_trip());
            }
        }
        let subject = chosen(&trips, subject)?;
        let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (_, size, nanos) in trips.iter().filter(|(of, _, _)| *of == subject) {
            by_size.entry(*size).or_default().push(*nanos);
        }
        let points = by_size.into_iter().map(|(size, nanos)| (size as f64, median(nanos)));
        Ok(Self { subject, points: points.collect() })
    }

    /// What passing on a message of `size` bytes costs, in nanoseconds.
    ///
    /// A round trip of the sweep is a call of that size and an empty answer, which is half of the
    /// shortest round trip. Between two sizes the line through them is taken, beyond the last one
    /// the same slope.
    pub fn message_ns(&self, size: u64) -> f64 {
        let answer = self.points[0].1 / 2.0;
        (self.round_trip_ns(size as f64) - answer).max(0.0)
    }

    fn round_trip_ns(&self, size: f64) -> f64 {
        let points = &self.points;
        let after = points.partition_point(|point| point.0 < size);
        match (after, points.len()) {
            (0, _) | (_, 1) => points[0].1,
            (after, len) => {
                let last = after.min(len - 1);
                let [(size0, time0), (size1, time1)] = [points[last - 1], points[last]];
                time0 + (time1 - time0) * (size - size0) / (size1 - size0)
            }
        }
    }
}

impl Sample {
    fn round_trip(self) -> Option<(String, u64, f64)> {
        let size = self.case.at.get("size")?.as_u64()?;
        let micros = self.figures.get("round_trip_us")?;
        (self.scenario == "ping-pong").then_some((self.subject, size, micros * 1e3))
    }
}

/// The bus that was asked for; else the first that is no bare socket.
fn chosen(trips: &[(String, u64, f64)], asked: Option<&str>) -> Result<String, SweepError> {
    let mut there: Vec<String> = Vec::new();
    for (subject, _, _) in trips {
        if !there.contains(subject) {
            there.push(subject.clone());
        }
    }
    let is_meant = |subject: &&String| match asked {
        Some(asked) => **subject == asked,
        None => !FLOORS.contains(&subject.as_str()),
    };
    match (there.iter().find(is_meant), asked) {
        (Some(subject), _) => Ok(subject.clone()),
        (None, None) => Err(SweepError::NoRoundTrips),
        (None, Some(asked)) => Err(SweepError::NoSubject { asked: asked.to_owned(), there }),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What is measured beside buses.
const FLOORS: [&str; 2] = ["direct", "floor"];

#[cfg(test)]
mod tests {
    use super::*;

    fn line(subject: &str, size: u64, micros: f64) -> String {
        format!(
            r#"{{"record":"sample","scenario":"ping-pong","case":{{"label":"x","at":{{"size":{size},"read_buffer":"ours"}}}},"subject":"{subject}","round":1,"figures":{{"round_trip_us":{micros}}},"disturbance":0.0}}"#
        ) + "\n"
    }

    fn file() -> String {
        let lines = [
            "{\"record\":\"run\",\"format\":1}\n".to_owned(),
            line("direct", 1, 5.0),
            line("dbus-daemon", 1, 40.0),
            line("dbus-daemon", 1001, 50.0),
            line("dbus-daemon", 1001, 60.0),
            line("dbus-daemon", 1001, 70.0),
            line("dbus-daemon", 3001, 100.0),
            line("busd", 1, 30.0),
        ];
        lines.concat()
    }

    #[test]
    fn between_the_sizes_is_a_line() {
        let sweep = Sweep::read(file().as_bytes(), None).unwrap();
        assert_eq!(sweep.subject, "dbus-daemon");
        for (size, micros) in
            [(0, 20.0), (1, 20.0), (501, 30.0), (1001, 40.0), (2001, 60.0), (5001, 120.0)]
        {
            assert_eq!(sweep.message_ns(size), micros * 1e3, "{size}");
        }
        let sweep = Sweep::read(file().as_bytes(), Some("busd")).unwrap();
        assert_eq!(sweep.message_ns(100_000), 15_000.0);
    }

    #[test]
    fn errors_say_what_is_missing() {
        for (file, subject, expected) in [
            (file(), Some("x"), "`x` was not measured; expected one of direct, dbus-daemon, busd"),
            (line("direct", 1, 5.0), None, "it has no round trips"),
            ("nonsense\n".to_owned(), None, "line 1 is no result"),
        ] {
            let error = Sweep::read(file.as_bytes(), subject).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
