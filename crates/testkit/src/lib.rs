//! What the tests of the other crates share. Nothing that is shipped depends on it.
//!
//! - [`golden`]: text that a test makes, compared with a file in the tree.
//! - [`world`]: a bus with connections; whatever it sends is checked.
//! - [`text`]: values of D-Bus as people write and read them.
//! - [`chaos`]: connections that do anything.
//! - [`corruption`]: whether a check reports what violates its invariants.
//! - [`model`]: what the bus should do, written plainly, to compare with.
//! - [`rules`]: rules of policies, a line each.
//! - [`random`]: numbers from a seed that a failing test prints.
//! - [`values`]: types and values from these.
//! - [`forms`]: values of every type in the words of every tool.
//! - [`forged`]: messages that are nearly right.
//! - [`mutated`]: bytes that were right, and are not any more.
//! - [`recording`]: recordings with content that is known.
//! - [`findings`]: all that is found in a recording, to compare.
//! - [`terminal`]: what a program prints on a terminal.
//! - [`source_tree`]: the files of this project, for tests of the source itself.

pub mod chaos;
pub mod corruption;
pub mod findings;
pub mod forged;
pub mod forms;
pub mod golden;
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
