//! Settings of this implementation: `<?diligence …?>`.
//!
//! Other buses reject a file with an element, attribute or limit that they do not know. But they
//! ignore XML processing instructions, which are meant for one program, so one file works for all
//! buses. The instruction contains elements like the rest of the file:
//!
//! ```xml
//! <?diligence
//!   <limit name="max_connections_per_second_per_user">50</limit>
//!   <limit name="max_connections_per_user" user="monitor">2000</limit>
//!   <flight_recorder>16777216</flight_recorder>
//!   <metrics_socket>/run/dbus/metrics</metrics_socket>
//!   <reject_namespace_user_ids/>
//! ?>
//! ```
//!
//! As elsewhere, unknown elements are errors, and so is an instruction at a place where it has no
//! meaning.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bus::{BusLimits, FlightRecorder, LaneLimits, TraceLimits};
use serde::{Deserialize, Serialize};
use services::saved_path;

use super::element::{Element, FoundElement};
use super::environment::Accounts;
use super::error::{AccountKind, ConfigError, ConfigErrorKind, LimitError, ShapeError};
use super::limits::{Limit, parse_integer};
use super::paths::absolute;

/// The merged settings of all processing instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct OwnSettings {
    /// The absolute path of the metrics socket.
    #[serde(with = "saved_path::option")]
    pub metrics_socket: Option<PathBuf>,
    /// The size of the flight recorder in bytes; 0 disables it.
    pub flight_recorder: Option<u64>,
    /// The absolute path of the directory for flight recorder files.
    #[serde(with = "saved_path::option")]
    pub flight_recorder_folder: Option<PathBuf>,
    /// Limits on the number and size of traces.
    pub traces: TraceLimits,
    /// Limits on the number of lanes.
    #[serde(default)]
    pub lanes: LaneLimits,
    /// The rate at which each user may connect.
    pub connection_rate: RateSetting,
    /// The rate of each user that has its own.
    pub connection_rates: BTreeMap<u32, RateSetting>,
    /// Whether clients in other user namespaces must use the user ids of the bus.
    #[serde(default)]
    pub rejects_namespace_user_ids: bool,
    /// Limits of individual users, which are not saved: the settings of the bus contain them.
    #[serde(skip)]
    user_limits: Vec<(u32, Limit)>,
}

/// The configured connection rate; unset values have defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RateSetting {
    /// Connections per second in the long run; 0 means no limit.
    pub per_second: Option<u32>,
    /// Connections in a burst after a pause.
    pub burst: Option<u32>,
}

impl RateSetting {
    /// Fills unset values from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { per_second: self.per_second.or(other.per_second), burst: self.burst.or(other.burst) }
    }
}

impl OwnSettings {
    /// Applies the setting of one element.
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
            OwnSetting::RejectNamespaceUserIds => self.rejects_namespace_user_ids = true,
            OwnSetting::MaxLanes(count) => self.lanes.max_lanes_per_connection = count,
            OwnSetting::MaxTraces(count) => self.traces.max_traces = count,
            OwnSetting::MaxTraceBytes(bytes) => self.traces.max_trace_bytes = bytes,
            OwnSetting::Limit { user, limit } => self.user_limits.push((user, limit)),
        }
    }

    /// The directory for flight recorder files, with its default.
    pub(crate) fn flight_folder(&self) -> PathBuf {
        let folder = self.flight_recorder_folder.clone();
        folder.unwrap_or_else(std::env::temp_dir)
    }

    /// Whether the flight recorder is enabled, and its size.
    pub(crate) fn recorder(&self) -> FlightRecorder {
        match self.flight_recorder {
            None | Some(0) => FlightRecorder::Off,
            Some(_) => FlightRecorder::On,
        }
    }

    /// All limits of each user that has its own.
    pub(super) fn limits_by_user(&self, limits: &BusLimits) -> BTreeMap<u32, BusLimits> {
        let mut by_user = BTreeMap::new();
        for (user, limit) in &self.user_limits {
            limit.apply(by_user.entry(*user).or_insert_with(|| limits.clone()));
        }
        by_user
    }
}

/// The setting of one element in a processing instruction.
#[derive(Clone, Debug)]
pub(super) enum OwnSetting {
    /// The path of the metrics socket.
    MetricsSocket(PathBuf),
    /// The size of the flight recorder in bytes.
    FlightRecorder(u64),
    /// The directory for flight recorder files.
    FlightRecorderFolder(PathBuf),
    /// Clients in other user namespaces must use the user ids of the bus.
    RejectNamespaceUserIds,
    /// The maximum number of lanes of one connection.
    MaxLanes(u64),
    /// The maximum number of simultaneous traces.
    MaxTraces(u64),
    /// The maximum size of all trace buffers in bytes.
    MaxTraceBytes(u64),
    /// The connection rate of one user, or of every user.
    Rate { user: Option<u32>, change: RateSetting },
    /// A limit for one user.
    Limit { user: u32, limit: Limit },
}

impl OwnSetting {
    /// Parses an element of a processing instruction. `None` if it is for a user that does not
    /// exist.
    pub(super) fn parse(
        found: FoundElement<'_>,
        accounts: &dyn Accounts,
    ) -> Result<Result<Self, AccountKind>, ConfigError> {
        match found.name() {
            "limit" => Self::parse_limit(found.open("limit", &["name", "user"])?, accounts),
            METRICS => {
                let path = found.open(METRICS, &[])?.resolved_path()?;
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
                let path = found.open(RECORDER_FOLDER, &[])?.resolved_path()?;
                Ok(Ok(Self::FlightRecorderFolder(absolute(&path))))
            }
            REJECT_IDS => {
                let _ = found.open(REJECT_IDS, &[])?;
                Ok(Ok(Self::RejectNamespaceUserIds))
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
        // Errors in the value are reported whether the user exists or not.
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
            (MAX_LANES, None) => Ok(Self::MaxLanes(count()?.into())),
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

/// The name of the processing instruction.
pub(super) const INSTRUCTION: &str = "diligence";

const METRICS: &str = "metrics_socket";

const RECORDER: &str = "flight_recorder";

const RECORDER_FOLDER: &str = "flight_recorder_folder";

const REJECT_IDS: &str = "reject_namespace_user_ids";

const MAX_LANES: &str = "max_lanes_per_connection";

const MAX_TRACES: &str = "max_traces";

const MAX_TRACE_BYTES: &str = "max_trace_bytes";

const RATE: &str = "max_connections_per_second_per_user";

const BURST: &str = "max_connection_burst_per_user";
