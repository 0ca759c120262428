//! What a scenario is: a list of trials, and the subjects on which they are measured.

use std::fmt;

use super::{Effort, LibraryBuilder};
use crate::result::BenchCase;
use crate::scenario_info::ScenarioInfo;
use crate::subject::BenchSubject;
use crate::workload::Workload;

/// A list of cases.
pub trait Scenario: fmt::Debug {
    /// What reports say about it.
    fn info(&self) -> &'static ScenarioInfo;

    /// What is measured.
    fn subjects(&self) -> Subjects {
        Subjects::FloorAndBuses
    }

    /// The cases, in the order in which they are measured and shown.
    fn trials(&self, effort: Effort, libraries: &mut LibraryBuilder<'_>) -> Vec<Trial>;
}

/// A case, and what is measured there.
#[derive(Debug)]
pub struct Trial {
    /// The case.
    pub(crate) case: BenchCase,
    /// What is measured.
    pub(crate) workload: Box<dyn Workload>,
}

/// What is measured in a scenario if no buses are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subjects {
    /// The floor and all installed buses.
    FloorAndBuses,
    /// Two processes without a bus between them, the floor and all installed buses.
    DirectFloorAndBuses,
    /// All installed buses.
    Buses,
    /// The bus of this program.
    OurBus,
    /// No buses, but everything that is not a bus.
    Floors,
}

impl Subjects {
    /// What is not a bus.
    pub(crate) const fn floors(self) -> &'static [BenchSubject] {
        match self {
            Self::FloorAndBuses => &[BenchSubject::Floor],
            Self::DirectFloorAndBuses => &[BenchSubject::Direct, BenchSubject::Floor],
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
