//! The way into the background, in two halves: leave the caller's process, then, when everything
//! that can fail is done, let the caller go on.
//!
//! ```text
//!  caller ─ start ─┬─ wait ───────────────────────── exit 0, or 1 if the other ends first
//!                  └─ child: leave, finish the start ─ release ─ serve
//! ```
//!
//! So whoever sees the caller's process succeed can connect, and what goes wrong until then still
//! reaches its standard error and its exit status.

use std::env;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process;

use sys::daemonize::{ForkSide, StandardStream, fork, set_file_mode_mask, silence, start_session};

use crate::busconfig::Umask;

/// The caller, who waits.
#[derive(Debug)]
pub(super) struct WaitingCaller {
    pipe: PipeWriter,
}

/// Doubles the process; only the child returns from this. Nothing that is dropped at its end may
/// be dropped twice, so the parent leaves without dropping anything.
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
    /// Lets go of the caller's output, so that it can wait for the end of that, and lets it go on.
    pub(super) fn release(mut self) -> io::Result<()> {
        silence(StandardStream::Output)?;
        if env::var_os("DBUS_DEBUG_OUTPUT").is_none() {
            silence(StandardStream::Error)?;
        }
        match self.pipe.write_all(READY) {
            // The caller was killed. The bus it asked for is there all the same.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            outcome => outcome,
        }
    }
}

/// The exit status of the caller: success when the child says so, failure when it ends silently.
fn wait(mut pipe: PipeReader) -> i32 {
    let mut answer = [0; READY.len()];
    i32::from(pipe.read_exact(&mut answer).is_err())
}

const READY: &[u8; 1] = b"\n";

const DAEMON_MASK: u32 = 0o022;
