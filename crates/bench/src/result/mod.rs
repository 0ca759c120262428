//! What a run measured.
//!
//! A run is a list of [`BenchRecord`]s, and its file has one of them a line, as JSON. First comes the
//! [`BenchRun`] itself: machine, versions, command line. Then, while it goes on, a [`BenchSample`] for each
//! case, subject and round, and whatever else there is to tell. Tables, reports and documents are
//! made from these lines alone.
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
    /// What is measured, where and how; the first line.
    Run(BenchRun),
    /// A bus that was asked for and is not there.
    Absence(Absence),
    /// What was measured once.
    Sample(BenchSample),
    /// What could not be measured.
    Failure(BenchFailure),
    /// When which process had the processor.
    Timeline(Timeline),
}

/// What is measured, where and how.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BenchRun {
    /// The version of this format: [`FORMAT`].
    pub format: u32,
    /// When it began, in seconds since 1970-01-01 00:00 UTC.
    pub started: u64,
    /// The command line, the program first.
    pub command: Vec<String>,
    /// The version of the program that measures.
    pub version: String,
    /// Where it ran.
    pub machine: Machine,
    /// Which processors the processes may use.
    pub placement: Placement,
    /// How often everything is measured.
    pub rounds: u32,
    /// What is compared, in the order of the columns.
    pub subjects: Vec<SubjectInfo>,
}

/// One thing that is compared with others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SubjectInfo {
    /// Its name, which the samples repeat: `diligence`, `dbus-daemon`, `floor`, an address.
    pub name: String,
    /// What it says of itself: `1.14.10`. Empty if nothing is known.
    pub version: String,
    /// The command that started it; empty for what is not a program.
    pub command: Vec<String>,
}

/// A bus that was asked for and is not there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Absence {
    /// Which one.
    pub subject: String,
    /// Why, and how to get it.
    pub remedy: String,
}

/// One point of a scenario at which all subjects are compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct BenchCase {
    /// For people: `10 signals to 100`.
    pub label: String,
    /// For plots: what varies, by name.
    pub at: BTreeMap<String, CaseSetting>,
}

/// The value of something that varies between cases.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CaseSetting {
    /// A size in bytes, a count, a priority.
    Number(i64),
    /// A choice.
    Word(String),
}

/// What was measured once: one case, one subject, one round.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BenchSample {
    /// The scenario's name on the command line.
    pub scenario: String,
    /// The case of the scenario.
    pub case: BenchCase,
    /// The name of the subject.
    pub subject: String,
    /// The round, from 1.
    pub round: u32,
    /// What was measured.
    pub figures: Figures,
    /// The share of processor time that others took meanwhile, from 0 to 1: programs that have
    /// nothing to do with the measurement, and other machines on the same hardware.
    pub disturbance: f64,
}

/// Figures of one measurement.
pub type Figures = BTreeMap<Metric, f64>;

/// What could not be measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BenchFailure {
    /// The scenario's name on the command line.
    pub scenario: String,
    /// The case of the scenario.
    pub case: BenchCase,
    /// The name of the subject.
    pub subject: String,
    /// The round, from 1.
    pub round: u32,
    /// What went wrong, with the last words of the bus if it died.
    pub reason: String,
}

/// When which process had the processor, in one run of a workload.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Timeline {
    /// The scenario's name on the command line.
    pub scenario: String,
    /// The case of the scenario.
    pub case: BenchCase,
    /// The name of the subject.
    pub subject: String,
    /// One track a process: the sender, the bus, then the recipients.
    pub tracks: Vec<ProcessTrack>,
}

/// When one process ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProcessTrack {
    /// What the process is in the workload: `sender`, `bus`, `recipient 3`.
    pub name: String,
    /// From when to when, in nanoseconds since the workload began; ascending, without overlap.
    pub spans: Vec<(u64, u64)>,
}

impl BenchCase {
    /// A case with its label and what varies.
    pub fn new<const N: usize>(label: impl Into<String>, at: [(&str, CaseSetting); N]) -> Self {
        let at = at.into_iter().map(|(name, value)| (name.to_owned(), value));
        Self { label: label.into(), at: at.collect() }
    }

    /// The number that this case has for a setting.
    #[must_use]
    pub fn number(&self, setting: &str) -> Option<i64> {
        match self.at.get(setting)? {
            CaseSetting::Number(number) => Some(*number),
            CaseSetting::Word(_) => None,
        }
    }

    /// The word that this case has for a setting.
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
/// - 2: calls one after another have replies with the same payload, except in `ping-pong` where the
///   setting `reply` is `empty`, in `pipeline` and in `trace`. The figure `mib_per_s` of calls counts
///   the payload of both directions. `call_bytes` and `reply_bytes` are sizes on the wire.
/// - 1: replies were empty.
pub const FORMAT: u32 = 2;
