//! Benchmarks of message buses: what a bus costs, measured again and again, side by side with
//! others and with the least that any bus must do.
//!
//! ```text
//!  scenario ──▶ cases, each with a workload ─┐
//!  contestant ─▶ buses ──▶ subject ──────────┼─▶ runner ──▶ records ──▶ report
//!  library ───▶ programs of other clients ───┘
//! ```
//!
//! A [`scenario`] is a list of cases with a [`workload`] for each. A [`subject`] is what carries
//! the messages: a [bus](contestant), a process that only reads and writes, or nothing. The
//! [`runner`] starts the subjects, lets each do each workload in turn, round after round, and
//! writes down what it took as [records](result). Everything people see is made from the records:
//! the [report], as text, Markdown or HTML, with the [conclusions] in it.
//!
//! Workloads are done by processes of this program ([`peer`]), which talk through a client with
//! nothing in it ([`raw`]), or through a [`library`]; the process that measures sleeps meanwhile.

pub mod result;

pub mod scenario;
pub mod scenario_info;
pub mod workload;

pub mod contestant;
pub mod library;
pub mod peer;
pub mod raw;

pub mod placement;
pub mod stage;
pub mod subject;
pub mod watch;

pub mod runner;

pub mod disturbance;
pub mod durations;
pub mod machine;

pub mod conclusions;
pub mod report;
pub mod summary;
