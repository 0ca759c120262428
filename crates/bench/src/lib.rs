//! Benchmarks of message buses: the cost of a bus, measured repeatedly, compared with other buses
//! and with a lower bound for any bus.
//!
//! ```text
//!  scenario ──▶ cases, each with a workload ─┐
//!  buses ─────▶ subject ─────────────────────┼─▶ runner ──▶ records ──▶ report
//!  library ───▶ programs of other clients ───┘
//! ```
//!
//! A [`scenario`] is a list of cases with a `workload` for each. A `subject` carries the messages:
//! a [bus](buses), a process that only reads and writes, or a direct socket. The [`runner`] starts
//! the subjects, runs each workload on each of them in turn, round after round, and writes the
//! results as [records](result). All output is made from the records: the [report], as text,
//! Markdown or HTML, including its conclusions.
//!
//! Processes of this program ([`peer`]) run the workloads. They use a minimal client (`raw`) or a
//! [`library`]; the measuring process sleeps meanwhile.

mod body_validation;
pub mod result;

pub mod scenario;
pub mod scenario_info;
mod workload;

pub mod buses;
pub mod library;
pub mod peer;
mod raw;

pub mod placement;
pub mod stage;
mod stop;
mod subject;

pub mod runner;

mod number;
mod wording;

mod disturbance;
mod durations;
mod machine;

mod conclusions;
pub mod report;
mod summary;
