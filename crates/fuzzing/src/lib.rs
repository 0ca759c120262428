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

#![forbid(unsafe_code)]

pub mod configuration;
pub mod handshake;
pub mod messages;
pub mod operations;
pub mod recordings;
mod seed;
pub mod texts;

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
}

/// All targets, in the order of the smoke test.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "header", run: messages::header, seeds: messages::whole_messages },
    FuzzTarget { name: "body", run: messages::body, seeds: messages::bodies },
    FuzzTarget { name: "framer", run: messages::framer, seeds: messages::streams },
    FuzzTarget { name: "sasl_server", run: handshake::server, seeds: handshake::client_inputs },
    FuzzTarget { name: "sasl_client", run: handshake::client, seeds: handshake::server_inputs },
    FuzzTarget { name: "match_rule", run: texts::match_rule, seeds: texts::match_rules },
    FuzzTarget { name: "address", run: texts::address, seeds: texts::addresses },
    FuzzTarget { name: "service_file", run: texts::service_file, seeds: texts::service_files },
    FuzzTarget { name: "configuration", run: configuration::file, seeds: configuration::files },
    FuzzTarget { name: "bus", run: operations::bus, seeds: operations::choices },
    FuzzTarget { name: "reader", run: recordings::reader, seeds: recordings::files },
    FuzzTarget { name: "analyses", run: recordings::analyses, seeds: recordings::files },
];
