//! The cost of messages by size, measured on the user's machine.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead};

use serde::Deserialize;

use crate::text::units::{bytes, counted, share};

/// The cost of a message on a bus by its size, as `diligence bench ping-pong` measured it.
///
/// The reply of a round trip returns the payload of the call, so both messages have about the same
/// size on the wire. One direction is counted as half of the round trip, at the mean of both sizes.
/// This is exact if the time grows linearly between the two sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The bus that was measured.
    pub subject: String,
    /// The read buffer of both programs.
    pub read_buffer: String,
    /// The measured points in ascending order of size; not empty.
    points: Vec<SweepPoint>,
}

/// A measured size with its cost.
#[derive(Clone, Copy, PartialEq, Debug)]
struct SweepPoint {
    /// The bytes on the wire, header and body.
    size: f64,
    /// The time from the sender to the recipient of a message of this size, in nanoseconds.
    nanos: f64,
}

/// The choice among the results in a file; `None` chooses the first result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SweepChoice<'a> {
    /// The bus; by default the first that is not a bare socket.
    pub subject: Option<&'a str>,
    /// The read buffer; by default `ours`, if the file has it.
    pub read_buffer: Option<&'a str>,
}

/// The difference between interpolated and measured times: each size between two others is
/// interpolated from its neighbors. Errors are fractions of the measured time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LeaveOneOut {
    /// The median of all errors.
    pub median: f64,
    /// The largest of all errors.
    pub worst: f64,
    /// The size with the largest error, in bytes on the wire.
    pub worst_size: f64,
}

/// The reason why the results of a measurement cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(io::Error),
    /// A line is not a result of a measurement.
    #[error("line {number} is not a result of `diligence bench`: {error}")]
    Line {
        /// The line number, starting at 1.
        number: usize,
        /// The error of the JSON parser.
        error: serde_json::Error,
    },
    /// The file has no round trips.
    #[error(
        "expected round trips, found none; measure them with `diligence bench ping-pong --save=FILE`"
    )]
    NoRoundTrips,
    /// The round trips lack the sizes of calls and their echoes on the wire.
    #[error(
        "the round trips lack the sizes of calls and replies on the wire, because they are from an \
         older version or from `--reply empty`; measure again with `diligence bench ping-pong \
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
        /// The bus that was requested.
        asked: String,
        /// The buses that were measured.
        there: Vec<String>,
    },
}

/// The parts of a result line that a sweep needs.
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

/// A round trip, with its sizes on the wire if known.
struct RoundTrip {
    subject: String,
    read_buffer: String,
    nanos: f64,
    /// The bytes of the call and of its reply.
    sizes: Option<(u64, u64)>,
}

impl Sweep {
    /// Reads the results of a measurement.
    ///
    /// # Errors
    ///
    /// Returns a [`SweepError`] if a line is malformed, or if the results or the choice are
    /// unusable.
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

    /// The time from the sender to the recipient of a message of `size` bytes on the wire, in
    /// nanoseconds.
    ///
    /// The time is interpolated linearly between two measured sizes, and extrapolated with the same
    /// slope above the largest. Below the smallest size, it is the time of the smallest.
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

    /// The largest measured size, in bytes on the wire.
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

/// Describes the source of the times in a table, and their error.
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
                "; error of a size interpolated from its neighbors: median {}, worst {} (at {})",
                share(median),
                share(worst),
                bytes(worst_size)
            ),
            None => {
                f.write_str("; their error is unknown, because fewer than 3 sizes were measured")
            }
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

/// Creates a point for each size from the median of its round trips.
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

/// The requested bus, or else the first that is not a bare socket.
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

/// The requested read buffer, or else the usual one, or else the first.
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

/// The median of values, which must not be empty.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

const NS_PER_US: f64 = 1e3;

/// The default read buffer of Diligence's client library.
const READ_BUFFER_USUAL: &str = "ours";

/// The measured subjects that are not buses.
const FLOORS: [&str; 2] = ["direct", "floor"];
