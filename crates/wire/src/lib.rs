//! The D-Bus wire format: encoding and decoding, without input and output.
//!
//! This crate does not open files, read sockets or read the clock; it is `no_std` and has no unsafe
//! code. A bus, a client, a recorder and a fuzzer use the same parser. Chapters in quotation marks
//! are chapters of the D-Bus specification.
//!
//! The modules, in reading order:
//!
//! - [`names`], [`signature`], [`limits`]: the vocabulary of the protocol. Each is a type that can
//!   only be created from valid text.
//! - [`message`]: a view of a message, which parses a header once and whose accessors cannot fail;
//!   the ways in which a message can be invalid; the builder; the sender field that a bus adds to
//!   forwarded messages.
//! - [`body`]: validating, reading and writing values, with a cursor or as Rust types.
//! - [`framer`]: splitting a byte stream into messages, and counting their descriptors.
//! - [`match_rule`]: rules that select the messages for a connection.
//! - [`introspection`]: the description of an object, and its XML.
//! - [`address`], [`guid`], [`hex`]: addresses of a bus, and its GUID.
//! - [`sasl`]: both sides of the handshake before the first message, as state machines over lines.

#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::missing_errors_doc)]

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

/// Compiles the example on the front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct WireFrontPage;
