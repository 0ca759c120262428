//! Sums of the time that messages spent inside the bus.

use super::bus_time::{BusPhase, BusTime};
use crate::model::{Capture, CapturedMessage};
use crate::percentiles::cells;
use crate::record::nanos;
use crate::table::{Cell, Column, ColumnUnit, Need};

/// Finds the messages of a recording whose time inside the bus is known.
///
/// Recordings of buses that do not measure the stages of routing have only two phases for each
/// message. To keep sums comparable, messages without stages are omitted if others have them.
#[derive(Debug)]
pub(crate) struct BusTimes {
    has_stages: bool,
    omitted: u64,
}

/// The sums for a group of messages.
#[derive(Clone, Default, Debug)]
pub(crate) struct BusSum {
    totals: Vec<u64>,
    copies: u64,
    phases: [u64; BusPhase::ALL.len()],
}

impl BusTimes {
    pub(crate) fn of(capture: &Capture) -> Self {
        let mut routings = capture.messages().filter_map(|message| message.routing());
        Self { has_stages: routings.any(|routing| routing.stages.is_some()), omitted: 0 }
    }

    /// Returns the time inside the bus, if the bus received the message and wrote all its copies.
    pub(crate) fn find(&mut self, message: &CapturedMessage<'_>) -> Option<BusTime> {
        if message.sender_id() == message.capture().driver() {
            return None;
        }
        let time = BusTime::of(message)?;
        let counts = time.is_measured() == self.has_stages && time.total().is_some();
        self.omitted += u64::from(!counts);
        counts.then_some(time)
    }

    /// Returns true if the bus measured the stages of routing.
    pub(crate) const fn has_stages(&self) -> bool {
        self.has_stages
    }

    /// The number of received messages that are omitted, because some of their times are unknown.
    pub(crate) const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// The phases that can be distinguished. `all` is the sum of all messages.
    pub(crate) fn phases(&self, all: &BusSum) -> Vec<BusPhase> {
        let is_shown = |phase: &BusPhase| match phase {
            BusPhase::Start => all.time(BusPhase::Start) > 0,
            BusPhase::Send => true,
            BusPhase::Route => !self.has_stages,
            _ => self.has_stages,
        };
        BusPhase::ALL.into_iter().filter(is_shown).collect()
    }
}

impl BusSum {
    pub(crate) fn add(&mut self, message: &CapturedMessage<'_>, time: &BusTime) {
        self.totals.push(nanos(time.total().unwrap_or_default()));
        self.copies += message.deliveries().map_or(0, <[_]>::len) as u64;
        time.phases().for_each(|(phase, time)| self.phases[phase as usize] += nanos(time));
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.totals.is_empty()
    }

    /// The total time of a phase in nanoseconds.
    pub(crate) const fn time(&self, phase: BusPhase) -> u64 {
        self.phases[phase as usize]
    }

    /// The total time of all phases in nanoseconds.
    pub(crate) fn total(&self) -> u64 {
        self.phases.iter().sum()
    }

    pub(crate) const fn messages(&self) -> u64 {
        self.totals.len() as u64
    }

    /// The number of messages, the mean number of copies, and percentiles of the time: see
    /// [`count_columns`].
    pub(crate) fn counts(&mut self) -> [Cell; 4] {
        let messages = self.messages();
        let [p50, p99] = cells(&mut self.totals, [|times| times.p50, |times| times.p99]);
        [Cell::Count(messages), Cell::mean(self.copies, messages), p50, p99]
    }

    /// The share of a phase in the total; absent if no message has it.
    pub(crate) fn share(&self, phase: BusPhase) -> Cell {
        self.unless_absent(phase, Cell::share(self.time(phase), self.total()))
    }

    /// The mean time of a phase; absent if no message has it.
    pub(crate) fn mean(&self, phase: BusPhase) -> Cell {
        let mean = self.time(phase).checked_div(self.messages());
        self.unless_absent(phase, mean.map_or(Cell::Absent, Cell::nanos))
    }

    fn unless_absent(&self, phase: BusPhase, cell: Cell) -> Cell {
        let has_phase = !matches!(phase, BusPhase::Match) || self.time(BusPhase::Match) > 0;
        if has_phase { cell } else { Cell::Absent }
    }
}

/// The columns for [`BusSum::counts`].
pub(crate) const fn count_columns() -> [Column; 4] {
    [
        Column::number("messages", ColumnUnit::Count).spare(),
        Column::number("recipients", ColumnUnit::Mean).helpful(),
        Column::number("p50", ColumnUnit::Time),
        Column::number("p99", ColumnUnit::Time).spare(),
    ]
}

/// The column for a phase.
pub(crate) const fn phase_column(phase: BusPhase, unit: ColumnUnit) -> Column {
    let need = if matches!(phase, BusPhase::Wait) { Need::Helpful } else { Need::Always };
    Column { name: phase.as_str(), unit, need }
}
