//! A shared library that replaces `libdbus-1.so.3`.
#![expect(unsafe_code, reason = "C programs call the functions, and pass pointers to them")]

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
