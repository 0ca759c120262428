//! What a configuration says to this bus alone: `<?diligence …?>`.
//!
//! Other buses refuse a file with an element, an attribute or a limit that they do not know. But XML
//! has a form for what is meant for one program, the processing instruction, and they pass over it;
//! so one file does for all. In the instruction stand elements, as they do elsewhere:
//!
//! ```xml
//! <?diligence
//!   <limit name="max_connections_per_second_per_user">50</limit>
//!   <limit name="max_connections_per_user" user="monitor">2000</limit>
//!   <flight_recorder>16777216</flight_recorder>
//!   <metrics_socket>/run/dbus/metrics</metrics_socket>
//! ?>
//! ```
//!
//! As with elements, nothing unknown passes, and an instruction that stands where it is not looked
//! for is an error.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bus::{BusLimits, FlightRecorder, TraceLimits};

use super::element::{Element, FoundElement};
use super::environment::Accounts;
use super::error::{AccountKind, ConfigError, ConfigErrorKind, LimitError, ShapeError};
use super::limits::{Limit, parse_integer};
use super::paths::absolute;

/// What the instructions of all files say together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OwnSettings {
    /// Where to tell what is counted; absolute.
    pub metrics_socket: Option<PathBuf>,
    /// Bytes of the flight recorder; 0 is none.
    pub flight_recorder: Option<u64>,
    /// The folder of its files; absolute.
    pub flight_recorder_folder: Option<PathBuf>,
    /// What traces may use.
    pub traces: TraceLimits,
    /// How often a user may connect.
    pub connection_rate: RateSetting,
    /// The same, for users of whom something else is said.
    pub connection_rates: BTreeMap<u32, RateSetting>,
    /// Limits that are others for a user.
    user_limits: Vec<(u32, Limit)>,
}

/// How often somebody may connect, as far as something is said of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RateSetting {
    /// Connections in a second, in the long run; 0 is any number.
    pub per_second: Option<u32>,
    /// Connections at once, after a pause.
    pub burst: Option<u32>,
}

impl RateSetting {
    /// What it is where it says nothing of its own.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { per_second: self.per_second.or(other.per_second), burst: self.burst.or(other.burst) }
    }
}

impl OwnSettings {
    /// Takes over what one element says.
    pub(super) fn apply(&mut self, setting: OwnSetting) {
        match setting {
            OwnSetting::Rate { user, change } => {
                let rate = match user {
                    None => &mut self.connection_rate,
                    Some(uid) => self.connection_rates.entry(uid).or_default(),
                };
                *rate = change.or(*rate);
            }
            OwnSetting::MetricsSocket(path) => self.metrics_socket = Some(path),
            OwnSetting::FlightRecorder(bytes) => self.flight_recorder = Some(bytes),
            OwnSetting::FlightRecorderFolder(path) => self.flight_recorder_folder = Some(path),
            OwnSetting::MaxTraces(count) => self.traces.max_traces = count,
            OwnSetting::MaxTraceBytes(bytes) => self.traces.max_trace_bytes = bytes,
            OwnSetting::Limit { user, limit } => self.user_limits.push((user, limit)),
        }
    }

    /// Where the files of the flight recorder go.
    pub(crate) fn flight_folder(&self) -> PathBuf {
        let folder = self.flight_recorder_folder.clone();
        folder.unwrap_or_else(std::env::temp_dir)
    }

    /// Whether there is one.
    pub(crate) fn recorder(&self) -> FlightRecorder {
        match self.flight_recorder {
            None | Some(0) => FlightRecorder::Off,
            Some(_) => FlightRecorder::On,
        }
    }

    /// The limits of those users for whom they are others.
    pub(super) fn limits_by_user(&self, limits: &BusLimits) -> BTreeMap<u32, BusLimits> {
        let mut by_user = BTreeMap::new();
        for (user, limit) in &self.user_limits {
            limit.apply(by_user.entry(*user).or_insert_with(|| limits.clone()));
        }
        by_user
    }
}

/// What one element in an instruction says.
#[derive(Clone, Debug)]
pub(super) enum OwnSetting {
    /// Where to tell what is counted.
    MetricsSocket(PathBuf),
    /// Bytes of the flight recorder.
    FlightRecorder(u64),
    /// Where its files go.
    FlightRecorderFolder(PathBuf),
    /// Traces at the same time.
    MaxTraces(u64),
    /// Bytes of their rings.
    MaxTraceBytes(u64),
    /// How often everybody, or a user, may connect.
    Rate { user: Option<u32>, change: RateSetting },
    /// A limit that is another for a user.
    Limit { user: u32, limit: Limit },
}

impl OwnSetting {
    /// Reads an element in an instruction. What it says of a user who does not exist is nothing.
    pub(super) fn parse(
        found: FoundElement<'_>,
        accounts: &dyn Accounts,
    ) -> Result<Result<Self, AccountKind>, ConfigError> {
        match found.name() {
            "limit" => Self::parse_limit(found.open("limit", &["name", "user"])?, accounts),
            METRICS => {
                let path = found.open(METRICS, &[])?.path_beside_file()?;
                Ok(Ok(Self::MetricsSocket(absolute(&path))))
            }
            RECORDER => {
                let element = found.open(RECORDER, &[])?;
                let text = element.text()?;
                let name = RECORDER.into();
                let refuse = |error| element.refuse(ConfigErrorKind::Limit { name, error });
                Ok(Ok(Self::FlightRecorder(bytes(&text).map_err(refuse)?)))
            }
            RECORDER_FOLDER => {
                let path = found.open(RECORDER_FOLDER, &[])?.path_beside_file()?;
                Ok(Ok(Self::FlightRecorderFolder(absolute(&path))))
            }
            _ => Err(found.unknown_in(INSTRUCTION)),
        }
    }

    fn parse_limit(
        element: Element<'_>,
        accounts: &dyn Accounts,
    ) -> Result<Result<Self, AccountKind>, ConfigError> {
        let whose = match element.attribute("user").map(|name| (name, accounts.user_id(name))) {
            None => Ok(None),
            Some((_, Some(uid))) => Ok(Some(uid)),
            Some((name, None)) => Err(AccountKind::User(name.to_owned())),
        };
        // A mistake in the rest is one whether the user exists or not.
        let setting = Self::limit(element, whose.clone().unwrap_or(Some(0)))?;
        Ok(whose.map(|_| setting))
    }

    fn limit(element: Element<'_>, user: Option<u32>) -> Result<Self, ConfigError> {
        let Some(name) = element.attribute("name") else {
            return Err(element.refuse(ShapeError::LimitWithoutName));
        };
        let text = element.text()?;
        let refuse = |error| element.refuse(ConfigErrorKind::Limit { name: name.into(), error });
        let count = || count(&text).map_err(refuse);
        match (name, user) {
            (RATE, _) => {
                let change = RateSetting { per_second: Some(count()?), burst: None };
                Ok(Self::Rate { user, change })
            }
            (BURST, _) => {
                let change = RateSetting { per_second: None, burst: Some(count()?) };
                Ok(Self::Rate { user, change })
            }
            (MAX_TRACES, None) => Ok(Self::MaxTraces(count()?.into())),
            (MAX_TRACE_BYTES, None) => Ok(Self::MaxTraceBytes(bytes(&text).map_err(refuse)?)),
            (_, Some(user)) => {
                let limit = Limit::parse(name, &text).map_err(refuse)?;
                let is_of_users = limit.can_be_of_a_user();
                let limit = is_of_users.then_some(limit).ok_or(LimitError::OfNoUser);
                Ok(Self::Limit { user, limit: limit.map_err(refuse)? })
            }
            (_, None) => match Limit::parse(name, &text).map_err(refuse)?.can_be_of_a_user() {
                true => Err(refuse(LimitError::WithoutUser)),
                false => Err(refuse(LimitError::OfNoUser)),
            },
        }
    }
}

fn count(text: &str) -> Result<u32, LimitError> {
    match parse_integer(text) {
        None => Err(LimitError::NotANumber),
        Some(..0) => Err(LimitError::Negative),
        Some(number) => u32::try_from(number).map_err(|_| LimitError::TooLarge),
    }
}

fn bytes(text: &str) -> Result<u64, LimitError> {
    match parse_integer(text) {
        None => Err(LimitError::NotANumber),
        Some(number) => u64::try_from(number).map_err(|_| LimitError::Negative),
    }
}

/// The name of the instruction.
pub(super) const INSTRUCTION: &str = "diligence";

/// Where to tell what is counted.
const METRICS: &str = "metrics_socket";

/// Bytes of the flight recorder.
const RECORDER: &str = "flight_recorder";

/// Where its files go.
const RECORDER_FOLDER: &str = "flight_recorder_folder";

/// Traces at the same time.
const MAX_TRACES: &str = "max_traces";

/// Bytes of their rings.
const MAX_TRACE_BYTES: &str = "max_trace_bytes";

/// Connections of a user in a second.
const RATE: &str = "max_connections_per_second_per_user";

/// Connections of a user at once.
const BURST: &str = "max_connection_burst_per_user";
