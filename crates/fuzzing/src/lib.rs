//! Fuzzing targets. For arbitrary bytes, no parser panics, memory use stays within its limits, and
//! accepted input can be written and read again.
//!
//! Each [`FuzzTarget`] is a function that takes bytes and panics if a property does not hold, with
//! seed inputs. Two programs use the targets:
//!
//! - the folder `fuzz`, with a nightly compiler: libFuzzer searches for bytes that reach new code
//!   (`make fuzz`);
//! - the test `smoke` of this crate, with any compiler: it runs the corpus and thousands of
//!   mutations of it within seconds, so that a failing target is noticed early.
//!
//! The targets, by their input:
//!
//! - [`messages`]: headers, bodies, streams.
//! - [`handshake`]: both sides of the handshake.
//! - [`texts`]: match rules, addresses, service files.
//! - [`configuration`]: configuration files of the bus.
//! - [`operations`]: sequences of operations on a bus.
//! - [`recordings`]: recordings in all supported formats.
//! - [`states`]: saved states of a bus.

#![forbid(unsafe_code)]

pub mod configuration;
pub mod handshake;
pub mod messages;
pub mod operations;
pub mod recordings;
mod seed;
pub mod states;
pub mod texts;

use testkit::random::Random;
use testkit::{damaged, mutated};

pub use seed::Seed;

/// A fuzzing target with its seeds.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// The name of the libFuzzer program, and of the folder with its corpus.
    pub name: &'static str,
    /// Runs the target on an input; panics if a property does not hold.
    pub run: fn(&[u8]),
    /// Generates the seed inputs.
    pub seeds: fn() -> Vec<Seed>,
    /// Changes an input for the smoke test.
    pub mutate: fn(&mut Vec<u8>, &mut Random),
}

/// All targets, in the order of the smoke test.
pub const TARGETS: &[FuzzTarget] = &[
    bytes("header", messages::header, messages::whole_messages),
    bytes("body", messages::body, messages::bodies),
    bytes("framer", messages::framer, messages::streams),
    bytes("sasl_server", handshake::server, handshake::client_inputs),
    bytes("sasl_client", handshake::client, handshake::server_inputs),
    bytes("match_rule", texts::match_rule, texts::match_rules),
    bytes("address", texts::address, texts::addresses),
    bytes("service_file", texts::service_file, texts::service_files),
    bytes("configuration", configuration::file, configuration::files),
    bytes("bus", operations::bus, operations::choices),
    bytes("reader", recordings::reader, recordings::files),
    bytes("analyses", recordings::analyses, recordings::files),
    FuzzTarget { name: "state", run: states::state, seeds: states::golden, mutate: damaged::state },
];

/// A target for arbitrary bytes.
const fn bytes(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Seed>) -> FuzzTarget {
    FuzzTarget { name, run, seeds, mutate: mutated::any }
}
