//! Observers of a bus.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use client::{Connection, ReceivedMessage};
use wire::body::{EncodeArgs, Value};

use super::program::ObserverProgram;
use super::recording::RecordingTotals;
use crate::peer::{self, RunningPeer};
use crate::stage::{MeasureError, MeasurementStage};
use crate::workload::Targets;

/// An observer of a bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ObserverKind {
    /// No observer, for comparison
    Nobody,
    /// A trace without message bytes, into memory that no process reads
    Stamps,
    /// The flight recorder: a trace of whole messages, into memory that no process reads
    FlightRecorder,
    /// `diligence record`, which reads a trace of whole messages
    #[value(name = "record")]
    Recorder,
    /// A monitor that receives all copies and parses none
    Monitor,
    /// The program `dbus-monitor --pcap`
    DbusMonitor,
    /// The program `busctl capture`
    Busctl,
}

impl ObserverKind {
    /// The buses that it can observe.
    pub(crate) const fn targets(self) -> Targets {
        match self {
            Self::Stamps | Self::FlightRecorder | Self::Recorder => Targets::OurBus,
            Self::Nobody | Self::Monitor | Self::DbusMonitor | Self::Busctl => Targets::Buses,
        }
    }

    pub(super) fn begin(
        self,
        stage: &MeasurementStage<'_>,
    ) -> Result<RunningObserver, MeasureError> {
        let address = stage.bus_address()?;
        Ok(match self {
            Self::Nobody => RunningObserver::Nobody,
            Self::Stamps => RunningObserver::Trace(UnreadTrace::start(address)?),
            Self::FlightRecorder => {
                RunningObserver::FlightRecorder(EnabledFlightRecorder::on(stage)?)
            }
            Self::Recorder => {
                let file = stage.site.new_file("recording");
                let mut command = stage.site.command();
                command.args(["record", "--address", address, "--output"]).arg(&file);
                RunningObserver::ObserverProgram(ObserverProgram::start(
                    stage,
                    file,
                    command,
                    Stdio::null(),
                )?)
            }
            Self::Monitor => RunningObserver::Monitor(
                stage.start(peer::MonitorPeer { address: address.to_owned() })?,
            ),
            Self::DbusMonitor => {
                let arguments = ["--address", address, "--pcap"];
                RunningObserver::ObserverProgram(capture(stage, DBUS_MONITOR, &arguments)?)
            }
            Self::Busctl => {
                let address = format!("--address={address}");
                RunningObserver::ObserverProgram(capture(stage, BUSCTL, &[&address, "capture"])?)
            }
        })
    }
}

/// The name on the command line and in cases.
impl fmt::Display for ObserverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

/// A running observer. Dropping it ends it.
pub(super) enum RunningObserver {
    Nobody,
    Trace(#[expect(dead_code, reason = "it ends when it is dropped")] UnreadTrace),
    FlightRecorder(
        #[expect(dead_code, reason = "it ends when it is dropped")] EnabledFlightRecorder,
    ),
    Monitor(RunningPeer<peer::MonitorPeer>),
    ObserverProgram(ObserverProgram),
}

impl RunningObserver {
    /// The process of the observer, if it has one.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Nobody | Self::Trace(_) | Self::FlightRecorder(_) => None,
            Self::Monitor(peer) => Some(peer.pid()),
            Self::ObserverProgram(program) => Some(program.pid()),
        }
    }

    /// Ends the observer, and returns how much it recorded, if it reports that.
    pub(super) fn end(
        self,
        stage: &MeasurementStage<'_>,
    ) -> Result<Option<RecordingTotals>, MeasureError> {
        let Self::ObserverProgram(mut program) = self else { return Ok(None) };
        program.end(stage)?;
        let totals = RecordingTotals::of_file(program.file())?;
        Ok((totals != RecordingTotals::default()).then_some(totals))
    }
}

/// A trace that no process reads.
pub(super) struct UnreadTrace {
    _connection: Connection,
    /// The message with the descriptor of the trace memory.
    _ring: ReceivedMessage,
}

impl UnreadTrace {
    fn start(address: &str) -> Result<Self, MeasureError> {
        let connection = connect(address)?;
        let options = [("Kept", Value::Uint32(0)), ("Size", Value::Uint64(STAMPS_RING))];
        let options = BTreeMap::from(options);
        let ring = call(&connection, TRACE, "Start", &(options,))?;
        Ok(Self { _connection: connection, _ring: ring })
    }
}

/// An enabled flight recorder. Dropping it disables the recorder.
pub(super) struct EnabledFlightRecorder {
    connection: Connection,
    file: PathBuf,
    before: String,
}

impl EnabledFlightRecorder {
    fn on(stage: &MeasurementStage<'_>) -> Result<Self, MeasureError> {
        let unknown = || {
            MeasureError::Unable(
                "this observer requires a bus started by the benchmark, found a running one"
                    .to_owned(),
            )
        };
        let file = stage.configuration.clone().ok_or_else(unknown)?;
        let before = fs::read_to_string(&file)?;
        let with = before.replace("</busconfig>", FLIGHT_RECORDER);
        let switched = Self { connection: connect(stage.bus_address()?)?, file, before };
        switched.reload(&with)?;
        // The call fails if there is no flight recorder.
        call(&switched.connection, TRACE, "Dump", &())?;
        Ok(switched)
    }

    fn reload(&self, configuration: &str) -> Result<(), MeasureError> {
        fs::write(&self.file, configuration)?;
        call(&self.connection, BUS, "ReloadConfig", &()).map(drop)
    }
}

impl Drop for EnabledFlightRecorder {
    fn drop(&mut self) {
        // If the bus has ended, so has its flight recorder.
        let _ = self.reload(&self.before);
    }
}

fn capture(
    stage: &MeasurementStage<'_>,
    program: &str,
    arguments: &[&str],
) -> Result<ObserverProgram, MeasureError> {
    let mut command = Command::new(program);
    command.args(arguments);
    let file = stage.site.new_file("capture");
    let output = File::create_new(&file)?;
    ObserverProgram::start(stage, file, command, output.into())
}

fn connect(address: &str) -> Result<Connection, MeasureError> {
    Connection::open(address).map_err(|error| MeasureError::Unable(error.to_string()))
}

fn call(
    connection: &Connection,
    interface: &str,
    member: &str,
    arguments: &impl EncodeArgs,
) -> Result<ReceivedMessage, MeasureError> {
    let reply = connection.call(BUS, BUS_PATH, interface, member, arguments);
    reply.map_err(|error| MeasureError::Unable(format!("{member}: {error}")))
}

/// Observers from other projects.
pub(super) const DBUS_MONITOR: &str = "dbus-monitor";
pub(super) const BUSCTL: &str = "busctl";

const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";
const TRACE: &str = "org.diligence.Trace1";

/// Memory of an unread trace in bytes: small enough to be filled once soon. Until then, most of the
/// cost is the kernel's work to provide memory.
const STAMPS_RING: u64 = 1 << 20;

/// The end of a configuration with a flight recorder, of 4 MiB for the same reason.
const FLIGHT_RECORDER: &str =
    "<?diligence <flight_recorder>4194304</flight_recorder> ?></busconfig>";
