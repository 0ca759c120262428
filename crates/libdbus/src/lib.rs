//! A shared library with the interface of `libdbus-1.so.3`, for programs in C and bindings of other
//! languages.
//!
//! `make libdbus` links it. `docs/libdbus.md` describes how to use it, and where it differs.
//!
//! # Structure
//!
//! ```text
//!   bus  server  shared  private      the bus, servers, shared connections, symbols of tools
//!     └─ connection  pending          queues, dispatch, filters, objects; calls that wait
//!          ├─ transport  login        the socket: authentication and messages
//!          ├─ event                   watches and timeouts of the main loop
//!          └─ message                 header, body, iterators; the wire format is in `wire`
//!               └─ errors  signatures  syntax  types  slots
//!                    └─ c  checks     arguments from C, warnings about wrong arguments
//! ```
//!
//! `connect`, `listen`, `resolve` and `addresses` open sockets. `variadic.c` defines the functions
//! with variable arguments in terms of the others, because Rust cannot.
//!
//! # Unsafe code
//!
//! Only C programs call the exported functions, so they are private in Rust. Their arguments have
//! the types of the module `c`, which represent the promises of the headers: a [`c::Handle`] is
//! NULL or an object of this library, a [`c::Out`] is NULL or a place for a result, and a
//! [`c::CText`] is NULL or a terminated string. So nearly all functions are free of unsafe code.
//!
//! # Locks
//!
//! A connection has one lock. Functions of the program are never called while it is held: the state
//! collects such calls, and the guard makes them when it releases the lock. Messages have no lock,
//! because a program uses a message in one thread at a time.
#![expect(unsafe_code, reason = "C programs call the functions, and pass pointers to them")]
#![allow(rustdoc::private_intra_doc_links, clippy::allow_attributes, reason = "all is private")]

mod addresses;
mod bus;
mod c;
mod checks;
mod connect;
mod connection;
mod errors;
mod event;
mod listen;
mod login;
mod memory;
mod message;
mod misc;
mod pending;
mod private;
mod resolve;
mod server;
mod shared;
mod signatures;
mod slots;
mod syntax;
mod transport;
mod types;
