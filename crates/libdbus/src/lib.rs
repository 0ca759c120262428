//! A shared library that replaces `libdbus-1.so.3`.
#![expect(unsafe_code, reason = "C programs call the functions, and pass pointers to them")]

mod c;
mod checks;
mod errors;
mod memory;
mod message;
mod signatures;
mod slots;
mod syntax;
mod types;
