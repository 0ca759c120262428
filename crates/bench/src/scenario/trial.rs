//! The [`Scenario`] trait, its trials, and the subjects on which they are measured.

use std::fmt;

use super::{Effort, LibraryBuilder};
use crate::result::BenchCase;
use crate::scenario_info::ScenarioInfo;
use crate::subject::BenchSubject;
use crate::workload::Workload;

/// A list of cases, each with a workload.
pub trait Scenario: fmt::Debug {
    /// The name, title, description and metrics of the scenario.
    fn info(&self) -> &'static ScenarioInfo;

    /// The default subjects to measure.
    fn subjects(&self) -> Subjects {
        Subjects::FloorAndBuses
    }

    /// Returns the cases, in the order in which they are measured and shown.
    fn trials(&self, effort: Effort, libraries: &mut LibraryBuilder<'_>) -> Vec<Trial>;
}

/// A case and the workload to measure for it.
#[derive(Debug)]
pub struct Trial {
    /// The case that the results belong to.
    pub(crate) case: BenchCase,
    /// The workload that is measured.
    pub(crate) workload: Box<dyn Workload>,
}

/// The default subjects of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subjects {
    /// The floor and all installed buses.
    FloorAndBuses,
    /// Two processes without a bus between them, the floor and all installed buses.
    DirectFloorAndBuses,
    /// Two processes without a bus between them, and all installed buses.
    DirectAndBuses,
    /// All installed buses, without the floor.
    Buses,
    /// Only the bus of this project.
    OurBus,
    /// No buses, only direct connection, floor and relay.
    Floors,
}

impl Subjects {
    /// The subjects that are not buses.
    pub(crate) const fn floors(self) -> &'static [BenchSubject] {
        match self {
            Self::FloorAndBuses => &[BenchSubject::Floor],
            Self::DirectFloorAndBuses => &[BenchSubject::Direct, BenchSubject::Floor],
            Self::DirectAndBuses => &[BenchSubject::Direct],
            Self::Buses | Self::OurBus => &[],
            Self::Floors => &[BenchSubject::Direct, BenchSubject::Floor, BenchSubject::Relay],
        }
    }
}

impl Trial {
    pub(super) fn new(case: BenchCase, workload: impl Workload + 'static) -> Self {
        Self { case, workload: Box::new(workload) }
    }
}
