//! D-Bus on the wire: bytes to meaning and back, and nothing else.
//!
//! This crate opens nothing, reads nothing and asks no clock; it is `no_std` and has no unsafe
//! code. Whoever moves the bytes, a bus, a client, a recorder, a fuzzer, uses the same parser.
//! Chapters named in quotation marks are those of the D-Bus specification.
//!
//! The modules, in the order of reading:
//!
//! - [`names`], [`signature`], [`limits`]: the words of the protocol. Each is a type that can only
//!   be made from valid text.
//! - [`message`]: the view of a message, which parses a header once and whose accessors cannot
//!   fail; every way to be invalid; the builder; the stamp that a bus puts on what it passes on.
//! - [`body`]: checking, reading and writing values, by cursor or by Rust type.
//! - [`framer`]: a byte stream cut into messages, with their descriptors counted.
//! - [`match_rule`]: which messages a connection asks to see.
//! - [`introspection`]: the description of an object, and its XML.
//! - [`address`], [`guid`], [`hex`]: where a bus listens and how it is told from others.
//! - [`sasl`]: the handshake before the first message, both sides, as line machines.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod address;
pub mod body;
pub mod endian;
pub mod framer;
pub mod guid;
pub mod hex;
pub mod introspection;
pub mod limits;
pub mod match_rule;
pub mod message;
pub mod names;
pub mod sasl;
pub mod signature;

pub use endian::Endian;
pub use message::Message;
