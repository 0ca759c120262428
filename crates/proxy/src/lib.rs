//! A filtering proxy between the programs of a sandbox and a bus.
//!
//! The proxy listens at a socket. For each program that connects, it opens its own connection to
//! the bus, and forwards the messages that the rules of the sandbox allow. It has the command line
//! of xdg-dbus-proxy and makes the same decisions; `docs/sandboxing.md` lists the differences.
//!
//! ```text
//!                    ┌───────────────────── session ──────────────────────┐
//!  program ─ socket ─┤ framer ─▶ filter ─▶ queue to the bus               ├─ socket ─ bus
//!                    │ queue to the program ◀─ filter ◀─ framer           │
//!                    └─────────────────────────────────────────────────────┘
//! ```
//!
//! - [`command_line`] reads options to settings.
//! - `filter` is the core: it decides about each message, and does no I/O.
//! - `handshake` follows the handshake, to know where the messages begin.
//! - `session` moves the bytes of one program, and `event_loop` serves all sessions with one
//!   thread.
//!
//! If the bus is Diligence and permits it, the proxy passes it the rules and the socket, and does
//! not stand between (`registration`).
//!
//! A program that does not read delays only itself: while the queue of one socket is full, the
//! other socket of the session is not read.

#![forbid(unsafe_code)]

pub mod command_line;

mod bus_connection;
mod event_loop;
mod filter;
mod handshake;
mod outgoing;
mod registration;
mod session;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use command_line::ProxyRequest;

/// The name of the program.
pub const PROGRAM: &str = "xdg-dbus-proxy";

/// The version of xdg-dbus-proxy whose command line and decisions this program has.
pub const COMPATIBLE_VERSION: &str = "0.1.7";

/// Runs the program: `argv0` is the first word of its command line, and `words` are the others.
///
/// The exit status is 1 if the command line is not valid or a socket cannot be created, and 0 when
/// the other end of the descriptor `--fd` was closed.
pub fn run(argv0: Option<OsString>, words: Vec<OsString>) -> ExitCode {
    let argv0 = argv0.unwrap_or_else(|| PROGRAM.into());
    let usage = command_line::usage(&argv0.to_string_lossy());
    if words.is_empty() {
        complain(&usage);
        return ExitCode::FAILURE;
    }
    match command_line::parse(words, &mut event_loop::read_arguments) {
        Ok(ProxyRequest::Help) => print(&usage),
        Ok(ProxyRequest::Version) => print(&format!("{PROGRAM} {COMPATIBLE_VERSION}\n")),
        Ok(ProxyRequest::Serve(settings)) => {
            for warning in &settings.warnings {
                warn(warning);
            }
            match event_loop::serve(settings) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    complain(&format!("{error}\n"));
                    ExitCode::FAILURE
                }
            }
        }
        Err(error) => {
            complain(&format!("{error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Prints to standard output. A reader that has closed the pipe needs no text.
fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Prints to standard error. If that fails, there is nowhere to report it.
fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints a warning with the name of the program.
fn warn(text: &str) {
    complain(&format!("{PROGRAM}: {text}\n"));
}
