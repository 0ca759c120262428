//! Who is told what happens in a run.

use std::fmt;
use std::io::{self, Write};

use super::progress::Step;
use crate::result::{self, Record};
use crate::scenario_info::ScenarioInfo;

/// Somebody who is told what happens in a run.
pub trait Observer {
    fn see(&mut self, event: &RunEvent<'_>) -> io::Result<()>;
}

/// What happens in a run.
#[derive(Debug)]
pub enum RunEvent<'e> {
    /// It begins.
    Begins {
        /// How many steps there will be: one for each case, subject and round.
        steps: u64,
    },
    /// There is something to write down.
    Record(&'e Record),
    /// A scenario begins.
    ScenarioBegins {
        /// What is known of it.
        info: &'static ScenarioInfo,
        /// The names of those who take part, in the order of their columns.
        subjects: &'e [String],
    },
    /// Something is about to be measured.
    Step(Step<'e>),
    /// It has been, or is left out.
    StepDone,
    /// All records of a case are there.
    CaseEnds,
    /// All cases of a scenario are done.
    ScenarioEnds {
        /// A sentence about the cases that a full run would have in addition.
        left_out: Option<&'e str>,
        /// What could not be found, each in a sentence.
        notes: &'e [String],
    },
    /// It is over.
    Ends,
}

/// Keeps all records.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Collector {
    /// All so far.
    pub records: Vec<Record>,
}

impl Observer for Collector {
    fn see(&mut self, event: &RunEvent<'_>) -> io::Result<()> {
        if let RunEvent::Record(record) = event {
            self.records.push((*record).clone());
        }
        Ok(())
    }
}

/// Writes each record as a line of JSON, as soon as it is there.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
}

impl<W: Write> JsonLines<W> {
    /// Writes them to `out`.
    pub const fn new(out: W) -> Self {
        Self { out }
    }
}

impl<W: Write> Observer for JsonLines<W> {
    fn see(&mut self, event: &RunEvent<'_>) -> io::Result<()> {
        let RunEvent::Record(record) = event else { return Ok(()) };
        let mut line = Vec::new();
        result::write(&mut line, record)?;
        self.out.write_all(&line)?;
        self.out.flush()
    }
}

/// Tells others, one after the other.
#[derive(Default)]
pub struct Several<'o> {
    /// All who are told.
    pub observers: Vec<&'o mut dyn Observer>,
}

impl Observer for Several<'_> {
    fn see(&mut self, event: &RunEvent<'_>) -> io::Result<()> {
        self.observers.iter_mut().try_for_each(|observer| observer.see(event))
    }
}

impl fmt::Debug for Several<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Several").field("observers", &self.observers.len()).finish()
    }
}
