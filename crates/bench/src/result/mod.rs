//! Results of a run.
//!
//! A run is a list of [`BenchRecord`]s; its file has one record per line, as JSON. The first record
//! is the [`BenchRun`]: machine, versions, command line. During the run, the file gets a
//! [`BenchSample`] for each case, subject and round, and records of failures and timelines. Tables,
//! reports and documents are made from these lines alone.
//!
//! ```json
//! {"record":"sample","scenario":"ping-pong","case":{"label":"8 B","at":{"size":8}},"subject":"diligence","round":1,"figures":{"round_trip_us":27.1},"disturbance":0.01}
//! ```

mod file;
mod metric;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use file::{ResultsError, read, write};
pub use metric::{Better, Metric, MetricInfo, MetricUnit};

use crate::machine::Machine;
use crate::placement::Placement;

/// One line of the file of results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum BenchRecord {
    /// The subjects, place and method of the run; the first line.
    Run(BenchRun),
    /// A requested bus or library that is not installed.
    Absence(Absence),
    /// The figures of one measurement.
    Sample(BenchSample),
    /// A measurement that failed.
    Failure(BenchFailure),
    /// The intervals in which each process ran.
    Timeline(Timeline),
}

/// The subjects, place and method of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BenchRun {
    /// The version of this format: [`FORMAT`].
    pub format: u32,
    /// The start of the run, in seconds since 1970-01-01 00:00 UTC.
    pub started: u64,
    /// The command line, including the program.
    pub command: Vec<String>,
    /// The version of the measuring program.
    pub version: String,
    /// The machine of the run.
    pub machine: Machine,
    /// The processors that the processes may use.
    pub placement: Placement,
    /// The number of rounds of each measurement.
    pub rounds: u32,
    /// The compared subjects, in the order of the columns.
    pub subjects: Vec<SubjectInfo>,
}

/// One of the compared subjects.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SubjectInfo {
    /// The name, which the samples repeat: `diligence`, `dbus-daemon`, `floor`, an address.
    pub name: String,
    /// The version that it reports: `1.14.10`. Empty if unknown.
    pub version: String,
    /// The command that started it; empty if it is not a program.
    pub command: Vec<String>,
}

/// A requested bus or library that is not installed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Absence {
    /// The name of the bus or library.
    pub subject: String,
    /// The reason, and how to install it.
    pub remedy: String,
}

/// One point of a scenario at which all subjects are compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct BenchCase {
    /// The label in tables: `10 signals to 100`.
    pub label: String,
    /// The settings that vary between cases, by name, for plots.
    pub at: BTreeMap<String, CaseSetting>,
}

/// The value of a setting that varies between cases.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CaseSetting {
    /// A size in bytes, a count, a priority.
    Number(i64),
    /// A named choice, such as `echo`.
    Word(String),
}

/// The figures of one measurement: one case, one subject, one round.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BenchSample {
    /// The name of the scenario on the command line.
    pub scenario: String,
    /// The case of the scenario.
    pub case: BenchCase,
    /// The name of the subject.
    pub subject: String,
    /// The round, starting at 1.
    pub round: u32,
    /// The figures by metric.
    pub figures: Figures,
    /// The share of processor time that others took during the measurement, from 0 to 1: unrelated
    /// programs, and other virtual machines on the same hardware.
    pub disturbance: f64,
}

/// The figures of one measurement, by metric.
pub type Figures = BTreeMap<Metric, f64>;

/// A measurement that failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BenchFailure {
    /// The name of the scenario on the command line.
    pub scenario: String,
    /// The case of the scenario.
    pub case: BenchCase,
    /// The name of the subject.
    pub subject: String,
    /// The round, starting at 1.
    pub round: u32,
    /// The reason of the failure, with the last output of the bus if it died.
    pub reason: String,
}

/// The intervals in which each process ran, in one run of a workload.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Timeline {
    /// The name of the scenario on the command line.
    pub scenario: String,
    /// The case of the scenario.
    pub case: BenchCase,
    /// The name of the subject.
    pub subject: String,
    /// One track per process: the sender, the bus, then the recipients.
    pub tracks: Vec<ProcessTrack>,
}

/// The intervals in which one process ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProcessTrack {
    /// The role of the process in the workload: `sender`, `bus`, `recipient 3`.
    pub name: String,
    /// Start and end of each interval, in nanoseconds since the workload began; ascending, without
    /// overlap.
    pub spans: Vec<(u64, u64)>,
}

impl BenchCase {
    /// Creates a case from its label and its settings.
    pub fn new<const N: usize>(label: impl Into<String>, at: [(&str, CaseSetting); N]) -> Self {
        let at = at.into_iter().map(|(name, value)| (name.to_owned(), value));
        Self { label: label.into(), at: at.collect() }
    }

    /// Returns the number of a setting of this case.
    #[must_use]
    pub fn number(&self, setting: &str) -> Option<i64> {
        match self.at.get(setting)? {
            CaseSetting::Number(number) => Some(*number),
            CaseSetting::Word(_) => None,
        }
    }

    /// Returns the word of a setting of this case.
    #[must_use]
    pub fn word(&self, setting: &str) -> Option<&str> {
        match self.at.get(setting)? {
            CaseSetting::Word(word) => Some(word),
            CaseSetting::Number(_) => None,
        }
    }
}

impl From<u64> for CaseSetting {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<&str> for CaseSetting {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

/// The version of the format of results that this program writes and reads.
///
/// - 2: sequential calls have replies with the same payload, except in `ping-pong` with the setting
///   `reply` of `empty`, in `pipeline` and in `trace`. The figure `mib_per_s` of calls counts the
///   payload of both directions. `call_bytes` and `reply_bytes` are sizes on the wire.
/// - 1: replies were empty.
pub const FORMAT: u32 = 2;
