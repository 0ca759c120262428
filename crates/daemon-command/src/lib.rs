//! The command `diligence-bus` as other programs see it.
//!
//! The daemon and the program `diligence` both link to this crate: the daemon to read its command line
//! and to print its help, `diligence` to find the daemon and to describe it in help, manual pages and
//! completions.
//!
//! - [`options`]: the tables of options.
//! - [`help`]: the usage line and the help text, made from these tables.
//! - [`locate`]: finding the installed program.

#![forbid(unsafe_code)]

pub mod help;
pub mod locate;
pub mod options;

/// The file name of the daemon.
pub const PROGRAM: &str = "diligence-bus";
