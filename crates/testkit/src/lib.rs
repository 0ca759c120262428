//! Code shared by the tests of the other crates. It is not part of any shipped program.
//!
//! - [`golden`]: compares the output of a test with a file in the tree.
//! - [`world`]: a bus with connections, whose output is checked.
//! - [`text`]: D-Bus values as text.
//! - [`chaos`]: connections that act randomly.
//! - [`corruption`]: tests whether a check reports violated invariants.
//! - [`model`]: a plain model of the bus, to compare with.
//! - [`rules`]: policy rules, one per line.
//! - [`random`]: numbers from a seed that a failing test prints.
//! - [`values`]: random types and values.
//! - [`forms`]: values of every type in the syntax of every tool.
//! - [`forged`]: messages that are nearly valid.
//! - [`mutated`]: corrupted bytes.
//! - [`damaged`]: corrupted states of a bus.
//! - [`recording`]: recordings with known content.
//! - [`findings`]: all results of analyzing a recording, to compare.
//! - [`terminal`]: the output of a program on a terminal.
//! - [`source_tree`]: the files of this project, for tests of the source itself.

pub mod chaos;
pub mod corruption;
pub mod damaged;
pub mod findings;
pub mod forged;
pub mod forms;
pub mod golden;
pub mod header_fields;
pub mod model;
pub mod mutated;
pub mod random;
pub mod recording;
pub mod rules;
pub mod source_tree;
pub mod terminal;
pub mod text;
pub mod values;
pub mod world;
