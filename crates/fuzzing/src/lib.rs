//! What holds for any bytes at all, wherever these come from: nothing panics, nothing grows beyond
//! measure, and what was understood can be written and understood again.
//!
//! Each [`FuzzTarget`] is a function that takes bytes and panics if that does not hold, with a few inputs
//! to begin with. Two programs use them:
//!
//! - the folder `fuzz`, with a nightly compiler: libFuzzer looks for bytes that reach new code
//!   (`make fuzz`);
//! - the test `smoke` of this crate, with any compiler: the corpus and some thousand mutations of it,
//!   in seconds, so that a target that breaks is known at once.
//!
//! The targets, by what they read:
//!
//! - [`messages`]: headers, bodies, streams.
//! - [`handshake`]: both sides of it.
//! - [`texts`]: match rules, addresses, files of services.
//! - [`configuration`]: files of the bus itself.
//! - [`operations`]: what connections do, chosen by the bytes.
//! - [`recordings`]: files of ours and of others.

#![forbid(unsafe_code)]

pub mod configuration;
pub mod handshake;
pub mod messages;
pub mod operations;
pub mod recordings;
mod seed;
pub mod texts;

pub use seed::Seed;

/// Something that takes bytes.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// The name of the program that libFuzzer runs, and of the folder with its corpus.
    pub name: &'static str,
    /// Takes bytes, and panics where it finds a mistake of ours.
    pub run: fn(&[u8]),
    /// Inputs behind whose first bytes the search can begin.
    pub seeds: fn() -> Vec<Seed>,
}

/// All that there are.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "header", run: messages::header, seeds: messages::whole_messages },
    FuzzTarget { name: "body", run: messages::body, seeds: messages::bodies },
    FuzzTarget { name: "framer", run: messages::framer, seeds: messages::streams },
    FuzzTarget { name: "sasl_server", run: handshake::server, seeds: handshake::of_clients },
    FuzzTarget { name: "sasl_client", run: handshake::client, seeds: handshake::of_servers },
    FuzzTarget { name: "match_rule", run: texts::match_rule, seeds: texts::match_rules },
    FuzzTarget { name: "address", run: texts::address, seeds: texts::addresses },
    FuzzTarget { name: "service_file", run: texts::service_file, seeds: texts::service_files },
    FuzzTarget { name: "configuration", run: configuration::file, seeds: configuration::files },
    FuzzTarget { name: "bus", run: operations::bus, seeds: operations::choices },
    FuzzTarget { name: "reader", run: recordings::reader, seeds: recordings::files },
    FuzzTarget { name: "analyses", run: recordings::analyses, seeds: recordings::files },
];
