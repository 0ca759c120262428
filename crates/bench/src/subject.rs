//! Subjects of a measurement: a bus, or a replacement for it.

use std::path::PathBuf;

use crate::buses::{BusKind, BusStartError, InstalledBus, RunningBus, StartOptions};
use crate::peer::{Forwarder, RunningPeer};
use crate::placement::ProcessPart;
use crate::raw::{Endpoint, ReadBuffer};
use crate::result::SubjectInfo;
use crate::stage::{MeasureError, MeasurementSite, MeasurementStage};
use crate::stop::StopCondition;
use crate::workload::{Requirements, Targets};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BenchSubject {
    /// A direct socket between two processes.
    Direct,
    /// A process in place of a bus that only reads and writes, with the fastest read buffer.
    Floor,
    /// The same process with the read buffer of the clients.
    Relay,
    Bus(InstalledBus),
}

/// A running subject. It ends when dropped.
#[derive(Debug)]
pub(crate) enum RunningSubject {
    Direct,
    /// A process that only reads and writes, which listens at this socket file.
    Forwarder(Box<RunningPeer<Forwarder>>, PathBuf),
    Bus(RunningBus),
}

impl BenchSubject {
    /// The name in results and tables.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Direct => "direct".to_owned(),
            Self::Floor => "floor".to_owned(),
            Self::Relay => "relay".to_owned(),
            Self::Bus(bus) => bus.kind().to_string(),
        }
    }

    /// Returns the facts about it for the record.
    pub(crate) fn info(&self) -> SubjectInfo {
        match self {
            Self::Direct | Self::Floor | Self::Relay => {
                SubjectInfo { name: self.name(), version: String::new(), command: Vec::new() }
            }
            Self::Bus(bus) => bus.info(),
        }
    }

    /// True if a workload with these targets can be measured on it.
    pub(crate) fn suits(&self, targets: Targets) -> bool {
        match (self, targets) {
            (Self::Direct | Self::Relay, targets) => targets == Targets::Anything,
            (Self::Floor, targets) => {
                matches!(targets, Targets::Anything | Targets::Carriers)
            }
            (Self::Bus(bus), Targets::OurBus) => *bus.kind() == BusKind::Diligence,
            (Self::Bus(_), _) => true,
        }
    }

    /// Starts it with the settings that a workload requires.
    pub(crate) fn start(
        &self,
        site: &MeasurementSite,
        requirements: &Requirements,
    ) -> Result<RunningSubject, SubjectError> {
        match self {
            Self::Direct => Ok(RunningSubject::Direct),
            Self::Floor => forwarder(site, FORWARDER_BUFFER_LEN),
            Self::Relay => forwarder(site, relay_buffer(requirements.read_buffer)),
            Self::Bus(bus) => {
                let processor = site.processor(ProcessPart::Bus);
                let body_validation = requirements.body_validation;
                let options = StartOptions { processor, body_validation };
                Ok(RunningSubject::Bus(bus.start(&options)?))
            }
        }
    }
}

fn forwarder(site: &MeasurementSite, read_buffer: usize) -> Result<RunningSubject, SubjectError> {
    let path = site.new_file("forwarder");
    let role = Forwarder { path: path.clone(), read_buffer };
    let forwarder = site.start(ProcessPart::Bus, role, &site.stop());
    Ok(RunningSubject::Forwarder(Box::new(forwarder?), path))
}

fn relay_buffer(size: ReadBuffer) -> usize {
    match size {
        ReadBuffer::Ours => FORWARDER_BUFFER_LEN,
        ReadBuffer::Bytes(bytes) => bytes.max(1),
    }
}

impl RunningSubject {
    /// The process that carries the messages, if it is known.
    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Direct => None,
            Self::Forwarder(forwarder, _) => Some(forwarder.pid()),
            Self::Bus(bus) => bus.pid(),
        }
    }

    /// Creates the environment for one measurement on it.
    pub(crate) fn stage<'s>(
        &self,
        site: &'s MeasurementSite,
        stop: StopCondition,
    ) -> MeasurementStage<'s> {
        let endpoint = match self {
            Self::Direct => Endpoint::Direct(site.new_file("direct")),
            Self::Forwarder(_, path) => Endpoint::Floor(path.clone()),
            Self::Bus(bus) => Endpoint::Bus(bus.address().to_string()),
        };
        let configuration = match self {
            Self::Direct | Self::Forwarder(..) => None,
            Self::Bus(bus) => bus.configuration(),
        };
        MeasurementStage { site, endpoint, carrier: self.pid(), configuration, stop }
    }

    /// If the subject is a bus that has ended, describes how it ended, for errors.
    pub(crate) fn exit_report(&mut self) -> Option<String> {
        match self {
            Self::Direct | Self::Forwarder(..) => None,
            Self::Bus(bus) => bus.exit_report().map(|exit_report| exit_report.to_string()),
        }
    }
}

/// A subject cannot be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SubjectError {
    #[error(transparent)]
    Forwarder(#[from] MeasureError),
    #[error(transparent)]
    Bus(#[from] BusStartError),
}

/// The read buffer of the floor, in bytes. With 32 and 64 KiB, buses that forward a large message
/// in one piece were faster than the floor; 1 MiB is not faster than this size.
const FORWARDER_BUFFER_LEN: usize = 256 * 1024;
