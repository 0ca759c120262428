//! What a message of a size costs, measured on a user's machine.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead};

use serde::Deserialize;

use crate::text::units::{bytes, counted, share};

/// What a message of a size costs on a bus, as `diligence bench ping-pong` has measured it.
///
/// The reply of a round trip carries the payload of the call back, so both messages have about the same
/// size on the wire: one direction takes half of the round trip, at the mean of both sizes. If the time
/// grows linearly between the two sizes, this is exact.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The bus that was measured.
    pub subject: String,
    /// The read buffer of both programs.
    pub read_buffer: String,
    /// Ascending by size; not empty.
    points: Vec<SweepPoint>,
}

/// A size that was measured.
#[derive(Clone, Copy, PartialEq, Debug)]
struct SweepPoint {
    /// Bytes on the wire, header and body.
    size: f64,
    /// How long a message of this size takes from its sender to its recipient, in nanoseconds.
    nanos: f64,
}

/// Which of the results in a file to use; `None` is what the file has first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SweepChoice<'a> {
    /// The bus; without one, the first that is not a bare socket.
    pub subject: Option<&'a str>,
    /// The read buffer; without one, `ours` if the file has it.
    pub read_buffer: Option<&'a str>,
}

/// How far interpolated times are from measured times: each size between two others is left out, and
/// interpolated from its neighbors. The errors are parts of the measured time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LeaveOneOut {
    /// The median of all errors.
    pub median: f64,
    /// The largest error.
    pub worst: f64,
    /// The size with the largest error, in bytes on the wire.
    pub worst_size: f64,
}

/// Why the results of a measurement cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(io::Error),
    /// A line is not a result of a measurement.
    #[error("line {number} is no result: {error}")]
    Line {
        /// The number of the line, from 1.
        number: usize,
        /// The reason.
        error: serde_json::Error,
    },
    /// The file has no round trips.
    #[error("it has no round trips; make one with `diligence bench ping-pong --save=FILE`")]
    NoRoundTrips,
    /// The round trips lack the sizes of calls and their echoes on the wire.
    #[error(
        "its round trips do not say how large calls and their echoes are on the wire: they are of \
         an older version, or of `--reply empty`; measure again with `diligence bench ping-pong \
         --save=FILE`"
    )]
    NoWireSizes,
    /// The requested read buffer was not measured.
    #[error("a read buffer of `{asked}` was not measured; expected one of {}", there.join(", "))]
    NoReadBuffer {
        /// The requested read buffer.
        asked: String,
        /// The read buffers that were measured.
        there: Vec<String>,
    },
    /// The requested bus was not measured.
    #[error("`{asked}` was not measured; expected one of {}", there.join(", "))]
    NoSubject {
        /// The requested bus.
        asked: String,
        /// The buses that were measured.
        there: Vec<String>,
    },
}

/// What is needed of a line of results.
#[derive(Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
enum BenchmarkResultLine {
    Sample(BenchmarkSample),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct BenchmarkSample {
    scenario: String,
    case: SampleCase,
    subject: String,
    figures: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct SampleCase {
    at: BTreeMap<String, serde_json::Value>,
}

/// A round trip of which sizes on the wire may be known.
struct RoundTrip {
    subject: String,
    read_buffer: String,
    nanos: f64,
    /// Bytes of the call and of its echo.
    sizes: Option<(u64, u64)>,
}

impl Sweep {
    /// Reads the results of a measurement.
    ///
    /// # Errors
    ///
    /// See [`SweepError`].
    pub fn read(file: impl BufRead, choice: SweepChoice<'_>) -> Result<Self, SweepError> {
        let mut trips: Vec<RoundTrip> = Vec::new();
        for (index, line) in file.lines().enumerate() {
            let line = line.map_err(SweepError::Io)?;
            if line.trim().is_empty() {
                continue;
            }
            let line = serde_json::from_str(&line)
                .map_err(|error| SweepError::Line { number: index + 1, error })?;
            if let BenchmarkResultLine::Sample(sample) = line {
                trips.extend(sample.round_trip());
            }
        }
        let subject = chosen_subject(&trips, choice.subject)?;
        trips.retain(|trip| trip.subject == subject);
        let read_buffer = chosen_read_buffer(&trips, choice.read_buffer)?;
        trips.retain(|trip| trip.read_buffer == read_buffer);
        let points = points(&trips);
        match points.is_empty() {
            true => Err(SweepError::NoWireSizes),
            false => Ok(Self { subject, read_buffer, points }),
        }
    }

    /// How long a message of `size` bytes on the wire takes from its sender to its recipient, in
    /// nanoseconds.
    ///
    /// Between two measured sizes the line through them is taken, beyond the largest the same slope. A
    /// message below the smallest size takes as long as that one.
    pub fn message_ns(&self, size: u64) -> f64 {
        let (points, size) = (&self.points, size as f64);
        let after = points.partition_point(|point| point.size < size);
        match (after, points.len()) {
            (0, _) | (_, 1) => points[0].nanos,
            (after, len) => {
                let last = after.min(len - 1);
                line(points[last - 1], points[last], size).max(0.0)
            }
        }
    }

    /// The largest size that was measured, in bytes on the wire.
    pub fn largest(&self) -> f64 {
        self.points[self.points.len() - 1].size
    }

    /// The error of the interpolation; `None` if fewer than three sizes were measured.
    pub fn leave_one_out(&self) -> Option<LeaveOneOut> {
        let error = |three: &[SweepPoint]| {
            let [before, point, after] = three else { return (0.0, 0.0) };
            let error = (line(*before, *after, point.size) - point.nanos).abs() / point.nanos;
            (error, point.size)
        };
        let errors: Vec<_> = self.points.windows(3).map(error).collect();
        let (worst, worst_size) =
            errors.iter().copied().max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        let median = median(errors.into_iter().map(|(error, _)| error).collect());
        Some(LeaveOneOut { median, worst, worst_size })
    }
}

/// What the times of a table come from, and how far off they are.
impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "times are interpolated between {} of {} to {} on the wire, measured on {} with read buffer {}; one \
             direction is half of a round trip",
            counted(self.points.len() as u64, "size", "sizes"),
            bytes(self.points[0].size),
            bytes(self.largest()),
            self.subject,
            self.read_buffer,
        )?;
        match self.leave_one_out() {
            Some(LeaveOneOut { median, worst, worst_size }) => write!(
                f,
                "; error of a size that is interpolated from its neighbors: median {}, worst {} (at {})",
                share(median),
                share(worst),
                bytes(worst_size)
            ),
            None => f.write_str("; their error is unknown, as fewer than 3 sizes were measured"),
        }
    }
}

impl BenchmarkSample {
    fn round_trip(self) -> Option<RoundTrip> {
        if self.scenario != "ping-pong" {
            return None;
        }
        let figure = |name| self.figures.get(name).copied();
        let nanos = figure("round_trip_us")? * NS_PER_US;
        let has_echo = self.case.at.get("reply").is_none_or(|reply| reply == "echo");
        let sizes = figure("call_bytes").zip(figure("reply_bytes")).filter(|_| has_echo);
        let sizes = sizes.map(|(call, reply)| (call as u64, reply as u64));
        let read_buffer = match self.case.at.get("read_buffer") {
            Some(serde_json::Value::String(word)) => word.clone(),
            Some(other) => other.to_string(),
            None => READ_BUFFER_USUAL.to_owned(),
        };
        Some(RoundTrip { subject: self.subject, read_buffer, nanos, sizes })
    }
}

/// One point for each size, from the median of its round trips.
fn points(trips: &[RoundTrip]) -> Vec<SweepPoint> {
    let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (trip, (call, reply)) in trips.iter().filter_map(|trip| Some((trip, trip.sizes?))) {
        by_size.entry(call + reply).or_default().push(trip.nanos);
    }
    let point = |(size, nanos): (u64, _)| SweepPoint {
        size: size as f64 / 2.0,
        nanos: median(nanos) / 2.0,
    };
    by_size.into_iter().map(point).collect()
}

/// The time at `size` on the line through two points.
fn line(one: SweepPoint, other: SweepPoint, size: f64) -> f64 {
    one.nanos + (other.nanos - one.nanos) * (size - one.size) / (other.size - one.size)
}

/// The bus that was asked for; else the first that is no bare socket.
fn chosen_subject(trips: &[RoundTrip], asked: Option<&str>) -> Result<String, SweepError> {
    let there = distinct(trips.iter().map(|trip| &trip.subject));
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

/// The read buffer that was asked for; else the usual one, or the first that there is.
fn chosen_read_buffer(trips: &[RoundTrip], asked: Option<&str>) -> Result<String, SweepError> {
    let there = distinct(trips.iter().map(|trip| &trip.read_buffer));
    let wanted = asked.unwrap_or(READ_BUFFER_USUAL);
    let found = there.iter().find(|buffer| *buffer == wanted).cloned();
    match (found, asked) {
        (Some(buffer), _) => Ok(buffer),
        (None, None) => there.into_iter().next().ok_or(SweepError::NoRoundTrips),
        (None, Some(asked)) => Err(SweepError::NoReadBuffer { asked: asked.to_owned(), there }),
    }
}

fn distinct<'t>(texts: impl Iterator<Item = &'t String>) -> Vec<String> {
    let mut there: Vec<String> = Vec::new();
    for text in texts {
        if !there.contains(text) {
            there.push(text.clone());
        }
    }
    there
}

/// Of values of which there is at least one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

const NS_PER_US: f64 = 1e3;

/// What our library reads at once: whatever there is, or the rest of the message.
const READ_BUFFER_USUAL: &str = "ours";

/// What is measured beside buses.
const FLOORS: [&str; 2] = ["direct", "floor"];
