//! Going to the background in two steps: fork, then release the waiting caller when everything that
//! can fail is done.
//!
//! ```text
//!  caller ─ start ─┬─ wait ───────────────────────── exit 0, or 1 if the child ends first
//!                  └─ child: leave, finish the start ─ release ─ serve
//! ```
//!
//! So a program that sees the caller's process succeed can connect. Errors until then reach the
//! caller's standard error and exit status.

use std::env;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process;

use sys::daemonize::{ForkSide, StandardStream, fork, set_file_mode_mask, silence, start_session};

use crate::busconfig::Umask;

/// The original process, which waits until it is released.
#[derive(Debug)]
pub(super) struct WaitingCaller {
    pipe: PipeWriter,
}

/// Forks; only the child returns. The parent exits without dropping anything, because values with
/// side effects on drop must not be dropped in both processes.
pub(super) fn leave(umask: Umask) -> io::Result<WaitingCaller> {
    let (reader, pipe) = io::pipe()?;
    match fork()? {
        ForkSide::Parent { .. } => {
            drop(pipe);
            process::exit(wait(reader))
        }
        ForkSide::Child => drop(reader),
    }
    start_session()?;
    env::set_current_dir("/")?;
    if umask == Umask::Reset {
        set_file_mode_mask(DAEMON_MASK);
    }
    Ok(WaitingCaller { pipe })
}

impl WaitingCaller {
    /// Closes the caller's output, so that the caller sees its end of file, and lets the caller
    /// exit.
    pub(super) fn release(mut self) -> io::Result<()> {
        silence(StandardStream::Output)?;
        if env::var_os("DBUS_DEBUG_OUTPUT").is_none() {
            silence(StandardStream::Error)?;
        }
        match self.pipe.write_all(READY) {
            // The caller was killed, but the bus is ready and keeps running.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            outcome => outcome,
        }
    }
}

/// The exit status of the caller: success if the child reports it, failure if the child ends
/// silently.
fn wait(mut pipe: PipeReader) -> i32 {
    let mut answer = [0; READY.len()];
    i32::from(pipe.read_exact(&mut answer).is_err())
}

const READY: &[u8; 1] = b"\n";

const DAEMON_MASK: u32 = 0o022;
