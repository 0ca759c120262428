//! Benchmarks of message buses: what a bus costs, measured again and again, side by side with
//! others and with the least that any bus must do.
//!
//! ```text
//!  scenario ──▶ cases, each with a workload ─┐
//!  buses ─────▶ subject ─────────────────────┼─▶ runner ──▶ records ──▶ report
//!  library ───▶ programs of other clients ───┘
//! ```
//!
//! A [`scenario`] is a list of cases with a `workload` for each. A `subject` is what carries
//! the messages: a [bus](buses), a process that only reads and writes, or nothing. The [`runner`]
//! starts the subjects, lets each do each workload in turn, round after round, and writes the
//! results as [records](result). Everything people see is made from the records: the [report], as
//! text, Markdown or HTML, with the conclusions in it.
//!
//! Processes of this program ([`peer`]) do the workloads. They use a minimal client (`raw`) or a
//! [`library`]; the process that measures sleeps meanwhile.

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
